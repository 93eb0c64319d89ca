//! Understands the server-sent events of a chat reply (WHATWG HTML, section 9.2), and forgives servers what does no harm:
//! a reply in one piece, a missing `[DONE]` after a `finish_reason`, fields that are absent or null.

use crate::engines::fault::Server;
use crate::engines::reply::{Decode, Meaning};
use adrag_core::ports::{ChatDelta, PortError, PortResult};
use serde::Deserialize;
use serde_json::Value;

#[derive(Default)]
pub(super) struct EventDecoder {
    /// Data lines of the event being read.
    event: Vec<String>,
    /// Lines that are no event: a reply in one piece, or a page that is no reply at all.
    other: String,
    finished: bool,
    concluded: bool,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Part>,
    message: Option<Part>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Decode for EventDecoder {
    fn line(&mut self, line: &str, server: &Server) -> PortResult<Meaning> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            return self.dispatch(server);
        }
        if let Some(data) = line.strip_prefix("data:") {
            self.event.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
        } else if let Some(error) = line.strip_prefix("error:") {
            let error = serde_json::from_str(error.trim()).unwrap_or(Value::String(error.trim().to_owned()));
            return Err(server.reported(&error));
        } else if !is_event_field(line) {
            self.other.push_str(line);
            self.other.push('\n');
        }
        Ok(Meaning::Nothing)
    }

    fn end(&mut self, server: &Server) -> PortResult<Meaning> {
        if !self.event.is_empty() {
            return self.dispatch(server);
        }
        if self.finished || self.concluded {
            return Ok(Meaning::End);
        }
        let other = std::mem::take(&mut self.other);
        if other.trim().is_empty() {
            return Ok(Meaning::Nothing);
        }
        match serde_json::from_str::<Chunk>(&other) {
            Ok(chunk) => {
                self.concluded = true;
                self.chunk(chunk, server)
            }
            Err(_) => Err(server.bad_reply("answered something that is no chat reply")),
        }
    }

    fn is_complete(&self) -> bool {
        self.finished
    }

    fn usage(&mut self) -> Option<ChatDelta> {
        self.usage.take().map(|usage| ChatDelta::Usage {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
        })
    }
}

impl EventDecoder {
    fn dispatch(&mut self, server: &Server) -> PortResult<Meaning> {
        if self.event.is_empty() {
            return Ok(Meaning::Nothing);
        }
        let data = std::mem::take(&mut self.event).join("\n");
        if data.trim() == "[DONE]" {
            return Ok(Meaning::End);
        }
        let chunk = serde_json::from_str::<Chunk>(&data)
            .map_err(|_| server.bad_reply("sent a piece of its answer that is damaged"))?;
        self.chunk(chunk, server)
    }

    fn chunk(&mut self, chunk: Chunk, server: &Server) -> PortResult<Meaning> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(server.reported(&error));
        }
        self.usage = chunk.usage.or(self.usage);
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else {
            return Ok(Meaning::Nothing);
        };
        let part = choice.delta.or(choice.message);
        let (content, refusal) = part.map_or((None, None), |part| (part.content, part.refusal));
        let text = content
            .filter(|text| !text.is_empty())
            .or(refusal)
            .unwrap_or_default();
        if let Some(reason) = choice.finish_reason {
            if reason == "content_filter" {
                return Err(filtered(server));
            }
            self.finished = true;
        }
        Ok(if text.is_empty() {
            Meaning::Nothing
        } else {
            Meaning::Text(text)
        })
    }
}

fn filtered(server: &Server) -> PortError {
    let mut error = server.bad_reply("stopped its answer by a content filter");
    error.class = adrag_core::ports::ErrorClass::Rejected;
    error.with_hint("ask in other words, or choose another model")
}

/// Comments and the fields of an event other than its data.
fn is_event_field(line: &str) -> bool {
    line.starts_with(':')
        || ["event:", "id:", "retry:"]
            .iter()
            .any(|field| line.starts_with(field))
}
