//! Every sentence of [`Catalog`] as a check.

pub use super::made::{content, file};
use super::{kept, threads, undo};
use crate::ports::{Catalog, DocumentKey, NewDocument};
use adrag_contract::{ChunkId, DocumentId, DocumentState};

/// Panics on the first broken promise. Takes an empty catalogue.
pub async fn conformance(catalog: &dyn Catalog) {
    a_document_is_published(catalog).await;
    the_same_path_with_other_bytes_replaces(catalog).await;
    the_same_bytes_elsewhere_take_over(catalog).await;
    collections_do_not_touch_each_other(catalog).await;
    a_copy_by_change_is_deleted(catalog).await;
    failures_keep_what_was_published(catalog).await;
    withdrawing_leaves_all_as_before(catalog).await;
    unfinished_work_is_found_and_requeued(catalog).await;
    deleting_hides_at_once(catalog).await;
    undo::deleting_is_undone(catalog).await;
    undo::only_what_waits_for_deletion_comes_back(catalog).await;
    kept::text_is_cut_on_characters(catalog).await;
    kept::small_things_are_kept(catalog).await;
    kept::runs_are_kept(catalog).await;
    threads::threads_are_kept(catalog).await;
}

pub(super) async fn publish(catalog: &dyn Catalog, file: NewDocument, text: &str) -> DocumentKey {
    let key = catalog.admit(file, "print-1").await.unwrap().key;
    catalog.store(&key, &content(&key, text)).await.unwrap();
    assert!(catalog.publish(&key, None).await.unwrap().is_empty());
    key
}

pub(super) async fn state(catalog: &dyn Catalog, id: &DocumentId) -> (DocumentState, Option<String>) {
    let info = catalog
        .document(id)
        .await
        .unwrap()
        .expect("the document is there");
    (info.state, info.reason)
}

fn ids(key: &DocumentKey, text: &str) -> Vec<ChunkId> {
    content(key, text)
        .chunks
        .into_iter()
        .map(|chunk| chunk.id)
        .collect()
}

pub(super) async fn resolved(catalog: &dyn Catalog, key: &DocumentKey, text: &str) -> usize {
    catalog.resolve(&ids(key, text)).await.unwrap().len()
}

async fn a_document_is_published(catalog: &dyn Catalog) {
    let admission = catalog
        .admit(file("a", "/x/one.md", "sha-1", 10), "print-1")
        .await
        .unwrap();
    let key = admission.key;
    assert_eq!(key.generation, 1, "a new document begins at generation 1");
    assert_eq!((admission.unchanged, admission.takes_over), (None, None));
    let id = uuid::Uuid::parse_str(key.document.as_str()).expect("the id is a UUID");
    assert_eq!(id.get_version_num(), 5, "derived, not drawn");
    let info = catalog.document(&key.document).await.unwrap().unwrap();
    assert_eq!(
        (
            info.state,
            info.title.as_str(),
            info.path.as_str(),
            info.bytes,
            info.chunks,
            info.updated_at_ms
        ),
        (DocumentState::Queued, "one.md", "/x/one.md", 1_000, 0, 10)
    );
    for step in [DocumentState::Parsing, DocumentState::Indexing] {
        catalog.advance(&key, step).await.unwrap();
        assert_eq!(state(catalog, &key.document).await.0, step);
    }
    for end in [
        DocumentState::Ready,
        DocumentState::Empty,
        DocumentState::Failed,
        DocumentState::Deleting,
    ] {
        assert!(
            catalog.advance(&key, end).await.is_err(),
            "{end:?} is not a state under way"
        );
    }
    let text = "Grüße\nsecond line\nthird";
    catalog
        .store(&key, &content(&key, "an earlier try\nof the same"))
        .await
        .unwrap();
    catalog.store(&key, &content(&key, text)).await.unwrap();
    assert_eq!(resolved(catalog, &key, text).await, 0, "still invisible");
    assert!(catalog.published().await.unwrap().is_empty());
    assert_eq!(catalog.text(&key.document, 0, 5).await.unwrap(), None);
    assert_eq!(catalog.chunk_at(&key.document, 0).await.unwrap(), None);
    let stored = catalog.chunks(&key).await.unwrap();
    assert_eq!(
        stored
            .iter()
            .map(|stored| stored.chunk.clone())
            .collect::<Vec<_>>(),
        content(&key, text).chunks,
        "chunks come back as they were, by ordinal"
    );
    catalog.publish(&key, Some("page 2 has no text")).await.unwrap();
    for stored in &stored {
        let held = catalog
            .chunk_at(&key.document, stored.chunk.end - 1)
            .await
            .unwrap();
        assert_eq!(
            held.as_ref(),
            Some(&stored.chunk.id),
            "a byte belongs to the chunk that holds it"
        );
    }
    assert!(
        catalog.publish(&key, None).await.is_err(),
        "it is not under way any more"
    );
    let info = catalog.document(&key.document).await.unwrap().unwrap();
    assert_eq!(
        (
            info.state,
            info.reason.as_deref(),
            info.title.as_str(),
            info.kind.as_str(),
            info.pages
        ),
        (
            DocumentState::Ready,
            Some("page 2 has no text"),
            "Title of Grüße",
            "markdown",
            Some(3)
        )
    );
    assert_eq!((info.chars, info.chunks), (text.chars().count() as u64, 3));
    let mut asked = ids(&key, text);
    asked.reverse();
    asked.insert(1, ChunkId::from("unknown"));
    let found = catalog.resolve(&asked).await.unwrap();
    let order: Vec<u32> = found.iter().map(|stored| stored.chunk.ordinal).collect();
    assert_eq!(order, [2, 1, 0], "in the order asked, others left out");
    assert_eq!(found[2].chunk, content(&key, text).chunks[0]);
    assert_eq!(
        (
            found[0].path.as_str(),
            found[0].title.as_str(),
            found[0].collection.as_str(),
            &found[0].key
        ),
        ("/x/one.md", "Title of Grüße", "a", &key)
    );
    let held = catalog.published().await.unwrap();
    assert_eq!((held.len(), &held[0].key, held[0].chunks), (1, &key, 3));
}

async fn the_same_path_with_other_bytes_replaces(catalog: &dyn Catalog) {
    let again = catalog
        .admit(file("a", "/x/one.md", "sha-1", 20), "print-1")
        .await
        .unwrap();
    let unchanged = again.unchanged.expect("same bytes, same fingerprint");
    assert_eq!((again.key.generation, unchanged.state), (1, DocumentState::Ready));
    assert_eq!((unchanged.updated_at_ms, again.takes_over), (20, None));
    assert!(
        catalog.unfinished().await.unwrap().is_empty(),
        "nothing needs doing"
    );

    let other_print = catalog
        .admit(file("a", "/x/one.md", "sha-1", 25), "print-2")
        .await
        .unwrap();
    assert_eq!((other_print.key.generation, other_print.unchanged), (2, None));
    assert_eq!(other_print.key.document, again.key.document);
    catalog.withdraw(&other_print.key).await.unwrap();

    let next = catalog
        .admit(file("a", "/x/one.md", "sha-2", 30), "print-1")
        .await
        .unwrap();
    assert_eq!(
        (next.key.generation, next.unchanged),
        (3, None),
        "generations count on"
    );
    assert_eq!(next.key.document, again.key.document, "it keeps its id");
    let old_text = "Grüße\nsecond line\nthird";
    assert_eq!(
        resolved(catalog, &again.key, old_text).await,
        3,
        "the published one stays meanwhile"
    );
    assert_eq!(
        state(catalog, &next.key.document).await,
        (DocumentState::Queued, None)
    );
    assert_eq!(catalog.count().await.unwrap().ready, 1, "and can be searched");
    catalog
        .store(&next.key, &content(&next.key, "new text"))
        .await
        .unwrap();
    assert_eq!(
        catalog.text(&next.key.document, 0, 3).await.unwrap(),
        Some((0, "Gr\u{fc}".to_owned()))
    );
    catalog.publish(&next.key, None).await.unwrap();
    assert_eq!(
        resolved(catalog, &again.key, old_text).await,
        0,
        "earlier ones are forgotten"
    );
    assert!(catalog.chunks(&again.key).await.unwrap().is_empty());
    assert_eq!(resolved(catalog, &next.key, "new text").await, 1);
    assert_eq!(
        catalog.text(&next.key.document, 0, 3).await.unwrap(),
        Some((0, "new".to_owned()))
    );

    let superseded = catalog
        .admit(file("a", "/x/one.md", "sha-3", 31), "print-1")
        .await
        .unwrap()
        .key;
    let latest = catalog
        .admit(file("a", "/x/one.md", "sha-4", 32), "print-1")
        .await
        .unwrap()
        .key;
    assert_eq!(latest.generation, superseded.generation + 1);
    assert!(
        catalog
            .advance(&superseded, DocumentState::Parsing)
            .await
            .is_err()
    );
    assert!(
        catalog
            .store(&superseded, &content(&superseded, "x"))
            .await
            .is_err()
    );
    assert!(catalog.publish(&superseded, None).await.is_err());
    assert!(catalog.fail(&superseded, "x").await.is_err());
    assert!(catalog.requeue(&superseded).await.is_err());
    let back = catalog
        .admit(file("a", "/x/one.md", "sha-2", 33), "print-1")
        .await
        .unwrap();
    assert_eq!(
        back.unchanged.expect("the bytes of what is published").state,
        DocumentState::Ready
    );
    assert!(catalog.unfinished().await.unwrap().is_empty());
}

async fn the_same_bytes_elsewhere_take_over(catalog: &dyn Catalog) {
    let moved = catalog
        .admit(file("a", "/y/moved.md", "sha-2", 40), "print-1")
        .await
        .unwrap();
    assert_eq!(moved.takes_over.as_deref(), Some("/x/one.md"));
    let info = moved.unchanged.expect("only the path is new");
    assert_eq!((info.path.as_str(), info.updated_at_ms), ("/y/moved.md", 40));
    let fresh = catalog
        .admit(file("a", "/x/one.md", "sha-5", 41), "print-1")
        .await
        .unwrap();
    assert_ne!(
        fresh.key.document, moved.key.document,
        "its old path is free for another document"
    );
    assert_eq!((fresh.key.generation, fresh.takes_over), (1, None));
    catalog.withdraw(&fresh.key).await.unwrap();
    assert_eq!(catalog.document(&fresh.key.document).await.unwrap(), None);
    assert_eq!(catalog.documents(None).await.unwrap().len(), 1);

    let unread = catalog
        .admit(file("a", "/x/unread-1", "", 42), "print-1")
        .await
        .unwrap();
    let other = catalog
        .admit(file("a", "/x/unread-2", "", 42), "print-1")
        .await
        .unwrap();
    assert_ne!(
        unread.key.document, other.key.document,
        "no bytes are not the same bytes"
    );
    for key in [unread.key, other.key] {
        assert!(catalog.publish(&key, Some("no text")).await.unwrap().is_empty());
        assert_eq!(
            state(catalog, &key.document).await,
            (DocumentState::Empty, Some("no text".to_owned())),
            "without chunks it is empty"
        );
        catalog.remove(&[key.document]).await.unwrap();
    }
}

async fn collections_do_not_touch_each_other(catalog: &dyn Catalog) {
    let key = publish(catalog, file("b", "/y/moved.md", "sha-2", 50), "b one\nb two").await;
    let in_a = &catalog.documents(Some(&"a".into())).await.unwrap()[0];
    assert_ne!(in_a.id, key.document);
    let collections = catalog.collections().await.unwrap();
    let told: Vec<(&str, u64, u64, u64)> = collections
        .iter()
        .map(|info| (info.name.as_str(), info.documents, info.ready, info.chunks))
        .collect();
    assert_eq!(told, [("a", 1, 1, 1), ("b", 1, 1, 2)]);
    let count = catalog.count().await.unwrap();
    assert_eq!((count.documents, count.ready, count.chunks), (2, 2, 3));
    let zeta = publish(catalog, file("b", "/y/0.md", "sha-z", 51), "zeta").await;
    let alpha = publish(catalog, file("b", "/y/1.md", "sha-y", 51), "Alpha").await;
    let titles: Vec<String> = catalog
        .documents(Some(&"b".into()))
        .await
        .unwrap()
        .into_iter()
        .map(|info| info.title)
        .collect();
    assert_eq!(titles, ["Title of Alpha", "Title of b one", "Title of zeta"]);
    assert_eq!(catalog.documents(None).await.unwrap().len(), 4);
    catalog
        .remove(&[zeta.document, alpha.document, key.document, "unknown".into()])
        .await
        .unwrap();
    assert_eq!(catalog.documents(None).await.unwrap().len(), 1);
}

async fn a_copy_by_change_is_deleted(catalog: &dyn Catalog) {
    let first = publish(catalog, file("c", "/c/1", "sha-p", 60), "one").await;
    let second = publish(catalog, file("c", "/c/2", "sha-q", 60), "two").await;
    let elsewhere = publish(catalog, file("d", "/c/1", "sha-p", 60), "one").await;
    let changed = catalog
        .admit(file("c", "/c/2", "sha-p", 61), "print-1")
        .await
        .unwrap()
        .key;
    assert_eq!(changed.document, second.document);
    catalog.store(&changed, &content(&changed, "one")).await.unwrap();
    let copies = catalog.publish(&changed, None).await.unwrap();
    assert_eq!(copies, std::slice::from_ref(&first.document));
    assert_eq!(catalog.deleting().await.unwrap(), copies);
    assert_eq!(state(catalog, &elsewhere.document).await.0, DocumentState::Ready);
    catalog
        .remove(&[first.document, second.document, elsewhere.document])
        .await
        .unwrap();
}

async fn failures_keep_what_was_published(catalog: &dyn Catalog) {
    let first = catalog
        .admit(file("e", "/e/1", "sha-f1", 70), "print-1")
        .await
        .unwrap()
        .key;
    catalog.store(&first, &content(&first, "half")).await.unwrap();
    catalog.fail(&first, "it is encrypted").await.unwrap();
    assert_eq!(
        state(catalog, &first.document).await,
        (DocumentState::Failed, Some("it is encrypted".to_owned()))
    );
    assert!(catalog.chunks(&first).await.unwrap().is_empty());
    assert!(
        catalog
            .unfinished()
            .await
            .unwrap()
            .iter()
            .all(|entry| entry.key != first)
    );
    let second = catalog
        .admit(file("e", "/e/1", "sha-f1", 71), "print-1")
        .await
        .unwrap();
    assert_eq!(
        (second.key.generation, second.unchanged),
        (2, None),
        "a failed one is tried again"
    );
    assert_eq!(
        state(catalog, &first.document).await,
        (DocumentState::Queued, None)
    );
    catalog
        .store(&second.key, &content(&second.key, "good"))
        .await
        .unwrap();
    catalog.publish(&second.key, None).await.unwrap();

    let third = catalog
        .admit(file("e", "/e/1", "sha-f2", 72), "print-1")
        .await
        .unwrap()
        .key;
    catalog.fail(&third, "it is damaged").await.unwrap();
    assert_eq!(
        state(catalog, &first.document).await,
        (DocumentState::Ready, Some("it is damaged".to_owned()))
    );
    assert_eq!(
        resolved(catalog, &second.key, "good").await,
        1,
        "the earlier one stays searchable"
    );
    catalog.remove(&[first.document]).await.unwrap();
}

async fn withdrawing_leaves_all_as_before(catalog: &dyn Catalog) {
    let first = publish(catalog, file("w", "/w/1", "sha-w1", 80), "kept").await;
    let before = catalog.document(&first.document).await.unwrap();
    for (path, sha256) in [("/w/1", "sha-w2"), ("/w/elsewhere", "sha-w1")] {
        let next = catalog
            .admit(file("w", path, sha256, 81), "print-2")
            .await
            .unwrap()
            .key;
        assert_eq!(next.document, first.document);
        catalog.store(&next, &content(&next, "never seen")).await.unwrap();
        catalog.withdraw(&next).await.unwrap();
        assert_eq!(catalog.document(&first.document).await.unwrap(), before);
        assert!(catalog.chunks(&next).await.unwrap().is_empty());
        catalog.withdraw(&next).await.unwrap();
    }
    assert_eq!(resolved(catalog, &first, "kept").await, 1);

    let moved = catalog
        .admit(file("w", "/w/2", "sha-w1", 82), "print-2")
        .await
        .unwrap()
        .key;
    let at_old_path = publish(catalog, file("w", "/w/1", "sha-w3", 83), "other").await;
    catalog.withdraw(&moved).await.unwrap();
    let info = catalog.document(&first.document).await.unwrap().unwrap();
    assert_eq!(info.path, "/w/2", "a path that is taken is not taken back");
    catalog
        .remove(&[first.document, at_old_path.document])
        .await
        .unwrap();
}

async fn unfinished_work_is_found_and_requeued(catalog: &dyn Catalog) {
    let done = publish(catalog, file("u", "/u/0", "sha-u0", 90), "done").await;
    let one = catalog
        .admit(file("u", "/u/1", "sha-u1", 90), "print-1")
        .await
        .unwrap()
        .key;
    let two = catalog
        .admit(file("u", "/u/2", "sha-u2", 90), "print-1")
        .await
        .unwrap()
        .key;
    let redone = catalog
        .admit(file("u", "/u/0", "sha-u3", 90), "print-1")
        .await
        .unwrap()
        .key;
    catalog.advance(&one, DocumentState::Embedding).await.unwrap();
    catalog.store(&one, &content(&one, "half done")).await.unwrap();
    let unfinished = catalog.unfinished().await.unwrap();
    let told: Vec<(&DocumentKey, &str, DocumentState)> = unfinished
        .iter()
        .map(|entry| (&entry.key, entry.path.as_str(), entry.state))
        .collect();
    assert_eq!(
        told,
        [
            (&one, "/u/1", DocumentState::Embedding),
            (&two, "/u/2", DocumentState::Queued),
            (&redone, "/u/0", DocumentState::Queued)
        ],
        "in the order admitted"
    );
    catalog.requeue(&one).await.unwrap();
    assert_eq!(state(catalog, &one.document).await.0, DocumentState::Queued);
    assert!(
        catalog.chunks(&one).await.unwrap().is_empty(),
        "text and chunks are forgotten"
    );
    catalog.store(&one, &content(&one, "whole")).await.unwrap();
    catalog.publish(&one, None).await.unwrap();
    assert_eq!(resolved(catalog, &one, "whole").await, 1);
    catalog
        .mark_deleting(std::slice::from_ref(&two.document))
        .await
        .unwrap();
    let left: Vec<DocumentKey> = catalog
        .unfinished()
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    assert_eq!(left, [redone], "neither final nor `Deleting`");
    catalog
        .remove(&[one.document, two.document, done.document])
        .await
        .unwrap();
}

async fn deleting_hides_at_once(catalog: &dyn Catalog) {
    let key = publish(catalog, file("g", "/g/1", "sha-g1", 100), "gone soon").await;
    let pending = catalog
        .admit(file("g", "/g/1", "sha-g2", 101), "print-1")
        .await
        .unwrap()
        .key;
    catalog
        .mark_deleting(&[key.document.clone(), "unknown".into()])
        .await
        .unwrap();
    assert_eq!(state(catalog, &key.document).await.0, DocumentState::Deleting);
    assert_eq!(
        catalog.deleting().await.unwrap(),
        std::slice::from_ref(&key.document)
    );
    assert_eq!(resolved(catalog, &key, "gone soon").await, 0);
    assert!(catalog.documents(Some(&"g".into())).await.unwrap().is_empty());
    assert!(
        catalog
            .published()
            .await
            .unwrap()
            .iter()
            .all(|held| held.key != key)
    );
    assert_eq!(catalog.text(&key.document, 0, 4).await.unwrap(), None);
    assert!(
        catalog.publish(&pending, None).await.is_err(),
        "it cannot come back half way"
    );
    let copy = catalog
        .admit(file("g", "/g/copy", "sha-g1", 102), "print-1")
        .await
        .unwrap();
    assert_ne!(copy.key.document, key.document, "one that goes is not taken over");
    let again = catalog
        .admit(file("g", "/g/1", "sha-g1", 103), "print-1")
        .await
        .unwrap();
    assert_eq!(
        (&again.key.document, again.unchanged),
        (&key.document, None),
        "added anew, all is to do"
    );
    assert_eq!(resolved(catalog, &key, "gone soon").await, 0);
    assert!(catalog.deleting().await.unwrap().is_empty());
    catalog
        .remove(&[key.document.clone(), copy.key.document])
        .await
        .unwrap();
    assert_eq!(catalog.document(&key.document).await.unwrap(), None);
    assert!(catalog.chunks(&again.key).await.unwrap().is_empty());
}
