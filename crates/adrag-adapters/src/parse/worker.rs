//! The extraction worker: a process for one file, with limits on memory and time, that answers one line of JSON.
//!
//! Both ends are here. The worker opens nothing but the file it is given.

use super::failure::Unreadable;
use super::limits::{MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MAX_REPLY_BYTES, MAX_WALL};
use super::{folder, read};
use adrag_contract::{AppError, ErrorCode};
use adrag_core::ports::{ParsedDocument, PortError, PortResult, SourceFile};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Longest request line; a path is not longer.
const MAX_REQUEST_BYTES: u64 = 64 * 1024;
/// As much of the worker's complaints is read as tells one crash from another.
const MAX_COMPLAINT_BYTES: u64 = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Request {
    path: PathBuf,
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Document(ParsedDocument),
    Failure(AppError),
}

/// Runs the worker: reads one request from standard input, answers on standard output. The value is the exit code.
#[must_use]
pub fn run_worker() -> i32 {
    if let Err(error) = limit_self() {
        eprintln!("limits could not be set: {error}");
        return 3;
    }
    let mut line = String::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_REQUEST_BYTES)
        .read_line(&mut line);
    let request: Request = match read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
    {
        Ok(request) => request,
        Err(error) => {
            eprintln!("no usable request: {error}");
            return 2;
        }
    };
    let reply = match answer(&request) {
        Ok(document) => Reply::Document(document),
        Err(error) => Reply::Failure(error.error),
    };
    let Ok(reply) = serde_json::to_vec(&reply) else {
        return 4;
    };
    let mut out = std::io::stdout().lock();
    match out
        .write_all(&reply)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
    {
        Ok(()) => 0,
        Err(_) => 5,
    }
}

fn answer(request: &Request) -> PortResult<ParsedDocument> {
    let bytes = folder::read_bytes(&request.path)?;
    read::read_guarded(request.name.clone(), bytes).map_err(|failure| failure.into_port_error(&request.name))
}

#[cfg(unix)]
fn limit_self() -> std::io::Result<()> {
    use rlimit::{Resource, setrlimit};
    setrlimit(Resource::AS, MAX_MEMORY_BYTES, MAX_MEMORY_BYTES)?;
    // The second value kills for good, should the first signal be ignored.
    setrlimit(Resource::CPU, MAX_CPU_SECONDS, MAX_CPU_SECONDS + 1)?;
    setrlimit(Resource::CORE, 0, 0)
}

/// Other systems have no such limits; the wall clock of the caller remains.
#[cfg(not(unix))]
fn limit_self() -> std::io::Result<()> {
    Ok(())
}

/// Reads a file in a worker of its own, which ends with the call: finished, cancelled or out of time.
pub(super) async fn read_in_worker(
    program: &Path,
    argument: &str,
    file: &SourceFile,
    cancel: &CancellationToken,
) -> PortResult<ParsedDocument> {
    let mut child = Command::new(program)
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            internal(format!(
                "the reader `{}` could not be started: {error}",
                program.display()
            ))
        })?;
    let talk = tokio::time::timeout(MAX_WALL, converse(&mut child, file));
    let outcome = tokio::select! {
        () = cancel.cancelled() => Err(PortError::cancelled()),
        outcome = talk => outcome.unwrap_or_else(|_| Err(too_slow().into_port_error(&file.name))),
    };
    if outcome.is_err() {
        // Dropping would kill it too, but only a wait leaves no dead process behind. It may have ended by itself.
        let _ = child.kill().await;
    }
    outcome
}

async fn converse(child: &mut Child, file: &SourceFile) -> PortResult<ParsedDocument> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(internal("the reader has no pipes".to_owned()));
    };
    let request = Request {
        path: PathBuf::from(&file.path),
        name: file.name.clone(),
    };
    let mut line = serde_json::to_vec(&request).map_err(|error| internal(error.to_string()))?;
    line.push(b'\n');
    let ask = async {
        // A worker that died early is told by its exit status, not by this pipe.
        let _ = stdin.write_all(&line).await;
        drop(stdin);
    };
    let (mut reply, mut complaint) = (Vec::new(), Vec::new());
    let mut stdout = stdout.take(MAX_REPLY_BYTES + 1);
    let mut stderr = stderr.take(MAX_COMPLAINT_BYTES);
    let ((), replied, complained) = tokio::join!(
        ask,
        stdout.read_to_end(&mut reply),
        stderr.read_to_end(&mut complaint)
    );
    replied
        .and(complained)
        .map_err(|error| internal(format!("the reader broke off: {error}")))?;
    if reply.len() as u64 > MAX_REPLY_BYTES {
        return Err(Unreadable::too_much_text().into_port_error(&file.name));
    }
    let status = child
        .wait()
        .await
        .map_err(|error| internal(format!("the reader broke off: {error}")))?;
    if !status.success() {
        return Err(ended_badly(
            status,
            &String::from_utf8_lossy(&complaint),
            &file.name,
        ));
    }
    match serde_json::from_slice(&reply) {
        Ok(Reply::Document(document)) => Ok(document),
        Ok(Reply::Failure(error)) => Err(PortError {
            class: adrag_core::ports::ErrorClass::Rejected,
            error,
        }),
        Err(error) => Err(internal(format!("the reader answered nothing usable: {error}"))),
    }
}

fn ended_badly(status: ExitStatus, complaint: &str, name: &str) -> PortError {
    if matches!(status.code(), Some(2..=5)) {
        let first = complaint.lines().next().unwrap_or("no reason given");
        return internal(format!("the reader failed: {first}"));
    }
    let failure = if complaint.contains("memory allocation of") || complaint.contains("capacity overflow") {
        Unreadable::new("needs more than 1 GB of memory to be read").hint("split it into smaller files")
    } else if complaint.contains("overflowed its stack") {
        Unreadable::new("is nested too deeply to be read")
            .hint("the file may be damaged; open it in its own program and save it again")
    } else if ran_out_of_time(status) {
        too_slow()
    } else {
        read::crashed()
    };
    failure.into_port_error(name)
}

#[cfg(unix)]
fn ran_out_of_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    // SIGXCPU, and the SIGKILL that follows it.
    matches!(status.signal(), Some(24 | 9))
}

#[cfg(not(unix))]
fn ran_out_of_time(_status: ExitStatus) -> bool {
    false
}

fn too_slow() -> Unreadable {
    Unreadable::new("took longer than 30 s to read").hint("split it into smaller files")
}

fn internal(message: String) -> PortError {
    PortError::permanent(ErrorCode::Internal, message)
}
