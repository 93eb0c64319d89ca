//! Questions: the eight stages, each engine, each failure, each stop.

use crate::bench::{Bench, down, request, shape, view};
use adrag_contract::{EngineId, ErrorCode, Grounding, RowStatus, RunStatus, StageId, Verdict};
use adrag_core::ports::PortError;
use adrag_core::testing::chat::FakeReply;
use std::time::{Duration, Instant};

const PUMP: (&str, &str) = (
    "/docs/pump.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A. The kit is kept in bin C-04.\n\nThe pump was overhauled in April.",
);
const HARBOUR: (&str, &str) = (
    "/docs/harbour.txt",
    "The harbour of Marlowe was closed on Monday because of ice.",
);

fn text(reply: &str) -> FakeReply {
    FakeReply::Text(reply.to_owned())
}

fn critic(grounded: bool) -> FakeReply {
    FakeReply::Json(serde_json::json!({
        "grounded": grounded, "confidence": 0.9, "issues": if grounded { vec![] } else { vec!["no bin is named"] },
        "missing": if grounded { vec![] } else { vec!["bin of the seal kit"] }, "should_retry": !grounded
    }))
}

#[tokio::test]
async fn quotes_answer_with_verbatim_cited_sentences() {
    let bench = Bench::new().await;
    bench.add(&[PUMP, HARBOUR]).await;
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    insta::assert_json_snapshot!("quotes", shape(&events));
    let view = view(&events);
    let answer = view.answer.unwrap();
    assert!(answer.text.contains("SK-131-A"), "{}", answer.text);
    assert_eq!(answer.grounding, Grounding::Grounded);
    assert!(answer.citations.iter().any(|citation| citation.path == PUMP.0));
    assert!(
        answer
            .claims
            .iter()
            .all(|claim| claim.verdict == Verdict::Supported)
    );
    assert!(
        view.rows.iter().all(|row| row.status != RowStatus::Waiting),
        "all eight stages report"
    );
}

#[tokio::test]
async fn what_the_documents_do_not_say_is_an_answer_without_citations() {
    let bench = Bench::new().await;
    bench.add(&[HARBOUR]).await;
    let events = bench
        .ask("Who won the football championship of 1974?", EngineId::Quotes)
        .await;
    let answer = view(&events).answer.unwrap();
    assert!(answer.abstained);
    assert!(answer.citations.is_empty());
}

#[tokio::test]
async fn a_greeting_and_arithmetic_look_into_no_document() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    for (question, expect) in [
        ("Hi there! How are you today?", "Hello"),
        ("What is 17 times 23?", "391"),
    ] {
        let events = bench.ask(question, EngineId::Quotes).await;
        let view = view(&events);
        let answer = view.answer.clone().unwrap();
        assert!(answer.text.contains(expect), "{}", answer.text);
        assert!(answer.direct && answer.citations.is_empty());
        assert_eq!(view.row(StageId::Retrieval).status, RowStatus::Skipped);
    }
}

#[tokio::test]
async fn a_model_streams_a_cited_answer_and_the_critic_checks_it() {
    let replies = [
        text("The HX-40 takes SK-131-A [1]. See [7] and [0]."),
        critic(true),
    ];
    let bench = Bench::with_replies(replies).await;
    bench.add(&[PUMP]).await;
    let events = bench.ask("Which seal kit?", EngineId::Openai).await;
    insta::assert_json_snapshot!("model", shape(&events));
    let answer = view(&events).answer.unwrap();
    assert!(
        !answer.text.contains("[7]") && !answer.text.contains("[0]"),
        "{}",
        answer.text
    );
    assert_eq!(answer.citations.len(), 1);
    assert_eq!(
        answer.grounding,
        Grounding::NotGrounded,
        "a sentence without a citation is not grounded"
    );
}

#[tokio::test]
async fn a_rejected_answer_is_tried_again_with_more_evidence() {
    let replies = [
        text("The kit is somewhere [1]."),
        critic(false),
        text("The kit is kept in bin C-04 [1]."),
        critic(true),
    ];
    let bench = Bench::with_replies(replies).await;
    bench.add(&[PUMP]).await;
    let events = bench.ask("Where is the kit?", EngineId::Openai).await;
    insta::assert_json_snapshot!("retry", shape(&events));
    let asked: Vec<String> = bench
        .model
        .requests()
        .iter()
        .map(|request| request.messages[0].content.clone())
        .collect();
    assert_ne!(asked[0], asked[2], "a second try differs from the first");
    assert!(
        asked[2].contains("no bin is named"),
        "the critique reaches the model"
    );
    assert!(view(&events).answer.unwrap().text.contains("C-04"));
}

#[tokio::test]
async fn a_store_that_is_down_degrades_the_run_and_is_named() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    bench.keywords.faults.fail_next(down("the keyword index"));
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    insta::assert_json_snapshot!("store_down", shape(&events));
    let view = view(&events);
    assert_eq!(view.row(StageId::Retrieval).status, RowStatus::Degraded);
    assert!(view.answer.unwrap().text.contains("SK-131-A"));
}

#[tokio::test]
async fn all_stores_down_end_the_run_with_the_reason() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    bench.keywords.faults.fail_next(down("the keyword index"));
    bench.vectors.faults.fail_next(down("the vector index"));
    bench.graph.fail_next(down("the graph"));
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    let view = view(&events);
    assert_eq!(view.status, RunStatus::Failed);
    assert_eq!(view.error.unwrap().code, ErrorCode::StoreFailed);
}

#[tokio::test]
async fn without_the_critic_the_local_check_stands_and_without_both_nothing_is_claimed() {
    let broken = || FakeReply::Fails(PortError::transient(ErrorCode::Timeout, "the server was silent"));
    let said = "Kit SK-131-A it is used [1].";
    let bench = Bench::with_replies([text(said), broken(), text(said), broken()]).await;
    bench.add(&[PUMP]).await;
    let checked = view(&bench.ask("Which seal kit?", EngineId::Openai).await);
    assert_eq!(checked.row(StageId::Reflect).status, RowStatus::Degraded);
    assert_eq!(checked.answer.unwrap().grounding, Grounding::Grounded);

    bench.support.fail(down("the judge"));
    let unchecked = view(&bench.ask("Which seal kit?", EngineId::Openai).await);
    assert_eq!(unchecked.row(StageId::Reflect).status, RowStatus::Degraded);
    assert_eq!(
        unchecked.row(StageId::Reason).status,
        RowStatus::Degraded,
        "the evidence was weighed without it"
    );
    let answer = unchecked.answer.unwrap();
    assert_eq!(answer.grounding, Grounding::Unverified);
    assert!(answer.claims.iter().all(|claim| claim.support.is_none()));
}

#[tokio::test]
async fn quotes_do_without_an_embedder_that_breaks_and_say_so() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    bench.embedder.fail(down("the embedder"));
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    let view = view(&events);
    assert_eq!(view.status, RunStatus::Finished);
    assert_eq!(view.row(StageId::Reason).status, RowStatus::Degraded);
    assert!(view.answer.unwrap().text.contains("SK-131-A"));
}

#[tokio::test]
async fn without_a_judge_the_fused_order_serves_and_says_so() {
    let bench = Bench::without_judge().await;
    bench.add(&[PUMP]).await;
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    let view = view(&events);
    assert_eq!(view.row(StageId::Rerank).status, RowStatus::Degraded);
    assert_eq!(view.status, RunStatus::Finished);
    assert!(view.answer.unwrap().text.contains("SK-131-A"));
    let hits = bench
        .engine
        .search(adrag_core::engine::SearchRequest {
            question: "seal kit".to_owned(),
            stores: adrag_contract::Store::LOCAL.to_vec(),
            rerank: Some(true),
            top: 3,
            collection: None,
        })
        .await
        .unwrap()
        .hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.rerank_score.is_none()));
}

#[tokio::test]
async fn an_answer_too_long_for_the_context_is_pruned_and_its_citation_shows_it_whole() {
    let bench = Bench::with_replies([text("It is kept in bin C-04 [1]."), critic(true)]).await;
    let filler = "Nothing of any interest was written in this line of the yearly report. ".repeat(8);
    let long = format!("{filler}The seal kit is kept in bin C-04. {filler}");
    let files: Vec<(String, String)> = (0..4)
        .map(|n| (format!("/docs/{n}.txt"), format!("Report {n}. {long}")))
        .collect();
    let named: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    bench.add(&named).await;
    let mut settings = bench.engine.settings().await;
    settings.answer.context_tokens = 200;
    bench.engine.save_settings(settings).await.unwrap();
    let events = bench.ask("Which bin keeps the seal kit?", EngineId::Openai).await;
    let answer = view(&events).answer.unwrap();
    let prompt = &bench.model.requests()[0].messages[0].content;
    assert!(prompt.contains("bin C-04"), "what answers is read: {prompt}");
    assert!(
        prompt.matches("Nothing of any interest").count() < 12,
        "the rest is pruned: {prompt}"
    );
    assert_eq!(answer.citations.len(), 1);
    assert!(
        answer.citations[0]
            .text
            .matches("Nothing of any interest")
            .count()
            > 1,
        "a citation shows its passage whole"
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_keeps_what_there_was() {
    let broken = PortError::transient(ErrorCode::BadReply, "the connection was cut");
    let pieces = vec!["The HX-40 takes SK-131-A [1]".to_owned(), " and".to_owned()];
    let bench = Bench::with_replies([FakeReply::BreaksOff(pieces, broken)]).await;
    bench.add(&[PUMP]).await;
    let events = bench.ask("Which seal kit?", EngineId::Openai).await;
    let view = view(&events);
    assert_eq!(view.status, RunStatus::Failed);
    let partial = view.answer.unwrap();
    assert_eq!(partial.text, "The HX-40 takes SK-131-A [1] and");
    assert_eq!(partial.citations.len(), 1);
    assert_eq!(partial.broken_off.unwrap().message, "the connection was cut");
}

#[tokio::test]
async fn stop_ends_a_hanging_model_at_once_and_the_next_question_runs() {
    let bench = Bench::with_replies([FakeReply::Hangs, text("It takes SK-131-A [1]."), critic(true)]).await;
    bench.add(&[PUMP]).await;
    let run = bench
        .engine
        .ask(request("Which seal kit?", EngineId::Openai))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let pressed = Instant::now();
    assert!(bench.engine.cancel(&run));
    bench.engine.wait(&run).await.unwrap();
    // Not a measurement: a stop that waits for the server would never return at all.
    assert!(pressed.elapsed() < Duration::from_secs(5));
    assert_eq!(view(&bench.events(&run).await).status, RunStatus::Cancelled);
    assert!(!bench.engine.cancel(&run), "it is over");
    let events = bench.ask("Which seal kit?", EngineId::Openai).await;
    assert_eq!(view(&events).status, RunStatus::Finished);
}

#[tokio::test]
async fn the_history_replays_a_run_exactly() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    let events = bench
        .ask("Which seal kit does the HX-40 use?", EngineId::Quotes)
        .await;
    let run = events[0].run.clone();
    for _ in 0..100 {
        if !bench.engine.list_runs().await.unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let listed = bench.engine.list_runs().await.unwrap();
    assert_eq!(listed[0].question, "Which seal kit does the HX-40 use?");
    assert_eq!(bench.engine.run_snapshot(&run).await.unwrap(), events);
}

#[tokio::test]
async fn an_empty_question_and_an_unknown_collection_are_refused() {
    let bench = Bench::new().await;
    let empty = bench
        .engine
        .ask(request("  ", EngineId::Quotes))
        .await
        .unwrap_err();
    assert_eq!(empty.code, ErrorCode::InvalidRequest);
    let mut elsewhere = request("Which seal kit?", EngineId::Quotes);
    elsewhere.collection = Some("nowhere".into());
    assert_eq!(
        bench.engine.ask(elsewhere).await.unwrap_err().code,
        ErrorCode::NotFound
    );
}
