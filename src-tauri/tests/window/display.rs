//! A display of our own, so that no window of a test jumps into somebody's work.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A display for as long as this lives.
pub struct Display {
    /// Value for `DISPLAY`.
    pub name: String,
    server: Option<Child>,
}

impl Display {
    /// Starts `Xvfb`, else takes the display there is.
    pub fn open() -> Option<Self> {
        Self::start().or_else(|| {
            let name = std::env::var("DISPLAY").ok().filter(|name| !name.is_empty())?;
            Some(Self { name, server: None })
        })
    }

    fn start() -> Option<Self> {
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1400x1000x24",
                "-nolisten",
                "tcp",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut number = String::new();
        let said = BufReader::new(server.stdout.take()?).read_line(&mut number);
        let display = Self {
            name: format!(":{}", number.trim()),
            server: Some(server),
        };
        (said.is_ok() && !number.trim().is_empty()).then_some(display)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
