//! The catalogue in SQLite.

use adrag_adapters::sqlite::SqliteCatalog;
use adrag_contract::{ChunkId, ErrorCode, Settings, Theme};
use adrag_core::ports::Catalog;
use adrag_core::testing::catalog::{conformance, content, file};
use adrag_core::testing::watch_list;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test]
async fn keeps_the_promises_of_the_port() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&SqliteCatalog::open(&folder.path().join("catalog.sqlite")).unwrap()).await;
}

#[tokio::test]
async fn keeps_the_promises_of_the_watch_list() {
    let folder = tempfile::tempdir().unwrap();
    watch_list::conformance(&SqliteCatalog::open(&folder.path().join("catalog.sqlite")).unwrap()).await;
}

#[tokio::test]
async fn a_reopened_catalogue_knows_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper").join("catalog.sqlite");
    let settings = Settings {
        theme: Theme::Light,
        ..Settings::default()
    };
    let (ready, half) = {
        let catalog = SqliteCatalog::open(&path).unwrap();
        let ready = catalog
            .admit(file("a", "/1", "s1", 1), "print-1")
            .await
            .unwrap()
            .key;
        catalog.store(&ready, &content(&ready, "one\ntwo")).await.unwrap();
        catalog.publish(&ready, None).await.unwrap();
        let half = catalog
            .admit(file("a", "/2", "s2", 2), "print-1")
            .await
            .unwrap()
            .key;
        catalog.store(&half, &content(&half, "half")).await.unwrap();
        catalog.set_note("print", "x").await.unwrap();
        catalog.save_settings(&settings).await.unwrap();
        (ready, half)
    };
    let catalog = SqliteCatalog::open(&path).unwrap();
    assert_eq!(catalog.settings().await.unwrap(), settings);
    assert_eq!(catalog.note("print").await.unwrap().as_deref(), Some("x"));
    let found = catalog
        .resolve(&[ChunkId::new(format!("{}-1-1", ready.document))])
        .await
        .unwrap();
    assert_eq!(found[0].chunk.text, "two");
    assert_eq!(catalog.unfinished().await.unwrap()[0].key, half);
    assert_eq!(catalog.chunks(&half).await.unwrap().len(), 1);
}

/// What is on disk after each acknowledged write is what a killed process leaves: a copy taken while the catalogue is open
/// opens and holds all of them.
#[tokio::test]
async fn a_copy_of_the_folder_taken_between_writes_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = SqliteCatalog::open(&folder.path().join("catalog.sqlite")).unwrap();
    for number in 0..5 {
        let sha256 = format!("s{number}");
        let key = catalog
            .admit(file("a", &format!("/{number}"), &sha256, 1), "print-1")
            .await
            .unwrap()
            .key;
        catalog.store(&key, &content(&key, "a\nb\nc")).await.unwrap();
        catalog.publish(&key, None).await.unwrap();
        let copy = tempfile::tempdir().unwrap();
        for entry in folder.path().read_dir().unwrap() {
            let entry = entry.unwrap();
            if !entry.file_name().to_string_lossy().ends_with("-shm") {
                std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
            }
        }
        let copied = SqliteCatalog::open(&copy.path().join("catalog.sqlite")).unwrap();
        let count = copied.count().await.unwrap();
        assert_eq!((count.ready, count.chunks), (number + 1, 3 * (number + 1)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_do_not_wait_for_a_long_write() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Arc::new(SqliteCatalog::open(&folder.path().join("catalog.sqlite")).unwrap());
    let key = catalog
        .admit(file("a", "/1", "s1", 1), "print-1")
        .await
        .unwrap()
        .key;
    let long = content(&key, &"a line of a long document\n".repeat(60_000));
    let writing = Arc::clone(&catalog);
    let write = tokio::spawn(async move { writing.store(&key, &long).await });
    let mut reads = 0;
    while !write.is_finished() {
        assert_eq!(catalog.count().await.unwrap().documents, 1);
        reads += 1;
    }
    write.await.unwrap().unwrap();
    assert!(
        reads > 1,
        "{reads} reads went through while one write was under way"
    );
}

/// A ratio within one run: cutting a passage out of a text a hundred times as long costs about the same.
#[tokio::test]
async fn a_passage_costs_its_own_length_not_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = SqliteCatalog::open(&folder.path().join("catalog.sqlite")).unwrap();
    let mut took = Vec::new();
    for (path, lines) in [("/short", 4_000), ("/long", 400_000)] {
        let key = catalog
            .admit(file("a", path, path, 1), "print-1")
            .await
            .unwrap()
            .key;
        let mut whole = content(&key, "");
        whole.text = "a line of twenty by.\n".repeat(lines);
        catalog.store(&key, &whole).await.unwrap();
        catalog.publish(&key, None).await.unwrap();
        let middle = whole.text.len() as u64 / 2;
        let mut best = Duration::MAX;
        for _ in 0..50 {
            let begun = Instant::now();
            let (_, text) = catalog
                .text(&key.document, middle, middle + 2_000)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(text.len(), 2_000);
            best = best.min(begun.elapsed());
        }
        took.push(best);
    }
    println!("2 kB of 84 kB: {:?}, of 8.4 MB: {:?}", took[0], took[1]);
    assert!(took[1] < took[0] * 20, "it grows with the document: {took:?}");
}

#[test]
fn a_damaged_catalogue_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.sqlite");
    drop(SqliteCatalog::open(&path).unwrap());
    let whole = std::fs::read(&path).unwrap();
    for damage in [Vec::new(), vec![0x5a; whole.len()], whole[..50].to_vec()] {
        std::fs::write(&path, &damage).unwrap();
        let error = SqliteCatalog::open(&path).err().expect("it is refused");
        assert_eq!(error.error.code, ErrorCode::StoreFailed, "{error}");
        assert!(error.error.hint.is_some());
        assert_eq!(std::fs::read(&path).unwrap(), damage, "and left as it is");
    }
}
