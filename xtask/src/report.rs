//! What a person reads: steps, notices, progress in bytes, and failures with a hint.
//!
//! Status goes to standard error, results to standard output, so that `--json` output can be piped.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::Error;

/// A failure that knows what the person can do about it.
#[derive(Debug)]
struct Hinted {
    message: String,
    hint: String,
}

impl std::fmt::Display for Hinted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

/// An error with a `hint:` line under it.
pub fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(Hinted {
        message: message.into(),
        hint: hint.into(),
    })
}

/// Prints an error, its causes and its hint.
pub fn failure(error: &Error) {
    eprintln!("error: {error:#}");
    if let Some(found) = error.chain().find_map(|cause| cause.downcast_ref::<Hinted>()) {
        eprintln!("hint: {}", found.hint);
    }
}

/// One line about work that starts now.
pub fn step(text: impl AsRef<str>) {
    eprintln!("-- {}", text.as_ref());
}

/// One line about something that was left out or done in another way.
pub fn notice(text: impl AsRef<str>) {
    eprintln!("note: {}", text.as_ref());
}

/// Bytes as people read them.
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}

/// Progress of one file: redrawn in place on a terminal, one line every few seconds elsewhere.
pub struct Progress {
    label: String,
    total: Option<u64>,
    done: u64,
    drawn: Instant,
    every: Duration,
    in_place: bool,
}

impl Progress {
    pub fn new(label: impl Into<String>, done: u64, total: Option<u64>) -> Self {
        let in_place = std::io::stderr().is_terminal();
        let every = if in_place {
            Duration::from_millis(100)
        } else {
            Duration::from_secs(5)
        };
        Self {
            label: label.into(),
            total,
            done,
            drawn: Instant::now(),
            every,
            in_place,
        }
    }

    pub fn add(&mut self, count: u64) {
        self.done += count;
        if self.drawn.elapsed() >= self.every {
            self.draw();
        }
    }

    /// Draws the last state, so that the log ends with the true size.
    pub fn finish(mut self) {
        self.draw();
        if self.in_place {
            eprintln!();
        }
    }

    fn draw(&mut self) {
        self.drawn = Instant::now();
        let text = match self.total {
            Some(total) => format!("   {}: {} of {}", self.label, bytes(self.done), bytes(total)),
            None => format!("   {}: {}", self.label, bytes(self.done)),
        };
        if self.in_place {
            eprint!("\r{text}\x1b[K");
            // A progress line that cannot be drawn is no reason to stop the download.
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_the_unit_a_person_expects() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(466_247), "466.2 kB");
        assert_eq!(bytes(98_362_432), "98.4 MB");
        assert_eq!(bytes(4_000_000_000), "4.00 GB");
    }

    #[test]
    fn a_hint_survives_the_context_put_around_it() {
        let error = hinted("no pip", "install python3-pip").context("fetching the embedder");
        let hint = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<Hinted>())
            .map(|found| &found.hint);
        assert_eq!(hint.map(String::as_str), Some("install python3-pip"));
        assert_eq!(format!("{error:#}"), "fetching the embedder: no pip");
    }
}
