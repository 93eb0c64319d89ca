//! Starting other programs. No shell is ever between us and them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a program that talks to the terminal itself; fails when it does.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("`{}` could not be started", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {}", shown(command), describe(status));
    }
    Ok(())
}

/// Runs a program and returns what it wrote to standard output; its error output goes into the error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{}` could not be started", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` ended with {}: {}",
            shown(command),
            describe(output.status),
            last_lines(&said, 6)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program starts and succeeds; says nothing either way.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The first executable file of this name in the folders of `PATH`.
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| names(name).into_iter().map(move |file| folder.join(file)))
        .find(|candidate| is_executable(candidate))
}

/// Whether a regular file may be started by this user.
pub fn is_executable(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        found.is_file() && found.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        found.is_file()
    }
}

/// Writes a file only when its content differs, so that its time stamp keeps meaning something.
pub fn write_if_changed(path: &Path, content: &[u8]) -> Result<bool> {
    if std::fs::read(path).is_ok_and(|present| present == content) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    std::fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(true)
}

/// Gives a file the right to be started.
pub fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make `{}` executable", path.display()))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The last non-empty lines of a program's output, on one line.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..].join(" | ")
}

fn names(name: &str) -> Vec<String> {
    if cfg!(windows) {
        vec![format!("{name}.exe"), format!("{name}.cmd"), name.to_owned()]
    } else {
        vec![name.to_owned()]
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let text = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ");
    match text.char_indices().nth(160) {
        Some((cut, _)) => format!("{} ...", &text[..cut]),
        None => text,
    }
}

fn describe(status: std::process::ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "a signal".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once_for_one_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").join("b.txt");
        assert!(write_if_changed(&path, b"one").unwrap());
        assert!(!write_if_changed(&path, b"one").unwrap());
        assert!(write_if_changed(&path, b"two").unwrap());
    }

    #[test]
    fn an_unknown_program_is_named_in_the_error() {
        let error = capture(&mut Command::new("adrag-no-such-program")).unwrap_err();
        assert!(format!("{error:#}").contains("adrag-no-such-program"));
        assert!(!succeeds(&mut Command::new("adrag-no-such-program")));
        assert_eq!(find_on_path("adrag-no-such-program"), None);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        assert_eq!(last_lines("a\n\nb\nc\n", 2), "b | c");
        assert_eq!(last_lines("", 2), "");
    }
}
