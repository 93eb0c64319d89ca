//! A running `adrag serve` and a client of bare sockets.

use crate::program::{Place, program};
use adrag::places::Places;
use adrag_adapters::compose::{self, Options};
use adrag_contract::Settings;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

pub const BRIDGE: &str = "# The Vellmar bridge\n\nThe Vellmar bridge was opened in 1931 and closed for repair in 1987.\n\n\
    Its span measures 412 metres between the two towers.\n";
pub const QUESTION: &str = "How long is the span of the Vellmar bridge?";

/// A library with one document.
pub fn filled() -> Place {
    let place = Place::new();
    place.write("bridge.md", BRIDGE);
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    place
}

/// Changes the settings of a library that nobody has open.
pub fn set(place: &Place, change: impl FnOnce(&mut Settings)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let places = Places::find(Some(place.data())).unwrap();
        let options = Options {
            extract_worker: None,
            ..places.options().unwrap()
        };
        let engine = compose::open(options).await.unwrap();
        let mut settings = engine.settings().await;
        change(&mut settings);
        engine.save_settings(settings).await.unwrap();
        engine.close().await;
    });
}

/// A running server. Dropping it kills it.
pub struct Door {
    child: Child,
    pub address: SocketAddr,
    pub token: String,
}

impl Door {
    /// Starts it on a free port.
    pub fn open(place: &Place, more: &[&str]) -> Self {
        let mut child = program()
            .arg("--data-dir")
            .arg(place.data())
            .args(["serve", "--port", "0", "--json"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"));
        let url = said["url"].as_str().unwrap_or_else(|| panic!("{said}"));
        Self {
            child,
            address: url.trim_start_matches("http://").parse().unwrap(),
            token: said["token"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// A request with the token.
    pub fn ask(&self, method: &str, path: &str) -> Request<'_> {
        self.bare(method, path)
            .with("Authorization", &format!("Bearer {}", self.token))
    }

    /// A request without it.
    pub fn bare(&self, method: &str, path: &str) -> Request<'_> {
        Request {
            door: self,
            line: format!("{method} {path} HTTP/1.1"),
            headers: vec![
                ("Host".to_owned(), self.address.to_string()),
                ("Connection".to_owned(), "close".to_owned()),
            ],
            body: Vec::new(),
        }
    }

    /// Asks the process to end, as the system does, and gives its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        let ended = std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(ended.success());
        for _ in 0..200 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request that is being written.
pub struct Request<'a> {
    door: &'a Door,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request<'_> {
    /// Sets a header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().into_bytes())
    }

    /// Sets a body.
    pub fn body(mut self, kind: &str, body: Vec<u8>) -> Self {
        self = self.with("Content-Type", kind);
        self.body = body;
        self
    }

    /// Sets a form with one file.
    pub fn file(self, name: &str, content: &[u8]) -> Self {
        let mut body = format!(
            "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--xyz--\r\n");
        self.body("multipart/form-data; boundary=xyz", body)
    }

    /// Sends it and reads the whole answer.
    pub fn send(self) -> Answer {
        let mut stream = self.stream();
        let mut body = Vec::new();
        while let Some(piece) = stream.piece() {
            body.extend(piece);
        }
        Answer {
            status: stream.status,
            headers: stream.headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// Sends it and reads the head of the answer alone.
    pub fn stream(self) -> Stream {
        let mut connection = TcpStream::connect(self.door.address).unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut head = self.line;
        for (name, value) in &self.headers {
            head.push_str(&format!("\r\n{name}: {value}"));
        }
        if !self.headers.iter().any(|(name, _)| name == "Content-Length") {
            head.push_str(&format!("\r\nContent-Length: {}", self.body.len()));
        }
        head.push_str("\r\n\r\n");
        connection.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body may close before it has read all of it.
        let _ = connection.write_all(&self.body);
        Stream::of(connection)
    }
}

/// An answer that is still arriving.
pub struct Stream {
    reader: BufReader<TcpStream>,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    buffer: String,
}

impl Stream {
    fn of(connection: TcpStream) -> Self {
        let mut reader = BufReader::new(connection);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_else(|| panic!("no answer: `{line}`"));
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Self {
            reader,
            status,
            headers,
            buffer: String::new(),
        }
    }

    fn piece(&mut self) -> Option<Vec<u8>> {
        let chunked = self
            .headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        if !chunked {
            let mut rest = Vec::new();
            self.reader.read_to_end(&mut rest).unwrap();
            return (!rest.is_empty()).then_some(rest);
        }
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        if size == 0 {
            return None;
        }
        let mut piece = vec![0; size + 2];
        self.reader.read_exact(&mut piece).unwrap();
        piece.truncate(size);
        Some(piece)
    }

    /// The next event of a stream, as its fields; nothing at its end.
    pub fn event(&mut self) -> Option<Vec<(String, String)>> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let fields = event
                    .lines()
                    .filter_map(|line| line.split_once(": "))
                    .filter(|(name, _)| !name.is_empty())
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect::<Vec<_>>();
                self.buffer = rest.to_owned();
                if !fields.is_empty() {
                    return Some(fields);
                }
                continue;
            }
            let piece = self.piece()?;
            self.buffer.push_str(&String::from_utf8(piece).unwrap());
        }
    }

    /// The data of the next event.
    pub fn data(&mut self) -> Option<Value> {
        let fields = self.event()?;
        let data = fields.iter().find(|(name, _)| name == "data");
        data.map(|(_, data)| serde_json::from_str(data).unwrap())
    }

    /// The data of all events to come.
    pub fn all(mut self) -> Vec<Value> {
        std::iter::from_fn(move || self.data()).collect()
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON, once the status is as expected.
    pub fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error in the body, once the status is as expected.
    pub fn fault(&self, status: u16) -> Value {
        let fault = self.is(status)["error"].clone();
        for key in ["code", "message", "hint"] {
            assert!(
                fault[key].as_str().is_some_and(|said| !said.is_empty()),
                "{self:?}"
            );
        }
        fault
    }
}
