//! An OpenAI-compatible server of bare sockets, because no server library can be talked into these faults.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What it does with a chat request.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// Streams an answer that cites.
    Good,
    /// A status with a body.
    Status(u16, &'static str),
    /// Takes the request and says nothing.
    Silence,
    /// Half an object where a whole one was announced.
    HalfJson,
    /// Closes without a word.
    ClosedAtOnce,
    /// Streams some of an answer and closes.
    ClosedMidStream,
    /// Streams some of an answer and falls silent.
    SilentMidStream,
    /// Streams bytes that are no UTF-8.
    InvalidUtf8,
}

/// The server, for as long as this lives.
pub struct FakeServer {
    port: u16,
    asked: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl FakeServer {
    /// Starts it on a port of its own.
    pub fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        thread::spawn({
            let (asked, over) = (asked.clone(), over.clone());
            move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let (asked, over) = (asked.clone(), over.clone());
                    thread::spawn(move || serve(stream.unwrap(), reply, &asked, &over));
                }
            }
        });
        Self { port, asked, over }
    }

    /// What `--base-url` takes.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Chat requests so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then lets go of the port.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        thread::sleep(Duration::from_millis(50));
    }
}

/// The client may go at any moment; that is not the server's fault.
fn serve(mut stream: TcpStream, reply: Reply, asked: &AtomicUsize, over: &AtomicBool) {
    let Some((target, body)) = read_request(&stream) else {
        return;
    };
    if !target.contains("chat/completions") {
        let _ = respond(
            &mut stream,
            200,
            "application/json",
            br#"{"object":"list","data":[{"id":"m","object":"model"}]}"#,
        );
        return;
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let streams = body.contains("\"stream\":true");
    let wait = || {
        while !over.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(20));
        }
    };
    let _ = match reply {
        Reply::Status(status, body) => respond(&mut stream, status, "application/json", body.as_bytes()),
        Reply::Silence => {
            wait();
            Ok(())
        }
        Reply::ClosedAtOnce => Ok(()),
        Reply::HalfJson => half_json(&mut stream, streams),
        Reply::InvalidUtf8 if streams => begin_stream(&mut stream).and_then(|()| {
            stream.write_all(
                b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\xc3\x28\"}}]}\n\n",
            )
        }),
        Reply::InvalidUtf8 => respond(&mut stream, 200, "application/json", b"\xff\xfe\xc3\x28"),
        Reply::Good | Reply::ClosedMidStream | Reply::SilentMidStream if !streams => {
            respond(&mut stream, 200, "application/json", whole_answer().as_bytes())
        }
        Reply::Good => begin_stream(&mut stream)
            .and_then(|()| deltas(&mut stream))
            .and_then(|()| stream.write_all(finished().as_bytes())),
        Reply::ClosedMidStream => begin_stream(&mut stream).and_then(|()| deltas(&mut stream)),
        Reply::SilentMidStream => {
            let sent = begin_stream(&mut stream).and_then(|()| deltas(&mut stream));
            wait();
            sent
        }
    };
}

fn read_request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut target = String::new();
    reader.read_line(&mut target).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: String = String::from_utf8(body)
        .ok()?
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect();
    Some((target, body))
}

fn respond(stream: &mut TcpStream, status: u16, kind: &str, body: &[u8]) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}

fn half_json(stream: &mut TcpStream, streams: bool) -> std::io::Result<()> {
    if streams {
        begin_stream(stream)?;
        return stream.write_all(b"data: {\"choices\":[{\"index\":0,\"del\n\ndata: [DONE]\n\n");
    }
    respond(
        stream,
        200,
        "application/json",
        br#"{"choices":[{"index":0,"mess"#,
    )
}

fn begin_stream(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

fn deltas(stream: &mut TcpStream) -> std::io::Result<()> {
    for piece in ["The span ", "measures ", "412 metres ", "[1]."] {
        let event = serde_json::json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": { "content": piece }, "finish_reason": null }],
        });
        write!(stream, "data: {event}\n\n")?;
        stream.flush()?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn finished() -> String {
    let event = serde_json::json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
    });
    format!("data: {event}\n\ndata: [DONE]\n\n")
}

fn whole_answer() -> String {
    serde_json::json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{
            "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": "The span measures 412 metres [1]." },
        }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    })
    .to_string()
}
