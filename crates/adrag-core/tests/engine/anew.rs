//! Another embedder: the library serves at once by its words, and is embedded anew in the background.

use crate::bench::{Bench, down};
use adrag_contract::{DocumentState, Event, RunId, Store};
use adrag_core::engine::{SearchRequest, reports_of};
use adrag_core::ports::VectorIndex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

async fn with_documents(count: u64) -> Bench {
    let bench = Bench::new().await;
    for n in 0..count {
        bench.parser.put(
            &format!("/{n:03}.txt"),
            &format!("Marker QUOKKA stands in paper {n}."),
        );
    }
    let paths: Vec<String> = (0..count).map(|n| format!("/{n:03}.txt")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    bench.ingest(&paths).await;
    bench
}

async fn hits(bench: &Bench, store: Store) -> usize {
    let request = SearchRequest {
        question: "QUOKKA".to_owned(),
        stores: vec![store],
        rerank: Some(false),
        top: 100,
        collection: None,
    };
    bench.engine.search(request).await.unwrap().hits.len()
}

async fn told(bench: &Bench) -> Vec<String> {
    let report = bench.engine.doctor().await;
    report
        .problems
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

async fn finish(bench: &Bench, run: &RunId) -> adrag_contract::RunEvent {
    bench.engine.wait(run).await.unwrap()
}

#[tokio::test]
async fn start_waits_for_no_vector_and_a_run_of_its_own_makes_them() {
    let mut bench = with_documents(3).await;
    bench.change_embedder("words-2").await;
    assert_eq!(bench.embedder.embedded(), 0, "nothing is embedded at start");
    assert_eq!(bench.engine.doctor().await.repaired, Vec::<String>::new());
    assert_eq!(hits(&bench, Store::Keyword).await, 3, "words serve meanwhile");
    assert_eq!(hits(&bench, Store::Vector).await, 0);
    assert!(told(&bench).await[0].starts_with("3 documents have no vectors"));
    let run = bench.engine.resume().await.unwrap().expect("a run");
    let last = finish(&bench, &run).await;
    let reports = reports_of(&last);
    assert_eq!(reports.len(), 3);
    assert!(
        reports
            .iter()
            .all(|report| report.state == DocumentState::Ready && report.reason.is_none())
    );
    bench.events(&run).await;
    assert_eq!(hits(&bench, Store::Vector).await, 3);
    assert_eq!(told(&bench).await, Vec::<String>::new());
    assert_eq!(bench.engine.resume().await.unwrap(), None);
}

#[tokio::test]
async fn stopped_half_way_it_keeps_what_was_done_and_goes_on_at_the_next_start() {
    let mut bench = with_documents(60).await;
    bench.change_embedder("words-2").await;
    let engine = Arc::downgrade(&bench.engine);
    let (seen, under_way) = (AtomicU64::new(0), Mutex::new(None));
    bench.engine.on_event(move |event| match &event.event {
        Event::RunStarted { .. } => *under_way.lock().unwrap() = Some(event.run.clone()),
        Event::DocumentProgressed { .. } if seen.fetch_add(1, Ordering::SeqCst) == 9 => {
            if let (Some(engine), Some(run)) = (engine.upgrade(), &*under_way.lock().unwrap()) {
                engine.cancel(run);
            }
        }
        _ => {}
    });
    let run = bench.engine.resume().await.unwrap().expect("a run");
    let last = finish(&bench, &run).await;
    assert!(matches!(last.event, Event::RunCancelled { .. }), "{last:?}");
    let done = reports_of(&last).len() as u64;
    assert!((1..60).contains(&done), "{done}");
    assert_eq!(bench.vectors.count().await.unwrap(), done);
    assert!(told(&bench).await[0].starts_with(&format!("{} documents", 60 - done)));
    bench.restart().await;
    assert_eq!(bench.vectors.count().await.unwrap(), done, "not at start");
    let run = bench.engine.resume().await.unwrap().expect("the rest");
    let last = finish(&bench, &run).await;
    assert_eq!(reports_of(&last).len() as u64, 60 - done);
    assert_eq!(bench.vectors.count().await.unwrap(), 60);
    assert!(
        bench.embedder.embedded() <= 61,
        "nothing is embedded twice but what was stopped"
    );
}

#[tokio::test]
async fn a_document_that_cannot_be_embedded_stays_searchable_and_is_tried_again() {
    let mut bench = with_documents(3).await;
    bench.change_embedder("words-2").await;
    bench.embedder.fail_next(down("the embedder"));
    let run = bench.engine.resume().await.unwrap().expect("a run");
    let last = finish(&bench, &run).await;
    let reports = reports_of(&last);
    let reason = reports[0].reason.as_deref().unwrap_or_default();
    assert!(reason.contains("the embedder is down"), "{reason}");
    assert_eq!(reports[0].state, DocumentState::Ready);
    assert_eq!(hits(&bench, Store::Keyword).await, 3);
    assert_eq!(hits(&bench, Store::Vector).await, 2);
    let run = bench
        .engine
        .resume()
        .await
        .unwrap()
        .expect("the one that is left");
    finish(&bench, &run).await;
    assert_eq!(hits(&bench, Store::Vector).await, 3);
}

#[tokio::test]
async fn what_is_deleted_or_replaced_meanwhile_gets_no_vectors_of_its_old_text() {
    let mut bench = with_documents(3).await;
    bench.change_embedder("words-2").await;
    let documents = bench.engine.list_documents(None).await.unwrap();
    bench
        .engine
        .delete_documents(&[documents[0].id.clone()])
        .await
        .unwrap();
    bench.add(&[("/001.txt", "Marker WOMBAT stands here now.")]).await;
    let run = bench.engine.resume().await.unwrap().expect("one is left");
    assert_eq!(reports_of(&finish(&bench, &run).await).len(), 1);
    assert_eq!(bench.vectors.count().await.unwrap(), 2);
    assert!(bench.finds("WOMBAT").await);
    assert_eq!(bench.engine.resume().await.unwrap(), None);
}

#[tokio::test]
async fn vectors_that_were_lost_under_the_same_embedder_are_mended_at_start_as_before() {
    let mut bench = with_documents(3).await;
    bench.change_embedder("words-2").await;
    let run = bench.engine.resume().await.unwrap().expect("a run");
    finish(&bench, &run).await;
    bench.vectors.clear().await.unwrap();
    bench.restart().await;
    assert_eq!(bench.vectors.count().await.unwrap(), 3);
    assert_eq!(bench.engine.doctor().await.repaired.len(), 3);
}

#[tokio::test]
async fn another_version_of_the_readers_reads_the_library_again_in_the_background() {
    let mut bench = with_documents(40).await;
    assert_eq!(
        bench.engine.resume().await.unwrap(),
        None,
        "they were read by this one"
    );
    bench.parser.upgrade();
    bench.parser.rename("/000.txt", "/elsewhere.txt");
    bench.restart().await;
    assert_eq!(
        hits(&bench, Store::Vector).await,
        40,
        "the old text serves meanwhile"
    );
    let embedded = bench.embedder.embedded();
    let documents = bench.engine.list_documents(None).await.unwrap();
    let deleted = documents
        .iter()
        .find(|document| document.path == "/039.txt")
        .unwrap();
    let run = bench.engine.resume().await.unwrap().expect("a run");
    assert_eq!(bench.engine.reread().await.unwrap(), None, "it is under way");
    assert!(told(&bench).await[0].starts_with("40 documents are to be looked at again"));
    bench
        .engine
        .discard_documents(std::slice::from_ref(&deleted.id))
        .await
        .unwrap();
    let last = finish(&bench, &run).await;
    let reports = reports_of(&last);
    assert_eq!(
        reports.len(),
        38,
        "neither the one that is gone nor the one that was deleted"
    );
    assert!(reports.iter().all(|report| report.state == DocumentState::Ready));
    assert_eq!(
        bench.embedder.embedded(),
        embedded,
        "the text is the same: nothing is embedded"
    );
    assert_eq!(bench.engine.list_documents(None).await.unwrap().len(), 39);
    assert_eq!(hits(&bench, Store::Vector).await, 39);
    let again = bench
        .add(&[("/001.txt", "Marker QUOKKA stands in paper 1.")])
        .await;
    let reason = again[0].reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("unchanged"),
        "it has the new fingerprint: {reason}"
    );
    bench.restart().await;
    assert_eq!(bench.engine.resume().await.unwrap(), None, "once is enough");
    assert_eq!(told(&bench).await, Vec::<String>::new());
}

#[tokio::test]
async fn reading_again_that_was_stopped_goes_on_at_the_next_start() {
    let mut bench = with_documents(40).await;
    bench.engine.resume().await.unwrap();
    bench.parser.upgrade();
    bench.restart().await;
    let run = bench.engine.resume().await.unwrap().expect("a run");
    assert!(bench.engine.cancel(&run));
    let last = finish(&bench, &run).await;
    assert!(matches!(last.event, Event::RunCancelled { .. }), "{last:?}");
    assert_eq!(hits(&bench, Store::Keyword).await, 40);
    bench.restart().await;
    let run = bench.engine.resume().await.unwrap().expect("the rest");
    let last = finish(&bench, &run).await;
    assert_eq!(reports_of(&last).len(), 40);
    assert_eq!(bench.engine.resume().await.unwrap(), None);
}

#[tokio::test]
async fn a_file_added_meanwhile_waits_for_a_few_documents_only() {
    let mut bench = with_documents(60).await;
    bench.parser.upgrade();
    bench.change_embedder("words-2").await;
    let ended = Arc::new(Mutex::new(Vec::new()));
    let seen = ended.clone();
    bench.engine.on_event(move |event| {
        if matches!(event.event, Event::RunFinished { .. }) {
            seen.lock().unwrap().push(event.run.clone());
        }
    });
    let last = bench.engine.resume().await.unwrap().expect("two runs");
    bench.add(&[("/new.txt", "Marker WOMBAT is new.")]).await;
    assert!(bench.finds("WOMBAT").await);
    finish(&bench, &last).await;
    bench
        .until("all three runs ended", async |_| ended.lock().unwrap().len() == 3)
        .await;
    let last_of_all = ended.lock().unwrap()[2].clone();
    let events = bench.events(&last_of_all).await;
    assert_eq!(
        reports_of(events.last().unwrap()).len(),
        60,
        "reading the library again ends after the new file is done"
    );
    assert_eq!(hits(&bench, Store::Vector).await, 61);
    assert_eq!(told(&bench).await, Vec::<String>::new());
}
