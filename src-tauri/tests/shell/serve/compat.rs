//! The source system's routes, as its own front end asks them: no token, a form with `file`, frames split by hand.

use super::door::{BRIDGE, Door, QUESTION, filled, set};
use crate::fake_server::{FakeServer, Reply};
use crate::program::Place;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn set_of<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    names.iter().copied().collect()
}

fn open(place: &Place) -> Door {
    Door::open(place, &["--compat"])
}

#[test]
fn a_question_is_its_eighteen_frames() {
    let server = FakeServer::start(Reply::Good);
    let place = filled();
    set(&place, |settings| {
        settings.openai.base_url = server.base_url();
        settings.openai.model = "m".to_owned();
        settings.answer.passes = 1;
    });
    let door = open(&place);
    let body = json!({ "query": QUESTION, "provider": "openai", "model": "m" });
    let mut stream = door.bare("POST", "/api/query").json(&body).stream();
    assert_eq!(stream.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
    ] {
        let found = stream.headers.iter().find(|(known, _)| known == name);
        assert_eq!(found.map(|(_, value)| value.as_str()), Some(value));
    }
    let mut frames = Vec::new();
    while let Some(fields) = stream.event() {
        assert_eq!(fields.len(), 1, "a frame is one line: {fields:?}");
        assert_eq!(fields[0].0, "data");
        frames.push(serde_json::from_str::<Value>(&fields[0].1).unwrap());
    }
    let kinds: Vec<&str> = frames
        .iter()
        .map(|frame| frame["type"].as_str().unwrap())
        .collect();
    assert_eq!(frames.len(), 18, "{kinds:?}");
    assert_eq!(kinds[15..], ["finalize", "done", "stream_end"]);
    let done = &frames[16]["data"];
    assert!(done["answer"].as_str().unwrap().contains("412 metres"), "{done}");
    assert_eq!(done["sources"][0]["file_name"], "bridge.md");
}

#[test]
fn a_question_that_makes_no_sense_is_refused_before_the_stream() {
    let place = Place::new();
    let door = open(&place);
    let post = |body: Value| door.bare("POST", "/api/query").json(&body).send();
    for body in [
        json!({}),
        json!({ "query": "  " }),
        json!({ "query": 42 }),
        json!({ "query": "q", "provider": "oracle" }),
        json!([]),
    ] {
        let answer = post(body);
        assert!(answer.is(400)["error"].is_string(), "{answer:?}");
    }
    let plain = door
        .bare("POST", "/api/query")
        .body("text/plain", b"query".to_vec())
        .send();
    assert!(plain.is(400)["error"].is_string());
    for (method, path, status) in [("GET", "/api/nothing", 404), ("GET", "/api/query", 405)] {
        assert!(door.bare(method, path).send().is(status)["error"].is_string());
    }
}

#[test]
fn documents_are_uploaded_listed_counted_and_removed_in_its_shapes() {
    let place = Place::new();
    let door = open(&place);
    assert_eq!(
        door.bare("GET", "/api/health").send().is(200),
        json!({ "status": "healthy" })
    );
    let uploaded = door
        .bare("POST", "/api/upload")
        .file("bridge.md", BRIDGE.as_bytes())
        .send()
        .is(200);
    assert_eq!(
        keys(&uploaded),
        set_of(&[
            "success",
            "file_name",
            "file_hash",
            "chunks_indexed",
            "kb",
            "stats"
        ])
    );
    assert_eq!(uploaded["success"], true);
    assert_eq!(uploaded["file_name"], "bridge.md");
    let kb = [
        "id",
        "name",
        "uploaded_at",
        "chunks",
        "vectors",
        "entities",
        "edges",
    ];
    assert_eq!(keys(&uploaded["kb"]), set_of(&kb));
    assert_eq!(
        keys(&uploaded["stats"]),
        set_of(&["vector_total", "bm25_total", "graph"])
    );
    assert_eq!(
        keys(&uploaded["stats"]["graph"]),
        set_of(&["documents", "entities", "edges"])
    );
    let counts = door.bare("GET", "/api/documents").send().is(200);
    assert_eq!(keys(&counts), set_of(&["vector_count", "bm25_count", "graph"]));
    assert_eq!(counts["bm25_count"], uploaded["chunks_indexed"]);
    door.bare("POST", "/api/upload")
        .file("bread.txt", b"The loaf rests.")
        .send()
        .is(200);
    let listed = door.bare("GET", "/api/knowledge-bases").send().is(200);
    let listed = listed["knowledge_bases"].as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|kb| kb["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bread.txt", "bridge.md"], "newest first");
    let path = format!("/api/knowledge-bases/{}", uploaded["file_hash"].as_str().unwrap());
    for _ in 0..2 {
        let deleted = door.bare("DELETE", &path).send().is(200);
        assert_eq!(keys(&deleted), set_of(&["success", "stats"]));
    }
    let cleared = door.bare("DELETE", "/api/clear").send().is(200);
    assert_eq!(keys(&cleared), set_of(&["success", "message"]));
    let counts = door.bare("GET", "/api/documents").send().is(200);
    assert_eq!(counts["bm25_count"], 0);
}

#[test]
fn an_upload_without_text_is_422_and_without_a_file_400() {
    let place = Place::new();
    let door = open(&place);
    for content in [&b"   \n"[..], b"%PDF-1.7\nno document"] {
        let answer = door.bare("POST", "/api/upload").file("a.pdf", content).send();
        assert!(answer.is(422)["error"].is_string(), "{answer:?}");
    }
    assert!(door.bare("POST", "/api/upload").json(&json!({})).send().is(400)["error"].is_string());
    let nameless = door.bare("POST", "/api/upload").file("", b"text").send();
    assert!(nameless.is(400)["error"].is_string());
    let large = door
        .bare("POST", "/api/upload")
        .body("multipart/form-data; boundary=b", b"--b\r\n".to_vec())
        .with("Content-Length", &(1_u64 << 40).to_string())
        .send();
    assert!(large.is(413)["error"].is_string(), "{large:?}");
    let listed = door.bare("GET", "/api/knowledge-bases").send().is(200);
    assert_eq!(listed["knowledge_bases"], json!([]));
}

#[test]
fn its_providers_are_the_two_it_knows() {
    let place = Place::new();
    set(&place, |settings| {
        settings.openai.base_url = "http://127.0.0.1:9/v1".to_owned();
        settings.ollama.base_url = "http://127.0.0.1:9".to_owned();
    });
    let door = open(&place);
    let said = door.bare("GET", "/api/providers").send().is(200);
    assert_eq!(keys(&said), set_of(&["providers", "default"]));
    let common = ["id", "label", "model", "available", "models"];
    assert_eq!(keys(&said["providers"][0]), set_of(&common));
    let mut ollama = set_of(&common);
    ollama.insert("base_url");
    assert_eq!(keys(&said["providers"][1]), ollama);
    assert_eq!(said["providers"][1]["available"], false);
}

#[test]
fn its_front_end_may_ask_from_its_own_address_and_no_other_page_may() {
    let place = Place::new();
    let door = open(&place);
    let with = |origin: &str| door.bare("DELETE", "/api/clear").with("Origin", origin).send();
    let answer = with("http://localhost:8080");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("http://localhost:8080")
    );
    let answer = with("http://evil.example");
    assert!(answer.is(403)["error"].is_string());
    // Our own routes want the token all the same.
    door.bare("GET", "/v1/health").send().fault(401);
}

#[test]
fn closing_its_stream_stops_the_run_too() {
    let server = FakeServer::start(Reply::Endless);
    let place = filled();
    set(&place, |settings| {
        settings.openai.base_url = server.base_url();
        settings.openai.model = "m".to_owned();
    });
    let door = open(&place);
    let body = json!({ "query": QUESTION, "provider": "openai" });
    let mut stream = door.bare("POST", "/api/query").json(&body).stream();
    loop {
        let frame = stream.data().unwrap();
        if frame["type"] == "stage_start" && frame["data"]["stage"] == "reasoning" {
            break;
        }
    }
    assert!(server.is_writing(), "the model was never asked");
    drop(stream);
    assert!(server.sees_left(1), "the model writes on for nobody");
}
