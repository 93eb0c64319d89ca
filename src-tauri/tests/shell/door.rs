//! A running `adrag serve`, and the least of HTTP that talks to it.

use crate::program::{Place, program};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

/// The server, for as long as this lives.
pub struct Door {
    child: Child,
    pub port: u16,
    pub token: Option<String>,
}

/// A reply, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The data of every event of a stream.
    pub fn events(&self) -> Vec<Value> {
        self.body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl Door {
    /// Opens it on a port of its own.
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
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"));
        let url = told["url"].as_str().unwrap();
        Self {
            child,
            port: url.rsplit(':').next().unwrap().parse().unwrap(),
            token: told["token"].as_str().map(str::to_owned),
        }
    }

    /// Sends a request with the token and reads the whole reply.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let token = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers: Vec<(&str, &str)> = Vec::new();
        if let Some(token) = &token {
            headers.push(("Authorization", token));
        }
        let body = body.map(Value::to_string);
        if body.is_some() {
            headers.push(("Content-Type", "application/json"));
        }
        self.send(method, path, &headers, body.unwrap_or_default().as_bytes())
    }

    /// Sends a request as it is said and reads the whole reply.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.begin(method, path, headers, body);
        let mut bytes = Vec::new();
        // A server that refuses early may reset what was still on its way.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split_whitespace()
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Reply {
            status,
            body: if chunked { unchunked(body) } else { body.to_owned() },
            head: head.to_owned(),
        }
    }

    /// Sends a request and leaves its reply to be read.
    pub fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let _ = stream.write_all(body);
        stream
    }

    /// Sends a file as a form.
    pub fn upload(&self, path: &str, name: &str, content: &[u8]) -> Reply {
        let token = self
            .token
            .as_ref()
            .map(|token| format!("Bearer {token}"))
            .unwrap_or_default();
        let mut body = format!(
            "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--edge--\r\n");
        let headers = [
            ("Authorization", token.as_str()),
            ("Content-Type", "multipart/form-data; boundary=edge"),
        ];
        self.send("POST", path, &headers, &body)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of a reply that came in chunks.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else {
            break;
        };
        let Some(chunk) = rest.get(..size).filter(|_| size > 0) else {
            break;
        };
        whole.push_str(chunk);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
