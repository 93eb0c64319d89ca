//! What the tests of this binary share.

use adrag_adapters::engines::AdapterEngines;
use adrag_adapters::testing_servers::{FakeServer, Protocol};
use adrag_contract::{EngineId, KeyName, Settings};
use adrag_core::ports::{
    ChatDelta, ChatMessage, ChatModel, ChatRequest, ChatRole, EngineChoice, Engines, PortError, PortResult,
    ReplySchema,
};
use adrag_core::testing::keys::FakeKeyStore;
use futures::StreamExt;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A key that must never be seen anywhere but at its server.
pub const CANARY: &str = "sk-canary-7731-never-shown";

pub fn engines() -> AdapterEngines {
    AdapterEngines::new(Arc::new(FakeKeyStore::holding(KeyName::Openai, CANARY)))
}

/// Settings that lead to a server, with a second of patience.
pub fn settings_for(base_url: &str) -> Settings {
    let mut settings = Settings::default();
    settings.openai.base_url = base_url.to_owned();
    settings.openai.model = "fake-1".to_owned();
    settings.openai.timeout_s = 1;
    settings.ollama.base_url = base_url.to_owned();
    settings.ollama.model = "fake-1".to_owned();
    settings.ollama.timeout_s = 1;
    settings
}

pub fn engine_of(protocol: Protocol) -> EngineId {
    match protocol {
        Protocol::Openai => EngineId::Openai,
        Protocol::Ollama => EngineId::Ollama,
    }
}

pub fn choice(engine: EngineId) -> EngineChoice {
    EngineChoice {
        engine,
        ..EngineChoice::default()
    }
}

/// The model of a server.
pub async fn model_at(protocol: Protocol, base_url: &str) -> PortResult<Arc<dyn ChatModel>> {
    let settings = settings_for(base_url);
    engines()
        .open(&choice(engine_of(protocol)), &settings, &CancellationToken::new())
        .await
}

/// A server and its model.
pub async fn served(protocol: Protocol) -> (FakeServer, Arc<dyn ChatModel>) {
    let server = FakeServer::start(protocol).await;
    let model = model_at(protocol, &server.base_url()).await.unwrap();
    (server, model)
}

pub fn request(schema: bool) -> ChatRequest {
    let message = |role, content: &str| ChatMessage {
        role,
        content: content.to_owned(),
    };
    ChatRequest {
        messages: vec![
            message(ChatRole::System, "Answer from the passages."),
            message(ChatRole::User, "How heavy is a blue whale?"),
            message(ChatRole::Assistant, "Which one?"),
            message(ChatRole::User, "The heaviest."),
        ],
        schema: schema.then(|| ReplySchema {
            name: "answer".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "answer": { "type": "string" } },
                "required": ["answer"],
                "additionalProperties": false,
            }),
        }),
        temperature: 0.2,
        max_tokens: Some(64),
    }
}

/// The text that came, the counts, and the error it ended with.
pub struct Told {
    pub text: String,
    pub usage: Option<(u64, u64)>,
    pub error: Option<PortError>,
}

pub async fn ask(model: &dyn ChatModel, request: ChatRequest, cancel: &CancellationToken) -> Told {
    let mut told = Told {
        text: String::new(),
        usage: None,
        error: None,
    };
    let mut stream = match model.chat(request, cancel).await {
        Ok(stream) => stream,
        Err(error) => {
            told.error = Some(error);
            return told;
        }
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(ChatDelta::Text(text)) => told.text.push_str(&text),
            Ok(ChatDelta::Usage {
                prompt_tokens,
                completion_tokens,
            }) => told.usage = Some((prompt_tokens, completion_tokens)),
            Err(error) => told.error = Some(error),
        }
    }
    told
}
