//! Understands the lines of an Ollama chat reply: one JSON object each, the last with `done`.

use crate::engines::fault::Server;
use crate::engines::reply::{Decode, Meaning};
use adrag_core::ports::{ChatDelta, PortResult};
use serde::Deserialize;
use serde_json::Value;

#[derive(Default)]
pub(super) struct LineDecoder {
    done: bool,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Line {
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    error: Option<Value>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

impl Decode for LineDecoder {
    fn line(&mut self, line: &str, server: &Server) -> PortResult<Meaning> {
        if line.trim().is_empty() {
            return Ok(Meaning::Nothing);
        }
        let line: Line = serde_json::from_str(line)
            .map_err(|_| server.bad_reply("sent a piece of its answer that is damaged"))?;
        if let Some(error) = line.error.filter(|error| !error.is_null()) {
            return Err(server.reported(&error));
        }
        self.done |= line.done;
        self.prompt_tokens = line.prompt_eval_count.or(self.prompt_tokens);
        self.completion_tokens = line.eval_count.or(self.completion_tokens);
        let text = line
            .message
            .and_then(|message| message.content)
            .unwrap_or_default();
        Ok(match (text.is_empty(), self.done) {
            (false, _) => Meaning::Text(text),
            (true, true) => Meaning::End,
            (true, false) => Meaning::Nothing,
        })
    }

    fn end(&mut self, _server: &Server) -> PortResult<Meaning> {
        Ok(if self.done { Meaning::End } else { Meaning::Nothing })
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn usage(&mut self) -> Option<ChatDelta> {
        Some(ChatDelta::Usage {
            prompt_tokens: self.prompt_tokens.unwrap_or(0),
            completion_tokens: self.completion_tokens?,
        })
    }
}
