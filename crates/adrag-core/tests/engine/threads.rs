//! Conversations: what goes along with a follow-up, answers given anew, names, search, deletion, export.

use crate::bench::{Bench, request, view};
use adrag_contract::{
    AskRequest, EngineId, ErrorCode, ExportFormat, RunEvent, RunId, RunKind, RunStatus, ThreadId,
};
use adrag_core::testing::chat::FakeReply;

const PUMP: (&str, &str) = (
    "/docs/pump.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A. The kit is kept in bin C-04.",
);
const QUESTION: &str = "Which seal kit does the bilge pump HX-40 use?";

async fn asked(bench: &Bench, request: AskRequest) -> (RunId, Vec<RunEvent>) {
    let run = bench.engine.ask(request).await.unwrap();
    bench.engine.wait(&run).await.unwrap();
    bench
        .until("the run is kept", async |bench| {
            bench
                .engine
                .list_runs()
                .await
                .unwrap()
                .iter()
                .any(|known| known.run == run && known.finished)
        })
        .await;
    let events = bench.events(&run).await;
    (run, events)
}

fn thread_of(events: &[RunEvent]) -> ThreadId {
    match &view(events).kind {
        Some(RunKind::Ask {
            thread: Some(thread), ..
        }) => thread.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_follow_up_takes_the_thread_along_and_not_what_the_window_says() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    let (first, events) = asked(&bench, request(QUESTION, EngineId::Quotes)).await;
    let thread = thread_of(&events);
    assert_eq!(
        thread.as_str(),
        first.as_str(),
        "a thread bears the name of its first run"
    );
    let mut follow_up = request("And where is it kept?", EngineId::Quotes);
    follow_up.thread = Some(thread.clone());
    follow_up.history = vec![adrag_contract::Turn {
        role: adrag_contract::Role::User,
        content: "Who won the cup?".to_owned(),
    }];
    let (second, events) = asked(&bench, follow_up).await;
    let standalone = events.iter().find_map(|event| match &event.event {
        adrag_contract::Event::StageFinished {
            detail:
                adrag_contract::StageDetail::Planner {
                    standalone_question, ..
                },
            ..
        } => Some(standalone_question.clone()),
        _ => None,
    });
    let standalone = standalone.unwrap();
    assert!(
        standalone.contains("HX-40") && !standalone.contains("cup"),
        "{standalone}"
    );
    let runs = bench.engine.thread_runs(&thread).await.unwrap();
    assert_eq!(
        runs.iter().map(|run| run.run.clone()).collect::<Vec<_>>(),
        [first, second]
    );
    let listed = bench.engine.list_threads("").await.unwrap();
    assert_eq!((listed.len(), listed[0].questions), (1, 2));
    assert_eq!(listed[0].title, QUESTION);
}

#[tokio::test]
async fn an_answer_given_anew_keeps_both_and_forgets_what_came_after() {
    let bench = Bench::with_replies([
        FakeReply::Text("It takes SK-131-A [1].".to_owned()),
        FakeReply::Text("{\"grounded\": true}".to_owned()),
    ])
    .await;
    bench.add(&[PUMP]).await;
    let (first, events) = asked(&bench, request(QUESTION, EngineId::Quotes)).await;
    let thread = thread_of(&events);
    let mut again = request(QUESTION, EngineId::Openai);
    again.thread = Some(thread.clone());
    again.replaces = Some(first.clone());
    let (second, _) = asked(&bench, again).await;
    let runs = bench.engine.thread_runs(&thread).await.unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].replaces, Some(first));
    let listed = bench.engine.list_threads("").await.unwrap();
    assert_eq!(listed[0].questions, 1);
    let prompts = bench.model.requests();
    assert!(
        prompts
            .iter()
            .all(|prompt| !prompt.messages[0].content.contains("Person:")),
        "the answer that is replaced is no conversation"
    );
    let exported = bench
        .engine
        .export_thread(&thread, ExportFormat::Json)
        .await
        .unwrap();
    let value: serde_json::Value = serde_json::from_str(&exported.content).unwrap();
    assert_eq!(value["exchanges"].as_array().unwrap().len(), 1);
    assert_eq!(value["exchanges"][0]["run"], second.as_str());

    let mut astray = request(QUESTION, EngineId::Quotes);
    astray.thread = Some(thread);
    astray.replaces = Some("elsewhere".into());
    assert_eq!(
        bench.engine.ask(astray).await.unwrap_err().code,
        ErrorCode::NotFound
    );
}

#[tokio::test]
async fn threads_are_named_found_and_forgotten() {
    let bench = Bench::new().await;
    bench.add(&[PUMP]).await;
    let (_, events) = asked(&bench, request(QUESTION, EngineId::Quotes)).await;
    let one = thread_of(&events);
    let (run, events) = asked(&bench, request("Hello", EngineId::Quotes)).await;
    let two = thread_of(&events);
    bench.engine.rename_thread(&two, "  Small\ntalk ").await.unwrap();
    assert_eq!(
        bench.engine.list_threads("small").await.unwrap()[0].title,
        "Small talk"
    );
    assert_eq!(
        bench.engine.list_threads("sk-131").await.unwrap()[0].thread,
        one,
        "answers are searched too"
    );
    bench
        .engine
        .delete_threads(std::slice::from_ref(&two))
        .await
        .unwrap();
    assert_eq!(bench.engine.list_threads("").await.unwrap().len(), 1);
    assert!(bench.engine.run_snapshot(&run).await.is_err());
    let unknown = bench.engine.thread_runs(&two).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    assert_eq!(
        bench.engine.rename_thread(&two, "x").await.unwrap_err().code,
        ErrorCode::NotFound
    );
}

#[tokio::test]
async fn deleting_a_thread_stops_its_question() {
    let bench = Bench::with_replies([FakeReply::Hangs, FakeReply::Hangs]).await;
    bench.add(&[PUMP]).await;
    let run = bench
        .engine
        .ask(request(QUESTION, EngineId::Openai))
        .await
        .unwrap();
    let thread = ThreadId::new(run.as_str());
    assert_eq!(
        bench.engine.list_threads("").await.unwrap()[0].thread,
        thread,
        "one under way is listed"
    );
    assert_eq!(bench.engine.thread_runs(&thread).await.unwrap().len(), 1);
    bench
        .engine
        .delete_threads(std::slice::from_ref(&thread))
        .await
        .unwrap();
    assert!(bench.engine.list_threads("").await.unwrap().is_empty());
    assert!(bench.engine.thread_runs(&thread).await.is_err());
}

#[tokio::test]
async fn an_export_shows_the_proof_and_nothing_of_it_is_markup() {
    let bench = Bench::new().await;
    bench
        .add(&[(
            "/docs/<script>x.txt",
            "The pump <b>HX-40</b> uses [1](http://x) kit SK-131-A.",
        )])
        .await;
    let (_, events) = asked(
        &bench,
        request(
            "Which kit does the pump HX-40 use? <script>alert(1)</script>",
            EngineId::Quotes,
        ),
    )
    .await;
    assert_eq!(view(&events).status, RunStatus::Finished);
    let thread = thread_of(&events);
    let html = bench
        .engine
        .export_thread(&thread, ExportFormat::Html)
        .await
        .unwrap();
    assert!(html.file_name.ends_with(".html"));
    assert!(
        !html.content.contains("<script>") && !html.content.contains("<b>HX"),
        "{}",
        html.content
    );
    assert!(html.content.contains("SK-131-A") && html.content.contains("<blockquote>"));
    let markdown = bench
        .engine
        .export_thread(&thread, ExportFormat::Markdown)
        .await
        .unwrap();
    assert!(markdown.content.contains("[^1-1]: "), "{}", markdown.content);
    assert!(
        !markdown
            .content
            .contains("\n## Which kit does the pump HX-40 use? <script>")
    );
}
