//! The door for programs: who may come in, our routes, and those of the source system.

use crate::door::Door;
use crate::fake_server::{FakeServer, Reply as Fault};
use crate::program::Place;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

const BRIDGE: &[u8] =
    b"# The Vellmar bridge\n\nThe Vellmar bridge was opened in 1931. Its span measures 412 metres.\n";
const QUESTION: &str = "How long is the span of the Vellmar bridge?";

fn described(door: &Door) -> Vec<(String, String)> {
    let description = door.call("GET", "/v1/openapi.json", None).is(200).json();
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect()
}

#[test]
fn nobody_comes_in_without_the_token_from_another_host_or_from_a_page() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let bearer = format!("Bearer {}", door.token.as_ref().unwrap());
    assert!(door.token.as_ref().unwrap().len() >= 64);
    let routes = described(&door);
    assert_eq!(routes.len(), 14);
    for (method, path) in &routes {
        for given in [None, Some("Bearer wrong"), Some("Bearer ")] {
            let headers: Vec<(&str, &str)> =
                given.map(|given| ("Authorization", given)).into_iter().collect();
            let refused = door.send(method, path, &headers, b"{}").is(401);
            assert_eq!(refused.json()["error"]["code"], "unauthorized", "{method} {path}");
        }
    }
    let evil = door.send(
        "GET",
        "/v1/health",
        &[("Host", "evil.example"), ("Authorization", &bearer)],
        b"",
    );
    assert_eq!(evil.is(403).json()["error"]["code"], "unauthorized");
    let page = [
        ("Origin", "https://evil.example"),
        ("Authorization", bearer.as_str()),
    ];
    door.send("GET", "/v1/health", &page, b"").is(403);
    let preflight = door
        .send("OPTIONS", "/v1/ask", &[("Origin", "https://evil.example")], b"")
        .is(403);
    assert!(
        !preflight.head.to_lowercase().contains("access-control"),
        "{preflight:?}"
    );
    let healthy = door.call("GET", "/v1/health", None).is(200);
    assert_eq!(healthy.json()["status"], "healthy");
    assert!(!healthy.head.to_lowercase().contains("access-control"));
}

#[test]
fn a_page_that_was_named_may_call() {
    let place = Place::new();
    let door = Door::open(&place, &["--allow-origin", "http://localhost:8080"]);
    let origin = ("Origin", "http://localhost:8080");
    let preflight = door.send("OPTIONS", "/v1/ask", &[origin], b"").is(204);
    assert!(
        preflight
            .head
            .contains("access-control-allow-origin: http://localhost:8080"),
        "{preflight:?}"
    );
    door.send("GET", "/v1/health", &[origin], b"").is(401);
}

#[test]
fn every_error_is_json() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let bearer = format!("Bearer {}", door.token.as_ref().unwrap());
    let json = ("Content-Type", "application/json");
    let token = ("Authorization", bearer.as_str());
    let long = vec![b' '; (1 << 20) + 1];
    for (method, path, headers, body, status) in [
        ("GET", "/nowhere", vec![token], &b""[..], 404),
        ("DELETE", "/v1/ask", vec![token], b"", 405),
        ("POST", "/v1/ask", vec![token], b"{}", 415),
        ("POST", "/v1/ask", vec![token, json], b"{\"question\":", 400),
        ("POST", "/v1/ask", vec![token, json], b"{\"question\": 42}", 400),
        (
            "POST",
            "/v1/ask",
            vec![token, json],
            b"{\"question\": \"  \"}",
            400,
        ),
        ("POST", "/v1/ask", vec![token, json], &long, 413),
        ("POST", "/v1/uploads", vec![token], b"x", 400),
        ("GET", "/v1/runs/none/events", vec![token], b"", 404),
        ("DELETE", "/v1/documents/none", vec![token], b"", 404),
    ] {
        let reply = door.send(method, path, &headers, body).is(status);
        let error = &reply.json()["error"];
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "{method} {path}: {reply:?}"
        );
    }
}

#[test]
fn every_described_route_is_there() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    for (method, path) in described(&door) {
        if path == "/v1/engines" {
            continue; // It waits for servers that are not there; the shape is looked at elsewhere.
        }
        let reply = door.call(&method, &path.replace("{id}", "none"), Some(&json!({})));
        let message = reply.body.clone();
        assert!(
            !message.contains("there is nothing at"),
            "{method} {path}: {message}"
        );
        assert_ne!(reply.status, 405, "{method} {path}");
        assert_ne!(reply.status, 500, "{method} {path}: {message}");
    }
}

#[test]
fn a_file_is_uploaded_asked_about_followed_again_and_removed() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let added = door
        .upload("/v1/uploads", "../../bridge.md", BRIDGE)
        .is(200)
        .json();
    assert_eq!(added["document"]["state"], "ready");
    let id = added["document"]["id"].as_str().unwrap().to_owned();
    let empty = door.upload("/v1/uploads", "empty.txt", b"").is(422);
    assert_eq!(empty.json()["error"]["code"], "unreadable_file");
    assert!(place.data().join("uploads").is_dir() && !place.data().join("bridge.md").exists());

    let asked = json!({"question": QUESTION, "engine": "quotes"});
    let stream = door.call("POST", "/v1/ask", Some(&asked)).is(200);
    assert!(stream.head.contains("text/event-stream"), "{stream:?}");
    let events = stream.events();
    for (seq, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], seq);
    }
    let last = events.last().unwrap();
    assert_eq!(last["event"]["type"], "RunFinished");
    assert!(
        last["event"]["outcome"]["answer"]["text"]
            .as_str()
            .unwrap()
            .contains("412"),
        "{last}"
    );
    let run = last["run"].as_str().unwrap();
    let bearer = format!("Bearer {}", door.token.as_ref().unwrap());
    let again = [("Authorization", bearer.as_str()), ("Last-Event-ID", "3")];
    let rest = door
        .send("GET", &format!("/v1/runs/{run}/events"), &again, b"")
        .is(200)
        .events();
    assert_eq!(rest, events[4..]);
    let found = door
        .call(
            "POST",
            "/v1/search",
            Some(&json!({"question": "Vellmar", "stores": ["keyword"]})),
        )
        .is(200);
    assert_eq!(found.json()["hits"].as_array().unwrap().len(), 1);
    assert_eq!(
        door.call("GET", "/v1/threads", None).is(200).json()["threads"][0]["title"],
        QUESTION
    );
    door.call("DELETE", &format!("/v1/documents/{id}"), None).is(200);
    assert_eq!(
        door.call("GET", "/v1/documents", None).json()["documents"],
        json!([])
    );
}

#[test]
fn closing_the_stream_stops_the_run() {
    let place = Place::new();
    place.write("bridge.md", BRIDGE);
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    let door = Door::open(&place, &[]);
    let server = FakeServer::start(Fault::Silence);
    let bearer = format!("Bearer {}", door.token.as_ref().unwrap());
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    let asked =
        json!({"question": "Vellmar span?", "engine": "openai", "model": "m", "base_url": server.base_url()});
    let stream = door.begin("POST", "/v1/ask", &headers, asked.to_string().as_bytes());
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let first: Value = loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if let Some(data) = line.strip_prefix("data: ") {
            break serde_json::from_str(data).unwrap();
        }
    };
    let run = first["run"].as_str().unwrap().to_owned();
    // The answer is being waited for by now or soon; whoever asked goes away.
    drop(reader);
    let events = door
        .call("GET", &format!("/v1/runs/{run}/events"), None)
        .is(200)
        .events();
    assert_eq!(
        events.last().unwrap()["event"]["type"],
        "RunCancelled",
        "{events:?}"
    );
    let next = json!({"question": "Vellmar span?", "engine": "quotes"});
    let events = door.call("POST", "/v1/ask", Some(&next)).is(200).events();
    assert_eq!(events.last().unwrap()["event"]["type"], "RunFinished");
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn the_front_end_of_the_source_system_finds_what_it_knows() {
    let place = Place::new();
    let door = Door::open(&place, &["--compat"]);
    assert_eq!(door.token, None);
    assert_eq!(
        door.call("GET", "/api/health", None).is(200).json(),
        json!({"status": "healthy"})
    );
    let added = door.upload("/api/upload", "bridge.md", BRIDGE).is(200).json();
    assert_eq!(
        keys(&added),
        [
            "chunks_indexed",
            "file_hash",
            "file_name",
            "kb",
            "stats",
            "success"
        ]
    );
    assert_eq!(
        keys(&added["kb"]),
        [
            "chunks",
            "edges",
            "entities",
            "id",
            "name",
            "uploaded_at",
            "vectors"
        ]
    );
    assert_eq!(keys(&added["stats"]), ["bm25_total", "graph", "vector_total"]);
    let listed = door.call("GET", "/api/knowledge-bases", None).is(200).json();
    assert_eq!(listed["knowledge_bases"][0]["name"], "bridge.md");
    let counts = door.call("GET", "/api/documents", None).is(200).json();
    assert_eq!(keys(&counts), ["bm25_count", "graph", "vector_count"]);
    assert_eq!(keys(&counts["graph"]), ["documents", "edges", "entities"]);

    let stream = door
        .call(
            "POST",
            "/api/query",
            Some(&json!({"query": QUESTION, "provider": "quotes"})),
        )
        .is(200);
    assert!(stream.head.contains("x-accel-buffering: no"), "{stream:?}");
    let frames = stream.events();
    let kinds: Vec<&str> = frames
        .iter()
        .map(|frame| frame["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds.len(), 18, "{kinds:?}");
    assert_eq!(kinds[15..], ["finalize", "done", "stream_end"]);
    assert!(frames[16]["data"]["answer"].as_str().unwrap().contains("412"));

    for (body, status) in [
        (json!({"query": ""}), 400),
        (json!({"query": 42}), 400),
        (json!({"query": "x", "provider": "other"}), 400),
    ] {
        door.call("POST", "/api/query", Some(&body)).is(status);
    }
    let id = listed["knowledge_bases"][0]["id"].as_str().unwrap();
    for _ in 0..2 {
        let removed = door
            .call("DELETE", &format!("/api/knowledge-bases/{id}"), None)
            .is(200)
            .json();
        assert_eq!(keys(&removed), ["stats", "success"]);
    }
    let cleared = door.call("DELETE", "/api/clear", None).is(200).json();
    assert_eq!(keys(&cleared), ["message", "success"]);
    let providers = door.call("GET", "/api/providers", None).is(200).json();
    assert_eq!(keys(&providers), ["default", "providers"]);
    for provider in providers["providers"].as_array().unwrap() {
        for key in ["id", "label", "model", "available", "models"] {
            assert!(provider.get(key).is_some(), "{provider}");
        }
    }
}
