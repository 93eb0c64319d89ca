//! The frames of the source system, made from the logs of real runs.

use crate::bench::Bench;
use adrag_contract::{EngineId, RunEvent};
use adrag_core::compat::frames;
use adrag_core::testing::chat::FakeReply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PUMP: (&str, &str) = (
    "/docs/pump.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A. The kit is kept in bin C-04.",
);
const QUESTION: &str = "Which seal kit does the bilge pump HX-40 use?";

/// Type and stage of each frame of a clean run.
const CLEAN: [(&str, &str); 18] = [
    ("stage_start", "planner"),
    ("stage_complete", "planner"),
    ("stage_start", "retrieval"),
    ("retrieval_result", "retrieval"),
    ("stage_skip", "external_tools"),
    ("stage_start", "aggregator"),
    ("stage_complete", "aggregator"),
    ("stage_start", "reranker"),
    ("stage_complete", "reranker"),
    ("stage_start", "compressor"),
    ("stage_complete", "compressor"),
    ("stage_start", "reasoning"),
    ("stage_complete", "reasoning"),
    ("stage_start", "reflection"),
    ("stage_complete", "reflection"),
    ("finalize", "reflection"),
    ("done", ""),
    ("stream_end", ""),
];

fn plan() -> FakeReply {
    FakeReply::Json(json!({
        "retrieve": true, "use_web": false, "kind": "factual", "standalone_question": QUESTION,
        "sub_questions": [], "reasoning": "it asks for a part"
    }))
}

fn critic(grounded: bool) -> FakeReply {
    FakeReply::Json(json!({
        "grounded": grounded, "confidence": 0.9, "issues": if grounded { vec![] } else { vec!["no bin"] },
        "missing": ["bin of the seal kit"], "should_retry": !grounded
    }))
}

async fn log_of(replies: Vec<FakeReply>) -> (Vec<RunEvent>, u32) {
    let bench = Bench::with_replies(replies).await;
    bench.add(&[PUMP]).await;
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    (events, bench.engine.settings().await.answer.passes)
}

fn kinds(frames: &[Value]) -> Vec<(&str, &str)> {
    frames
        .iter()
        .map(|frame| {
            (
                frame["type"].as_str().unwrap(),
                frame["data"]["stage"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    names.iter().copied().collect()
}

fn clean() -> Vec<FakeReply> {
    vec![
        plan(),
        FakeReply::Text("It takes SK-131-A [1].".to_owned()),
        critic(true),
    ]
}

fn retried() -> Vec<FakeReply> {
    let text = |text: &str| FakeReply::Text(text.to_owned());
    vec![
        plan(),
        text("It is kept somewhere [1]."),
        critic(false),
        text("It is kept in bin C-04 [1]."),
        critic(true),
    ]
}

#[tokio::test]
async fn a_clean_run_is_its_eighteen_frames_in_its_order() {
    let (log, passes) = log_of(clean()).await;
    let frames = frames(&log, passes);
    assert_eq!(kinds(&frames), CLEAN);
    let frames: Vec<serde_json::Value> = frames.into_iter().map(crate::bench::sorted).collect();
    insta::assert_json_snapshot!("clean", frames);
}

#[tokio::test]
async fn every_frame_has_its_keys() {
    let (log, passes) = log_of(clean()).await;
    let frames = frames(&log, passes);
    let expected: [&[&str]; 17] = [
        &["stage", "message"],
        &[
            "stage",
            "message",
            "retrieve",
            "use_external",
            "query_type",
            "reasoning",
        ],
        &["stage", "message"],
        &["stage", "message", "vector_count", "bm25_count", "graph_count"],
        &["stage", "message"],
        &["stage", "message"],
        &["stage", "message", "before", "after", "sources"],
        &["stage", "message"],
        &["stage", "message", "top_k", "scores", "sources"],
        &["stage", "message"],
        &["stage", "message", "original_chars", "compressed_chars"],
        &["stage", "message"],
        &["stage", "message", "confidence", "is_sufficient", "key_facts"],
        &["stage", "message", "attempt", "max_attempts"],
        &[
            "stage",
            "message",
            "grounded",
            "confidence",
            "issues",
            "will_retry",
            "escalate_external",
        ],
        &["stage", "message", "grounded"],
        &["answer", "sources", "metadata"],
    ];
    for (frame, expected) in frames.iter().zip(expected) {
        assert_eq!(keys(frame), set(&["type", "data"]), "{frame}");
        assert_eq!(keys(&frame["data"]), set(expected), "{frame}");
    }
    assert_eq!(keys(&frames[17]), set(&["type"]));
    let done = &frames[16]["data"];
    let source = [
        "index",
        "file_name",
        "source_type",
        "url",
        "page",
        "rerank_score",
        "content_preview",
        "content",
    ];
    assert_eq!(keys(&done["sources"][0]), set(&source));
    assert_eq!(done["sources"][0]["file_name"], "pump.txt");
    let metadata = [
        "query_type",
        "sources_used",
        "retry_count",
        "grounded",
        "confidence",
        "issues",
    ];
    assert_eq!(keys(&done["metadata"]), set(&metadata));
}

#[tokio::test]
async fn a_retry_is_put_in_after_the_critic_and_replays_from_retrieval() {
    let (log, passes) = log_of(retried()).await;
    let frames = frames(&log, passes);
    let mut expected = CLEAN[..15].to_vec();
    expected.push(("retry", ""));
    expected.extend(&CLEAN[2..]);
    assert_eq!(kinds(&frames), expected);
    let critic = &frames[14]["data"];
    assert_eq!(
        (&critic["will_retry"], &critic["grounded"]),
        (&json!(true), &json!(false))
    );
    let retry = &frames[15]["data"];
    assert_eq!(
        keys(retry),
        set(&[
            "attempt",
            "max_attempts",
            "reason",
            "escalate_external",
            "message"
        ])
    );
    assert_eq!(retry["attempt"], 2);
    let second = frames
        .iter()
        .rfind(|frame| frame["data"]["attempt"] == 2)
        .unwrap();
    assert_eq!(second["data"]["stage"], "reflection");
    assert_eq!(frames[frames.len() - 2]["data"]["metadata"]["retry_count"], 1);
}

#[tokio::test]
async fn a_run_that_fails_says_so_in_the_stream_and_ends_it() {
    let broken = FakeReply::Fails(adrag_core::ports::PortError::transient(
        adrag_contract::ErrorCode::Unreachable,
        "no connection",
    ));
    let (log, passes) = log_of(vec![plan(), broken]).await;
    let frames = frames(&log, passes);
    let last: Vec<_> = kinds(&frames).into_iter().rev().take(3).collect();
    assert_eq!(
        last,
        [
            ("stream_end", ""),
            ("error", "pipeline"),
            ("stage_error", "reasoning")
        ]
    );
}

#[tokio::test]
async fn a_question_without_retrieval_skips_what_it_skips() {
    let bench = Bench::with_replies([FakeReply::Text("Hello!".to_owned())]).await;
    let log = bench.ask("Hi there!", EngineId::Openai).await;
    let frames = frames(&log, 3);
    let skipped: Vec<_> = kinds(&frames)
        .into_iter()
        .filter(|(kind, _)| *kind == "stage_skip")
        .collect();
    assert_eq!(
        skipped,
        [("stage_skip", "retrieval"), ("stage_skip", "external_tools")]
    );
    let started: Vec<_> = kinds(&frames)
        .into_iter()
        .filter(|(kind, _)| *kind == "stage_start")
        .map(|(_, stage)| stage)
        .collect();
    assert!(!started.contains(&"retrieval"), "{started:?}");
}

/// Piece by piece it is the same as at once, and every log ends with the end of the stream.
#[tokio::test]
async fn streamed_or_at_once_the_frames_are_the_same() {
    for replies in [clean(), retried()] {
        let (log, passes) = log_of(replies).await;
        let whole = frames(&log, passes);
        for cut in 0..log.len() {
            let begun = frames(&log[..cut], passes);
            assert_eq!(begun[..], whole[..begun.len()], "after {cut} events");
        }
        assert_eq!(whole.last().unwrap()["type"], "stream_end");
    }
}
