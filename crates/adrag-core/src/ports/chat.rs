//! Language models.

use super::PortResult;
use adrag_contract::{EngineId, EngineStatus, Settings};
use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Who speaks in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// Instructions.
    System,
    /// The person, or our question about the evidence.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: String,
}

/// The form a reply must have.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplySchema {
    /// Name of the form, `[a-z_]+`.
    pub name: String,
    /// JSON Schema of the object.
    pub schema: Value,
}

/// A call of a language model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The prompt.
    pub messages: Vec<ChatMessage>,
    /// The form of the reply, where it must be JSON.
    pub schema: Option<ReplySchema>,
    /// Sampling temperature, 0 to 2.
    pub temperature: f32,
    /// Most tokens to write.
    pub max_tokens: Option<u32>,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatDelta {
    /// Text to append.
    Text(String),
    /// What the call cost, where the server counts it; at most once, last.
    Usage {
        /// Tokens read.
        prompt_tokens: u64,
        /// Tokens written.
        completion_tokens: u64,
    },
}

/// A reply as it comes. Dropping it closes the connection.
pub type ChatStream = BoxStream<'static, PortResult<ChatDelta>>;

/// A language model that can be asked now.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The engine it belongs to.
    fn engine(&self) -> EngineId;

    /// Name of the model.
    fn model(&self) -> String;

    /// Asks. An error before the first byte is the `Err` of this call; a later one is the last item of the stream. A
    /// stream that ends without an error is complete: a connection that was cut is an error. Cancelling `cancel`, like
    /// dropping the stream, closes the connection at once.
    async fn chat(&self, request: ChatRequest, cancel: &CancellationToken) -> PortResult<ChatStream>;
}

/// Which engine and model a question wants, over what the settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineChoice {
    /// The engine.
    pub engine: EngineId,
    /// The model.
    pub model: Option<String>,
    /// The base URL.
    pub base_url: Option<String>,
}

/// The engines that exist.
#[async_trait]
pub trait Engines: Send + Sync {
    /// Makes a model ready: for `local` this starts the server. `quotes` has no model and is refused.
    async fn open(
        &self,
        choice: &EngineChoice,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> PortResult<Arc<dyn ChatModel>>;

    /// Asks every engine, concurrently and within three seconds, whether it could answer. One status an engine, in the
    /// order of [`EngineId::ALL`].
    async fn probe(&self, settings: &Settings) -> Vec<EngineStatus>;

    /// Ends what was started for them, such as the local server.
    async fn close(&self) {}
}
