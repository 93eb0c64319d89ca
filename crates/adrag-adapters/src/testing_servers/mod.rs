//! Language model servers for tests: they speak the protocols of OpenAI and Ollama on a port of this computer, answer as
//! told, misbehave as told, and remember what they were asked and whether the other side closed its connection.
//!
//! They are for tests of this crate and of the whole program: behind the feature `test-support`.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod body;
mod ollama;
mod openai;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `POST /v1/chat/completions`, `GET /v1/models`.
    Openai,
    /// `POST /api/chat`, `GET /api/tags`, `GET /api/version`.
    Ollama,
}

/// How a call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Well.
    None,
    /// A status with the error body of the protocol; also the `Retry-After` in seconds, if any.
    Status(u16, Option<u32>),
    /// The model is not there: 404 in the words of the protocol.
    UnknownModel,
    /// The request is taken and nothing comes back.
    Hangs,
    /// The answer begins and stops, the connection stays open.
    HangsMidway,
    /// The whole answer, a byte a second.
    Trickles,
    /// The answer stops in the middle of a JSON document, and the reply ends as if whole.
    HalfJson,
    /// The connection is closed in the middle of the answer.
    ClosesMidway,
    /// The reply ends in the middle of the answer without the mark of its end.
    EndsMidway,
    /// The answer holds bytes that are no UTF-8.
    InvalidUtf8,
    /// 200 MB without a line end.
    Huge,
    /// A page of HTML with status 200.
    Html,
    /// Status 307 to another address.
    RedirectsTo(String),
    /// An error document inside the stream, after the first half.
    ErrorMidway,
    /// Status 400 whose message names the part of the request with this name, when the request has it; else well.
    RefusesField(String),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Path.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body; null where there was none.
    pub body: Value,
}

impl Recorded {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

type Answering = dyn Fn(&Value) -> Vec<String> + Send + Sync;

struct Shared {
    protocol: Protocol,
    /// Faults of the calls to come; the last one stays.
    faults: Mutex<VecDeque<Fault>>,
    answer: Mutex<Arc<Answering>>,
    models: Mutex<Vec<String>>,
    key: Mutex<Option<String>>,
    requests: Mutex<Vec<Recorded>>,
    closed: AtomicUsize,
}

/// A running server. Dropping it closes it.
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl FakeServer {
    /// Starts a server that answers every question with one sentence.
    pub async fn start(protocol: Protocol) -> Self {
        let shared = Arc::new(Shared {
            protocol,
            faults: Mutex::new(VecDeque::from([Fault::None])),
            answer: Mutex::new(Arc::new(|_| pieces(&["Blue whales", " weigh", " 150 tonnes."]))),
            models: Mutex::new(pieces(&["fake-1", "fake-2"])),
            key: Mutex::new(None),
            requests: Mutex::default(),
            closed: AtomicUsize::new(0),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            shared,
            task,
        }
    }

    /// The base URL as Settings want it for this protocol.
    pub fn base_url(&self) -> String {
        match self.shared.protocol {
            Protocol::Openai => format!("http://{}/v1", self.address),
            Protocol::Ollama => format!("http://{}", self.address),
        }
    }

    /// Answers with these pieces from now on.
    pub fn answer_with(&self, answer: &[&str]) {
        let answer = pieces(answer);
        self.answer_by(move |_| answer.clone());
    }

    /// Answers by a function from the body of the request to the pieces of the answer.
    pub fn answer_by(&self, answer: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static) {
        *self.shared.answer.lock().unwrap() = Arc::new(answer);
    }

    /// Every call from now on goes like this.
    pub fn behave(&self, fault: Fault) {
        self.behave_in_turn([fault]);
    }

    /// The next calls go like this, one after the other; the last stays.
    pub fn behave_in_turn(&self, faults: impl IntoIterator<Item = Fault>) {
        *self.shared.faults.lock().unwrap() = faults.into_iter().collect();
    }

    /// Lists these models.
    pub fn offer(&self, models: &[&str]) {
        *self.shared.models.lock().unwrap() = pieces(models);
    }

    /// Refuses every request without this key.
    pub fn require_key(&self, key: &str) {
        *self.shared.key.lock().unwrap() = Some(key.to_owned());
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The requests for an answer so far.
    pub fn chats(&self) -> Vec<Recorded> {
        let mut requests = self.requests();
        requests.retain(|request| {
            request.path.ends_with("/chat/completions") || request.path.ends_with("/api/chat")
        });
        requests
    }

    /// How many answers the other side did not wait for.
    pub fn closed_by_client(&self) -> usize {
        self.shared.closed.load(Ordering::SeqCst)
    }

    /// Waits up to a second until that many were not waited for.
    pub async fn sees_closed(&self, count: usize) -> bool {
        for _ in 0..100 {
            if self.closed_by_client() >= count {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Counts a call that the other side left.
struct Waiting {
    shared: Arc<Shared>,
    done: bool,
}

impl Waiting {
    fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.done {
            self.shared.closed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let bytes = axum::body::to_bytes(body, 16 * 1024 * 1024)
        .await
        .unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    shared.requests.lock().unwrap().push(Recorded {
        path: path.clone(),
        headers: recorded(&parts.headers),
        body: body.clone(),
    });
    let key = shared.key.lock().unwrap().clone();
    if key.is_some_and(|key| !has_key(&parts.headers, &key)) {
        return refuse(&shared, 401, None);
    }
    let models = shared.models.lock().unwrap().clone();
    match (shared.protocol, path.as_str()) {
        (Protocol::Openai, "/v1/models") => axum::Json(openai::models(&models)).into_response(),
        (Protocol::Ollama, "/api/tags") => axum::Json(ollama::models(&models)).into_response(),
        (Protocol::Ollama, "/api/version") => axum::Json(ollama::version()).into_response(),
        (Protocol::Openai, "/v1/chat/completions") | (Protocol::Ollama, "/api/chat") => {
            chat(shared, &body).await
        }
        _ => (StatusCode::NOT_FOUND, "404 page not found").into_response(),
    }
}

async fn chat(shared: Arc<Shared>, body: &Value) -> Response {
    let fault = {
        let mut faults = shared.faults.lock().unwrap();
        if faults.len() > 1 {
            faults.pop_front()
        } else {
            faults.front().cloned()
        }
    };
    let answer = Arc::clone(&*shared.answer.lock().unwrap());
    let frames = match shared.protocol {
        Protocol::Openai => openai::frames(&answer(body)),
        Protocol::Ollama => ollama::frames(&answer(body)),
    };
    match fault.unwrap_or(Fault::None) {
        Fault::Status(status, wait) => refuse(&shared, status, wait),
        Fault::UnknownModel => {
            let model = body["model"].as_str().unwrap_or_default();
            let error = match shared.protocol {
                Protocol::Openai => openai::unknown_model(model),
                Protocol::Ollama => ollama::unknown_model(model),
            };
            (StatusCode::NOT_FOUND, axum::Json(error)).into_response()
        }
        Fault::Hangs => {
            let waiting = Waiting { shared, done: false };
            std::future::pending::<()>().await;
            waiting.done();
            StatusCode::NO_CONTENT.into_response()
        }
        Fault::Html => (
            [("content-type", "text/html")],
            "<html><body>It works!</body></html>",
        )
            .into_response(),
        Fault::RedirectsTo(url) => (StatusCode::TEMPORARY_REDIRECT, [("location", url)]).into_response(),
        Fault::RefusesField(name) if body.get(&name).is_some_and(|value| !value.is_null()) => {
            let error = serde_json::json!({"error": {"message": format!("Unsupported parameter: '{name}'")}});
            (StatusCode::BAD_REQUEST, axum::Json(error)).into_response()
        }
        fault => body::stream(shared, &frames, &fault),
    }
}

fn refuse(shared: &Shared, status: u16, wait: Option<u32>) -> Response {
    let message = format!("this is the fault {status} of a test");
    let error = match shared.protocol {
        Protocol::Openai => serde_json::json!({"error": {"message": message, "type": "test", "code": null}}),
        Protocol::Ollama => serde_json::json!({ "error": message }),
    };
    let mut response = (StatusCode::from_u16(status).unwrap(), axum::Json(error)).into_response();
    if let Some(seconds) = wait {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response
}

fn recorded(headers: &HeaderMap) -> Vec<(String, String)> {
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (
            name.as_str().to_owned(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    };
    headers.iter().map(header).collect()
}

fn has_key(headers: &HeaderMap, key: &str) -> bool {
    headers
        .get("authorization")
        .is_some_and(|value| value.as_bytes() == format!("Bearer {key}").as_bytes())
}

fn pieces(pieces: &[&str]) -> Vec<String> {
    pieces.iter().map(|piece| (*piece).to_owned()).collect()
}
