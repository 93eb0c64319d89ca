//! What is written where: results to standard output, everything else to standard error.

use adrag_contract::AppError;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// The two streams.
#[derive(Debug)]
pub struct Output {
    /// Whether results are JSON.
    pub json: bool,
    shows_progress: bool,
    filters: bool,
}

impl Output {
    /// For this process.
    pub fn new(json: bool) -> Self {
        Self {
            json,
            shows_progress: io::stderr().is_terminal(),
            filters: io::stdout().is_terminal(),
        }
    }

    /// One JSON value on a line of its own.
    pub fn json_line(&self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        let mut stdout = io::stdout().lock();
        stdout.write_all(&line)?;
        stdout.flush()
    }

    /// Text for people, with a line break. On a terminal, documents cannot send it commands.
    pub fn text(&self, text: &str) -> io::Result<()> {
        self.clear_progress();
        let mut stdout = io::stdout().lock();
        if self.filters {
            writeln!(stdout, "{}", printable(text))?;
        } else {
            writeln!(stdout, "{text}")?;
        }
        stdout.flush()
    }

    /// Where the work stands, on one line that is written over; nothing unless a person watches.
    pub fn progress(&self, text: &str) {
        if self.shows_progress {
            let line: String = printable(text).replace('\n', " ").chars().take(100).collect();
            eprint!("\r\x1b[K{line}");
        }
    }

    /// Takes the progress line away.
    pub fn clear_progress(&self) {
        if self.shows_progress {
            eprint!("\r\x1b[K");
        }
    }

    /// A remark beside the result.
    pub fn note(&self, text: &str) {
        self.clear_progress();
        eprintln!("{}", printable(text));
    }

    /// What went wrong and what to do.
    pub fn error(&self, error: &AppError) {
        self.clear_progress();
        say_error(error);
    }
}

/// What went wrong and what to do, on standard error.
pub fn say_error(error: &AppError) {
    eprintln!("error: {}", printable(&error.message));
    if let Some(hint) = &error.hint {
        eprintln!("hint: {}", printable(hint));
    }
}

/// The text without characters that steer a terminal or turn the direction of writing.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            control if control.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_cannot_steer_the_terminal() {
        assert_eq!(
            printable("a\x1b[31mb\u{9b}c\u{202e}d\te\n"),
            "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\te\n"
        );
    }
}
