//! Questions over HTTP: the stream, taking it up again, closing it.

use super::door::{Door, QUESTION, filled, set};
use crate::fake_server::{FakeServer, Reply};
use crate::program::Place;
use adrag_contract::{RunEvent, RunOutcome, RunView};
use serde_json::{Value, json};
use std::time::Duration;

fn events(data: &[Value]) -> Vec<RunEvent> {
    data.iter()
        .map(|data| serde_json::from_value(data.clone()).unwrap())
        .collect()
}

/// A library that asks this server, which stands for a language model.
fn asking(server: &FakeServer) -> Place {
    let place = filled();
    set(&place, |settings| {
        settings.engine = adrag_contract::EngineId::Openai;
        settings.openai.base_url = server.base_url();
        settings.openai.model = "m".to_owned();
        settings.openai.retries = 0;
        settings.answer.passes = 1;
    });
    place
}

#[test]
fn an_answer_is_a_gapless_stream_that_ends_once() {
    let place = filled();
    let door = Door::open(&place, &[]);
    let mut stream = door
        .ask("POST", "/v1/ask")
        .json(&json!({ "question": QUESTION }))
        .stream();
    assert_eq!(stream.status, 200);
    let mut data = Vec::new();
    while let Some(fields) = stream.event() {
        let field = |name: &str| {
            fields
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
                .unwrap()
        };
        let value: Value = serde_json::from_str(&field("data")).unwrap();
        assert_eq!(field("id"), value["seq"].to_string());
        data.push(value);
    }
    let view = RunView::replay(&events(&data)).unwrap();
    let answer = view.answer.unwrap();
    assert!(answer.text.contains("412 metres"), "{}", answer.text);
    assert!(!answer.citations.is_empty());
}

#[test]
fn a_stream_is_taken_up_after_the_event_that_was_seen_last() {
    let place = filled();
    let door = Door::open(&place, &[]);
    let whole = door
        .ask("POST", "/v1/ask")
        .json(&json!({ "question": QUESTION }))
        .stream()
        .all();
    let run = whole[0]["run"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/events");
    assert_eq!(door.ask("GET", &path).stream().all(), whole);
    let rest = door.ask("GET", &path).with("Last-Event-ID", "4").stream().all();
    assert_eq!(rest, whole[5..]);
    let nothing = door
        .ask("GET", &path)
        .with("Last-Event-ID", "100000")
        .stream()
        .all();
    assert!(nothing.is_empty());
    door.ask("GET", &path)
        .with("Last-Event-ID", "x")
        .send()
        .fault(400);
    // The terminal event goes out before the history is written.
    let is_listed = || door.ask("GET", "/v1/runs").send().is(200)["runs"][0]["run"] == run;
    assert!((0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        is_listed()
    }));
}

#[test]
fn tokens_arrive_while_the_model_writes() {
    let server = FakeServer::start(Reply::Good);
    let door_of = asking(&server);
    let door = Door::open(&door_of, &[]);
    let data = door
        .ask("POST", "/v1/ask")
        .json(&json!({ "question": QUESTION }))
        .stream()
        .all();
    let deltas = data
        .iter()
        .filter(|data| data["event"]["type"] == "AnswerDelta")
        .count();
    assert!(deltas >= 2, "{data:?}");
    let last = events(&data).pop().unwrap();
    match last.event {
        adrag_contract::Event::RunFinished {
            outcome: RunOutcome::Answered { answer },
        } => assert!(answer.text.contains("412 metres")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn closing_the_stream_stops_the_run_and_the_next_question_is_answered_at_once() {
    let server = FakeServer::start(Reply::Endless);
    let place = asking(&server);
    let door = Door::open(&place, &[]);
    let mut stream = door
        .ask("POST", "/v1/ask")
        .json(&json!({ "question": QUESTION }))
        .stream();
    let run = loop {
        let data = stream.data().unwrap();
        if data["event"]["type"] == "AnswerDelta" {
            break data["run"].as_str().unwrap().to_owned();
        }
    };
    assert_eq!(server.left(), 0, "the model still writes");
    drop(stream);
    assert!(server.sees_left(1), "the model writes on for nobody");
    let ended = door.ask("GET", &format!("/v1/runs/{run}/events")).stream().all();
    assert_eq!(ended.last().unwrap()["event"]["type"], "RunCancelled");
    let quotes = json!({ "question": QUESTION, "engine": "quotes" });
    let next = door.ask("POST", "/v1/ask").json(&quotes).stream().all();
    assert_eq!(next.last().unwrap()["event"]["type"], "RunFinished");
}

#[test]
fn a_kept_run_outlives_its_stream_is_watched_by_others_and_stopped_by_name() {
    let server = FakeServer::start(Reply::Endless);
    let place = asking(&server);
    let door = Door::open(&place, &[]);
    let kept = json!({ "question": QUESTION, "keep": true });
    let mut stream = door.ask("POST", "/v1/ask").json(&kept).stream();
    let run = loop {
        let data = stream.data().unwrap();
        if data["event"]["type"] == "AnswerDelta" {
            break data["run"].as_str().unwrap().to_owned();
        }
    };
    drop(stream);
    let path = format!("/v1/runs/{run}");
    let mut watching = door.ask("GET", &format!("{path}/events")).stream();
    // One who only watches and goes stops nothing.
    drop(door.ask("GET", &format!("{path}/events")).stream());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.left(), 0, "the model was stopped");
    let mut seen = 0;
    while seen < 20 {
        seen += usize::from(watching.data().unwrap()["event"]["type"] == "AnswerDelta");
    }
    assert_eq!(door.ask("DELETE", &path).send().is(200)["cancelled"], true);
    let rest = watching.all();
    assert_eq!(rest.last().unwrap()["event"]["type"], "RunCancelled");
    assert!(server.sees_left(1));
    assert_eq!(door.ask("DELETE", &path).send().is(200)["cancelled"], false);
}

#[test]
fn the_end_of_the_server_ends_its_streams_in_order() {
    let server = FakeServer::start(Reply::Endless);
    let place = asking(&server);
    let door = Door::open(&place, &[]);
    let mut stream = door
        .ask("POST", "/v1/ask")
        .json(&json!({ "question": QUESTION }))
        .stream();
    while stream.data().unwrap()["event"]["type"] != "AnswerDelta" {}
    assert_eq!(door.terminate(), Some(0));
    assert_eq!(stream.all().last().unwrap()["event"]["type"], "RunCancelled");
    assert!(server.sees_left(1));
}

#[test]
fn passages_are_found() {
    let place = filled();
    let door = Door::open(&place, &[]);
    let search = json!({ "question": "Vellmar span", "stores": ["keyword"], "top": 1 });
    let found = door.ask("POST", "/v1/search").json(&search).send().is(200);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert!(found["hits"][0]["text"].as_str().unwrap().contains("412 metres"));
    let web = json!({ "question": "q", "stores": ["web"] });
    door.ask("POST", "/v1/search").json(&web).send().fault(400);
    let report = door.ask("GET", "/v1/doctor").send().is(200);
    assert_eq!(report["stores"]["catalogue"]["ready"], 1);
}
