//! Ollama by its own API, which says more than its OpenAI-compatible one: installed models, context size, schema.
//!
//! It never downloads a model: a missing one is an error that names the command.

mod decode;

use crate::engines::address::Address;
use crate::engines::fault::{Server, unless_cancelled};
use crate::engines::http::{self, Clients, Patience, Sent};
use crate::engines::{probe::Finding, reply};
use adrag_contract::{EngineId, ErrorCode, OllamaSettings};
use adrag_core::ports::{ChatModel, ChatRequest, ChatRole, ChatStream, PortError, PortResult};
use async_trait::async_trait;
use decode::LineDecoder;
use reqwest::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model of an Ollama server.
pub struct Ollama {
    client: Client,
    address: Address,
    server: Server,
    context_tokens: u32,
    patience: Patience,
}

impl Ollama {
    /// A model as the settings name it. Nothing is sent yet.
    pub(crate) fn new(clients: &Clients, settings: &OllamaSettings) -> PortResult<Self> {
        let address = Address::parse(&settings.base_url)?;
        Ok(Self {
            client: clients.of(&address)?,
            server: Server {
                engine: EngineId::Ollama,
                origin: address.origin(),
                model: settings.model.trim().to_owned(),
                secret: None,
            },
            address,
            context_tokens: settings.num_ctx,
            patience: Patience {
                silence: Duration::from_secs(settings.timeout_s.max(1)),
                retries: settings.retries.min(3),
            },
        })
    }

    /// The model itself where the settings name none: the first that is installed.
    pub(crate) async fn named(mut self, cancel: &CancellationToken) -> PortResult<Self> {
        if self.server.model.is_empty() {
            let models = unless_cancelled(cancel, self.models()).await?;
            self.server.model = models
                .into_iter()
                .next()
                .ok_or_else(|| self.nothing_installed())?;
        }
        Ok(self)
    }

    /// Whether the server would answer, by its version and its installed models.
    pub(crate) async fn probe(&self) -> PortResult<Finding> {
        let (models, version) = futures::join!(self.models(), self.version());
        let models = models?;
        let model = match self.server.model.as_str() {
            "" => models.first().cloned(),
            name => Some(name.to_owned()),
        };
        let error = match &model {
            None => Some(self.nothing_installed()),
            Some(name) if !models.iter().any(|installed| is_same(installed, name)) => {
                Some(self.server.unknown_model())
            }
            Some(_) => None,
        };
        Ok(Finding {
            model,
            models,
            // The list was there, so a version that is not is no reason to call the server away.
            about: Some(match version {
                Ok(version) => format!("{} at {}", version, self.server.origin),
                Err(_) => self.server.origin.clone(),
            }),
            error,
        })
    }

    async fn models(&self) -> PortResult<Vec<String>> {
        let list = self.get("api/tags").await?;
        let Some(entries) = list.get("models").and_then(Value::as_array) else {
            return Err(self.server.bad_reply("lists its models in an unknown form"));
        };
        let name = |entry: &Value| {
            let name = entry.get("name").or_else(|| entry.get("model"))?;
            name.as_str().map(str::to_owned)
        };
        Ok(entries.iter().filter_map(name).collect())
    }

    async fn version(&self) -> PortResult<String> {
        let reply = self.get("api/version").await?;
        match reply.get("version").and_then(Value::as_str) {
            Some(version) => Ok(version.chars().filter(|c| !c.is_control()).take(40).collect()),
            None => Err(self.server.bad_reply("tells no version")),
        }
    }

    async fn get(&self, path: &str) -> PortResult<Value> {
        http::get_json(&self.server, self.client.get(self.address.join(path)))
            .await?
            .map_err(|refusal| refusal.error(&self.server))
    }

    fn nothing_installed(&self) -> PortError {
        PortError::rejected(
            ErrorCode::UnknownModel,
            format!("Ollama at `{}` has no model installed", self.server.origin),
        )
        .with_hint("run `ollama pull llama3.2`, or another model of your choice")
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| json!({ "role": role(message.role), "content": message.content }))
            .collect();
        let mut options = json!({ "num_ctx": self.context_tokens, "temperature": request.temperature });
        if let Some(limit) = request.max_tokens {
            options["num_predict"] = json!(limit);
        }
        let mut body = json!({
            "model": self.server.model,
            "messages": messages,
            "stream": true,
            "options": options,
        });
        if let Some(schema) = &request.schema {
            body["format"] = schema.schema.clone();
        }
        body
    }
}

#[async_trait]
impl ChatModel for Ollama {
    fn engine(&self) -> EngineId {
        EngineId::Ollama
    }

    fn model(&self) -> String {
        self.server.model.clone()
    }

    async fn chat(&self, request: ChatRequest, cancel: &CancellationToken) -> PortResult<ChatStream> {
        let body = self.body(&request);
        let url = self.address.join("api/chat");
        let sent = http::send(&self.server, self.patience, cancel, || {
            self.client.post(url.clone()).json(&body)
        })
        .await?;
        match sent {
            Sent::Reply(response) => Ok(reply::stream(
                response,
                LineDecoder::default(),
                self.server.clone(),
                self.patience.silence,
                cancel.clone(),
            )),
            Sent::Refused(refusal) => Err(refusal.error(&self.server)),
        }
    }
}

fn role(role: ChatRole) -> &'static str {
    match role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    }
}

/// A name without a tag means the tag `latest`.
fn is_same(installed: &str, wanted: &str) -> bool {
    installed == wanted || installed.strip_suffix(":latest") == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_name_without_a_tag_means_the_latest() {
        assert!(is_same("llama3.2:latest", "llama3.2"));
        assert!(is_same("llama3.2:1b", "llama3.2:1b"));
        assert!(!is_same("llama3.2:1b", "llama3.2"));
    }
}
