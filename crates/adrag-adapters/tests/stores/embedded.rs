//! The embedded vector index: its promises, and what its folder goes through.

use crate::{copy_folder, files_below, set_aside};
use adrag_adapters::qdrant::EmbeddedVectorIndex;
use adrag_contract::ErrorCode;
use adrag_core::ports::{ErrorClass, Scope, VectorIndex};
use adrag_core::testing::vector::{DIM, conformance, point, unit_vector, vectors_are_given_back};
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

async fn open(folder: &Path) -> (EmbeddedVectorIndex, Option<String>) {
    EmbeddedVectorIndex::open(folder, DIM).await.unwrap()
}

async fn filled(folder: &Path) {
    let (index, note) = open(folder).await;
    assert_eq!(note, None, "a new folder needs no mending");
    index
        .upsert((0..300).map(|number| point("doc", 1, "a", number)).collect())
        .await
        .unwrap();
    index.flush().await.unwrap();
}

#[tokio::test]
async fn keeps_every_promise_of_the_port() {
    let homes: RefCell<Vec<TempDir>> = RefCell::default();
    conformance(async || {
        let home = tempfile::tempdir().unwrap();
        let (index, _) = open(&home.path().join("vectors")).await;
        homes.borrow_mut().push(home);
        index
    })
    .await;
}

#[tokio::test]
async fn gives_vectors_back() {
    let home = tempfile::tempdir().unwrap();
    let (index, _) = open(&home.path().join("vectors")).await;
    vectors_are_given_back(&index).await;
}

#[tokio::test]
async fn keeps_everything_over_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("vectors");
    filled(&folder).await;
    let (index, note) = open(&folder).await;
    assert_eq!(note, None);
    assert_eq!(index.count().await.unwrap(), 300);
    let seven = point("doc", 1, "a", 7);
    let hits = index
        .search(seven.vector, 1, &Scope::Collection("a".into()))
        .await
        .unwrap();
    assert_eq!(hits[0].chunk, seven.chunk);
    assert_eq!(
        index.held().await.unwrap()[0].chunks,
        300,
        "payload and its index too"
    );
    index.delete(&"doc".into(), None).await.unwrap();
    index.flush().await.unwrap();
    drop(index);
    let (index, _) = open(&folder).await;
    assert_eq!(index.count().await.unwrap(), 0, "deleted stays deleted");
}

#[tokio::test]
async fn a_folder_is_open_once() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("vectors");
    let (first, _) = open(&folder).await;
    let refused = EmbeddedVectorIndex::open(&folder, DIM).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::DataFolderInUse);
    assert_eq!(refused.class, ErrorClass::Permanent);
    assert_eq!(set_aside(home.path()), 0, "what another uses is never set aside");
    assert_eq!(first.count().await.unwrap(), 0);
    drop(first);
    open(&folder).await;
}

#[tokio::test]
async fn vectors_of_another_length_never_mix() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("vectors");
    filled(&folder).await;
    let (index, note) = EmbeddedVectorIndex::open(&folder, DIM + 8).await.unwrap();
    let note = note.expect("the change is reported");
    assert!(note.contains("16") && note.contains("24"), "{note}");
    assert_eq!(index.count().await.unwrap(), 0);
    assert_eq!(set_aside(home.path()), 1, "the old one is kept");
    assert!(
        index
            .search(unit_vector(1, DIM + 8), 3, &Scope::Everything)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_damaged_folder_gives_way_to_an_empty_one_or_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let pristine = home.path().join("pristine");
    filled(&pristine).await;
    let mut mended = 0;
    for (number, file) in files_below(&pristine).iter().enumerate() {
        let name = file.strip_prefix(&pristine).unwrap();
        let case = home.path().join(format!("case-{number}"));
        let folder = case.join("vectors");
        copy_folder(&pristine, &folder);
        let size = fs::metadata(file).unwrap().len();
        let torn = fs::File::options().write(true).open(folder.join(name)).unwrap();
        torn.set_len(size / 2).unwrap();
        drop(torn);
        let (index, note) = open(&folder).await;
        let count = index.count().await.unwrap();
        println!("{}: {count} points, {note:?}", name.display());
        match note {
            Some(_) => {
                mended += 1;
                assert_eq!(count, 0, "a mended index is empty: {}", name.display());
                assert_eq!(set_aside(&case), 1);
            }
            // The engine can make this file anew, or start-up's count finds what is missing.
            None => assert!(count <= 300, "never more than there was: {}", name.display()),
        }
        index.upsert(vec![point("new", 1, "a", 0)]).await.unwrap();
        index.flush().await.unwrap();
    }
    assert!(mended > 0, "some files cannot be done without");
}

#[tokio::test]
async fn garbage_in_the_folder_is_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("vectors");
    filled(&folder).await;
    fs::write(folder.join("edge_config.json"), "{ not json").unwrap();
    for file in files_below(&folder.join("segments")) {
        if file.extension().is_some_and(|extension| extension == "json") {
            fs::write(file, [0xff; 64]).unwrap();
        }
    }
    let (index, note) = open(&folder).await;
    assert!(note.is_some(), "the repair is reported");
    assert_eq!(index.count().await.unwrap(), 0);
}

/// A graph is built behind the user's back, and finds what the exact search finds.
#[tokio::test]
async fn many_points_get_a_graph() {
    let home = tempfile::tempdir().unwrap();
    let (index, _) = open(&home.path().join("vectors")).await;
    let count = 21_000;
    for start in (0..count).step_by(1_000) {
        let batch = (start..start + 1_000)
            .map(|number| point("doc", 1, "a", number))
            .collect();
        index.upsert(batch).await.unwrap();
    }
    let probes: Vec<Vec<f32>> = (0..20).map(|seed| unit_vector(seed + 1, DIM)).collect();
    let mut exact = Vec::new();
    for probe in &probes {
        exact.push(index.search(probe.clone(), 10, &Scope::Everything).await.unwrap());
    }
    let begun = Instant::now();
    index.flush().await.unwrap();
    println!("flush returned after {:?}", begun.elapsed());
    while !index.is_graph_built().await.unwrap() {
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "the graph is never built"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
        let hits = index
            .search(probes[0].clone(), 10, &Scope::Everything)
            .await
            .unwrap();
        assert_eq!(hits.len(), 10, "searches go on meanwhile");
    }
    println!("graph built after {:?}", begun.elapsed());
    let mut found = 0;
    for (probe, exact) in probes.iter().zip(&exact) {
        let hits = index.search(probe.clone(), 10, &Scope::Everything).await.unwrap();
        found += hits
            .iter()
            .filter(|hit| exact.iter().any(|other| other.chunk == hit.chunk))
            .count();
    }
    println!("recall@10 of the graph: {}/200", found);
    assert!(found >= 180, "the graph finds what is near: {found} of 200");
    assert_eq!(index.count().await.unwrap(), count as u64);
}
