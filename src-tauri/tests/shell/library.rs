//! The main job on the command line, with the real engine and stores: add, list, find, ask, remove.
//!
//! Without local models the program serves with words and graph alone; these tests hold either way.

use crate::program::Place;
use adrag_contract::{DoctorReport, Event, RunEvent, RunView, StageId};
use serde_json::Value;
use std::collections::BTreeSet;

const BRIDGE: &str = "# The Vellmar bridge\n\nThe Vellmar bridge was opened in 1931 and closed for repair in 1987.\n\n\
    Its span measures 412 metres between the two towers.\n";
const BREAD: &str =
    "Sourdough bread\n\nThe loaf rests for eighteen hours at nine degrees before it is baked.\n";

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn events(lines: &[Value]) -> Vec<RunEvent> {
    lines
        .iter()
        .map(|line| serde_json::from_value(line.clone()).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn with_documents() -> Place {
    let place = Place::new();
    place.write("bridge.md", BRIDGE);
    place.write("bread.txt", BREAD);
    place
}

fn filled() -> Place {
    let place = with_documents();
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    place
}

#[test]
fn ingest_prints_a_gapless_run_and_then_the_documents() {
    let place = with_documents();
    let ended = place
        .run(["ingest", place.documents().to_str().unwrap(), "--json"])
        .exits(0);
    let mut lines = ended.lines();
    let last = lines.pop().unwrap();
    let view = RunView::replay(&events(&lines)).unwrap();
    assert!(view.is_over());
    assert_eq!(keys(&last), BTreeSet::from(["documents"]));
    let documents = last["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 2);
    for document in documents {
        assert_eq!(
            keys(document),
            BTreeSet::from(["path", "id", "state", "reason", "chunks", "chars"])
        );
        assert_eq!(document["state"], "ready");
        assert!(document["chunks"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_done_in_part_and_alone_it_is_failed() {
    let place = with_documents();
    let broken = place.write("broken.pdf", b"%PDF-1.7\nthis is no document");
    let ended = place
        .run(["ingest", place.documents().to_str().unwrap(), "--json"])
        .exits(3);
    let failed: Vec<_> = ended.last()["documents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|document| document["state"] == "failed")
        .cloned()
        .collect();
    assert_eq!(failed.len(), 1, "{ended:?}");
    assert!(failed[0]["path"].as_str().unwrap().ends_with("broken.pdf"));
    assert!(!failed[0]["reason"].as_str().unwrap().is_empty());
    let alone = Place::new();
    alone.run(["ingest", broken.to_str().unwrap()]).exits(1);
}

#[test]
fn a_path_that_is_not_there_fails_with_its_name() {
    let place = Place::new();
    let ended = place.run(["ingest", "/nowhere/at/all.txt", "--json"]).exits(1);
    assert!(
        ended.stdout.contains("all.txt") || ended.stderr.contains("all.txt"),
        "{ended:?}"
    );
    assert!(ended.last()["documents"].is_array());
}

#[test]
fn extract_prints_the_text_and_nothing_else() {
    let place = with_documents();
    let file = place.documents().join("bridge.md");
    let plain = place.run(["extract", file.to_str().unwrap()]).exits(0);
    assert!(plain.stdout.contains("412 metres"), "{plain:?}");
    let ended = place.run(["extract", file.to_str().unwrap(), "--json"]).exits(0);
    assert_eq!(
        keys(&ended.last()),
        BTreeSet::from(["state", "reason", "pages", "chars", "text"])
    );
    let broken = place.write("broken.pdf", b"%PDF-1.7\nthis is no document");
    let failed = place.run(["extract", broken.to_str().unwrap()]).exits(1);
    assert!(
        failed.stdout.is_empty() && failed.stderr.starts_with("error: "),
        "{failed:?}"
    );
    let failed = place
        .run(["extract", broken.to_str().unwrap(), "--json"])
        .exits(1);
    assert_eq!(failed.last()["state"], "failed");
}

#[test]
fn search_finds_the_passage_in_every_way() {
    let place = filled();
    for store in ["keyword", "hybrid"] {
        let ended = place.run([
            "search",
            "How long is the span of the Vellmar bridge?",
            "--store",
            store,
            "--json",
        ]);
        let reply = ended.exits(0).last();
        assert_eq!(keys(&reply), BTreeSet::from(["hits", "took_ms"]));
        let hit = &reply["hits"][0];
        assert_eq!(
            keys(hit),
            BTreeSet::from([
                "document",
                "path",
                "page",
                "span",
                "text",
                "stores",
                "score",
                "rerank_score"
            ])
        );
        assert!(
            hit["path"].as_str().unwrap().ends_with("bridge.md"),
            "{store}: {reply}"
        );
    }
    let one = place
        .run(["search", "bridge bread", "--top", "1", "--no-rerank", "--json"])
        .exits(0)
        .last();
    assert_eq!(one["hits"].as_array().unwrap().len(), 1);
    assert!(one["hits"][0]["rerank_score"].is_null());
}

#[test]
fn ask_runs_all_eight_stages_and_cites_the_passage() {
    let place = filled();
    let ended = place
        .run([
            "ask",
            "When was the Vellmar bridge opened?",
            "--engine",
            "quotes",
            "--json",
        ])
        .exits(0);
    let mut lines = ended.lines();
    let last = lines.pop().unwrap();
    assert_eq!(
        keys(&last),
        BTreeSet::from([
            "answer",
            "abstained",
            "citations",
            "grounded",
            "confidence",
            "took_ms"
        ])
    );
    assert!(last["answer"].as_str().unwrap().contains("1931"), "{last}");
    let citation = &last["citations"][0];
    assert_eq!(
        keys(citation),
        BTreeSet::from(["n", "document", "path", "page", "span", "text"])
    );
    assert!(citation["text"].as_str().unwrap().contains("1931"), "{last}");
    let events = events(&lines);
    RunView::replay(&events).unwrap();
    let reported = |stage: StageId| {
        events.iter().any(|event| match &event.event {
            Event::StageFinished { stage: ended, .. } | Event::StageSkipped { stage: ended, .. } => {
                *ended == stage
            }
            _ => false,
        })
    };
    for stage in StageId::ALL {
        assert!(reported(stage), "{stage}");
    }
}

#[test]
fn people_get_the_answer_with_its_sources() {
    let place = filled();
    let ended = place
        .run(["ask", "When was the Vellmar bridge opened?", "--engine", "quotes"])
        .exits(0);
    assert!(
        ended.stdout.contains("1931") && ended.stdout.contains("[1] "),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("bridge.md"), "{ended:?}");
}

#[test]
fn an_unknown_collection_is_answered_with_the_known_ones() {
    let place = filled();
    for command in ["search", "ask"] {
        let ended = place
            .run([command, "q", "--collection", "lore", "--json"])
            .exits(1);
        assert!(ended.stderr.contains("`default`"), "{ended:?}");
        assert_eq!(ended.last()["error"]["code"], "not_found");
    }
    place.run(["documents", "--collection", "lore"]).exits(1);
    place.run(["delete", "--collection", "lore", "--yes"]).exits(1);
}

#[test]
fn removed_documents_are_found_no_more() {
    let place = filled();
    let listed = place.run(["documents", "--json"]).exits(0).last();
    let documents = listed["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 2);
    let bridge = documents
        .iter()
        .find(|document| document["path"].as_str().unwrap().ends_with("bridge.md"))
        .unwrap();
    let id = bridge["id"].as_str().unwrap();
    assert_eq!(
        place.run(["delete", id, "nobody", "--json"]).exits(3).last()["deleted"],
        1
    );
    place.run(["delete", id]).exits(1);
    let hits = place
        .run(["search", "Vellmar bridge 412 metres", "--json"])
        .exits(0)
        .last();
    assert!(!hits.to_string().contains("bridge.md"), "{hits}");
    assert_eq!(
        place.run(["delete", "--all", "--yes", "--json"]).exits(0).last()["deleted"],
        1
    );
    assert_eq!(
        place.run(["documents", "--json"]).exits(0).last()["documents"],
        serde_json::json!([])
    );
}

#[test]
fn doctor_counts_what_is_there() {
    let place = filled();
    let ended = place.run(["doctor", "--json"]).exits(0);
    let report: DoctorReport = serde_json::from_value(ended.last()).unwrap();
    assert_eq!(report.stores.catalogue.ready, 2);
    assert_eq!(report.stores.keyword.chunks, report.stores.catalogue.chunks);
    assert!(
        place
            .run(["doctor"])
            .exits(0)
            .stdout
            .contains("2 documents, 2 ready")
    );
}

#[test]
fn a_data_folder_that_cannot_be_made_is_explained() {
    let place = Place::new();
    std::fs::write(place.data(), "a file where the folder should be").unwrap();
    let ended = place.run(["documents", "--json"]).exits(1);
    assert!(ended.stderr.starts_with("error: "), "{ended:?}");
    assert!(ended.last()["error"]["message"].is_string(), "{ended:?}");
}
