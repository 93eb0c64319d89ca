//! The official `qdrant` program, started, watched and stopped by ours.
//!
//! It listens on two free ports of the loopback address, wants a key made for this run and handed over in its
//! environment, sends no telemetry, and keeps its data below ours. It ends with this program: on Unix a shell between
//! the two holds the end of a pipe, asks `qdrant` to stop when the pipe closes (because we stop it, or because we are
//! gone, however suddenly), and kills it when it does not. It is never downloaded: people bring it.

use super::ServerVectorIndex;
use crate::projection::{FolderLock, disk_error};
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use uuid::Uuid;

/// Patience for a start; after a crash with a large log it takes seconds.
const START: Duration = Duration::from_secs(60);
/// Patience for an orderly end, before it is killed.
const STOP: Duration = Duration::from_secs(8);
/// Free ports can be taken by others between choosing and using them.
const TRIES: usize = 3;

/// A `qdrant` process of ours; it ends when this is dropped.
#[derive(Debug)]
pub struct QdrantSidecar {
    child: Child,
    grpc_port: u16,
    key: String,
    _lock: FolderLock,
}

impl QdrantSidecar {
    /// Finds the program: the one given, else `qdrant` on PATH.
    ///
    /// # Errors
    /// `NotFound` with what to do.
    pub fn find(binary: Option<&Path>) -> PortResult<PathBuf> {
        let hint = "download `qdrant` from its project's releases and name it in Settings, under Storage, or use the \
                    embedded store";
        if let Some(binary) = binary {
            if binary.is_file() {
                return Ok(binary.to_owned());
            }
            let message = format!("there is no program `{}`", binary.display());
            return Err(PortError::permanent(ErrorCode::NotFound, message).with_hint(hint));
        }
        let name = format!("qdrant{}", std::env::consts::EXE_SUFFIX);
        let search = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&search)
            .map(|folder| folder.join(&name))
            .find(|candidate| candidate.is_file())
            .ok_or_else(|| {
                PortError::permanent(ErrorCode::NotFound, "there is no program `qdrant` on PATH")
                    .with_hint(hint)
            })
    }

    /// Starts the program over a storage folder and waits until it is ready.
    ///
    /// # Errors
    /// `DataFolderInUse` when another instance has the folder, `StoreFailed` when the program ends at once or does not
    /// get ready; the message carries its last words.
    pub async fn start(binary: &Path, storage: &Path) -> PortResult<Self> {
        let storage = &std::path::absolute(storage).map_err(|error| disk_error("find", storage, &error))?;
        let lock = FolderLock::take(storage)?;
        fs::create_dir_all(storage).map_err(|error| disk_error("make", storage, &error))?;
        let mut tries = 0;
        loop {
            tries += 1;
            let ports = free_ports().map_err(|error| {
                PortError::transient(
                    ErrorCode::StoreFailed,
                    format!("no free port for `qdrant`: {error}"),
                )
            })?;
            match spawn(binary, storage, ports).await {
                Ok((child, key)) => {
                    return Ok(Self {
                        child,
                        grpc_port: ports.1,
                        key,
                        _lock: lock,
                    });
                }
                Err(error) if tries < TRIES && error.error.message.contains("in use") => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// URL of its gRPC port.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.grpc_port)
    }

    /// Opens a collection of it as a vector index.
    ///
    /// # Errors
    /// Those of [`ServerVectorIndex::connect`].
    pub async fn connect(&self, collection: &str, dim: usize) -> PortResult<ServerVectorIndex> {
        ServerVectorIndex::connect(&self.url(), Some(self.key.clone()), collection, dim).await
    }

    /// True while it runs.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it ends by itself, which it should not: what an owner watches.
    pub async fn ended(&mut self) {
        // `Child::wait` would close the pipe, which means stop.
        while self.is_alive() {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// Stops it in order and waits for its end.
    pub async fn stop(mut self) {
        ask_to_stop(&mut self.child);
        if tokio::time::timeout(STOP, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
        }
    }
}

async fn spawn(binary: &Path, storage: &Path, ports: (u16, u16)) -> PortResult<(Child, String)> {
    // Two version-4 UUIDs: 244 random bits.
    let key = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let log = storage.with_file_name("qdrant.log");
    let log_file = fs::File::create(&log).map_err(|error| disk_error("write", &log, &error))?;
    let log_copy = log_file
        .try_clone()
        .map_err(|error| disk_error("write", &log, &error))?;
    let mut command = supervised(binary);
    command
        .current_dir(storage)
        .envs(settings(storage, ports, &key))
        .stdin(Stdio::piped())
        .stdout(log_file)
        .stderr(log_copy);
    let mut child = command.spawn().map_err(|error| {
        PortError::permanent(
            ErrorCode::StoreFailed,
            format!("cannot start `{}`: {error}", binary.display()),
        )
        .with_hint("check that it is a program for this system and may be executed")
    })?;
    match wait_until_ready(&mut child, ports.0).await {
        Ok(()) => Ok((child, key)),
        Err(why) => {
            ask_to_stop(&mut child);
            let _ = tokio::time::timeout(STOP, child.wait()).await;
            let message = format!("`{}` {why}{}", binary.display(), last_words(&log));
            Err(PortError::permanent(ErrorCode::StoreFailed, message)
                .with_hint("choose the embedded store in Settings if the program does not fit"))
        }
    }
}
fn settings(storage: &Path, ports: (u16, u16), key: &str) -> Vec<(&'static str, OsString)> {
    vec![
        ("QDRANT__SERVICE__HOST", "127.0.0.1".into()),
        ("QDRANT__SERVICE__HTTP_PORT", ports.0.to_string().into()),
        ("QDRANT__SERVICE__GRPC_PORT", ports.1.to_string().into()),
        ("QDRANT__SERVICE__API_KEY", key.into()),
        ("QDRANT__SERVICE__ENABLE_STATIC_CONTENT", "false".into()),
        ("QDRANT__SERVICE__ENABLE_CORS", "false".into()),
        ("QDRANT__STORAGE__STORAGE_PATH", storage.join("storage").into()),
        (
            "QDRANT__STORAGE__SNAPSHOTS_PATH",
            storage.join("snapshots").into(),
        ),
        ("QDRANT__TELEMETRY_DISABLED", "true".into()),
        ("QDRANT__LOG_LEVEL", "WARN".into()),
    ]
}

/// The program behind a shell that ends it when our end of the pipe closes. The shell's own standard input is the
/// pipe; `read` is built in, so the watcher is one process and holds nothing but the pipe.
#[cfg(unix)]
const WATCHDOG: &str = r#"
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
( read -r _ <&3
  kill -TERM "$child" 2>/dev/null
  tries=0
  while kill -0 "$child" 2>/dev/null && [ "$tries" -lt 5 ]; do sleep 1; tries=$((tries + 1)); done
  kill -KILL "$child" 2>/dev/null ) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"#;

#[cfg(unix)]
fn supervised(binary: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(WATCHDOG)
        .arg("qdrant-watchdog")
        .arg(binary)
        .arg("--disable-telemetry");
    command
}

#[cfg(not(unix))]
fn supervised(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command.arg("--disable-telemetry").kill_on_drop(true);
    command
}

fn ask_to_stop(child: &mut Child) {
    drop(child.stdin.take());
    if cfg!(not(unix)) {
        let _ = child.start_kill();
    }
}

fn free_ports() -> std::io::Result<(u16, u16)> {
    let first = TcpListener::bind(("127.0.0.1", 0))?;
    let second = TcpListener::bind(("127.0.0.1", 0))?;
    Ok((first.local_addr()?.port(), second.local_addr()?.port()))
}

async fn wait_until_ready(child: &mut Child, http_port: u16) -> Result<(), String> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(2))
        .build()
        .map_err(|error| format!("cannot be asked whether it is ready: {error}"))?;
    let ready = format!("http://127.0.0.1:{http_port}/readyz");
    let begun = Instant::now();
    while begun.elapsed() < START {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!("ended at once ({status})"));
        }
        if let Ok(reply) = client.get(&ready).send().await
            && reply.status().is_success()
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("was not ready after {} s", START.as_secs()))
}

/// The end of its log, for the message; cut short, in one line, without control characters.
fn last_words(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let tail = &text[text.len().saturating_sub(400)..];
    let tail = String::from_utf8_lossy(tail);
    let words: Vec<&str> = tail
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    match words.is_empty() {
        true => String::new(),
        false => format!(": {}", words.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_what_to_do() {
        let error = QdrantSidecar::find(Some(Path::new("/nowhere/qdrant"))).unwrap_err();
        assert_eq!(error.error.code, ErrorCode::NotFound);
        assert!(error.error.message.contains("/nowhere/qdrant"));
        assert!(error.error.hint.is_some());
    }

    #[cfg(unix)]
    fn program(folder: &Path, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("qdrant");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_ends_at_once_is_reported_with_its_last_words() {
        let home = tempfile::tempdir().unwrap();
        let binary = program(home.path(), "echo 'wrong format of storage' >&2; exit 3");
        let error = QdrantSidecar::start(&binary, &home.path().join("vectors"))
            .await
            .unwrap_err();
        assert_eq!(error.error.code, ErrorCode::StoreFailed);
        assert!(error.error.message.contains("wrong format of storage"), "{error}");
    }

    /// Waits for a file the script writes.
    #[cfg(unix)]
    async fn text_of(path: &Path) -> String {
        for _ in 0..400 {
            if let Ok(text) = fs::read_to_string(path)
                && text.ends_with('\n')
            {
                return text.trim().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("`{}` was never written", path.display());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_ignores_the_request_is_killed_when_the_pipe_closes() {
        let home = tempfile::tempdir().unwrap();
        let pid_file = home.path().join("pid");
        let script = format!(
            "trap '' TERM\necho $$ > '{}'\nwhile :; do sleep 0.2; done",
            pid_file.display()
        );
        let binary = program(home.path(), &script);
        let mut child = supervised(&binary).stdin(Stdio::piped()).spawn().unwrap();
        let pid = text_of(&pid_file).await;
        assert!(child.try_wait().unwrap().is_none(), "it runs");
        // What the end of this program does, however it comes: the pipe closes.
        drop(child.stdin.take());
        let status = tokio::time::timeout(Duration::from_secs(20), child.wait()).await;
        assert!(!status.expect("the shell ends too").unwrap().success());
        let alive = std::process::Command::new("kill")
            .args(["-0", &pid])
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!alive.success(), "process {pid} is gone");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_end_of_the_program_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let binary = program(home.path(), "exit 7");
        let mut child = supervised(&binary).stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let status = tokio::time::timeout(Duration::from_secs(20), child.wait()).await;
        assert_eq!(status.expect("it ends by itself").unwrap().code(), Some(7));
        drop(stdin);
    }

    /// Not a test: what the script of the next one runs in the place of `qdrant`, over the settings it was given.
    #[test]
    #[ignore = "plays the program for another test"]
    fn plays_qdrant() {
        use std::io::{Read, Write};
        let setting = |name: &str| std::env::var(name).unwrap();
        assert_eq!(setting("QDRANT__SERVICE__HOST"), "127.0.0.1");
        assert_eq!(setting("QDRANT__TELEMETRY_DISABLED"), "true");
        assert!(setting("QDRANT__SERVICE__API_KEY").len() >= 64);
        assert!(Path::new(&setting("QDRANT__STORAGE__STORAGE_PATH")).is_absolute());
        let port: u16 = setting("QDRANT__SERVICE__HTTP_PORT").parse().unwrap();
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /readyz "));
            let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
            stream.write_all(reply).unwrap();
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_gets_its_settings_is_waited_for_and_stops() {
        let home = tempfile::tempdir().unwrap();
        let this = std::env::current_exe().unwrap();
        let script = format!(
            "exec '{}' --ignored --exact qdrant::sidecar::tests::plays_qdrant",
            this.display()
        );
        let binary = program(home.path(), &script);
        let storage = home.path().join("vectors");
        let mut sidecar = QdrantSidecar::start(&binary, &storage).await.unwrap();
        assert!(sidecar.is_alive());
        assert!(sidecar.url().starts_with("http://127.0.0.1:"));
        let second = QdrantSidecar::start(&binary, &storage).await.unwrap_err();
        assert_eq!(second.error.code, ErrorCode::DataFolderInUse);
        let begun = Instant::now();
        sidecar.stop().await;
        assert!(begun.elapsed() < STOP, "it stopped when asked");
        // Dropping it is enough as well.
        let sidecar = QdrantSidecar::start(&binary, &storage).await.unwrap();
        drop(sidecar);
        QdrantSidecar::start(&binary, &storage)
            .await
            .unwrap()
            .stop()
            .await;
    }
}
