//! Ingestion: each file its own fate, nothing twice, nothing half.

use crate::bench::{Bench, down, shape};
use adrag_contract::{AddFilesRequest, CollectionName, DocumentState, ErrorCode, Store};
use adrag_core::engine::{SearchRequest, reports_of};
use adrag_core::ports::{
    Block, BlockKind, Catalog, DocumentKey, EntityGraph, KeywordIndex, ParsedDocument, PortError, VectorIndex,
};
use std::time::Duration;

async fn counts(bench: &Bench) -> (u64, u64, u64) {
    (
        bench.vectors.count().await.unwrap(),
        bench.keywords.count().await.unwrap(),
        bench.graph.count().await.unwrap().chunks,
    )
}

#[tokio::test]
async fn a_file_becomes_ready_in_all_three_stores() {
    let bench = Bench::new().await;
    bench.parser.put("/a.txt", "The pump HX-40 runs. It runs well.");
    let events = bench.ingest(&["/a.txt"]).await;
    insta::assert_json_snapshot!("ingest", shape(&events));
    let reports = reports_of(events.last().unwrap());
    assert_eq!(reports[0].state, DocumentState::Ready);
    assert_eq!(counts(&bench).await, (1, 1, 1));
}

#[tokio::test]
async fn a_bad_file_fails_alone_and_an_empty_one_is_empty() {
    let bench = Bench::new().await;
    bench.parser.put("/bad.pdf", "x");
    bench.parser.fail(
        "/bad.pdf",
        PortError::rejected(ErrorCode::UnreadableFile, "is not a readable PDF"),
    );
    let reports = bench
        .add(&[("/a.txt", "One."), ("/empty.txt", "  "), ("/b.txt", "Two.")])
        .await;
    assert_eq!(reports[1].state, DocumentState::Empty);
    let events = bench.ingest(&["/bad.pdf", "/missing.txt", "/a.txt"]).await;
    let reports = reports_of(events.last().unwrap());
    assert_eq!(reports[0].state, DocumentState::Failed);
    assert!(reports[0].reason.as_ref().unwrap().contains("not a readable PDF"));
    assert_eq!(reports[1].state, DocumentState::Failed);
    assert_eq!(reports[2].state, DocumentState::Ready);
    assert_eq!(counts(&bench).await, (2, 2, 2));
}

#[tokio::test]
async fn the_same_bytes_again_embed_nothing() {
    let bench = Bench::new().await;
    bench.add(&[("/a.txt", "The pump runs.")]).await;
    let before = bench.embedder.embedded();
    let reports = bench.add(&[("/a.txt", "The pump runs.")]).await;
    assert_eq!(reports[0].state, DocumentState::Ready);
    assert_eq!(bench.embedder.embedded(), before);
    assert_eq!(counts(&bench).await, (1, 1, 1));
}

#[tokio::test]
async fn a_changed_file_replaces_its_old_text_everywhere() {
    let bench = Bench::new().await;
    let first = bench.add(&[("/a.txt", "Marker QUOKKA was here.")]).await;
    let second = bench.add(&[("/a.txt", "Marker WOMBAT is here.")]).await;
    assert_eq!(first[0].id, second[0].id, "it stays the same document");
    assert!(!bench.finds("QUOKKA").await);
    assert!(bench.finds("WOMBAT").await);
    assert_eq!(counts(&bench).await, (1, 1, 1));
}

#[tokio::test]
async fn a_changed_file_embeds_only_the_chunks_that_changed() {
    let bench = Bench::new().await;
    let text = |marker: &str| -> String {
        (0..12)
            .map(|n| {
                let word = if n == 7 { marker } else { "same" };
                format!(
                    "# Part {n}\n\n{}\n\n",
                    format!("Sentence {n} is {word}. ").repeat(30)
                )
            })
            .collect()
    };
    let reports = bench.add(&[("/a.txt", &text("QUOKKA"))]).await;
    let (chunks, first) = (reports[0].chunks, bench.embedder.embedded());
    assert!(chunks >= 12, "{chunks}");
    bench.add(&[("/a.txt", &text("WOMBAT"))]).await;
    let again = bench.embedder.embedded() - first;
    assert!(
        (1..=2).contains(&again),
        "{again} of {chunks} were embedded again"
    );
    assert!(!bench.finds("QUOKKA").await);
    assert!(bench.finds("WOMBAT").await);
    assert_eq!(counts(&bench).await, (chunks, chunks, chunks));
    // The same text again after the stores lost their vectors: all are made.
    bench.vectors.clear().await.unwrap();
    let before = bench.embedder.embedded();
    bench.add(&[("/a.txt", &text("NUMBAT"))]).await;
    assert_eq!(bench.embedder.embedded() - before, chunks);
    for n in 0..12 {
        let found = bench.search_vectors(&format!("Sentence {n} is")).await;
        assert!(
            found.iter().any(|hit| hit.contains(&format!("Sentence {n} is"))),
            "part {n}"
        );
    }
}

#[tokio::test]
async fn a_new_version_that_cannot_be_read_leaves_the_old_one_searchable() {
    let bench = Bench::new().await;
    bench.add(&[("/a.txt", "Marker QUOKKA was here.")]).await;
    bench.parser.put("/a.txt", "other bytes");
    bench.parser.fail(
        "/a.txt",
        PortError::rejected(ErrorCode::UnreadableFile, "is damaged"),
    );
    let events = bench.ingest(&["/a.txt"]).await;
    assert_eq!(reports_of(events.last().unwrap())[0].state, DocumentState::Failed);
    assert!(bench.finds("QUOKKA").await);
}

#[tokio::test]
async fn two_collections_with_the_same_file_do_not_touch_each_other() {
    let bench = Bench::new().await;
    bench.parser.put("/a.txt", "Marker QUOKKA was here.");
    for name in ["one", "two"] {
        let request = AddFilesRequest {
            paths: vec!["/a.txt".to_owned()],
            collection: CollectionName::new(name),
        };
        let run = bench.engine.add_files(request).await.unwrap();
        bench.engine.wait(&run).await.unwrap();
    }
    assert_eq!(counts(&bench).await, (2, 2, 2));
    bench
        .engine
        .clear_documents(Some(&CollectionName::new("one")))
        .await
        .unwrap();
    assert_eq!(counts(&bench).await, (1, 1, 1));
    let reply = bench
        .engine
        .search(SearchRequest {
            question: "QUOKKA".to_owned(),
            stores: Store::LOCAL.to_vec(),
            rerank: None,
            top: 5,
            collection: Some(CollectionName::new("two")),
        })
        .await
        .unwrap();
    assert_eq!(reply.hits.len(), 1);
}

#[tokio::test]
async fn a_deleted_document_is_found_nowhere() {
    let bench = Bench::new().await;
    let reports = bench
        .add(&[("/a.txt", "Marker QUOKKA was here."), ("/b.txt", "Another text.")])
        .await;
    bench
        .engine
        .delete_documents(&[reports[0].id.clone().unwrap()])
        .await
        .unwrap();
    assert!(!bench.finds("QUOKKA").await);
    assert_eq!(counts(&bench).await, (1, 1, 1));
    let gone = bench
        .engine
        .delete_documents(&[reports[0].id.clone().unwrap()])
        .await
        .unwrap_err();
    assert_eq!(gone.code, ErrorCode::NotFound);
}

#[tokio::test]
async fn an_embedder_that_dies_leaves_nothing_of_its_document() {
    let bench = Bench::new().await;
    bench.parser.put("/a.txt", "Marker QUOKKA was here.");
    bench.embedder.fail_next(down("the embedder"));
    let events = bench.ingest(&["/a.txt"]).await;
    assert_eq!(reports_of(events.last().unwrap())[0].state, DocumentState::Failed);
    assert_eq!(counts(&bench).await, (0, 0, 0));
    let again = bench.add(&[("/a.txt", "Marker QUOKKA was here.")]).await;
    assert_eq!(again[0].state, DocumentState::Ready);
}

#[tokio::test]
async fn a_stopped_ingestion_keeps_what_was_done_and_takes_back_the_rest() {
    let bench = Bench::new().await;
    for n in 0..20 {
        bench
            .parser
            .put(&format!("/{n}.txt"), &format!("Document number {n} says things."));
    }
    bench.parser.delay("/5.txt", Duration::from_secs(600));
    let paths = (0..20).map(|n| format!("/{n}.txt")).collect();
    let request = AddFilesRequest {
        paths,
        collection: CollectionName::default(),
    };
    let run = bench.engine.add_files(request).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(bench.engine.cancel(&run));
    let last = bench.engine.wait(&run).await.unwrap();
    let ready = reports_of(&last)
        .iter()
        .filter(|report| report.state == DocumentState::Ready)
        .count() as u64;
    assert_eq!(ready, 5);
    assert_eq!(counts(&bench).await, (ready, ready, ready));
    let documents = bench.engine.list_documents(None).await.unwrap();
    assert_eq!(documents.len() as u64, ready, "nothing half done is listed");
}

#[tokio::test]
async fn two_ingestions_at_once_both_finish() {
    let bench = Bench::new().await;
    for n in 0..10 {
        bench
            .parser
            .put(&format!("/{n}.txt"), &format!("Document number {n} says things."));
    }
    let request = |range: std::ops::Range<u32>| AddFilesRequest {
        paths: range.map(|n| format!("/{n}.txt")).collect(),
        collection: CollectionName::default(),
    };
    let first = bench.engine.add_files(request(0..5)).await.unwrap();
    let second = bench.engine.add_files(request(5..10)).await.unwrap();
    for run in [first, second] {
        let last = bench.engine.wait(&run).await.unwrap();
        assert!(
            reports_of(&last)
                .iter()
                .all(|report| report.state == DocumentState::Ready)
        );
    }
    assert_eq!(counts(&bench).await, (10, 10, 10));
}

#[tokio::test]
async fn a_file_over_the_limit_of_the_settings_is_refused_with_what_to_do_and_taken_when_it_is_raised() {
    let bench = Bench::new().await;
    let mut settings = bench.engine.settings().await;
    settings.ingest.max_file_bytes = 2_048;
    bench.engine.save_settings(settings.clone()).await.unwrap();
    let text = "The marker QUOKKA is here. ".repeat(100);
    let reports = bench
        .add(&[("/big.txt", &text), ("/small.txt", "A small text.")])
        .await;
    let reason = reports[0].reason.as_deref().unwrap();
    assert_eq!(reports[0].state, DocumentState::Failed);
    assert!(
        reason.contains("too large") && reason.contains("Settings"),
        "{reason}"
    );
    assert_eq!(reports[1].state, DocumentState::Ready);
    settings.ingest.max_file_bytes = 4_096;
    bench.engine.save_settings(settings.clone()).await.unwrap();
    let reports = bench.add(&[("/big.txt", &text)]).await;
    assert_eq!(reports[0].state, DocumentState::Ready);
    for senseless in [0, 1_023, 52_428_801] {
        settings.ingest.max_file_bytes = senseless;
        assert!(
            bench.engine.save_settings(settings.clone()).await.is_err(),
            "{senseless}"
        );
    }
}

#[tokio::test]
async fn stored_chunks_know_their_kind_pages_headings_and_neighbours() {
    let bench = Bench::new().await;
    let mut document = ParsedDocument {
        kind: "pdf".to_owned(),
        pages: Some(3),
        ..ParsedDocument::default()
    };
    let parts = [
        (BlockKind::Heading(1), 1, "Pumps".to_owned()),
        (BlockKind::Prose, 1, "The pump runs well at sea. ".repeat(60)),
        (BlockKind::Heading(2), 2, "Prices".to_owned()),
        (BlockKind::TableRow, 2, "part: seal price: nine ".repeat(45)),
        (BlockKind::Heading(2), 3, "Firmware".to_owned()),
        (BlockKind::Code, 3, "let pressure = read(valve);\n".repeat(60)),
    ];
    for (kind, page, text) in parts {
        let start = document.text.len();
        document.text.push_str(text.trim_end());
        let end = document.text.len();
        document.blocks.push(Block {
            kind,
            start,
            end,
            page: Some(page),
        });
        document.text.push_str("\n\n");
    }
    bench.parser.put("/a.pdf", "bytes");
    bench.parser.put_document("/a.pdf", document);
    let events = bench.ingest(&["/a.pdf"]).await;
    let key = DocumentKey {
        document: reports_of(events.last().unwrap())[0].id.clone().unwrap(),
        generation: 1,
    };
    let chunks = bench.catalog.chunks(&key).await.unwrap();
    for (at, stored) in chunks.iter().enumerate() {
        assert_eq!(
            stored.chunk.ordinal as usize, at,
            "its neighbours are the numbers beside it"
        );
    }
    for (kind, page, heading) in [
        (BlockKind::Prose, 1, "Pumps"),
        (BlockKind::TableRow, 2, "Prices"),
        (BlockKind::Code, 3, "Firmware"),
    ] {
        let of_kind = chunks.iter().find(|stored| {
            let chunk = &stored.chunk;
            chunk.kind == kind
                && chunk.headings.last().is_some_and(|last| last == heading)
                && chunk
                    .pages
                    .is_some_and(|pages| pages.first <= page && page <= pages.last)
        });
        assert!(
            of_kind.is_some(),
            "{kind:?} on page {page} under {heading}: {chunks:#?}"
        );
    }
}
