//! Pausing and resuming an ingestion, and trying again what failed.

use crate::bench::{Bench, down, request, view};
use adrag_contract::{
    AddFilesRequest, CollectionName, DocumentState, EngineId, ErrorCode, Event, RunEvent, RunId,
};
use adrag_core::engine::reports_of;
use std::sync::{Arc, OnceLock};

/// A text of so many chunks, one a paragraph.
fn long_text(chunks: usize) -> String {
    (0..chunks)
        .map(|number| format!("Paragraph {number} {}", "word ".repeat(150)))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Starts an ingestion that is paused in the moment of the first event that `when` says yes to.
async fn paused_when(
    bench: &Bench,
    paths: &[&str],
    when: impl Fn(&RunEvent) -> bool + Send + Sync + 'static,
) -> RunId {
    let engine = Arc::downgrade(&bench.engine);
    let once = OnceLock::new();
    bench.engine.on_event(move |event| {
        if when(event) && once.set(()).is_ok() {
            engine.upgrade().unwrap().pause(&event.run).unwrap();
        }
    });
    let request = AddFilesRequest {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        collection: CollectionName::default(),
    };
    let run = bench.engine.add_files(request).await.unwrap();
    bench
        .until("the run is paused", async |bench| is_paused(bench, &run).await)
        .await;
    run
}

async fn is_paused(bench: &Bench, run: &RunId) -> bool {
    view(&bench.engine.run_snapshot(run).await.unwrap()).paused
}

fn has_progressed(event: &RunEvent) -> bool {
    matches!(event.event, Event::DocumentProgressed { .. })
}

#[tokio::test]
async fn a_pause_holds_between_two_small_batches_and_nothing_is_lost() {
    let bench = Bench::new().await;
    bench.parser.put("/long.txt", &long_text(50));
    let run = paused_when(&bench, &["/long.txt"], has_progressed).await;
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let done = bench.embedder.embedded();
    assert!(done > 0 && done <= 16, "{done} texts were embedded");
    bench.engine.resume_run(&run).unwrap();
    let last = bench.engine.wait(&run).await.unwrap();
    assert_eq!(reports_of(&last)[0].state, DocumentState::Ready);
    assert_eq!(
        bench.embedder.embedded(),
        reports_of(&last)[0].chunks,
        "nothing is embedded twice"
    );
    let events = bench.events(&run).await;
    let pauses: Vec<bool> = events
        .iter()
        .filter_map(|event| match event.event {
            Event::RunPaused => Some(true),
            Event::RunResumed => Some(false),
            _ => None,
        })
        .collect();
    assert_eq!(pauses, [true, false]);
}

#[tokio::test]
async fn a_paused_run_can_be_stopped_and_leaves_nothing_half_done() {
    let bench = Bench::new().await;
    bench.parser.put("/long.txt", &long_text(50));
    let run = paused_when(&bench, &["/long.txt"], has_progressed).await;
    assert!(bench.engine.cancel(&run));
    let last = bench.engine.wait(&run).await.unwrap();
    assert!(matches!(last.event, Event::RunCancelled { .. }));
    assert!(bench.engine.list_documents(None).await.unwrap().is_empty());
    assert!(!is_paused(&bench, &run).await);
}

#[tokio::test]
async fn what_was_written_before_a_pause_is_searchable_during_it() {
    let bench = Bench::new().await;
    bench.parser.put("/a.txt", "Marker QUOKKA was here.");
    bench.parser.put("/b.txt", "Another text.");
    let run = paused_when(&bench, &["/a.txt", "/b.txt"], |event| {
        matches!(
            event.event,
            Event::DocumentStateChanged {
                state: DocumentState::Indexing,
                ..
            }
        )
    })
    .await;
    bench
        .until("the first document is ready", async |bench| {
            bench.finds("QUOKKA").await
        })
        .await;
    assert!(is_paused(&bench, &run).await);
    bench.engine.resume_run(&run).unwrap();
    let last = bench.engine.wait(&run).await.unwrap();
    assert!(
        reports_of(&last)
            .iter()
            .all(|report| report.state == DocumentState::Ready)
    );
}

#[tokio::test]
async fn only_an_ingestion_can_be_paused() {
    let bench = Bench::new().await;
    let unknown = bench.engine.pause(&"nobody".into()).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    let question = bench
        .engine
        .ask(request("What runs?", EngineId::Quotes))
        .await
        .unwrap();
    let refused = bench.engine.pause(&question).unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidRequest);
    bench.engine.wait(&question).await.unwrap();
    bench.parser.put("/a.txt", "One.");
    let events = bench.ingest(&["/a.txt"]).await;
    let over = events[0].run.clone();
    bench.engine.pause(&over).unwrap();
    assert!(!is_paused(&bench, &over).await, "what is over does not rest");
}

#[tokio::test]
async fn all_failed_documents_are_tried_again_in_one_run() {
    let bench = Bench::new().await;
    for path in ["/a.txt", "/b.txt"] {
        bench.parser.put(path, &format!("Marker QUOKKA of {path}."));
        bench.parser.fail(path, down("the reader"));
    }
    let events = bench.ingest(&["/a.txt", "/b.txt"]).await;
    let mut failed: Vec<_> = reports_of(events.last().unwrap())
        .iter()
        .filter(|report| report.state == DocumentState::Failed)
        .filter_map(|report| report.id.clone())
        .collect();
    assert_eq!(failed.len(), 2);
    failed.push("nobody".into());
    for path in ["/a.txt", "/b.txt"] {
        bench.parser.put(path, &format!("Marker QUOKKA of {path}."));
    }
    let run = bench.engine.retry_documents(&failed).await.unwrap();
    let last = bench.engine.wait(&run).await.unwrap();
    let states: Vec<_> = reports_of(&last).iter().map(|report| report.state).collect();
    assert_eq!(states, [DocumentState::Ready, DocumentState::Ready]);
    let gone = bench
        .engine
        .retry_documents(&["nobody".into()])
        .await
        .unwrap_err();
    assert_eq!(gone.code, ErrorCode::NotFound);
}
