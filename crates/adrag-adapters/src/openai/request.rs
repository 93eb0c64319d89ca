//! The body of a chat request, in as much of the protocol as the server knows.

use crate::engines::address::Address;
use crate::engines::http::Refusal;
use adrag_core::ports::{ChatMessage, ChatRequest, ChatRole, ReplySchema};
use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CreateChatCompletionRequest,
    ResponseFormat, ResponseFormatJsonSchema,
};
use serde_json::Value;

/// The parts of the protocol that servers do not agree on. Each is left out for good once the server refused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    schema: bool,
    usage: bool,
    temperature: bool,
    /// The newer name of the token limit, which only OpenAI itself insists on.
    completion_tokens: bool,
    swapped: bool,
}

impl Dialect {
    /// What is tried first.
    pub(super) fn of(address: &Address) -> Self {
        Self {
            schema: true,
            usage: true,
            temperature: true,
            completion_tokens: address.is_host("api.openai.com"),
            swapped: false,
        }
    }

    /// The request in this dialect.
    #[allow(deprecated, reason = "`max_tokens` is what most compatible servers know")]
    pub(super) fn body(&self, model: &str, request: &ChatRequest) -> CreateChatCompletionRequest {
        let limit = request.max_tokens;
        CreateChatCompletionRequest {
            messages: request.messages.iter().map(message).collect(),
            model: model.to_owned(),
            stream: Some(true),
            stream_options: self.usage.then_some(ChatCompletionStreamOptions {
                include_usage: Some(true),
                include_obfuscation: None,
            }),
            temperature: self.temperature.then_some(request.temperature),
            max_tokens: limit.filter(|_| !self.completion_tokens),
            max_completion_tokens: limit.filter(|_| self.completion_tokens),
            response_format: request
                .schema
                .as_ref()
                .filter(|_| self.schema)
                .map(response_format),
            ..CreateChatCompletionRequest::default()
        }
    }

    /// The dialect to try after a refusal that names a part the request used; none when there is no such part, so no
    /// part is given up twice.
    pub(super) fn without_what_was_refused(&self, refusal: &Refusal, request: &ChatRequest) -> Option<Self> {
        if !matches!(refusal.status.as_u16(), 400 | 415 | 422 | 501) {
            return None;
        }
        let body = refusal.body.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| body.contains(word));
        if self.schema
            && request.schema.is_some()
            && names(&["response_format", "json_schema", "schema", "grammar"])
        {
            return Some(Self {
                schema: false,
                ..*self
            });
        }
        if self.usage && names(&["stream_options", "include_usage"]) {
            return Some(Self {
                usage: false,
                ..*self
            });
        }
        if !self.swapped && request.max_tokens.is_some() && names(&["max_tokens", "max_completion_tokens"]) {
            return Some(Self {
                completion_tokens: !self.completion_tokens,
                swapped: true,
                ..*self
            });
        }
        (self.temperature && names(&["temperature"])).then_some(Self {
            temperature: false,
            ..*self
        })
    }
}

fn message(message: &ChatMessage) -> ChatCompletionRequestMessage {
    let content = message.content.clone();
    match message.role {
        ChatRole::System => ChatCompletionRequestSystemMessage::from(content).into(),
        ChatRole::User => ChatCompletionRequestUserMessage::from(content).into(),
        ChatRole::Assistant => ChatCompletionRequestAssistantMessage {
            content: Some(content.into()),
            ..ChatCompletionRequestAssistantMessage::default()
        }
        .into(),
    }
}

fn response_format(schema: &ReplySchema) -> ResponseFormat {
    ResponseFormat::JsonSchema {
        json_schema: ResponseFormatJsonSchema {
            description: None,
            name: schema.name.clone(),
            schema: schema.schema.clone(),
            // A server that is strict refuses a schema that is not, so strictness is asked only of those that are.
            strict: is_strict(&schema.schema).then_some(true),
        },
    }
}

/// True when every object of the schema is closed and requires all its properties.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            let closed = match object.get("properties").and_then(Value::as_object) {
                None => true,
                Some(properties) => {
                    let required = object.get("required").and_then(Value::as_array);
                    object.get("additionalProperties") == Some(&Value::Bool(false))
                        && required.is_some_and(|required| required.len() == properties.len())
                }
            };
            closed && object.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strictness_is_asked_only_of_closed_schemas() {
        let closed = json!({"type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": "string"}}});
        assert!(is_strict(&closed));
        let open = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
        assert!(!is_strict(&open));
        let nested = json!({"type": "array", "items": open});
        assert!(!is_strict(&nested));
    }
}
