//! Files of one request a line.

use super::exit::Stop;
use std::io::Read;
use std::path::Path;

/// Largest file of requests that is read, bytes.
const LIMIT: u64 = 256 << 20;

/// The lines of a file that are not blank, with their numbers; `-` is standard input.
///
/// # Errors
/// When the file cannot be read, is too large or is not text.
pub fn lines(file: &Path) -> Result<Vec<(usize, String)>, Stop> {
    let fault = |error: std::io::Error| Stop::Usage(format!("`{}` cannot be read: {error}", file.display()));
    let source: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(file).map_err(fault)?)
    };
    let mut text = String::new();
    source.take(LIMIT + 1).read_to_string(&mut text).map_err(fault)?;
    if text.len() as u64 > LIMIT {
        return Err(Stop::Usage(format!(
            "`{}` is larger than {} MB",
            file.display(),
            LIMIT >> 20
        )));
    }
    Ok((1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| (at, line.to_owned()))
        .collect())
}
