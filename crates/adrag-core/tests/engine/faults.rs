//! Faults that tools of this kind shipped, each as its whole kind: texts too long for the model, texts that look like its
//! special tokens, deletions that leave something, embedders that break half way.

use crate::bench::Bench;
use adrag_contract::{Citation, DocumentState, EngineId, Event, ReadPassageRequest, RunEvent, Store};
use adrag_core::engine::{SearchRequest, reports_of};
use adrag_core::ports::{Catalog, DocumentKey, Embedder, EntityGraph, KeywordIndex, VectorIndex};
use adrag_core::testing::embedder::Spoiled;

async fn counts(bench: &Bench) -> [u64; 3] {
    [
        bench.vectors.count().await.unwrap(),
        bench.keywords.count().await.unwrap(),
        bench.graph.count().await.unwrap().chunks,
    ]
}

async fn finds_by(bench: &Bench, store: Store, words: &str) -> bool {
    let search = SearchRequest {
        question: words.to_owned(),
        stores: vec![store],
        rerank: Some(false),
        top: 10,
        collection: None,
    };
    let reply = bench.engine.search(search).await.unwrap();
    reply.hits.iter().any(|hit| hit.text.contains(words))
}

fn citations(events: &[RunEvent]) -> Vec<&Citation> {
    events
        .iter()
        .filter_map(|event| match &event.event {
            Event::CitationAdded { citation } => Some(citation),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_end_of_a_text_too_long_for_the_model_is_found() {
    let bench = Bench::new().await;
    let characters = "泵在海上发生故障".repeat(625);
    let row = (0..3_000).map(|n| format!("{n}.5")).collect::<Vec<_>>().join("|");
    let files = [
        ("/han.txt", format!("{characters} QUOKKAHAN")),
        ("/row.txt", format!("{row} QUOKKAROW")),
        ("/word.txt", format!("{} QUOKKAWORD", "x".repeat(60_000))),
    ];
    for (path, text) in &files {
        let reports = bench.add(&[(path, text)]).await;
        assert_eq!(reports[0].state, DocumentState::Ready, "{path}");
        assert!(reports[0].chunks > 1, "{path} is one chunk");
        let key = DocumentKey {
            document: reports[0].id.clone().unwrap(),
            generation: 1,
        };
        let most = bench.embedder.info().max_tokens;
        for stored in bench.catalog.chunks(&key).await.unwrap() {
            let words = stored.chunk.embedded_text().chars().count().div_ceil(8);
            assert!(
                stored.chunk.tokens as usize <= most,
                "{path}: {}",
                stored.chunk.tokens
            );
            assert!(words <= most * 2, "{path}: a chunk of {words} times 8 characters");
        }
    }
    for marker in ["QUOKKAHAN", "QUOKKAROW", "QUOKKAWORD"] {
        assert!(
            finds_by(&bench, Store::Vector, marker).await,
            "{marker} by vector"
        );
        assert!(finds_by(&bench, Store::Keyword, marker).await, "{marker} by word");
    }
}

#[tokio::test]
async fn text_that_looks_like_special_tokens_is_text() {
    let bench = Bench::new().await;
    let text = "The markers [CLS] [SEP] [MASK] <pad> <image_soft_token> are plain QUOKKA text.";
    let reports = bench.add(&[("/tokens.txt", text)]).await;
    assert_eq!(reports[0].state, DocumentState::Ready);
    for words in ["[CLS] [SEP] [MASK]", "<image_soft_token>"] {
        assert!(finds_by(&bench, Store::Vector, words).await, "{words}");
    }
}

#[tokio::test]
async fn an_embedder_that_breaks_in_the_third_batch_leaves_nothing_and_a_retry_makes_it_whole() {
    for how in [Spoiled::Fewer, Spoiled::Shorter, Spoiled::Dies] {
        let bench = Bench::new().await;
        bench.add(&[("/other.txt", "Another text altogether.")]).await;
        let before = counts(&bench).await;
        let text: Vec<String> = (0..80)
            .map(|n| format!("# Part {n}\n\n{}", format!("Sentence {n} of QUOKKA. ").repeat(60)))
            .collect();
        bench.embedder.spoil_after(2, how);
        let reports = bench.add(&[("/long.txt", &text.join("\n\n"))]).await;
        assert_eq!(reports[0].state, DocumentState::Failed, "{how:?}");
        assert!(reports[0].reason.is_some());
        assert_eq!(counts(&bench).await, before, "{how:?}: nothing of it stays");
        assert!(!bench.finds("QUOKKA").await, "{how:?}");
        let run = bench
            .engine
            .retry_document(reports[0].id.as_ref().unwrap())
            .await
            .unwrap();
        let last = bench.engine.wait(&run).await.unwrap();
        let chunks = reports_of(&last)[0].chunks;
        assert!(chunks >= 80, "{how:?}: {chunks}");
        assert_eq!(
            counts(&bench).await,
            before.map(|count| count + chunks),
            "{how:?}"
        );
    }
}

#[tokio::test]
async fn what_is_deleted_is_retrieved_cited_and_previewed_no_more_and_the_old_answer_stays() {
    let bench = Bench::new().await;
    let reports = bench
        .add(&[
            ("/a.txt", "The marker QUOKKA opens the north gate."),
            ("/b.txt", "The pump HX-40 needs a new seal."),
        ])
        .await;
    let gone = reports[0].id.clone().unwrap();
    let question = "What does the marker QUOKKA open?";
    let before = bench.ask(question, EngineId::Quotes).await;
    let cited = citations(&before);
    let citation = cited.iter().find(|citation| citation.document == gone);
    let span = citation.expect("it is cited while it is there").span;
    bench
        .engine
        .delete_documents(std::slice::from_ref(&gone))
        .await
        .unwrap();
    for store in Store::LOCAL {
        assert!(!finds_by(&bench, store, "QUOKKA").await, "{store}");
    }
    let after = bench.ask(question, EngineId::Quotes).await;
    assert!(citations(&after).iter().all(|citation| citation.document != gone));
    let told = serde_json::to_string(&after[1..]).unwrap();
    assert!(!told.contains("north gate"), "{told}");
    let preview = ReadPassageRequest {
        document: gone.clone(),
        span,
        around: 100,
    };
    assert!(bench.engine.read_passage(&preview).await.is_err());
    assert!(bench.engine.document_path(&gone).await.is_err());
    let old = bench.engine.run_snapshot(&before[0].run).await.unwrap();
    assert_eq!(
        citations(&old).len(),
        cited.len(),
        "the history keeps the old answer"
    );
    bench.engine.clear_documents(None).await.unwrap();
    assert_eq!(counts(&bench).await, [0, 0, 0]);
}
