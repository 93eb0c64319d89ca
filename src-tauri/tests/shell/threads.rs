//! Conversations on the command line: listed, asked on, found, exported.

use crate::program::Place;
use serde_json::Value;

#[test]
fn a_conversation_is_asked_on_listed_and_exported() {
    let place = Place::new();
    place.write(
        "bridge.md",
        "# The Vellmar bridge\n\nThe Vellmar bridge was opened in 1931. Its span measures 412 metres.\n",
    );
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    place
        .run([
            "ask",
            "How long is the span of the Vellmar bridge?",
            "--engine",
            "quotes",
        ])
        .exits(0);
    let listed = place.run(["threads", "--json"]).exits(0).last();
    let thread = listed["threads"][0]["thread"].as_str().unwrap().to_owned();
    let asked = place
        .run([
            "ask",
            "When was it opened?",
            "--engine",
            "quotes",
            "--thread",
            &thread,
            "--json",
        ])
        .exits(0);
    assert!(
        asked.last()["answer"].as_str().unwrap().contains("1931"),
        "{asked:?}"
    );
    let listed = place
        .run(["threads", "--find", "VELLMAR", "--json"])
        .exits(0)
        .last();
    let threads = listed["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 1, "{threads:?}");
    assert_eq!(threads[0]["questions"], 2);
    assert!(
        place
            .run(["threads", "--find", "bread"])
            .exits(0)
            .stdout
            .is_empty()
    );

    let file = place.documents().join("out.md");
    place
        .run(["export", &thread, "--output", file.to_str().unwrap()])
        .exits(0);
    let markdown = std::fs::read_to_string(&file).unwrap();
    assert!(
        markdown.contains("412 metres") && markdown.contains("[^1-1]:"),
        "{markdown}"
    );
    let html = place.run(["export", &thread, "--format", "html"]).exits(0).stdout;
    assert!(html.starts_with("<!doctype html>"), "{html}");
    let json: Value =
        serde_json::from_str(&place.run(["export", &thread, "--format", "json"]).exits(0).stdout).unwrap();
    assert_eq!(json["exchanges"].as_array().unwrap().len(), 2);

    let unknown = place.run(["export", "nothing", "--json"]).exits(1);
    assert_eq!(unknown.last()["error"]["code"], "not_found");
    place.run(["export", &thread, "--format", "pdf"]).exits(2);
    place.run(["ask", "Why?", "--thread", "nothing"]).exits(1);
}
