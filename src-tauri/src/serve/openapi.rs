//! The description of the routes, OpenAPI 3.1.

use super::operation::{Operation, Route};
use serde_json::{Map, Value, json};

/// The description of what this server answers.
pub fn document(compat: bool) -> Value {
    let mut paths = Map::new();
    for operation in Operation::ALL {
        let route = operation.route();
        if compat || !route.compat {
            let described = describe(operation, &route);
            let methods = paths.entry(route.path).or_insert_with(|| json!({}));
            methods[route.method] = described;
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "adRAG",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Answers questions from a person's own documents and shows the proof.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": {
                "Fault": {
                    "description": "What went wrong and what to do",
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Fault" } } },
                },
                "CompatFault": {
                    "description": "What went wrong, in the words of the source system",
                    "content": { "application/json": { "schema": object(&[("error", text())], &["error"]) } },
                },
            },
            "schemas": schemas(),
        },
    })
}

fn describe(operation: Operation, route: &Route) -> Value {
    let mut described = json!({
        "operationId": format!("{operation:?}"),
        "summary": route.summary,
        "parameters": parameters(operation, route),
        "responses": {
            "200": {
                "description": "Done",
                "content": { route.gives: { "schema": reply(operation) } },
            },
            "default": {
                "$ref": format!("#/components/responses/{}", if route.compat { "CompatFault" } else { "Fault" }),
            },
        },
    });
    if route.compat {
        described["security"] = json!([]);
    }
    if !route.takes.is_empty() {
        let content: Map<String, Value> = route
            .takes
            .iter()
            .map(|kind| ((*kind).to_owned(), json!({ "schema": request(operation, kind) })))
            .collect();
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

fn parameters(operation: Operation, route: &Route) -> Vec<Value> {
    let parameter = |name: &str, place: &str, schema: Value| json!({ "name": name, "in": place, "required": place == "path", "schema": schema });
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(parameter("id", "path", text()));
    }
    match operation {
        Operation::ListDocuments => parameters.push(parameter("collection", "query", text())),
        Operation::ClearDocuments => {
            parameters.push(parameter("collection", "query", text()));
            parameters.push(parameter("all", "query", truth()));
        }
        Operation::ListThreads => parameters.push(parameter("find", "query", text())),
        Operation::RunEvents => parameters.push(parameter("Last-Event-ID", "header", whole())),
        _ => {}
    }
    parameters
}

fn request(operation: Operation, kind: &str) -> Value {
    match operation {
        Operation::AddDocuments if kind == "application/json" => {
            object(&[("paths", list(text())), ("collection", text())], &["paths"])
        }
        Operation::AddDocuments | Operation::CompatUpload => object(
            &[
                ("file", json!({ "type": "string", "format": "binary" })),
                ("collection", text()),
            ],
            &["file"],
        ),
        Operation::Search => object(
            &[
                ("question", text()),
                ("stores", list(one_of(&["vector", "keyword", "graph"]))),
                ("rerank", truth()),
                ("top", whole()),
                ("collection", text()),
            ],
            &["question"],
        ),
        Operation::Ask => object(
            &[
                ("question", text()),
                ("history", list(reference("Turn"))),
                ("engine", one_of(&["quotes", "openai", "ollama", "local"])),
                ("model", text()),
                ("collection", text()),
                ("web", truth()),
                ("thread", text()),
                ("replaces", text()),
                ("keep", truth()),
            ],
            &["question"],
        ),
        Operation::CompatQuery => object(
            &[
                ("query", text()),
                ("provider", one_of(&["openai", "ollama"])),
                ("model", text()),
            ],
            &["query"],
        ),
        _ => json!({}),
    }
}

fn reply(operation: Operation) -> Value {
    let anything = || json!({ "type": "object" });
    match operation {
        Operation::Health => object(&[("status", text()), ("version", text())], &["status", "version"]),
        Operation::Describe | Operation::Doctor => anything(),
        Operation::ListProviders => object(
            &[("engines", list(anything())), ("default", text())],
            &["engines", "default"],
        ),
        Operation::ListCollections => object(&[("collections", list(anything()))], &["collections"]),
        Operation::ListDocuments | Operation::AddDocuments => {
            object(&[("documents", list(reference("Document")))], &["documents"])
        }
        Operation::ClearDocuments | Operation::DeleteDocument => {
            object(&[("deleted", whole())], &["deleted"])
        }
        Operation::Search => object(
            &[("hits", list(anything())), ("took_ms", whole())],
            &["hits", "took_ms"],
        ),
        Operation::Ask | Operation::RunEvents => json!({
            "type": "string",
            "description": "Server-sent events: `id` is the number of the event, `data` a RunEvent as JSON; the last one \
                is RunFinished, RunFailed or RunCancelled",
        }),
        Operation::ListThreads => object(&[("threads", list(anything()))], &["threads"]),
        Operation::ListRuns => object(&[("runs", list(anything()))], &["runs"]),
        Operation::CancelRun => object(&[("cancelled", truth())], &["cancelled"]),
        Operation::CompatQuery => json!({
            "type": "string",
            "description": "Lines of `data: {type, data}`; the last one is {\"type\": \"stream_end\"}",
        }),
        Operation::CompatHealth => object(&[("status", text())], &["status"]),
        Operation::CompatUpload => object(
            &[
                ("success", truth()),
                ("file_name", text()),
                ("file_hash", text()),
                ("chunks_indexed", whole()),
                ("kb", anything()),
                ("stats", anything()),
            ],
            &[
                "success",
                "file_name",
                "file_hash",
                "chunks_indexed",
                "kb",
                "stats",
            ],
        ),
        Operation::CompatDocuments => object(
            &[
                ("vector_count", whole()),
                ("bm25_count", whole()),
                ("graph", anything()),
            ],
            &["vector_count", "bm25_count", "graph"],
        ),
        Operation::CompatClear => object(
            &[("success", truth()), ("message", text())],
            &["success", "message"],
        ),
        Operation::CompatKnowledgeBases => {
            object(&[("knowledge_bases", list(anything()))], &["knowledge_bases"])
        }
        Operation::CompatDeleteKnowledgeBase => object(
            &[("success", truth()), ("stats", anything())],
            &["success", "stats"],
        ),
        Operation::CompatProviders => object(
            &[("providers", list(anything())), ("default", text())],
            &["providers", "default"],
        ),
    }
}

fn schemas() -> Value {
    let fault = object(
        &[("code", text()), ("message", text()), ("hint", text())],
        &["code", "message", "hint"],
    );
    json!({
        "Fault": object(&[("error", fault)], &["error"]),
        "Turn": object(
            &[("role", one_of(&["user", "assistant"])), ("content", text())],
            &["role", "content"],
        ),
        "Document": object(
            &[("path", text()), ("state", text()), ("chunks", whole()), ("chars", whole())],
            &["path", "state", "chunks", "chars"],
        ),
    })
}

fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> = properties
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn one_of(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

fn whole() -> Value {
    json!({ "type": "integer" })
}
