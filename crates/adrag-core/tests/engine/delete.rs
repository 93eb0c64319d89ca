//! Deletions that can be undone: hidden at once, cleaned after a while, brought back as they were.

use crate::bench::{Bench, down};
use adrag_contract::{
    AddFilesRequest, CollectionName, DocumentId, DocumentState, ErrorCode, ReadPassageRequest, Store,
};
use adrag_core::engine::{SearchRequest, UNDO_FOR, reports_of};
use adrag_core::ports::{Catalog, EntityGraph, KeywordIndex, VectorIndex};
use std::time::Duration;

const QUOKKA: &str = "Marker QUOKKA was here.";

async fn with_one(bench: &Bench) -> DocumentId {
    let reports = bench
        .add(&[("/a.txt", QUOKKA), ("/b.txt", "Another text.")])
        .await;
    reports[0].id.clone().unwrap()
}

async fn held(bench: &Bench) -> (u64, u64, u64) {
    (
        bench.vectors.count().await.unwrap(),
        bench.keywords.count().await.unwrap(),
        bench.graph.count().await.unwrap().chunks,
    )
}

async fn all_cleaned(bench: &Bench) {
    bench.clock.advance(UNDO_FOR);
    bench
        .until("nothing waits for its deletion", async |bench| {
            bench.catalog.deleting().await.unwrap().is_empty()
        })
        .await;
}

#[tokio::test]
async fn a_deleted_document_is_hidden_at_once_and_cleaned_when_it_cannot_be_undone_any_more() {
    let bench = Bench::new().await;
    let document = with_one(&bench).await;
    let deletion = bench
        .engine
        .discard_documents(std::slice::from_ref(&document))
        .await
        .unwrap();
    assert_eq!(deletion.documents, 1);
    assert!(!bench.finds("QUOKKA").await);
    assert_eq!(bench.engine.list_documents(None).await.unwrap().len(), 1);
    assert_eq!(held(&bench).await, (2, 2, 2), "the stores still hold it");
    bench.clock.advance(UNDO_FOR - Duration::from_millis(1));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(held(&bench).await, (2, 2, 2), "and do until the end");
    all_cleaned(&bench).await;
    assert_eq!(held(&bench).await, (1, 1, 1));
    let late = bench.engine.undo_delete(&deletion.id).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::NotFound);
    assert!(bench.catalog.document(&document).await.unwrap().is_none());
}

#[tokio::test]
async fn undoing_brings_back_what_was_without_embedding_anything() {
    let bench = Bench::new().await;
    with_one(&bench).await;
    bench.parser.put("/bad.txt", "x");
    bench.parser.fail("/bad.txt", down("the reader"));
    bench.ingest(&["/bad.txt"]).await;
    let before = bench.engine.list_documents(None).await.unwrap();
    let embedded = bench.embedder.embedded();
    let deletion = bench.engine.discard_collection(None).await.unwrap();
    assert_eq!(deletion.documents, 3);
    assert!(bench.engine.list_documents(None).await.unwrap().is_empty());
    assert_eq!(bench.engine.undo_delete(&deletion.id).await.unwrap(), 3);
    assert_eq!(bench.engine.list_documents(None).await.unwrap(), before);
    assert_eq!(bench.embedder.embedded(), embedded);
    assert!(bench.finds("QUOKKA").await);
    let twice = bench.engine.undo_delete(&deletion.id).await.unwrap_err();
    assert_eq!(twice.code, ErrorCode::NotFound);
    bench.clock.advance(UNDO_FOR);
    bench
        .until("nobody waits to clean", async |bench| bench.clock.sleepers() == 0)
        .await;
    assert_eq!(
        held(&bench).await,
        (2, 2, 2),
        "the time for undoing passes in vain"
    );
}

#[tokio::test]
async fn an_end_before_the_stores_are_cleaned_finishes_the_deletion_at_the_next_start() {
    for closes in [true, false] {
        let mut bench = Bench::new().await;
        let document = with_one(&bench).await;
        bench.engine.discard_documents(&[document]).await.unwrap();
        if closes {
            bench.engine.close().await;
            bench.clock.advance(UNDO_FOR);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(held(&bench).await, (2, 2, 2));
        bench.restart().await;
        assert_eq!(held(&bench).await, (1, 1, 1));
        assert!(bench.catalog.deleting().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_file_added_again_while_its_document_waits_becomes_ready_and_the_old_one_is_cleaned() {
    let bench = Bench::new().await;
    let document = with_one(&bench).await;
    let deletion = bench
        .engine
        .discard_documents(std::slice::from_ref(&document))
        .await
        .unwrap();
    let again = bench.add(&[("/a.txt", QUOKKA)]).await;
    assert_eq!(
        (again[0].state, again[0].id.as_ref()),
        (DocumentState::Ready, Some(&document)),
        "the path is the document"
    );
    let elsewhere = bench.add(&[("/moved.txt", "Another text.")]).await;
    assert_eq!(elsewhere[0].state, DocumentState::Ready);
    assert_eq!(
        bench.engine.undo_delete(&deletion.id).await.unwrap(),
        0,
        "it is there already"
    );
    bench.clock.advance(UNDO_FOR);
    bench
        .until("nobody waits to clean", async |bench| bench.clock.sleepers() == 0)
        .await;
    assert!(bench.finds("QUOKKA").await);
    assert_eq!(held(&bench).await, (2, 2, 2), "nothing of the old one is left");
}

#[tokio::test]
async fn the_same_bytes_elsewhere_are_a_document_of_their_own_while_the_old_one_waits() {
    let bench = Bench::new().await;
    let document = with_one(&bench).await;
    bench
        .engine
        .discard_documents(std::slice::from_ref(&document))
        .await
        .unwrap();
    let copy = bench.add(&[("/copy.txt", QUOKKA)]).await;
    assert_eq!(copy[0].state, DocumentState::Ready);
    assert_ne!(copy[0].id.as_ref(), Some(&document));
    all_cleaned(&bench).await;
    assert!(bench.finds("QUOKKA").await);
    assert_eq!(held(&bench).await, (2, 2, 2));
}

#[tokio::test]
async fn a_document_added_again_that_cannot_be_read_leaves_no_remains_of_the_old_one() {
    let bench = Bench::new().await;
    let document = with_one(&bench).await;
    bench.engine.discard_documents(&[document]).await.unwrap();
    bench.parser.fail("/a.txt", down("the reader"));
    let events = bench.ingest(&["/a.txt"]).await;
    assert_eq!(reports_of(events.last().unwrap())[0].state, DocumentState::Failed);
    bench.clock.advance(UNDO_FOR);
    bench
        .until("the old text is gone", async |bench| {
            held(bench).await == (1, 1, 1)
        })
        .await;
}

#[tokio::test]
async fn deleting_what_is_being_added_does_not_stop_the_others_and_undoing_reads_it_anew() {
    let bench = Bench::new().await;
    bench.parser.put("/slow.txt", QUOKKA);
    bench.parser.delay("/slow.txt", Duration::from_secs(600));
    let request = AddFilesRequest {
        paths: vec!["/slow.txt".to_owned()],
        collection: CollectionName::default(),
    };
    let run = bench.engine.add_files(request).await.unwrap();
    bench
        .until("the file is being read", async |bench| {
            let listed = bench.engine.list_documents(None).await.unwrap();
            listed.first().map(|document| document.state) == Some(DocumentState::Parsing)
        })
        .await;
    let deletion = bench.engine.discard_collection(None).await.unwrap();
    assert!(bench.engine.list_documents(None).await.unwrap().is_empty());
    bench.engine.cancel(&run);
    bench.engine.wait(&run).await.unwrap();
    bench.parser.delay("/slow.txt", Duration::ZERO);
    assert_eq!(bench.engine.undo_delete(&deletion.id).await.unwrap(), 1);
    bench
        .until("it is ready", async |bench| bench.finds("QUOKKA").await)
        .await;
}

#[tokio::test]
async fn a_document_deleted_after_it_was_written_fails_alone() {
    let bench = Bench::new().await;
    bench.parser.put("/a.txt", QUOKKA);
    bench.parser.put("/slow.txt", "Another text.");
    bench.parser.delay("/slow.txt", Duration::from_millis(50));
    let request = AddFilesRequest {
        paths: vec!["/a.txt".to_owned(), "/slow.txt".to_owned()],
        collection: CollectionName::default(),
    };
    let run = bench.engine.add_files(request).await.unwrap();
    bench
        .until("the first is written", async |bench| {
            bench.vectors.count().await.unwrap() == 1
        })
        .await;
    let written = bench.engine.list_documents(None).await.unwrap();
    let written = written.iter().find(|document| document.path == "/a.txt").unwrap();
    bench
        .engine
        .discard_documents(std::slice::from_ref(&written.id))
        .await
        .unwrap();
    let last = bench.engine.wait(&run).await.unwrap();
    let reports = reports_of(&last);
    assert_eq!(reports[0].state, DocumentState::Failed);
    assert!(
        reports[0].reason.as_ref().unwrap().contains("deleted"),
        "{reports:?}"
    );
    assert_eq!(reports[1].state, DocumentState::Ready);
    assert_eq!(held(&bench).await, (1, 1, 1));
}

#[tokio::test]
async fn nothing_is_deleted_when_one_is_unknown_and_a_deleted_one_is_not_there_to_be_read() {
    let bench = Bench::new().await;
    let document = with_one(&bench).await;
    let unknown = [document.clone(), "nobody".into()];
    let error = bench.engine.discard_documents(&unknown).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(bench.finds("QUOKKA").await);
    bench
        .engine
        .discard_documents(std::slice::from_ref(&document))
        .await
        .unwrap();
    let request = ReadPassageRequest {
        document: document.clone(),
        span: (0, 6),
        around: 10,
    };
    let unread = bench.engine.read_passage(&request).await.unwrap_err();
    assert_eq!(unread.code, ErrorCode::NotFound);
    assert!(bench.engine.document_path(&document).await.is_err());
    assert!(bench.engine.discard_documents(&[document]).await.is_err());
}

#[tokio::test]
async fn documents_that_wait_for_their_deletion_crowd_no_other_out() {
    let bench = Bench::new().await;
    let texts: Vec<(String, String)> = (0..70)
        .map(|number| {
            (
                format!("/{number}.txt"),
                format!("QUOKKA QUOKKA number {number}."),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let reports = bench.add(&files).await;
    let documents: Vec<DocumentId> = reports.into_iter().filter_map(|report| report.id).collect();
    bench
        .add(&[(
            "/kept.txt",
            "Once the harbour master of a small and sleepy town saw a QUOKKA.",
        )])
        .await;
    bench.engine.discard_documents(&documents).await.unwrap();
    for store in [Store::Vector, Store::Keyword] {
        let request = SearchRequest {
            question: "QUOKKA number".to_owned(),
            stores: vec![store],
            rerank: Some(false),
            top: 5,
            collection: None,
        };
        let hits = bench.engine.search(request).await.unwrap().hits;
        let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["/kept.txt"], "{store}");
    }
}
