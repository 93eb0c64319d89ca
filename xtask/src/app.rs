//! The program itself: building it, and talking to it over its command line as a script would.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::process;
use crate::workspace::{UI, Workspace};

/// Builds everything that runs on this machine. Always the whole workspace and never the screen, so that every
/// task sees the same features of every dependency and nothing is compiled twice.
pub fn build(workspace: &Workspace) -> Result<()> {
    process::run(workspace.cargo().args(["build", "--workspace", "--exclude", UI]))?;
    let program = workspace.program();
    if !program.exists() {
        bail!("cargo left no program at `{}`", program.display());
    }
    Ok(())
}

/// What a call with `--json` said last, and how it ended.
pub struct Reply {
    pub code: Option<i32>,
    pub last: Value,
}

impl Reply {
    /// The reply when the work was done, or done in part (exit codes 0 and 3).
    pub fn accepted(self) -> Result<Value> {
        match self.code {
            Some(0 | 3) => Ok(self.last),
            code => bail!("the program ended with {code:?}: {}", self.last),
        }
    }
}

/// A call of the program on one data folder. It reads nothing from the terminal.
pub fn call(workspace: &Workspace, data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(workspace.program());
    command
        .args(arguments)
        .arg("--data-dir")
        .arg(data)
        .stdin(Stdio::null());
    command
}

/// Runs a call with `--json` and reads the last line it printed.
pub fn ask(workspace: &Workspace, data: &Path, arguments: &[&str]) -> Result<Reply> {
    let output = call(workspace, data, arguments)
        .arg("--json")
        .output()
        .with_context(|| format!("`{}` could not be started", workspace.program().display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = last_json(&text).map_err(|error| {
        let said = process::last_lines(&String::from_utf8_lossy(&output.stderr), 4);
        error.context(format!(
            "`adrag {}` gave no JSON (it said: {said})",
            arguments.join(" ")
        ))
    })?;
    Ok(Reply {
        code: output.status.code(),
        last,
    })
}

/// The last line of JSON, or the whole text when the object was printed over several lines.
fn last_json(text: &str) -> Result<Value> {
    let line = text
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .ok_or_else(|| anyhow!("it printed nothing"))?;
    serde_json::from_str(line)
        .or_else(|_| serde_json::from_str(text))
        .context("it printed something else")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_a_spread_out_object_is_read_too() {
        assert_eq!(last_json("{\"a\":1}\n{\"b\":2}\n\n").unwrap()["b"], 2);
        assert_eq!(last_json("{\n  \"a\": 1\n}\n").unwrap()["a"], 1);
        assert!(last_json("").is_err());
        assert!(last_json("hello").is_err());
    }
}
