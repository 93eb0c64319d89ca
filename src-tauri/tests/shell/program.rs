//! Runs the built program.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How a call ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// Every line of standard output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in `{line}`: {self:?}"))
            })
            .collect()
    }

    /// The last line of standard output as JSON.
    pub fn last(&self) -> Value {
        self.lines()
            .pop()
            .unwrap_or_else(|| panic!("no output: {self:?}"))
    }

    /// Asserts the exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// A data folder of its own, with a folder of documents beside it.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// Empty.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("documents")).unwrap();
        Self { folder }
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder of documents.
    pub fn documents(&self) -> PathBuf {
        self.folder.path().join("documents")
    }

    /// Writes a document.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.documents().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Calls the program on this data folder.
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ended {
        run(&self.data(), args)
    }
}

fn run<A: AsRef<OsStr>>(data: &Path, args: impl IntoIterator<Item = A>) -> Ended {
    let output = program().arg("--data-dir").arg(data).args(args).output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The program, without a display and without a terminal.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adrag"));
    command
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("ADRAG_LOG")
        .stdin(Stdio::null());
    command
}
