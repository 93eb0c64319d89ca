//! Promises about documents that are taken out of `Deleting` again.

use super::conformance::{content, file, publish, resolved, state};
use crate::ports::Catalog;
use adrag_contract::{ChunkId, DocumentState};

pub(super) async fn deleting_is_undone(catalog: &dyn Catalog) {
    let ready = publish(catalog, file("r", "/r/1", "sha-r1", 120), "one\ntwo").await;
    let before = catalog.document(&ready.document).await.unwrap();
    let replaced = publish(catalog, file("r", "/r/2", "sha-r2", 120), "kept").await;
    let published = catalog.document(&replaced.document).await.unwrap();
    let pending = catalog
        .admit(file("r", "/r/2", "sha-r3", 121), "print-1")
        .await
        .unwrap()
        .key;
    catalog.store(&pending, &content(&pending, "half")).await.unwrap();
    let failed = catalog
        .admit(file("r", "/r/3", "sha-r4", 120), "print-1")
        .await
        .unwrap()
        .key;
    catalog.fail(&failed, "it is encrypted").await.unwrap();
    let queued = catalog
        .admit(file("r", "/r/4", "sha-r5", 120), "print-1")
        .await
        .unwrap()
        .key;
    catalog.store(&queued, &content(&queued, "half")).await.unwrap();
    let all = [
        ready.document.clone(),
        replaced.document.clone(),
        failed.document.clone(),
        queued.document.clone(),
    ];
    let other = publish(catalog, file("r", "/r/5", "sha-r6", 120), "a\nb").await;
    let asked: Vec<ChunkId> = [(&other, 1), (&ready, 0), (&other, 0)]
        .into_iter()
        .map(|(key, number)| ChunkId::new(format!("{}-1-{number}", key.document)))
        .chain(["unknown".into()])
        .collect();
    assert_eq!(catalog.hidden().await.unwrap(), 0);
    assert_eq!(catalog.visible(&asked).await.unwrap(), asked[..3]);
    catalog.mark_deleting(&all).await.unwrap();
    assert_eq!(resolved(catalog, &ready, "one\ntwo").await, 0);
    assert_eq!(
        catalog.hidden().await.unwrap(),
        3,
        "two chunks of the first, one of the second; what was under way was never seen"
    );
    assert_eq!(
        catalog.visible(&asked).await.unwrap(),
        [asked[0].clone(), asked[2].clone()]
    );
    catalog.remove(&[other.document]).await.unwrap();
    let mut restored = catalog.restore(&all).await.unwrap();
    restored.sort();
    let mut wanted = all.to_vec();
    wanted.sort();
    assert_eq!(restored, wanted);
    assert_eq!(
        catalog.document(&ready.document).await.unwrap(),
        before,
        "it is as it was"
    );
    assert_eq!(resolved(catalog, &ready, "one\ntwo").await, 2, "and searchable");
    assert_eq!(
        catalog.document(&replaced.document).await.unwrap(),
        published,
        "what was under way is dropped for what is published"
    );
    assert_eq!(resolved(catalog, &replaced, "kept").await, 1);
    assert!(catalog.chunks(&pending).await.unwrap().is_empty());
    assert!(catalog.publish(&pending, None).await.is_err());
    assert_eq!(
        state(catalog, &failed.document).await,
        (DocumentState::Failed, Some("it is encrypted".to_owned()))
    );
    let (found, reason) = state(catalog, &queued.document).await;
    assert_eq!(found, DocumentState::Failed, "nothing is under way any more");
    assert!(reason.is_some_and(|reason| !reason.is_empty()));
    assert!(catalog.chunks(&queued).await.unwrap().is_empty());
    assert!(catalog.deleting().await.unwrap().is_empty());
    assert!(catalog.unfinished().await.unwrap().is_empty());
    let again = catalog
        .admit(file("r", "/r/1", "sha-r1", 122), "print-1")
        .await
        .unwrap();
    assert!(again.unchanged.is_some(), "nothing needs doing for it");
    catalog.remove(&all).await.unwrap();
}

pub(super) async fn only_what_waits_for_deletion_comes_back(catalog: &dyn Catalog) {
    let kept = publish(catalog, file("r", "/r/1", "sha-r1", 130), "kept").await;
    let again = publish(catalog, file("r", "/r/2", "sha-r2", 130), "old").await;
    catalog
        .mark_deleting(std::slice::from_ref(&again.document))
        .await
        .unwrap();
    let anew = publish(catalog, file("r", "/r/2", "sha-r2", 131), "new").await;
    assert_eq!(anew.document, again.document, "added again at its path");
    let restored = catalog
        .restore(&[kept.document.clone(), again.document.clone(), "unknown".into()])
        .await
        .unwrap();
    assert!(restored.is_empty(), "{restored:?}");
    assert_eq!(resolved(catalog, &anew, "new").await, 1, "it stays the new one");
    assert_eq!(resolved(catalog, &kept, "kept").await, 1);
    catalog.remove(&[kept.document, anew.document]).await.unwrap();
}
