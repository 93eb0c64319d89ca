//! A compiler wrapper for rustc older than 1.96: `qdrant-edge` uses `debug_assert_matches`, which is behind a
//! feature gate there. The wrapper opens that one gate for that one crate and touches nothing else.
//!
//! On Unix it is a shell file of a few lines, because it is started for every crate; on Windows it is a copy of
//! this program under another name. The file keeps its time stamp between runs: cargo looks at it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::process;

const STEM: &str = "rustc-shim";
const CRATE: &str = "qdrant_edge";
const GATE: &str = "-Zcrate-attr=feature(assert_matches)";

/// The wrapper's path where this rustc needs it, made ready to be started.
pub fn prepare(target: &Path) -> Result<Option<PathBuf>> {
    let said = process::capture(Command::new("rustc").arg("--version")).context("rustc does not answer")?;
    if !is_needed(&said) {
        return Ok(None);
    }
    let folder = target.join("xtask-shim");
    if cfg!(windows) {
        let path = folder.join(format!("{STEM}.exe"));
        let own = std::env::current_exe().context("this program does not know its own path")?;
        let content = std::fs::read(&own).with_context(|| format!("cannot read `{}`", own.display()))?;
        process::write_if_changed(&path, &content)?;
        return Ok(Some(path));
    }
    let path = folder.join(STEM);
    if process::write_if_changed(&path, shell_text().as_bytes())? || !process::is_executable(&path) {
        process::make_executable(&path)?;
    }
    Ok(Some(path))
}

/// Whether cargo started us under the wrapper's name.
pub fn is_called_as_wrapper() -> bool {
    std::env::current_exe().is_ok_and(|path| path.file_stem().is_some_and(|stem| stem == STEM))
}

/// Starts the compiler as the shell file would.
pub fn wrap() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((compiler, rest)) = arguments.split_first() else {
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(compiler);
    command.args(rest);
    if compiles_crate(rest) {
        command.env("RUSTC_BOOTSTRAP", CRATE).arg(GATE);
    }
    match command.status() {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            eprintln!("error: `{compiler}` could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compiles_crate(arguments: &[String]) -> bool {
    arguments
        .windows(2)
        .any(|pair| pair[0] == "--crate-name" && pair[1] == CRATE)
}

fn shell_text() -> String {
    format!(
        "#!/bin/sh\n\
         # Written by `cargo xtask` for rustc older than 1.96.\n\
         if [ \"$2\" = --crate-name ] && [ \"$3\" = {CRATE} ]; then\n\
         \x20   RUSTC_BOOTSTRAP={CRATE}\n\
         \x20   export RUSTC_BOOTSTRAP\n\
         \x20   set -- \"$@\" '{GATE}'\n\
         fi\n\
         exec \"$@\"\n"
    )
}

/// `rustc 1.95.0 (59807616e 2026-04-14)` needs it, `rustc 1.96.0-beta` does not.
fn is_needed(version_line: &str) -> bool {
    let number = version_line.split_whitespace().nth(1).unwrap_or_default();
    let mut parts = number
        .split(['.', '-'])
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) < (1, 96)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compilers_older_than_1_96_need_the_wrapper() {
        for (line, expected) in [
            ("rustc 1.95.0 (59807616e 2026-04-14)", true),
            ("rustc 1.95.0-nightly (abc 2026-03-01)", true),
            ("rustc 1.96.0 (abc 2026-05-28)", false),
            ("rustc 1.100.2 (abc 2026-10-29)", false),
            ("rustc 2.0.0 (abc 2030-01-01)", false),
        ] {
            assert_eq!(is_needed(line), expected, "{line}");
        }
    }

    #[test]
    fn only_the_one_crate_is_touched() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(compiles_crate(&words(
            "--crate-name qdrant_edge --edition=2024 src/lib.rs"
        )));
        assert!(!compiles_crate(&words("--crate-name qdrant_client src/lib.rs")));
        assert!(!compiles_crate(&words("-vV")));
    }

    #[cfg(unix)]
    #[test]
    fn the_shell_file_opens_the_gate_for_that_crate_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(STEM);
        process::write_if_changed(&path, shell_text().as_bytes()).unwrap();
        process::make_executable(&path).unwrap();
        let say = "echo \"$RUSTC_BOOTSTRAP/$*\"";
        let run = |words: &[&str]| {
            let compiler = folder.path().join("compiler");
            process::write_if_changed(&compiler, format!("#!/bin/sh\n{say}\n").as_bytes()).unwrap();
            process::make_executable(&compiler).unwrap();
            process::capture(
                Command::new(&path)
                    .arg(&compiler)
                    .args(words)
                    .env_remove("RUSTC_BOOTSTRAP"),
            )
            .unwrap()
        };
        assert_eq!(
            run(&["--crate-name", "qdrant_edge", "a b.rs"]),
            format!("qdrant_edge/--crate-name qdrant_edge a b.rs {GATE}\n")
        );
        assert_eq!(run(&["--crate-name", "serde", "x"]), "/--crate-name serde x\n");
        assert_eq!(run(&["-vV"]), "/-vV\n");
    }
}
