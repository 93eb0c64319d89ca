//! The server's process: started, watched, ended.
//!
//! It must not outlive the program. A thread of its own starts it, stays as long as it and kills it when told or when its
//! owner is dropped. Against `kill -9` of the program Linux has a signal to the child when the *thread* that started it
//! dies; setting it needs `unsafe` here, so the server is started through `setpriv --pdeathsig KILL` (util-linux) where
//! that exists. On other systems a program that is killed by force may leave the server behind.

use super::find::{self, Launch};
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How often the process is looked at.
const GLANCE: Duration = Duration::from_millis(50);
const STOP_LIMIT: Duration = Duration::from_secs(5);
const DROP_LIMIT: Duration = Duration::from_millis(500);
/// What is kept of its error output.
const TAIL_LINES: usize = 40;
const LONGEST_LINE: u64 = 2_000;
/// Lines of it that an error shows.
const SHOWN_LINES: usize = 3;
/// Keys of other servers: none of its business.
const SECRETS: [&str; 3] = ["OPENAI_API_KEY", "ADRAG_OPENAI_KEY", "ADRAG_QDRANT_KEY"];

/// A running server. Dropping it ends it.
pub(super) struct Child {
    port: u16,
    alive: Arc<AtomicBool>,
    tail: Arc<Mutex<VecDeque<String>>>,
    stop: Option<mpsc::Sender<()>>,
    ended: Option<oneshot::Receiver<()>>,
}

impl Child {
    /// Starts the server of a launch; also the key it asks for.
    pub(super) fn start(launch: &Launch) -> PortResult<(Self, String)> {
        let port = free_port()?;
        let key = format!(
            "{}{}",
            uuid::Uuid::new_v4().simple(),
            uuid::Uuid::new_v4().simple()
        );
        let command = command(launch, port, &key);
        let (stop, orders) = mpsc::channel();
        let (started, starting) = mpsc::channel();
        let (gone, ended) = oneshot::channel();
        let alive = Arc::new(AtomicBool::new(true));
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let keeper = Keeper {
            alive: Arc::clone(&alive),
            tail: Arc::clone(&tail),
            orders,
        };
        let failed = |error: std::io::Error| {
            PortError::permanent(
                ErrorCode::Unreachable,
                format!("cannot start `{}`: {error}", launch.program.display()),
            )
            .with_hint("choose a working `llama-server` program in Settings")
        };
        std::thread::Builder::new()
            .name("llama-server".to_owned())
            .spawn(move || {
                keeper.keep(command, &started);
                gone.send(()).ok();
            })
            .map_err(failed)?;
        match starting.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error)),
            Err(_) => return Err(failed(std::io::ErrorKind::BrokenPipe.into())),
        }
        let child = Self {
            port,
            alive,
            tail,
            stop: Some(stop),
            ended: Some(ended),
        };
        Ok((child, key))
    }

    /// The port it listens on.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// False once the process has ended.
    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// The end of what it wrote to its error output, in one line.
    pub(super) fn tail(&self) -> String {
        let tail = self
            .tail
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let telling = tail.iter().filter(|line| is_telling(line)).count();
        let wanted = |line: &&String| telling == 0 || is_telling(line);
        let lines: Vec<&str> = tail
            .iter()
            .rev()
            .filter(wanted)
            .take(SHOWN_LINES)
            .map(String::as_str)
            .collect();
        if lines.is_empty() {
            return "it said nothing".to_owned();
        }
        lines.into_iter().rev().collect::<Vec<_>>().join("; ")
    }

    /// Waits until the model is loaded; an error when the process ends before, or takes too long.
    pub(super) async fn wait_until_healthy(
        &self,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> PortResult<()> {
        let started = Instant::now();
        loop {
            if !self.is_alive() {
                return Err(PortError::permanent(
                    ErrorCode::Unreachable,
                    format!("llama-server ended while it was starting: {}", self.tail()),
                )
                .with_hint("check that the GGUF file suits this llama-server and fits the memory"));
            }
            if is_healthy(self.port).await {
                return Ok(());
            }
            if started.elapsed() > limit {
                return Err(PortError::transient(
                    ErrorCode::Timeout,
                    format!("llama-server did not load the model within {} s", limit.as_secs()),
                )
                .with_hint("choose a smaller model, or raise the start time limit in Settings"));
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(PortError::cancelled()),
                () = tokio::time::sleep(2 * GLANCE) => {}
            }
        }
    }

    /// Ends it and waits until it is gone.
    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(ended) = self.ended.take()
            && tokio::time::timeout(STOP_LIMIT, ended).await.is_err()
        {
            tracing::warn!("llama-server does not end");
        }
    }
}

impl Drop for Child {
    /// A program that ends right after must not leave it behind, so its end is waited for: a few milliseconds.
    fn drop(&mut self) {
        drop(self.stop.take());
        let Some(mut ended) = self.ended.take() else {
            return;
        };
        let patience = Instant::now();
        while matches!(ended.try_recv(), Err(oneshot::error::TryRecvError::Empty))
            && patience.elapsed() < DROP_LIMIT
        {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Lines that name a failure, rather than progress.
fn is_telling(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    [
        "error",
        "fail",
        "unable",
        "cannot",
        "invalid",
        "abort",
        "not found",
        "out of memory",
    ]
    .iter()
    .any(|word| line.contains(word))
}

/// `GET /health`: 200 once the model is loaded, 503 before. It needs no key. Spoken by hand, because nothing else about
/// the server may be relied on yet.
async fn is_healthy(port: u16) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream
            .write_all(
                format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
                    .as_bytes(),
            )
            .await?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await?;
        Ok::<_, std::io::Error>(&head[8..] == b" 200")
    };
    matches!(
        tokio::time::timeout(Duration::from_secs(1), ask).await,
        Ok(Ok(true))
    )
}

/// A port nobody listens on now. Another program may take it before the server does: then the server ends at once, and
/// the start fails with its words.
fn free_port() -> PortResult<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| {
            PortError::permanent(
                ErrorCode::Unreachable,
                format!("no port is free on this computer: {error}"),
            )
        })
}

fn command(launch: &Launch, port: u16, key: &str) -> Command {
    let mut command = match find::on_path("setpriv").filter(|_| cfg!(target_os = "linux")) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(&launch.program);
            command
        }
        None => Command::new(&launch.program),
    };
    command.arg("-m").arg(&launch.model);
    command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["-c", &launch.context_tokens.to_string(), "-np", "1"]);
    if launch.threads > 0 {
        command.args(["-t", &launch.threads.to_string()]);
    }
    // Every argument of the server can be set by a variable: what stands in this environment by chance must not.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LLAMA_") {
            command.env_remove(name);
        }
    }
    for name in SECRETS {
        command.env_remove(name);
    }
    command
        .env("LLAMA_API_KEY", key)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// The thread's side of a process.
struct Keeper {
    alive: Arc<AtomicBool>,
    tail: Arc<Mutex<VecDeque<String>>>,
    orders: mpsc::Receiver<()>,
}

impl Keeper {
    fn keep(self, mut command: Command, started: &mpsc::Sender<std::io::Result<()>>) {
        let spawned = command.spawn();
        // The key stands in its environment.
        drop(command);
        let mut process = match spawned {
            Ok(process) => process,
            Err(error) => {
                self.alive.store(false, Ordering::Release);
                started.send(Err(error)).ok();
                return;
            }
        };
        let reader = process.stderr.take().map(|stderr| {
            let tail = Arc::clone(&self.tail);
            std::thread::spawn(move || keep_tail(stderr, &tail))
        });
        started.send(Ok(())).ok();
        loop {
            match self.orders.recv_timeout(GLANCE) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                    end(&mut process);
                    break;
                }
            }
            match process.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    tracing::debug!(%status, "llama-server ended");
                    break;
                }
                Err(error) => {
                    tracing::warn!(%error, "llama-server cannot be watched and is ended");
                    end(&mut process);
                    break;
                }
            }
        }
        // Its last words are read before it is called dead; a grandchild that keeps the pipe open is not waited for.
        let patience = Instant::now();
        while reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && patience.elapsed() < Duration::from_secs(1)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.alive.store(false, Ordering::Release);
    }
}

fn end(process: &mut std::process::Child) {
    if let Err(error) = process.kill().and_then(|()| process.wait()) {
        tracing::warn!(%error, "llama-server cannot be ended");
    }
}

fn keep_tail(stderr: impl Read, tail: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text: String = String::from_utf8_lossy(&line)
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let mut tail = tail.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(text.to_owned());
    }
}
