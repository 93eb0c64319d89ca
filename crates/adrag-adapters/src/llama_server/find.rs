//! What is started: the program and the model file, looked for and looked at before anything runs.

use adrag_contract::{ErrorCode, LocalSettings};
use adrag_core::ports::{PortError, PortResult};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;

const NAME: &str = "llama-server";
const VARIABLE: &str = "ADRAG_LLAMA_SERVER";
const VERSION_LIMIT: Duration = Duration::from_millis(2_500);
/// First bytes of every GGUF file.
const MAGIC: [u8; 4] = *b"GGUF";

/// Program, model and what decides whether a running server is the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) model: PathBuf,
    pub(super) context_tokens: u32,
    pub(super) threads: u32,
}

impl Launch {
    /// Looks for what the settings name.
    pub(super) async fn of(settings: &LocalSettings) -> PortResult<Self> {
        let named = settings
            .binary
            .as_deref()
            .map(str::trim)
            .filter(|path| !path.is_empty());
        let program = match named {
            Some(path) => executable(Path::new(path)).ok_or_else(|| {
                missing(&format!("`{path}` is not a program"))
                    .with_hint("choose the `llama-server` program in Settings, or leave the field empty")
            })?,
            None => found().ok_or_else(|| {
                missing("there is no `llama-server` on this computer").with_hint(
                    "install llama.cpp so that `llama-server` is on PATH, or choose the program in Settings",
                )
            })?,
        };
        let file = settings
            .model_file
            .as_deref()
            .map(str::trim)
            .filter(|path| !path.is_empty());
        let model = PathBuf::from(file.ok_or_else(|| {
            missing("no model file is chosen for the local engine")
                .with_hint("choose a GGUF file in Settings")
        })?);
        check_gguf(&model).await?;
        Ok(Self {
            program,
            model,
            context_tokens: settings.context_tokens.max(256),
            threads: settings.threads,
        })
    }

    /// Name of the model: its file name without the ending.
    pub(super) fn model_name(&self) -> String {
        let stem = self.model.file_stem().unwrap_or(self.model.as_os_str());
        stem.to_string_lossy()
            .chars()
            .filter(|c| !c.is_control())
            .collect()
    }

    /// What the program says of its version.
    pub(super) async fn version(&self) -> PortResult<String> {
        let run = tokio::process::Command::new(&self.program)
            .arg("--version")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let unusable = |why: String| {
            missing(&format!("`{}` {why}", self.program.display()))
                .with_hint("choose a working `llama-server` program in Settings")
        };
        let output = match tokio::time::timeout(VERSION_LIMIT, run).await {
            Err(_) => return Err(unusable("does not tell its version in time".to_owned())),
            Ok(Err(error)) => return Err(unusable(format!("does not start: {error}"))),
            Ok(Ok(output)) => output,
        };
        if !output.status.success() {
            return Err(unusable(format!(
                "fails when asked for its version ({})",
                output.status
            )));
        }
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said);
        let line = said
            .lines()
            .find(|line| line.contains("version"))
            .or_else(|| said.lines().next());
        let line: String = line
            .unwrap_or_default()
            .chars()
            .filter(|c| !c.is_control())
            .take(80)
            .collect();
        Ok(format!("{NAME} {}", line.trim_start_matches("version:").trim()))
    }
}

/// The program of the environment, else the one on PATH.
fn found() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    named
        .and_then(|path| executable(Path::new(&path)))
        .or_else(|| on_path(NAME))
}

/// A program on PATH.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| executable(&folder.join(&file)))
}

/// The path made absolute, if a program is there.
fn executable(path: &Path) -> Option<PathBuf> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || !may_run(&metadata) {
        return None;
    }
    std::path::absolute(path).ok()
}

#[cfg(unix)]
fn may_run(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_metadata: &std::fs::Metadata) -> bool {
    true
}

async fn check_gguf(path: &Path) -> PortResult<()> {
    let shown = path.display();
    let choose = "choose a GGUF file in Settings";
    let mut file = tokio::fs::File::open(path).await.map_err(|error| {
        missing(&format!("cannot open the model file `{shown}`: {error}")).with_hint(choose)
    })?;
    let mut magic = [0; 4];
    match file.read_exact(&mut magic).await {
        Ok(_) if magic == MAGIC => Ok(()),
        _ => Err(missing(&format!("`{shown}` is not a GGUF file")).with_hint(choose)),
    }
}

fn missing(message: &str) -> PortError {
    PortError::rejected(ErrorCode::ModelMissing, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_no_gguf_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        std::fs::write(&path, b"not a model").unwrap();
        let error = check_gguf(&path).await.unwrap_err();
        assert_eq!(error.error.code, ErrorCode::ModelMissing);
        assert!(error.error.message.contains("model.gguf"), "{error}");
        std::fs::write(&path, b"GGUF\x03\0\0\0").unwrap();
        check_gguf(&path).await.unwrap();
    }
}
