//! After a sudden end: whatever was half done is finished, undone or rebuilt.

use crate::bench::Bench;
use adrag_contract::{CollectionName, DocumentState};
use adrag_core::ports::{Catalog, EntityGraph, KeywordIndex, NewDocument, VectorIndex};
use adrag_core::testing::vector::point;

#[tokio::test]
async fn a_document_caught_half_way_goes_back_to_the_queue_and_is_resumed() {
    let mut bench = Bench::new().await;
    bench.parser.put("/a.txt", "Marker QUOKKA was here.");
    let file = NewDocument {
        collection: CollectionName::default(),
        path: "/a.txt".to_owned(),
        title: "a.txt".to_owned(),
        bytes: 1,
        sha256: "x".to_owned(),
        at_ms: 1,
    };
    let admission = bench.catalog.admit(file, "print").await.unwrap();
    bench
        .catalog
        .advance(&admission.key, DocumentState::Embedding)
        .await
        .unwrap();
    bench
        .vectors
        .upsert(vec![point(admission.key.document.as_str(), 1, "default", 0)])
        .await
        .unwrap_or_default();
    bench.restart().await;
    assert_eq!(bench.vectors.count().await.unwrap(), 0, "its remains are gone");
    assert!(!bench.finds("QUOKKA").await);
    let run = bench
        .engine
        .resume()
        .await
        .unwrap()
        .expect("there is something to resume");
    bench.engine.wait(&run).await.unwrap();
    assert!(bench.finds("QUOKKA").await);
    assert_eq!(bench.engine.resume().await.unwrap(), None);
}

#[tokio::test]
async fn a_deletion_caught_half_way_is_finished() {
    let mut bench = Bench::new().await;
    let reports = bench.add(&[("/a.txt", "Marker QUOKKA was here.")]).await;
    bench
        .catalog
        .mark_deleting(&[reports[0].id.clone().unwrap()])
        .await
        .unwrap();
    assert!(!bench.finds("QUOKKA").await, "hidden at once");
    bench.restart().await;
    assert_eq!(bench.vectors.count().await.unwrap(), 0);
    assert!(bench.engine.list_documents(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lost_projection_is_rebuilt_and_a_remain_removed() {
    let mut bench = Bench::new().await;
    bench
        .add(&[
            ("/a.txt", "Marker QUOKKA was here."),
            ("/b.txt", "Other text of Marlowe."),
        ])
        .await;
    bench.vectors.clear().await.unwrap();
    bench.keywords.clear().await.unwrap();
    bench.keywords.flush().await.unwrap();
    bench.graph.clear().await.unwrap();
    bench.restart().await;
    assert_eq!(bench.vectors.count().await.unwrap(), 2);
    assert_eq!(bench.keywords.count().await.unwrap(), 2);
    assert_eq!(bench.graph.count().await.unwrap().chunks, 2);
    assert!(bench.finds("QUOKKA").await);
    let doctor = bench.engine.doctor().await;
    assert_eq!(doctor.repaired.len(), 2, "{:?}", doctor.repaired);
}
