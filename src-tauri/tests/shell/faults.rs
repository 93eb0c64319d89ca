//! An OpenAI-compatible server that misbehaves: whatever it does, the answer ends within its time with an error that
//! says what to do, and what there was of an answer is kept.

use crate::fake_server::{FakeServer, Reply};
use crate::program::{Ended, Place};
use adrag::places::Places;
use adrag_adapters::compose::{self, Options};
use adrag_contract::Settings;
use serde_json::Value;
use std::time::{Duration, Instant};

const QUESTION: &str = "How long is the span of the Vellmar bridge?";

/// A library with one document, and settings that lose patience soon.
fn place() -> Place {
    let place = Place::new();
    place.write(
        "bridge.md",
        "# The Vellmar bridge\n\nIts span measures 412 metres between the two towers.\n",
    );
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let places = Places::find(Some(place.data())).unwrap();
        let engine = compose::open(Options {
            extract_worker: None,
            ..places.options().unwrap()
        })
        .await
        .unwrap();
        let mut settings = Settings::default();
        settings.openai.timeout_s = 1;
        settings.openai.retries = 0;
        settings.answer.passes = 1;
        engine.save_settings(settings).await.unwrap();
        engine.close().await;
    });
    place
}

fn ask(place: &Place, server: &FakeServer) -> Ended {
    let started = Instant::now();
    let base_url = server.base_url();
    let ended = place.run([
        "ask",
        QUESTION,
        "--engine",
        "openai",
        "--model",
        "m",
        "--base-url",
        &base_url,
        "--json",
    ]);
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "it did not end in time: {ended:?}"
    );
    ended
}

fn error(ended: &Ended) -> Value {
    let error = ended.last()["error"].clone();
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|message| !message.is_empty()),
        "{ended:?}"
    );
    assert!(
        error["hint"].as_str().is_some_and(|hint| !hint.is_empty()),
        "nothing says what to do: {error}"
    );
    error
}

#[test]
fn every_fault_of_the_server_says_what_to_do() {
    let place = place();
    let missing = r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
    for (reply, codes) in [
        (
            Reply::Status(401, r#"{"error":{"message":"bad key"}}"#),
            &["unauthorized"][..],
        ),
        (Reply::Status(404, missing), &["unknown_model"]),
        (
            Reply::Status(429, r#"{"error":{"message":"slow down"}}"#),
            &["rate_limited"],
        ),
        (Reply::Status(500, "oops"), &["bad_reply", "unreachable"]),
        (Reply::Silence, &["timeout"]),
        (Reply::HalfJson, &["bad_reply"]),
        (Reply::ClosedAtOnce, &["bad_reply", "unreachable"]),
    ] {
        let server = FakeServer::start(reply);
        let ended = ask(&place, &server).exits(1);
        let error = error(&ended);
        assert!(server.asked() > 0, "{reply:?}: nobody asked the server");
        assert!(
            codes.contains(&error["code"].as_str().unwrap()),
            "{reply:?}: {error}"
        );
        assert_eq!(ended.last()["citations"], serde_json::json!([]));
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let place = place();
    let server = FakeServer::start(Reply::Silence);
    let base_url = server.base_url();
    drop(server);
    let ended = place
        .run([
            "ask",
            QUESTION,
            "--engine",
            "openai",
            "--model",
            "m",
            "--base-url",
            &base_url,
            "--json",
        ])
        .exits(1);
    assert_eq!(error(&ended)["code"], "unreachable", "{ended:?}");
}

#[test]
fn an_answer_that_breaks_off_is_kept_and_marked() {
    let place = place();
    for reply in [
        Reply::ClosedMidStream,
        Reply::SilentMidStream,
        Reply::Trickles,
        Reply::Huge,
    ] {
        let server = FakeServer::start(reply);
        let ended = ask(&place, &server).exits(3);
        assert!(
            ended.last()["answer"].as_str().unwrap().contains("412 metres"),
            "{reply:?}: {ended:?}"
        );
        error(&ended);
    }
}

#[test]
fn bytes_that_are_no_text_never_become_a_clean_answer() {
    let place = place();
    let server = FakeServer::start(Reply::InvalidUtf8);
    let ended = ask(&place, &server);
    assert!(matches!(ended.code, 1 | 3), "{ended:?}");
    error(&ended);
}

#[test]
fn a_well_behaved_server_is_answered_with_citations() {
    let place = place();
    let server = FakeServer::start(Reply::Good);
    let ended = ask(&place, &server).exits(0);
    let last = ended.last();
    assert!(last["answer"].as_str().unwrap().contains("412 metres"), "{last}");
    assert_eq!(last["citations"][0]["n"], 1, "{last}");
    assert!(last["error"].is_null(), "{last}");
}
