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
    /// Streams an answer until nobody reads it any more.
    Endless,
    /// Streams some of an answer, then the rest of a piece a byte a second.
    Trickles,
    /// 200 MB without a line end.
    Huge,
}

/// The server, for as long as this lives.
pub struct FakeServer {
    port: u16,
    asked: Arc<AtomicUsize>,
    writing: Arc<AtomicUsize>,
    left: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl FakeServer {
    /// Starts it on a port of its own.
    pub fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let (writing, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        thread::spawn({
            let (asked, over) = (asked.clone(), over.clone());
            let (writing, left) = (writing.clone(), left.clone());
            move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let (asked, over) = (asked.clone(), over.clone());
                    let (writing, left) = (writing.clone(), left.clone());
                    thread::spawn(move || {
                        let stream = stream.unwrap();
                        match reply {
                            Reply::Endless => endless(stream, &asked, &writing, &left, &over),
                            _ => serve(stream, reply, &asked, &over),
                        }
                    });
                }
            }
        });
        Self {
            port,
            asked,
            writing,
            left,
            over,
        }
    }

    /// What `--base-url` takes.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Answers without end that nobody reads any more.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// Whether an answer without end begins within five seconds.
    pub fn is_writing(&self) -> bool {
        within(|| self.writing.load(Ordering::SeqCst) > 0)
    }

    /// Whether that many are left within five seconds.
    pub fn sees_left(&self, count: usize) -> bool {
        within(|| self.left() >= count)
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
        Reply::Good | Reply::ClosedMidStream | Reply::SilentMidStream | Reply::Trickles | Reply::Huge
            if !streams =>
        {
            respond(&mut stream, 200, "application/json", whole_answer().as_bytes())
        }
        // Only what streams is without end; the planner and the critic are answered.
        Reply::Endless => Ok(()),
        Reply::Trickles => begin_stream(&mut stream)
            .and_then(|()| deltas(&mut stream))
            .and_then(|()| trickle(&mut stream, over)),
        Reply::Huge => begin_stream(&mut stream)
            .and_then(|()| deltas(&mut stream))
            .and_then(|()| huge(&mut stream)),
        Reply::Good if asks_for_json(&body) => begin_stream(&mut stream)
            .and_then(|()| stream.write_all(delta(&judgement()).as_bytes()))
            .and_then(|()| stream.write_all(finished().as_bytes())),
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
        stream.write_all(delta(piece).as_bytes())?;
        stream.flush()?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn delta(piece: &str) -> String {
    let event = serde_json::json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": { "content": piece }, "finish_reason": null }],
    });
    format!("data: {event}\n\n")
}

fn asks_for_json(body: &str) -> bool {
    body.contains("json_schema") || body.contains("json_object")
}

/// What is both a plan and a criticism.
fn judgement() -> String {
    serde_json::json!({
        "retrieve": true, "use_web": false, "kind": "factual",
        "standalone_question": "How long is the span of the Vellmar bridge?", "sub_questions": [],
        "reasoning": "it asks for a length",
        "grounded": true, "confidence": 0.9, "issues": [], "missing": [], "should_retry": false,
    })
    .to_string()
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

fn within(holds: impl Fn() -> bool) -> bool {
    for _ in 0..100 {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Streams until a write fails: that is when the other side has closed the connection.
fn endless(
    mut stream: TcpStream,
    asked: &AtomicUsize,
    writing: &AtomicUsize,
    left: &AtomicUsize,
    over: &AtomicBool,
) {
    let Some((target, body)) = read_request(&stream) else {
        return;
    };
    asked.fetch_add(1, Ordering::SeqCst);
    // Questions for JSON (the plan, the criticism) are answered with something else; rules take over then.
    if !target.contains("chat/completions") || asks_for_json(&body) {
        let _ = respond(&mut stream, 200, "application/json", whole_answer().as_bytes());
        return;
    }
    writing.fetch_add(1, Ordering::SeqCst);
    let mut writes = begin_stream(&mut stream);
    while writes.is_ok() && !over.load(Ordering::SeqCst) {
        writes = stream
            .write_all(delta("word ").as_bytes())
            .and_then(|()| stream.flush());
        thread::sleep(Duration::from_millis(20));
    }
    left.fetch_add(1, Ordering::SeqCst);
}

fn trickle(stream: &mut TcpStream, over: &AtomicBool) -> std::io::Result<()> {
    for byte in delta("and on and on").bytes() {
        if over.load(Ordering::SeqCst) {
            break;
        }
        stream.write_all(&[byte])?;
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

fn huge(stream: &mut TcpStream) -> std::io::Result<()> {
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        stream.write_all(&piece)?;
    }
    Ok(())
}
