//! The description of our own routes (OpenAPI 3.1). A test compares it with what the routes answer.

use serde_json::{Value, json};

/// Path, method, what it does, whether it takes a body, what it answers with.
const ROUTES: [(&str, &str, &str, Option<&str>, &str); 14] = [
    (
        "/v1/health",
        "get",
        "Whether the server is there",
        None,
        "application/json",
    ),
    (
        "/v1/openapi.json",
        "get",
        "This description",
        None,
        "application/json",
    ),
    (
        "/v1/doctor",
        "get",
        "What is there, what is wrong, what to do",
        None,
        "application/json",
    ),
    (
        "/v1/engines",
        "get",
        "The engines, each asked now",
        None,
        "application/json",
    ),
    (
        "/v1/documents",
        "get",
        "The documents, of a collection or all",
        None,
        "application/json",
    ),
    (
        "/v1/documents",
        "post",
        "Adds files of this computer; the events follow",
        Some("AddDocuments"),
        "text/event-stream",
    ),
    (
        "/v1/documents",
        "delete",
        "Removes every document, of a collection or all",
        None,
        "application/json",
    ),
    (
        "/v1/documents/{id}",
        "delete",
        "Removes a document from all stores",
        None,
        "application/json",
    ),
    (
        "/v1/uploads",
        "post",
        "Adds a file sent as the form field `file`",
        Some("Upload"),
        "application/json",
    ),
    (
        "/v1/search",
        "post",
        "Finds passages",
        Some("Search"),
        "application/json",
    ),
    (
        "/v1/ask",
        "post",
        "Answers a question; its events follow, closing the stream stops it",
        Some("Ask"),
        "text/event-stream",
    ),
    (
        "/v1/runs/{id}/events",
        "get",
        "The events of a run, behind `Last-Event-ID`",
        None,
        "text/event-stream",
    ),
    (
        "/v1/runs/{id}/cancel",
        "post",
        "Stops a run",
        None,
        "application/json",
    ),
    (
        "/v1/threads",
        "get",
        "The conversations",
        None,
        "application/json",
    ),
];

/// The whole description.
pub fn description() -> Value {
    let mut paths = json!({});
    for (path, method, about, body, kind) in ROUTES {
        let mut operation = json!({
            "summary": about,
            "responses": {
                "200": { "description": "Done", "content": { kind: {} } },
                "default": { "description": "Refused", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } } },
            },
        });
        let mut parameters = Vec::new();
        if path.contains("{id}") {
            parameters.push(
                json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }),
            );
        }
        if path == "/v1/documents" && method != "post" {
            parameters.push(json!({ "name": "collection", "in": "query", "schema": { "type": "string" } }));
        }
        if path == "/v1/threads" {
            parameters.push(json!({ "name": "find", "in": "query", "schema": { "type": "string" } }));
        }
        if !parameters.is_empty() {
            operation["parameters"] = json!(parameters);
        }
        if let Some(schema) = body {
            let kind = if schema == "Upload" {
                "multipart/form-data"
            } else {
                "application/json"
            };
            operation["requestBody"] = json!({
                "required": true,
                "content": { kind: { "schema": { "$ref": format!("#/components/schemas/{schema}") } } },
            });
        }
        paths[path][method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "adRAG", "version": env!("CARGO_PKG_VERSION"), "description": "Answers questions from your own documents and shows the proof." },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": {
                "Error": object(&json!({ "error": object(&json!({ "code": text(), "message": text(), "hint": text() }), &["code", "message"]) }), &["error"]),
                "Ask": object(&json!({
                    "question": text(), "engine": { "enum": ["quotes", "openai", "ollama", "local", null] }, "model": maybe(),
                    "base_url": maybe(), "collection": maybe(), "web": { "type": ["boolean", "null"] }, "thread": maybe(), "replaces": maybe(),
                    "history": { "type": "array", "items": object(&json!({ "role": { "enum": ["user", "assistant"] }, "content": text() }), &["role", "content"]) },
                }), &["question"]),
                "Search": object(&json!({
                    "question": text(), "top": { "type": "integer", "minimum": 1, "maximum": 200 }, "rerank": { "type": ["boolean", "null"] },
                    "stores": { "type": "array", "items": { "enum": ["vector", "keyword", "graph"] } }, "collection": maybe(),
                }), &["question"]),
                "AddDocuments": object(&json!({ "paths": { "type": "array", "items": text() }, "collection": maybe() }), &["paths"]),
                "Upload": object(&json!({ "file": { "type": "string", "format": "binary" }, "collection": text() }), &["file"]),
            },
        },
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn maybe() -> Value {
    json!({ "type": ["string", "null"] })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
