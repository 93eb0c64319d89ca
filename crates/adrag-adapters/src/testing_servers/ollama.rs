//! The words of Ollama's protocol.

use serde_json::{Value, json};

/// The lines of an answer: its pieces, and the last with the counts.
pub(super) fn frames(pieces: &[String]) -> Vec<String> {
    let line = |value: Value| format!("{value}\n");
    let piece = |text: &String| {
        line(json!({
            "model": "fake-1", "created_at": "2026-01-01T00:00:00Z",
            "message": { "role": "assistant", "content": text }, "done": false,
        }))
    };
    let mut frames: Vec<String> = pieces.iter().map(piece).collect();
    frames.push(line(json!({
        "model": "fake-1", "created_at": "2026-01-01T00:00:00Z",
        "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
        "prompt_eval_count": 12, "eval_count": pieces.len(),
    })));
    frames
}

/// The list of installed models.
pub(super) fn models(names: &[String]) -> Value {
    let model = |name: &String| json!({ "name": name, "model": name, "size": 1 });
    json!({ "models": names.iter().map(model).collect::<Vec<_>>() })
}

/// The version.
pub(super) fn version() -> Value {
    json!({ "version": "0.12.3" })
}

/// The error for a model that is not there.
pub(super) fn unknown_model(model: &str) -> Value {
    json!({ "error": format!("model '{model}' not found") })
}
