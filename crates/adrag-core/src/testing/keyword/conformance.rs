//! What a keyword index promises, one function a promise. Start at [`conformance`].

use super::chunk;
use crate::ports::{KeywordChunk, KeywordIndex, Scope};
use crate::testing::vector::{chunk_id, key, triples};
use adrag_contract::ChunkId;
use std::collections::BTreeSet;
use std::time::Duration;

fn chunks(document: &str, generation: u64, collection: &str, texts: &[&str]) -> Vec<KeywordChunk> {
    let numbered = texts.iter().enumerate();
    numbered
        .map(|(number, text)| chunk(document, generation, collection, number, text))
        .collect()
}

fn collection(name: &str) -> Scope {
    Scope::Collection(name.into())
}

async fn found<I: KeywordIndex>(index: &I, text: &str, scope: &Scope) -> Vec<ChunkId> {
    let hits = index.search(text, 10, scope).await.unwrap();
    hits.into_iter().map(|hit| hit.chunk).collect()
}

/// Every promise of the port. `make` gives a fresh, empty index.
pub async fn conformance<I: KeywordIndex>(make: impl AsyncFn() -> I) {
    a_write_is_visible_after_the_flush(&make().await).await;
    more_of_the_words_ranks_higher(&make().await).await;
    title_and_headings_are_searched(&make().await).await;
    identifiers_are_found_whole(&make().await).await;
    text_without_spaces_is_found(&make().await).await;
    a_scope_sees_its_collection_only(&make().await).await;
    a_delete_spares_the_generation_to_keep(&make().await).await;
    a_clear_removes_everything(&make().await).await;
    a_query_is_never_a_language(&make().await).await;
    many_chunks_stay_apart(&make().await).await;
}

async fn a_write_is_visible_after_the_flush<I: KeywordIndex>(index: &I) {
    assert!(found(index, "anything", &Scope::Everything).await.is_empty());
    index.flush().await.unwrap();
    index.add(Vec::new()).await.unwrap();
    index
        .add(chunks("doc", 1, "a", &["the orchard in spring"]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    index
        .add(chunks("doc", 2, "a", &["the orchard in autumn"]))
        .await
        .unwrap();
    index.delete_generation(&key("doc", 1)).await.unwrap();
    assert_eq!(index.count().await.unwrap(), 1, "counts are as of the last flush");
    assert_eq!(triples(index.held().await.unwrap()), [("doc".to_owned(), 1, 1)]);
    index.flush().await.unwrap();
    assert_eq!(triples(index.held().await.unwrap()), [("doc".to_owned(), 2, 1)]);
    let hits = found(index, "orchard", &Scope::Everything).await;
    assert_eq!(hits, [chunk_id("doc", 2, 0)], "the new is found, the old is not");

    index.delete_generation(&key("doc", 2)).await.unwrap();
    index
        .add(chunks("doc", 2, "a", &["the orchard in autumn"]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    assert_eq!(
        index.count().await.unwrap(),
        1,
        "deleted and added again is there once"
    );
}

async fn more_of_the_words_ranks_higher<I: KeywordIndex>(index: &I) {
    let texts = [
        "The harbour was built by the northern company.",
        "The tariff of the harbour follows the weight of the cargo.",
        "A tariff is paid on cargo that leaves the harbour before noon.",
        "Nothing in this passage matters.",
    ];
    index.add(chunks("doc", 1, "a", &texts)).await.unwrap();
    index.flush().await.unwrap();
    let hits = index
        .search("harbour tariff before noon", 10, &Scope::Everything)
        .await
        .unwrap();
    let order: Vec<&ChunkId> = hits.iter().map(|hit| &hit.chunk).collect();
    let expected: Vec<ChunkId> = [2, 1, 0]
        .iter()
        .map(|number| chunk_id("doc", 1, *number))
        .collect();
    assert_eq!(
        order,
        expected.iter().collect::<Vec<_>>(),
        "partial matches follow the full one"
    );
    assert!(
        hits.windows(2).all(|pair| pair[0].score >= pair[1].score),
        "best first"
    );
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score.is_finite()));

    let hits = found(index, "HARBOUR zyxwvut", &Scope::Everything).await;
    assert_eq!(
        hits.len(),
        3,
        "a word that is nowhere voids nothing, and case does not matter"
    );
    assert!(found(index, "zyxwvut", &Scope::Everything).await.is_empty());
    let hits = index.search("harbour", 0, &Scope::Everything).await.unwrap();
    assert!(hits.is_empty(), "no hits when none are wanted");
    let hits = index.search("harbour", 2, &Scope::Everything).await.unwrap();
    assert_eq!(hits.len(), 2, "never more than wanted");
    let hits = index
        .search("harbour", usize::MAX, &Scope::Everything)
        .await
        .unwrap();
    assert_eq!(hits.len(), 3, "and no more than there are");
    let hits = found(index, "What is the?", &Scope::Everything).await;
    assert!(!hits.is_empty(), "common words alone are words still");
}

async fn title_and_headings_are_searched<I: KeywordIndex>(index: &I) {
    let mut titled = chunk("titled", 1, "a", 0, "It has four legs.");
    titled.title = "Zebra".to_owned();
    let mut headed = chunk("headed", 1, "a", 0, "It has two legs.");
    headed.headings = "Animals > Ostrich".to_owned();
    index.add(vec![titled, headed]).await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(
        found(index, "zebra", &Scope::Everything).await,
        [chunk_id("titled", 1, 0)]
    );
    assert_eq!(
        found(index, "ostrich", &Scope::Everything).await,
        [chunk_id("headed", 1, 0)]
    );
}

async fn identifiers_are_found_whole<I: KeywordIndex>(index: &I) {
    let texts = [
        "Order part SK-118-C for the pump.",
        "Order part SK-118-D for the pump, 118 of them, grade C.",
        "The serial number is HX40C-23-4588.",
        "Set user_id before you call getUserName.",
        "Write to anna.berg@example.org about release 2.14.3.",
        "The ratio is 3.14 at most.",
        "Serial numbers begin with HX40C and end in 4588 or 23.",
        "Write to Anna Berg about the example.",
    ];
    index.add(chunks("doc", 1, "a", &texts)).await.unwrap();
    index.flush().await.unwrap();
    for (query, first) in [
        ("SK-118-C", 0),
        ("sk-118-d", 1),
        ("where is HX40C-23-4588?", 2),
        ("user_id", 3),
        ("getUserName", 3),
        ("anna.berg@example.org", 4),
        ("what is in 2.14.3", 4),
        ("(3.14)", 5),
    ] {
        let hits = found(index, query, &Scope::Everything).await;
        assert_eq!(
            hits.first(),
            Some(&chunk_id("doc", 1, first)),
            "{query:?} finds its own first"
        );
    }
}

async fn text_without_spaces_is_found<I: KeywordIndex>(index: &I) {
    let texts = [
        "本公司的年度报告显示可再生能源投资增长了百分之十二。",
        "この機械は毎週月曜日に点検しなければならない。",
        "ใบอนุญาตนี้มีอายุห้าปีนับจากวันที่ออก",
        "계약서에는 위약금이 명시되어 있다.",
        "用 BBDown 下载视频的步骤如下。",
        "Nothing but English here.",
    ];
    index.add(chunks("doc", 1, "a", &texts)).await.unwrap();
    index.flush().await.unwrap();
    for (query, first) in [
        ("可再生能源", 0),
        ("可再生能源 火星", 0),
        ("能源投资增长了多少？", 0),
        ("月曜日に点検", 1),
        ("อายุห้าปี", 2),
        ("위약금", 3),
        ("BBDown 下载", 4),
        ("视频", 4),
    ] {
        let hits = found(index, query, &Scope::Everything).await;
        assert_eq!(
            hits.first(),
            Some(&chunk_id("doc", 1, first)),
            "{query:?} finds its own first"
        );
    }
}

async fn a_scope_sees_its_collection_only<I: KeywordIndex>(index: &I) {
    index
        .add(chunks("one", 1, "a", &["the lighthouse keeper", "a boat"]))
        .await
        .unwrap();
    index
        .add(chunks("two", 1, "b", &["the lighthouse, the lighthouse keeper"]))
        .await
        .unwrap();
    index
        .add(chunks("three", 1, "A", &["a lighthouse"]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    let inside = index
        .search("lighthouse keeper", 10, &collection("a"))
        .await
        .unwrap();
    assert_eq!(inside.len(), 1, "hits of the collection only");
    assert_eq!(inside[0].chunk, chunk_id("one", 1, 0));
    let all = index
        .search("lighthouse keeper", 10, &Scope::Everything)
        .await
        .unwrap();
    assert_eq!(all.len(), 3);
    let same = all.iter().find(|hit| hit.chunk == inside[0].chunk).unwrap();
    assert!(
        (same.score - inside[0].score).abs() < 1e-4,
        "a scope adds nothing to a score"
    );
    assert!(
        found(index, "lighthouse", &collection("c")).await.is_empty(),
        "an unknown collection"
    );
    assert!(
        found(index, "a", &collection("")).await.is_empty(),
        "a nameless collection"
    );
}

async fn a_delete_spares_the_generation_to_keep<I: KeywordIndex>(index: &I) {
    for generation in 1..=3 {
        index
            .add(chunks("doc", generation, "a", &["alpha bridge", "beta bridge"]))
            .await
            .unwrap();
    }
    index
        .add(chunks("doc-2", 1, "a", &["gamma bridge"]))
        .await
        .unwrap();
    index
        .add(chunks("a@b@3", 1, "a", &["delta bridge"]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    index.delete_generation(&key("doc", 2)).await.unwrap();
    index.flush().await.unwrap();
    let expected = |rest: &[(&str, u64, u64)]| -> Vec<(String, u64, u64)> {
        rest.iter()
            .map(|(name, generation, count)| ((*name).to_owned(), *generation, *count))
            .collect()
    };
    assert_eq!(
        triples(index.held().await.unwrap()),
        expected(&[("a@b@3", 1, 1), ("doc", 1, 2), ("doc", 3, 2), ("doc-2", 1, 1)]),
        "one generation goes alone"
    );
    index.delete(&"doc".into(), Some(3)).await.unwrap();
    index.delete(&"never seen".into(), None).await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(
        triples(index.held().await.unwrap()),
        expected(&[("a@b@3", 1, 1), ("doc", 3, 2), ("doc-2", 1, 1)]),
        "the generation to keep stays"
    );
    index.add(chunks("doc", 4, "a", &["alpha bridge"])).await.unwrap();
    index.delete(&"doc".into(), None).await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(
        index.count().await.unwrap(),
        2,
        "what was not flushed yet is deleted too"
    );
    let hits = found(index, "alpha bridge", &Scope::Everything).await;
    let left: BTreeSet<ChunkId> = hits.into_iter().collect();
    let expected = BTreeSet::from([chunk_id("doc-2", 1, 0), chunk_id("a@b@3", 1, 0)]);
    assert_eq!(left, expected, "what is deleted is no hit");
}

async fn a_clear_removes_everything<I: KeywordIndex>(index: &I) {
    index.clear().await.unwrap();
    index
        .add(chunks("one", 1, "a", &["a quiet meadow"; 20]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    index
        .add(chunks("two", 1, "b", &["a quiet meadow"; 20]))
        .await
        .unwrap();
    index.clear().await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(index.count().await.unwrap(), 0, "nothing is left, flushed or not");
    assert!(index.held().await.unwrap().is_empty());
    assert!(found(index, "meadow", &Scope::Everything).await.is_empty());
    index.clear().await.unwrap();
    index
        .add(chunks("one", 2, "a", &["a quiet meadow"]))
        .await
        .unwrap();
    index.flush().await.unwrap();
    let hits = found(index, "meadow", &Scope::Everything).await;
    assert_eq!(hits, [chunk_id("one", 2, 0)], "and it goes on working");
}

/// What people type that a query language would choke on.
pub const HOSTILE_QUERIES: &[&str] = &[
    "",
    " ",
    "\u{0}",
    "https://example.org/a?b=c",
    "following:",
    ">>>",
    "\"unbalanced",
    "usb-c \"\"",
    "y+(y+25)",
    "- item",
    "error {0}: {1}",
    "*",
    "AND",
    "NOT OR AND",
    "'",
    "a:(^",
    "a:(a^",
    "[a TO z]",
    "text:*",
    "~~~^^^",
    "\\",
    "(((((((((((((((((((((((((((((((((((",
    "\u{202e}\u{200b}\u{feff}",
];

async fn a_query_is_never_a_language<I: KeywordIndex>(index: &I) {
    let texts = [
        "See https://example.org/a?b=c for the following item: usb-c cable.",
        "The value of y+(y+25) gave error {0}: {1} AND nothing else.",
    ];
    index.add(chunks("doc", 1, "a", &texts)).await.unwrap();
    index.flush().await.unwrap();
    let long = "word ".repeat(40_000);
    let unbroken = "x".repeat(200_000);
    let unspaced = "再生".repeat(50_000);
    let many: String = (0..20_000).map(|number| format!("w{number} ")).collect();
    let generated = [long.as_str(), unbroken.as_str(), unspaced.as_str(), many.as_str()];
    for query in HOSTILE_QUERIES.iter().copied().chain(generated) {
        let shown: String = query.chars().take(30).collect();
        for scope in [Scope::Everything, collection("a")] {
            let answer = tokio::time::timeout(Duration::from_secs(20), index.search(query, 10, &scope)).await;
            let hits = answer.unwrap_or_else(|_| panic!("{shown:?} never ends"));
            hits.unwrap_or_else(|error| panic!("{shown:?} fails: {error}"));
        }
    }
    for (query, first) in [
        ("https://example.org/a?b=c", 0),
        ("following:", 0),
        ("usb-c \"\"", 0),
        ("- item", 0),
        ("y+(y+25)", 1),
        ("error {0}: {1}", 1),
        ("nothing:*", 1),
    ] {
        let hits = found(index, query, &Scope::Everything).await;
        assert_eq!(
            hits.first(),
            Some(&chunk_id("doc", 1, first)),
            "{query:?} is plain words"
        );
    }
}

async fn many_chunks_stay_apart<I: KeywordIndex>(index: &I) {
    for document in 0..150 {
        let texts: Vec<String> = (0..20)
            .map(|number| format!("passage {number} of file{document} about topic{}", number % 7))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let name = format!("document {document}");
        let collection = if document % 3 == 0 { "third" } else { "rest" };
        index.add(chunks(&name, 1, collection, &texts)).await.unwrap();
    }
    index.flush().await.unwrap();
    assert_eq!(index.count().await.unwrap(), 3_000);
    let held = triples(index.held().await.unwrap());
    assert_eq!(held.len(), 150, "every document is listed");
    assert!(
        held.iter()
            .all(|(_, generation, chunks)| (*generation, *chunks) == (1, 20))
    );
    let hits = index
        .search("passage", 2_000, &collection("third"))
        .await
        .unwrap();
    assert_eq!(hits.len(), 1_000, "a scope reaches all it holds");
    let hits = found(index, "file77 topic3", &Scope::Everything).await;
    let best: BTreeSet<ChunkId> = hits[..3].iter().cloned().collect();
    let expected: BTreeSet<ChunkId> = [3, 10, 17]
        .iter()
        .map(|number| chunk_id("document 77", 1, *number))
        .collect();
    assert_eq!(best, expected, "the chunks with both words come first");
}
