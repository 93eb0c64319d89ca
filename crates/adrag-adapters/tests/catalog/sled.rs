//! The entity graph in sled.

use adrag_adapters::sled::SledEntityGraph;
use adrag_contract::ErrorCode;
use adrag_core::ports::{EntityGraph, Scope, StoreHit};
use adrag_core::testing::graph::{conformance, graph_chunk};
use std::path::Path;

fn open(folder: &Path) -> (SledEntityGraph, Option<String>) {
    SledEntityGraph::open(folder).unwrap()
}

async fn fill(graph: &SledEntityGraph) {
    for document in 0..40 {
        let chunks = (0..10)
            .map(|number| {
                let shared = format!("e{}", (document * 7 + number) % 23);
                let own = format!("own-{document}-{number}");
                graph_chunk(
                    "a",
                    &format!("d{document:02}"),
                    1,
                    number,
                    &[&shared, &own, "everywhere"],
                )
            })
            .collect();
        graph.add(chunks).await.unwrap();
    }
    graph.flush().await.unwrap();
}

async fn search(graph: &SledEntityGraph) -> Vec<StoreHit> {
    let asked = ["e3", "own-05-1", "e11"].map(str::to_owned);
    graph.search(&asked, 20, &Scope::Everything).await.unwrap()
}

#[tokio::test]
async fn keeps_the_promises_of_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, note) = open(&folder.path().join("graph"));
    assert_eq!(note, None);
    conformance(&graph).await;
}

#[tokio::test]
async fn a_reopened_graph_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let (graph, _) = open(&path);
    fill(&graph).await;
    graph.delete(&"d07".into(), None).await.unwrap();
    graph
        .add(vec![graph_chunk("a", "d08", 1, 3, &["replaced"])])
        .await
        .unwrap();
    graph.flush().await.unwrap();
    let (hits, count, held) = (
        search(&graph).await,
        graph.count().await.unwrap(),
        graph.held().await.unwrap(),
    );
    assert!(!hits.is_empty());
    drop(graph);
    let (graph, note) = open(&path);
    assert_eq!(note, None);
    assert_eq!(graph.count().await.unwrap(), count);
    assert_eq!(graph.held().await.unwrap(), held);
    assert_eq!(search(&graph).await, hits);
    graph.clear().await.unwrap();
    graph.flush().await.unwrap();
    drop(graph);
    let (graph, note) = open(&path);
    assert_eq!((note, graph.count().await.unwrap().chunks), (None, 0));
}

#[tokio::test]
async fn a_second_opening_is_told_that_the_folder_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let (graph, _) = open(&path);
    fill(&graph).await;
    let error = SledEntityGraph::open(&path).err().expect("it is refused");
    assert_eq!(error.error.code, ErrorCode::DataFolderInUse, "{error}");
    assert_eq!(
        graph.count().await.unwrap().chunks,
        400,
        "and nothing was set aside"
    );
    assert!(path.exists());
}

/// Whatever is done to the files, opening gives whole documents: those of some earlier moment (the caller compares with the
/// catalogue and adds what is missing), or none with a note and the old folder kept.
#[tokio::test]
async fn whatever_is_done_to_the_file_whole_documents_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let (graph, _) = open(&path);
    fill(&graph).await;
    let (count, hits) = (graph.count().await.unwrap(), search(&graph).await);
    drop(graph);
    let db = std::fs::read(path.join("db")).unwrap();
    let mut rebuilt = 0;
    let cut = |kept: usize| db[..kept].to_vec();
    let garble = |at: usize| {
        let mut bytes = db.clone();
        let end = (at + 8_192).min(bytes.len());
        for (offset, byte) in bytes[at..end].iter_mut().enumerate() {
            *byte = byte.wrapping_mul(31).wrapping_add(offset as u8);
        }
        bytes
    };
    let length = db.len();
    let damages = [
        cut(0),
        cut(length / 2),
        cut(length.saturating_sub(20_000)),
        garble(0),
        garble(length / 5),
        garble(length / 3),
        garble(length / 2),
        garble(length * 3 / 4),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let copy = folder.path().join(format!("copy-{number}"));
        std::fs::create_dir_all(copy.join("blobs")).unwrap();
        std::fs::copy(path.join("conf"), copy.join("conf")).unwrap();
        std::fs::write(copy.join("db"), damage).unwrap();
        let (graph, note) = open(&copy);
        if let Some(note) = note {
            rebuilt += 1;
            assert!(note.contains("set aside"), "{note}");
            assert_eq!(graph.count().await.unwrap().chunks, 0);
            let prefix = format!("copy-{number}.damaged-");
            let aside = folder
                .path()
                .read_dir()
                .unwrap()
                .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with(&prefix));
            assert!(aside, "the old folder is kept");
        }
        let held = graph.held().await.unwrap();
        assert!(
            held.iter().all(|held| held.chunks == 10),
            "damage {number}: half a document"
        );
        fill(&graph).await;
        assert_eq!(graph.count().await.unwrap(), count, "damage {number}");
        assert_eq!(search(&graph).await, hits, "damage {number}");
    }
    println!("{} damages, {rebuilt} set aside", damages.len());
}

/// What sled itself does not notice, the counts do.
#[tokio::test]
async fn a_graph_that_does_not_add_up_is_set_aside() {
    type Damage = fn(&::sled::Db);
    let damages: [Damage; 5] = [
        |db| {
            let chunks = db.open_tree("chunks").unwrap();
            chunks.remove("d03-1-4").unwrap().expect("it was there");
        },
        |db| {
            let chunks = db.open_tree("chunks").unwrap();
            chunks.insert("d03-1-4", "not a record").unwrap();
        },
        |db| {
            let documents = db.open_tree("documents").unwrap();
            documents.pop_min().unwrap().expect("it was there");
        },
        |db| db.open_tree("totals").unwrap().clear().unwrap(),
        |db| db.open_tree("chunks").unwrap().clear().unwrap(),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph");
        let (graph, _) = open(&path);
        fill(&graph).await;
        drop(graph);
        {
            let mut tries = 0;
            let db = loop {
                match ::sled::open(&path) {
                    Ok(db) => break db,
                    Err(error) if tries == 100 => panic!("{error}"),
                    // Its lock is let go a moment after the graph is closed.
                    Err(_) => std::thread::sleep(std::time::Duration::from_millis(25)),
                }
                tries += 1;
            };
            damage(&db);
            db.flush().unwrap();
        }
        let (graph, note) = open(&path);
        let note = note.unwrap_or_else(|| panic!("damage {number} was not noticed"));
        assert!(
            note.contains("set aside as") && note.contains(".damaged-"),
            "{note}"
        );
        assert_eq!(graph.count().await.unwrap().chunks, 0);
        assert_eq!(
            folder.path().read_dir().unwrap().count(),
            2,
            "the old folder is kept"
        );
        fill(&graph).await;
        drop(graph);
        assert_eq!(open(&path).1, None);
    }
}
