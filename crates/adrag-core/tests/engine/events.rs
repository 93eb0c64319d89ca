//! Whole event logs, one a way in which a question can go. A line an event; run ids and times are left out.

use crate::bench::{Bench, down, request, sorted, view};
use adrag_contract::{AskRequest, EngineId, RowStatus, RunEvent, RunStatus, StageId, Store};
use adrag_core::ports::{PortError, SearchFault};
use adrag_core::testing::chat::FakeReply;
use std::time::Duration;

const PUMP: (&str, &str) = (
    "/docs/pump.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A. The kit is kept in bin C-04.",
);
const QUESTION: &str = "Which seal kit does the bilge pump HX-40 use?";

fn text(reply: &str) -> FakeReply {
    FakeReply::Text(reply.to_owned())
}

fn critic(grounded: bool, missing: &[&str]) -> FakeReply {
    FakeReply::Json(serde_json::json!({
        "grounded": grounded, "confidence": 0.9,
        "issues": if grounded { vec![] } else { vec!["the bin is not named"] },
        "missing": missing, "should_retry": !grounded
    }))
}

fn plan() -> FakeReply {
    FakeReply::Json(serde_json::json!({
        "retrieve": true, "use_web": false, "kind": "factual", "standalone_question": QUESTION,
        "sub_questions": [], "reasoning": "it asks for a part"
    }))
}

/// The log, a line an event, without what differs from run to run.
fn lines(events: &[RunEvent]) -> String {
    let mut lines = String::new();
    for event in events {
        let mut value = sorted(serde_json::to_value(&event.event).unwrap());
        redact(&mut value);
        lines.push_str(&format!("{} {} {value}\n", event.seq, event.attempt));
    }
    lines
}

fn redact(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                if matches!(name.as_str(), "took_ms" | "run" | "thread") && !value.is_null() {
                    *value = "[redacted]".into();
                } else {
                    redact(value);
                }
            }
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(redact),
        _ => {}
    }
}

macro_rules! snapshot {
    ($name:literal, $events:expr) => {
        insta::assert_snapshot!($name, lines($events))
    };
}

async fn with_web(bench: &Bench, enabled: bool) {
    let mut settings = bench.engine.settings().await;
    settings.web.enabled = enabled;
    bench.engine.save_settings(settings).await.unwrap();
}

async fn ask_with(bench: &Bench, request: AskRequest) -> Vec<RunEvent> {
    let run = bench.engine.ask(request).await.unwrap();
    bench.engine.wait(&run).await.unwrap();
    bench.events(&run).await
}

#[tokio::test]
async fn a_plain_run() {
    let bench = Bench::with_replies([plan(), text("It takes SK-131-A [1]."), critic(true, &[])]).await;
    bench.add(&[PUMP]).await;
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    snapshot!("plain", &events);
    let spent = view(&events).answer.unwrap().spent;
    assert_eq!((spent.passes, spent.llm_calls, spent.estimated), (1, 3, false));
    assert!(
        spent.prompt_tokens > 100 && spent.completion_tokens > 0,
        "{spent:?}"
    );
}

#[tokio::test]
async fn a_run_of_the_quotes_engine() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    snapshot!("quotes", &bench.ask(QUESTION, EngineId::Quotes).await);
}

#[tokio::test]
async fn a_question_that_needs_no_documents() {
    let bench = Bench::with_replies([text("Hello, how can I help?")]).await;
    snapshot!("no_retrieval", &bench.ask("Hi there!", EngineId::Openai).await);
    let bench = Bench::new().await;
    snapshot!(
        "direct",
        &bench.ask("What is 17 times 23?", EngineId::Quotes).await
    );
}

#[tokio::test]
async fn a_follow_up_is_searched_for_with_what_it_refers_to() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    let mut follow_up = request("And where is it kept?", EngineId::Quotes);
    follow_up.history = vec![adrag_contract::Turn {
        role: adrag_contract::Role::User,
        content: QUESTION.to_owned(),
    }];
    let events = ask_with(&bench, follow_up).await;
    snapshot!("follow_up", &events);
    assert!(view(&events).answer.unwrap().text.contains("C-04"));
}

#[tokio::test]
async fn each_store_down() {
    for store in Store::LOCAL {
        let bench = Bench::new().await;
        bench.add(&[PUMP]).await;
        match store {
            Store::Vector => bench.vectors.faults.fail_next(down("the vector index")),
            Store::Keyword => bench.keywords.faults.fail_next(down("the keyword index")),
            _ => bench.graph.fail_next(down("the graph")),
        }
        let events = bench.ask(QUESTION, EngineId::Quotes).await;
        insta::assert_snapshot!(format!("{store}_down"), lines(&events));
        assert_eq!(view(&events).row(StageId::Retrieval).status, RowStatus::Degraded);
    }
}

#[tokio::test]
async fn each_stage_of_the_model_failing() {
    let broken = || {
        FakeReply::Fails(PortError::transient(
            adrag_contract::ErrorCode::Unreachable,
            "no connection",
        ))
    };
    for (name, replies, stage) in [
        (
            "planner_fails",
            vec![broken(), text("It takes SK-131-A [1]."), critic(true, &[])],
            StageId::Planner,
        ),
        ("reason_fails", vec![plan(), broken()], StageId::Reason),
        (
            "critic_fails",
            vec![plan(), text("It takes the kit SK-131-A [1]."), broken()],
            StageId::Reflect,
        ),
    ] {
        let bench = Bench::with_replies(replies).await;
        bench.add(&[PUMP]).await;
        let events = bench.ask(QUESTION, EngineId::Openai).await;
        insta::assert_snapshot!(name, lines(&events));
        let view = view(&events);
        assert!(
            matches!(view.row(stage).status, RowStatus::Degraded | RowStatus::Failed),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_second_pass_with_other_evidence_succeeds() {
    let bench = Bench::with_replies([
        plan(),
        text("It is kept somewhere [1]."),
        critic(false, &["bin of the seal kit"]),
        text("It is kept in bin C-04 [1]."),
        critic(true, &[]),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    snapshot!("retry", &events);
    let answer = view(&events).answer.unwrap();
    assert!(answer.text.contains("C-04"));
    assert_eq!(answer.spent.passes, 2);
}

#[tokio::test]
async fn the_same_prompt_is_never_sent_twice() {
    // The critic has nothing to say that could change the evidence or the prompt of a third pass.
    let bench = Bench::with_replies([
        plan(),
        text("It is kept somewhere [1]."),
        critic(false, &[]),
        text("It is kept somewhere else [1]."),
        critic(false, &[]),
        text("never asked for"),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let mut settings = bench.engine.settings().await;
    settings.answer.passes = 5;
    settings.answer.llm_calls = 20;
    bench.engine.save_settings(settings).await.unwrap();
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    let prompts: Vec<String> = bench
        .model
        .requests()
        .iter()
        .map(|request| request.messages[0].content.clone())
        .filter(|prompt| prompt.starts_with("You answer"))
        .collect();
    let distinct: std::collections::HashSet<_> = prompts.iter().collect();
    assert_eq!(distinct.len(), prompts.len());
    assert_eq!(view(&events).status, RunStatus::Finished);
}

#[tokio::test]
async fn a_spent_budget_leaves_an_answer_that_says_what_is_not_supported() {
    let bench = Bench::with_replies([
        plan(),
        text("Astronauts left everything behind on distant moons [1]."),
        critic(false, &["distant moons"]),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let mut settings = bench.engine.settings().await;
    settings.answer.llm_calls = 3;
    bench.engine.save_settings(settings).await.unwrap();
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    snapshot!("spent_budget", &events);
    let answer = view(&events).answer.unwrap();
    assert!(
        answer
            .claims
            .iter()
            .any(|claim| claim.verdict != adrag_contract::Verdict::Supported)
    );
    assert_eq!(answer.spent.llm_calls, 3);
}

#[tokio::test]
async fn spent_tokens_end_the_calls_too() {
    let bench = Bench::with_replies([plan(), text("It takes SK-131-A [1]."), critic(true, &[])]).await;
    bench.add(&[PUMP]).await;
    let mut settings = bench.engine.settings().await;
    settings.answer.llm_tokens = 50;
    bench.engine.save_settings(settings).await.unwrap();
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    let view = view(&events);
    assert_eq!(view.status, RunStatus::Failed);
    assert!(view.error.unwrap().message.contains("tokens"));
}

#[tokio::test]
async fn an_empty_reply_spends_a_pass_and_the_next_is_told() {
    let bench = Bench::with_replies([
        plan(),
        text(""),
        text("It takes SK-131-A [1]."),
        critic(true, &[]),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let events = bench.ask(QUESTION, EngineId::Openai).await;
    let answer = view(&events).answer.unwrap();
    assert!(answer.text.contains("SK-131-A"), "{}", answer.text);
    assert_eq!(answer.spent.passes, 2);
}

#[tokio::test]
async fn what_the_documents_do_not_say() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    snapshot!(
        "abstain",
        &bench
            .ask("Who won the football championship of 1974?", EngineId::Quotes)
            .await
    );
}

#[tokio::test]
async fn the_web_alone_when_the_plan_wants_it() {
    let web_only = FakeReply::Json(serde_json::json!({
        "retrieve": false, "use_web": true, "kind": "factual", "standalone_question": "Who won the cup of 1974?",
        "sub_questions": [], "reasoning": "it is news"
    }));
    let bench = Bench::with_replies([
        web_only,
        text("The blue team won the cup of 1974 [1]."),
        critic(true, &[]),
    ])
    .await;
    with_web(&bench, true).await;
    bench.web.put(
        "https://example.org/cup",
        "The cup",
        "The blue team won the cup of 1974.",
        "The blue team won the cup of 1974. It rained.",
    );
    let events = bench
        .ask(
            "Please look up on the web who won the cup of 1974",
            EngineId::Openai,
        )
        .await;
    snapshot!("web_only", &events);
    let answer = view(&events).answer.unwrap();
    assert_eq!(
        answer.citations[0].url.as_deref(),
        Some("https://example.org/cup")
    );
    assert!(!answer.direct);
}

#[tokio::test]
async fn documents_that_do_not_answer_lead_to_the_web_only_where_it_is_allowed() {
    for (enabled, asked, goes) in [
        (true, None, true),
        (true, Some(false), false),
        (false, Some(true), false),
    ] {
        let bench = Bench::new().await;
        bench.add(&[PUMP]).await;
        with_web(&bench, enabled).await;
        bench.web.put(
            "https://example.org/cup",
            "Football championship of 1974",
            "The blue team won the football championship of 1974.",
            "",
        );
        let mut question = request("Who won the football championship of 1974?", EngineId::Quotes);
        question.web = asked;
        let events = ask_with(&bench, question).await;
        let answer = view(&events).answer.unwrap();
        assert_eq!(
            bench.web.queries().len(),
            usize::from(goes),
            "{enabled} {asked:?}"
        );
        assert_eq!(answer.text.contains("blue team"), goes, "{}", answer.text);
        if goes {
            snapshot!("escalation", &events);
        }
    }
}

#[tokio::test]
async fn a_provider_that_refuses_is_never_no_results() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    with_web(&bench, true).await;
    bench.web.fail("duckduckgo", SearchFault::Blocked);
    let events = bench
        .ask("Who won the football championship of 1974?", EngineId::Quotes)
        .await;
    snapshot!("web_blocked", &events);
    assert_eq!(
        view(&events).row(StageId::ExternalTools).status,
        RowStatus::Degraded
    );
}

/// Stops a run as soon as a stage began, and says how it ended.
async fn stopped_in(bench: &Bench, question: AskRequest, stage: StageId) -> Vec<RunEvent> {
    let run = bench.engine.ask(question).await.unwrap();
    bench
        .until("the stage began", async |bench| {
            let events = bench.engine.run_snapshot(&run).await.unwrap();
            events.iter().any(|event| {
                matches!(&event.event, adrag_contract::Event::StageStarted { stage: begun } if *begun == stage)
            })
        })
        .await;
    bench.engine.cancel(&run);
    bench.engine.wait(&run).await.unwrap();
    bench.events(&run).await
}

#[tokio::test]
async fn a_stop_in_every_stage_that_waits_ends_the_run_and_the_next_question_runs() {
    let cases: [(StageId, Vec<FakeReply>); 3] = [
        (StageId::Planner, vec![FakeReply::Hangs]),
        (StageId::Reason, vec![plan(), FakeReply::Hangs]),
        (
            StageId::Reflect,
            vec![plan(), text("It takes the kit SK-131-A [1]."), FakeReply::Hangs],
        ),
    ];
    for (stage, mut replies) in cases {
        replies.extend([plan(), text("It takes SK-131-A [1]."), critic(true, &[])]);
        let bench = Bench::with_replies(replies).await;
        bench.add(&[PUMP]).await;
        let events = stopped_in(&bench, request(QUESTION, EngineId::Openai), stage).await;
        assert_eq!(view(&events).status, RunStatus::Cancelled, "{stage}");
        let next = bench.ask(QUESTION, EngineId::Openai).await;
        assert_eq!(view(&next).status, RunStatus::Finished, "{stage}");
    }
}

#[tokio::test]
async fn a_stop_during_a_search_that_hangs_ends_the_run() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    bench.vectors.faults.delay(Duration::from_secs(3600));
    let events = stopped_in(&bench, request(QUESTION, EngineId::Quotes), StageId::Retrieval).await;
    assert_eq!(view(&events).status, RunStatus::Cancelled);

    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    with_web(&bench, true).await;
    bench.web.hang();
    let question = request("Who won the football championship of 1974?", EngineId::Quotes);
    let run = bench.engine.ask(question).await.unwrap();
    bench
        .until("the web was asked", async |bench| !bench.web.queries().is_empty())
        .await;
    bench.engine.cancel(&run);
    bench.engine.wait(&run).await.unwrap();
    assert_eq!(view(&bench.events(&run).await).status, RunStatus::Cancelled);
}

#[tokio::test]
async fn a_question_that_weighs_is_searched_for_more_widely() {
    let bench = Bench::new().await;
    let files: Vec<(String, String)> = (0..60)
        .map(|n| {
            (
                format!("/docs/{n}.txt"),
                format!("Report {n} on the pump HX-40 of ship {n}."),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    bench.add(&files).await;
    let mut found = Vec::new();
    for question in [
        "Which report is on the pump HX-40?",
        "Explain the report on the pump HX-40",
    ] {
        let events = bench.ask(question, EngineId::Quotes).await;
        found.extend(events.iter().find_map(|event| match &event.event {
            adrag_contract::Event::PassagesFound {
                store: Store::Keyword,
                count,
                ..
            } => Some(*count),
            _ => None,
        }));
    }
    assert_eq!(found, [30, 45]);
}
