//! The frames of the source system, made from recorded runs.

use crate::bench::{Bench, view};
use adrag_contract::{EngineId, RunEvent};
use adrag_core::compat::CompatFrames;
use adrag_core::testing::chat::FakeReply;
use serde_json::{Value, json};

const PUMP: (&str, &str) = (
    "/docs/pump.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A. The kit is kept in bin C-04.",
);
const QUESTION: &str = "Which seal kit does the bilge pump HX-40 use?";

fn frames(events: &[RunEvent]) -> Vec<Value> {
    let mut frames = CompatFrames::new(3);
    events.iter().flat_map(|event| frames.push(event)).collect()
}

fn shape(frames: &[Value]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| {
            let kind = frame["type"].as_str().unwrap();
            match frame["data"]["stage"].as_str() {
                Some(stage) => format!("{stage} {kind}"),
                None => kind.to_owned(),
            }
        })
        .collect()
}

fn keys(frames: &[Value], name: &str) -> Vec<String> {
    let frame = frames
        .iter()
        .zip(shape(frames))
        .find(|(_, shape)| shape == name)
        .unwrap_or_else(|| panic!("no `{name}` in {:?}", shape(frames)))
        .0;
    let mut keys: Vec<String> = frame["data"].as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys
}

const CLEAN: [&str; 18] = [
    "planner stage_start",
    "planner stage_complete",
    "retrieval stage_start",
    "retrieval retrieval_result",
    "external_tools stage_skip",
    "aggregator stage_start",
    "aggregator stage_complete",
    "reranker stage_start",
    "reranker stage_complete",
    "compressor stage_start",
    "compressor stage_complete",
    "reasoning stage_start",
    "reasoning stage_complete",
    "reflection stage_start",
    "reflection stage_complete",
    "reflection finalize",
    "done",
    "stream_end",
];

#[tokio::test]
async fn a_clean_run_is_eighteen_frames_in_the_known_order_with_the_known_keys() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    let events = bench.ask(QUESTION, EngineId::Quotes).await;
    let frames = frames(&events);
    assert_eq!(shape(&frames), CLEAN);
    for (name, expected) in [
        ("planner stage_start", vec!["message", "stage"]),
        (
            "planner stage_complete",
            vec![
                "message",
                "query_type",
                "reasoning",
                "retrieve",
                "stage",
                "use_external",
            ],
        ),
        (
            "retrieval retrieval_result",
            vec!["bm25_count", "graph_count", "message", "stage", "vector_count"],
        ),
        ("external_tools stage_skip", vec!["message", "stage"]),
        (
            "aggregator stage_complete",
            vec!["after", "before", "message", "sources", "stage"],
        ),
        (
            "reranker stage_complete",
            vec!["message", "scores", "sources", "stage", "top_k"],
        ),
        (
            "compressor stage_complete",
            vec!["compressed_chars", "message", "original_chars", "stage"],
        ),
        (
            "reasoning stage_complete",
            vec!["confidence", "is_sufficient", "key_facts", "message", "stage"],
        ),
        (
            "reflection stage_start",
            vec!["attempt", "max_attempts", "message", "stage"],
        ),
        (
            "reflection stage_complete",
            vec![
                "confidence",
                "escalate_external",
                "grounded",
                "issues",
                "message",
                "stage",
                "will_retry",
            ],
        ),
        ("reflection finalize", vec!["grounded", "message", "stage"]),
        ("done", vec!["answer", "metadata", "sources"]),
    ] {
        assert_eq!(keys(&frames, name), expected, "{name}");
    }
    let done = &frames[16]["data"];
    let mut source: Vec<&String> = done["sources"][0].as_object().unwrap().keys().collect();
    source.sort();
    assert_eq!(
        source,
        [
            "content",
            "content_preview",
            "file_name",
            "index",
            "page",
            "rerank_score",
            "source_type",
            "url"
        ]
    );
    assert_eq!(done["sources"][0]["file_name"], "pump.txt");
    assert_eq!(done["answer"], view(&events).answer.unwrap().text);
    assert_eq!(frames[17], json!({"type": "stream_end"}));
}

#[tokio::test]
async fn a_retry_inserts_its_frame_and_begins_again_at_retrieval() {
    let bad = json!({"grounded": false, "confidence": 0.2, "issues": ["no bin"], "missing": ["bin"], "should_retry": true});
    let good =
        json!({"grounded": true, "confidence": 0.9, "issues": [], "missing": [], "should_retry": false});
    let plan = json!({"retrieve": true, "use_web": false, "kind": "factual", "standalone_question": QUESTION, "sub_questions": [], "reasoning": "x"});
    let bench = Bench::with_replies([
        FakeReply::Json(plan),
        FakeReply::Text("It is kept somewhere [1].".to_owned()),
        FakeReply::Json(bad),
        FakeReply::Text("It is kept in bin C-04 [1].".to_owned()),
        FakeReply::Json(good),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let frames = frames(&bench.ask(QUESTION, EngineId::Openai).await);
    let mut expected: Vec<&str> = CLEAN[..15].to_vec();
    expected.push("retry");
    expected.extend(&CLEAN[2..]);
    assert_eq!(shape(&frames), expected);
    let mut retry: Vec<&String> = frames[15]["data"].as_object().unwrap().keys().collect();
    retry.sort();
    assert_eq!(
        retry,
        [
            "attempt",
            "escalate_external",
            "max_attempts",
            "message",
            "reason"
        ]
    );
    assert_eq!(frames[15]["data"]["attempt"], 2);
    assert_eq!(frames[14]["data"]["will_retry"], true);
}

#[tokio::test]
async fn a_run_that_fails_says_so_once_and_ends_the_stream() {
    let down =
        adrag_core::ports::PortError::transient(adrag_contract::ErrorCode::Unreachable, "no connection");
    let bench = Bench::with_replies([FakeReply::Fails(down.clone()), FakeReply::Fails(down)]).await;
    bench.add(&[PUMP]).await;
    let frames = frames(&bench.ask(QUESTION, EngineId::Openai).await);
    let last = &shape(&frames)[frames.len() - 2..];
    assert_eq!(last, ["pipeline error", "stream_end"]);
    assert_eq!(frames[frames.len() - 2]["data"]["message"], "no connection");
}
