//! Looking at files and folders before anything in them is read.

use super::encoding::is_text;
use super::format::{binary_name, by_extension, extension};
use super::limits::{MAX_FILE_BYTES, MAX_FOLDER_DEPTH, MAX_LISTED_FILES};
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult, SourceFile};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes looked at to tell text from data.
const SNIFF_BYTES: u64 = 4096;
/// Longest name shown.
const MAX_NAME_CHARS: usize = 200;

/// A file that exists, is plain, may be read and is not too large, with its fingerprint.
pub(super) fn inspect(path: &Path) -> PortResult<SourceFile> {
    let path = absolute(path)?;
    let name = display_name(&path);
    let mut file = open_plain(&path, &name)?;
    let mut hash = Sha256::new();
    // One byte more than allowed tells a file that grew.
    let bytes = io::copy(
        &mut (&mut file).take(MAX_FILE_BYTES + 1),
        &mut HashWriter(&mut hash),
    )
    .map_err(|error| cannot_read(&name, &error))?;
    if bytes > MAX_FILE_BYTES {
        return Err(too_large(&name, bytes));
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(SourceFile {
        path: path.to_string_lossy().into_owned(),
        name,
        bytes,
        sha256,
    })
}

/// The bytes of a file, under the same conditions.
pub(super) fn read_bytes(path: &Path) -> PortResult<Vec<u8>> {
    let name = display_name(path);
    let file = open_plain(path, &name)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read(&name, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(&name, bytes.len() as u64));
    }
    Ok(bytes)
}

/// The file itself, or the files below a folder that may be read as documents, sorted.
pub(super) fn list(path: &Path) -> PortResult<Vec<String>> {
    let root = absolute(path)?;
    let name = display_name(&root);
    let metadata = std::fs::metadata(&root).map_err(|error| cannot_read(&name, &error))?;
    if !metadata.is_dir() {
        return Ok(vec![root.to_string_lossy().into_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(root.clone(), 0usize)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(cannot_read(&name, &error)),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "folder passed over");
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // The type of the entry itself: a link is neither file nor folder, so loops cannot form.
            let Ok(kind) = entry.file_type() else { continue };
            if hidden {
                continue;
            }
            if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_document(&entry.path()) {
                found.push(entry.path().to_string_lossy().into_owned());
            }
        }
        if found.len() > MAX_LISTED_FILES {
            return Err(PortError::rejected(
                ErrorCode::InvalidRequest,
                format!("`{name}` holds more than {MAX_LISTED_FILES} files"),
            )
            .with_hint("add its folders one by one"));
        }
    }
    found.sort();
    Ok(found)
}

/// The last part of a path without characters that control a terminal or turn the reading direction.
pub(super) fn display_name(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let clean: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'))
        .take(MAX_NAME_CHARS)
        .collect();
    if clean.trim().is_empty() {
        "unnamed".to_owned()
    } else {
        clean
    }
}

/// Whether a file of a folder is offered for reading: a known extension, or text under an unknown one.
fn is_document(path: &Path) -> bool {
    if by_extension(&extension(&path.to_string_lossy())).is_some() {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFF_BYTES).read_to_end(&mut head));
    read.is_ok()
        && !head.is_empty()
        && binary_name(&head).is_none()
        && !head.starts_with(b"PK")
        && is_text(&head)
}

fn absolute(path: &Path) -> PortResult<PathBuf> {
    std::path::absolute(path).map_err(|error| {
        PortError::rejected(
            ErrorCode::InvalidRequest,
            format!("the path cannot be used: {error}"),
        )
    })
}

/// Opens a file after looking that it is one: opening a pipe would wait for a writer.
fn open_plain(path: &Path, name: &str) -> PortResult<File> {
    let metadata = std::fs::metadata(path).map_err(|error| cannot_read(name, &error))?;
    if metadata.is_dir() {
        return Err(PortError::rejected(
            ErrorCode::UnreadableFile,
            format!("`{name}` is a folder, not a file"),
        ));
    }
    if !metadata.is_file() {
        return Err(PortError::rejected(
            ErrorCode::UnreadableFile,
            format!("`{name}` is a device or a pipe, not a plain file"),
        ));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(too_large(name, metadata.len()));
    }
    File::open(path).map_err(|error| cannot_read(name, &error))
}

fn too_large(name: &str, bytes: u64) -> PortError {
    PortError::rejected(
        ErrorCode::UnreadableFile,
        format!(
            "`{name}` is too large: {:.1} MB, at most 50 MB are read",
            bytes as f64 / 1_048_576.0
        ),
    )
    .with_hint("split it into smaller files")
}

fn cannot_read(name: &str, error: &io::Error) -> PortError {
    match error.kind() {
        ErrorKind::NotFound => PortError::rejected(ErrorCode::NotFound, format!("`{name}` does not exist")),
        ErrorKind::PermissionDenied => PortError::rejected(
            ErrorCode::UnreadableFile,
            format!("`{name}` may not be read (no permission)"),
        )
        .with_hint("change its permissions or copy it to a folder of yours"),
        _ => PortError::permanent(
            ErrorCode::UnreadableFile,
            format!("`{name}` cannot be read: {error}"),
        ),
    }
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_for_people() {
        for (name, shown) in [
            ("/a/report.pdf", "report.pdf"),
            ("/a/gnp\u{202e}fdp.exe", "gnpfdp.exe"),
            ("/a/a\nb.txt", "a b.txt"),
            ("/a/報告😀.txt", "報告😀.txt"),
            ("/a/\u{200b}", "unnamed"),
        ] {
            assert_eq!(display_name(Path::new(name)), shown);
        }
        assert_eq!(
            display_name(Path::new(&"x".repeat(5000))).chars().count(),
            MAX_NAME_CHARS
        );
    }
}
