//! The keyword index: its promises, and what its folder goes through.

use crate::{copy_folder, files_below, set_aside};
use adrag_adapters::tantivy::TantivyKeywordIndex;
use adrag_contract::ErrorCode;
use adrag_core::ports::{ErrorClass, KeywordIndex, Scope};
use adrag_core::testing::keyword::{chunk, conformance};
use adrag_core::testing::vector::chunk_id;
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

async fn open(folder: &Path) -> (TantivyKeywordIndex, Option<String>) {
    TantivyKeywordIndex::open(folder).await.unwrap()
}

async fn filled(folder: &Path) {
    let (index, note) = open(folder).await;
    assert_eq!(note, None, "a new folder needs no mending");
    let texts = (0..300).map(|number| chunk("doc", 1, "a", number, &format!("passage unit{number}")));
    index.add(texts.collect()).await.unwrap();
    index.flush().await.unwrap();
}

#[tokio::test]
async fn keeps_every_promise_of_the_port() {
    let homes: RefCell<Vec<TempDir>> = RefCell::default();
    conformance(async || {
        let home = tempfile::tempdir().unwrap();
        let (index, _) = open(&home.path().join("words")).await;
        homes.borrow_mut().push(home);
        index
    })
    .await;
}

#[tokio::test]
async fn keeps_what_was_flushed_over_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("words");
    filled(&folder).await;
    let (index, note) = open(&folder).await;
    assert_eq!(note, None);
    assert_eq!(index.count().await.unwrap(), 300);
    let hits = index.search("unit77", 5, &Scope::Everything).await.unwrap();
    assert_eq!(hits[0].chunk, chunk_id("doc", 1, 77));
    index
        .add(vec![chunk("late", 1, "a", 0, "never flushed")])
        .await
        .unwrap();
    drop(index);
    let (index, note) = open(&folder).await;
    assert_eq!(
        (index.count().await.unwrap(), note),
        (300, None),
        "what was not flushed is not there"
    );
}

#[tokio::test]
async fn a_folder_is_open_once() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("words");
    let (first, _) = open(&folder).await;
    let refused = TantivyKeywordIndex::open(&folder).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::DataFolderInUse);
    assert_eq!(refused.class, ErrorClass::Permanent);
    assert_eq!(set_aside(home.path()), 0, "what another uses is never set aside");
    drop(first);
    open(&folder).await;
}

#[tokio::test]
async fn a_damaged_folder_gives_way_to_an_empty_one() {
    let home = tempfile::tempdir().unwrap();
    let pristine = home.path().join("pristine");
    filled(&pristine).await;
    let mut mended = 0;
    for (number, file) in files_below(&pristine).iter().enumerate() {
        let name = file.strip_prefix(&pristine).unwrap();
        let bytes = fs::read(file).unwrap();
        let mut flipped = bytes.clone();
        if let Some(byte) = flipped.get_mut(bytes.len() / 3) {
            *byte ^= 0x20;
        }
        for (kind, damage) in [
            ("torn", &bytes[..bytes.len() / 2]),
            ("empty", &[][..]),
            ("flipped", &flipped),
        ] {
            if damage == bytes {
                continue;
            }
            let case = home.path().join(format!("case-{number}-{kind}"));
            let folder = case.join("words");
            copy_folder(&pristine, &folder);
            fs::write(folder.join(name), damage).unwrap();
            let (index, note) = open(&folder).await;
            let count = index.count().await.unwrap();
            println!("{} {kind}: {count} chunks, {note:?}", name.display());
            match note {
                Some(_) => {
                    mended += 1;
                    assert_eq!((count, set_aside(&case)), (0, 1));
                }
                None => {
                    assert_eq!(
                        count,
                        300,
                        "{} {kind}: nothing is lost without a word",
                        name.display()
                    );
                    let hits = index.search("unit77", 5, &Scope::Everything).await.unwrap();
                    assert_eq!(hits[0].chunk, chunk_id("doc", 1, 77), "{} {kind}", name.display());
                }
            }
            index
                .add(vec![chunk("new", 1, "a", 0, "works again")])
                .await
                .unwrap();
            index.flush().await.unwrap();
            assert_eq!(
                index.search("works", 5, &Scope::Everything).await.unwrap().len(),
                1
            );
        }
    }
    assert!(mended > 0, "some files cannot be done without");
}

#[tokio::test]
async fn forms_of_a_word_meet_and_the_exact_one_leads() {
    let home = tempfile::tempdir().unwrap();
    let (index, _) = open(&home.path().join("words")).await;
    let texts = [
        "The pumps were inspected.",
        "He inspects the pump.",
        "Une résumé of résumés",
        "A plain resume",
    ];
    let chunks = texts
        .iter()
        .enumerate()
        .map(|(number, text)| chunk("doc", 1, "a", number, text));
    index.add(chunks.collect()).await.unwrap();
    index.flush().await.unwrap();
    for (query, first) in [
        ("inspects pump", 1),
        ("inspected pumps", 0),
        ("résumé", 2),
        ("resume", 3),
    ] {
        let hits = index.search(query, 5, &Scope::Everything).await.unwrap();
        assert_eq!(hits.len(), 2, "{query:?} finds both forms");
        assert_eq!(
            hits[0].chunk,
            chunk_id("doc", 1, first),
            "{query:?} finds its own form first"
        );
    }
}
