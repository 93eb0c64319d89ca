//! The words of OpenAI's protocol.

use serde_json::{Value, json};

/// The events of an answer: its pieces, the reason of its end, the counts, the mark of its end.
pub(super) fn frames(pieces: &[String]) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1",
            "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let piece = |text: &String| {
        chunk(
            json!([{ "index": 0, "delta": { "content": text }, "finish_reason": null }]),
            Value::Null,
        )
    };
    let mut frames: Vec<String> = pieces.iter().map(piece).collect();
    frames.push(chunk(
        json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]),
        Value::Null,
    ));
    frames.push(chunk(
        json!([]),
        json!({ "prompt_tokens": 12, "completion_tokens": pieces.len() }),
    ));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

/// The list of models.
pub(super) fn models(names: &[String]) -> Value {
    let model = |name: &String| json!({ "id": name, "object": "model", "created": 1, "owned_by": "test" });
    json!({ "object": "list", "data": names.iter().map(model).collect::<Vec<_>>() })
}

/// The error for a model that is not there.
pub(super) fn unknown_model(model: &str) -> Value {
    json!({ "error": {
        "message": format!("The model `{model}` does not exist or you do not have access to it."),
        "type": "invalid_request_error", "param": null, "code": "model_not_found",
    }})
}
