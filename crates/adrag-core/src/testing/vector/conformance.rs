//! What a vector index promises, one function a promise. Start at [`conformance`].

use super::{DIM, cosine, key, point, triples, unit_vector};
use crate::ports::{Scope, VectorIndex, VectorPoint};
use adrag_contract::ChunkId;

fn points(document: &str, generation: u64, collection: &str, count: usize) -> Vec<VectorPoint> {
    (0..count)
        .map(|number| point(document, generation, collection, number))
        .collect()
}

fn collection(name: &str) -> Scope {
    Scope::Collection(name.into())
}

/// Every promise of the port. `make` gives a fresh, empty index for vectors of [`DIM`] components.
pub async fn conformance<I: VectorIndex>(make: impl AsyncFn() -> I) {
    a_search_gives_the_nearest_first(&make().await).await;
    an_upsert_is_idempotent(&make().await).await;
    a_scope_sees_its_collection_only(&make().await).await;
    a_delete_spares_the_generation_to_keep(&make().await).await;
    a_clear_removes_everything(&make().await).await;
    unusable_input_is_rejected_and_changes_nothing(&make().await).await;
    names_are_taken_as_they_are(&make().await).await;
    many_points_stay_apart(&make().await).await;
}

/// The promise of an index that can give vectors back; one that cannot gives none.
pub async fn vectors_are_given_back<I: VectorIndex>(index: &I) {
    let held = points("doc", 1, "a", 5);
    index.upsert(held[..4].to_vec()).await.unwrap();
    let asked: Vec<ChunkId> = held.iter().rev().map(|point| point.chunk.clone()).collect();
    let given = index.vectors(&asked).await.unwrap();
    assert!(given[0].is_none(), "one that is not held has none");
    for (vector, point) in given[1..].iter().zip(held[..4].iter().rev()) {
        let vector = vector.as_ref().expect("one that is held has one");
        assert!(cosine(vector, &point.vector) > 0.999, "in the order asked");
    }
    assert!(index.vectors(&[]).await.unwrap().is_empty());
}

async fn a_search_gives_the_nearest_first<I: VectorIndex>(index: &I) {
    let query = unit_vector(7, DIM);
    let hits = index.search(query.clone(), 5, &Scope::Everything).await.unwrap();
    assert!(hits.is_empty(), "an empty index has no hits");
    assert_eq!(index.count().await.unwrap(), 0, "an empty index holds nothing");

    let all = points("doc", 1, "a", 60);
    index.upsert(all.clone()).await.unwrap();
    index.flush().await.unwrap();
    let mut exact: Vec<(ChunkId, f32)> = all
        .iter()
        .map(|point| (point.chunk.clone(), cosine(&query, &point.vector)))
        .collect();
    exact.sort_by(|a, b| b.1.total_cmp(&a.1));

    let hits = index.search(query.clone(), 10, &Scope::Everything).await.unwrap();
    assert_eq!(hits.len(), 10, "as many hits as asked for");
    for (hit, (chunk, score)) in hits.iter().zip(&exact) {
        assert_eq!(&hit.chunk, chunk, "the nearest come first");
        assert!(
            (hit.score - score).abs() < 1e-3,
            "the score is the cosine: {} for {score}",
            hit.score
        );
    }
    let own = index
        .search(all[3].vector.clone(), 1, &Scope::Everything)
        .await
        .unwrap();
    assert_eq!(own[0].chunk, all[3].chunk, "a point is nearest to itself");
    assert!(
        (own[0].score - 1.0).abs() < 1e-3,
        "a point is at cosine 1 to itself"
    );
    let opposite = all[3].vector.iter().map(|component| -component).collect();
    let last = index.search(opposite, 60, &Scope::Everything).await.unwrap();
    assert!(
        (last[59].score + 1.0).abs() < 1e-3,
        "the opposite is at cosine -1 and still a hit"
    );

    let none = index.search(query.clone(), 0, &Scope::Everything).await.unwrap();
    assert!(none.is_empty(), "no hits when none are wanted");
    let every = index.search(query, 1_000, &Scope::Everything).await.unwrap();
    assert_eq!(every.len(), 60, "never more than there are");
}

async fn an_upsert_is_idempotent<I: VectorIndex>(index: &I) {
    index.upsert(Vec::new()).await.unwrap();
    index.upsert(points("doc", 1, "a", 5)).await.unwrap();
    index.upsert(points("doc", 1, "a", 5)).await.unwrap();
    assert_eq!(
        index.count().await.unwrap(),
        5,
        "the same points again are no new ones"
    );

    let mut moved = point("doc", 1, "a", 2);
    moved.vector = unit_vector(99, DIM);
    moved.collection = "b".into();
    moved.key = key("other", 4);
    index.upsert(vec![moved.clone()]).await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(
        index.count().await.unwrap(),
        5,
        "a point with a known id replaces it"
    );
    let hits = index
        .search(moved.vector.clone(), 5, &collection("b"))
        .await
        .unwrap();
    assert_eq!(hits.len(), 1, "it is found where it is now");
    assert_eq!(hits[0].chunk, moved.chunk);
    assert!((hits[0].score - 1.0).abs() < 1e-3, "by its new vector");
    assert_eq!(
        triples(index.held().await.unwrap()),
        [("doc".to_owned(), 1, 4), ("other".to_owned(), 4, 1)],
        "and counts for its new generation only"
    );
}

async fn a_scope_sees_its_collection_only<I: VectorIndex>(index: &I) {
    index.upsert(points("one", 1, "a", 8)).await.unwrap();
    index.upsert(points("two", 1, "b", 8)).await.unwrap();
    let foreign = point("two", 1, "b", 0);
    let inside: Vec<ChunkId> = points("one", 1, "a", 8)
        .into_iter()
        .map(|point| point.chunk)
        .collect();
    let hits = index
        .search(foreign.vector.clone(), 100, &collection("a"))
        .await
        .unwrap();
    assert_eq!(hits.len(), 8, "all of the collection");
    assert!(
        hits.iter().all(|hit| inside.contains(&hit.chunk)),
        "a point of another collection is never a hit, however near"
    );
    let nowhere = index
        .search(foreign.vector.clone(), 5, &collection("c"))
        .await
        .unwrap();
    assert!(nowhere.is_empty(), "an unknown collection has no hits");
    let all = index
        .search(foreign.vector, 100, &Scope::Everything)
        .await
        .unwrap();
    assert_eq!(all.len(), 16, "without a collection all are seen");
    assert_eq!(all[0].chunk, foreign.chunk);
}

async fn a_delete_spares_the_generation_to_keep<I: VectorIndex>(index: &I) {
    for generation in 1..=3 {
        index.upsert(points("doc", generation, "a", 4)).await.unwrap();
    }
    index.upsert(points("doc-2", 1, "a", 4)).await.unwrap();
    index.delete_generation(&key("doc", 2)).await.unwrap();
    let held = triples(index.held().await.unwrap());
    assert_eq!(
        held,
        [
            ("doc".to_owned(), 1, 4),
            ("doc".to_owned(), 3, 4),
            ("doc-2".to_owned(), 1, 4)
        ],
        "one generation goes alone"
    );
    index.delete(&"doc".into(), Some(3)).await.unwrap();
    let held = triples(index.held().await.unwrap());
    assert_eq!(
        held,
        [("doc".to_owned(), 3, 4), ("doc-2".to_owned(), 1, 4)],
        "the generation to keep stays"
    );
    index.delete(&"doc".into(), None).await.unwrap();
    index.delete(&"never seen".into(), None).await.unwrap();
    index.delete_generation(&key("doc-2", 9)).await.unwrap();
    index.flush().await.unwrap();
    let held = triples(index.held().await.unwrap());
    assert_eq!(held, [("doc-2".to_owned(), 1, 4)], "the others are not touched");
    let gone = point("doc", 3, "a", 0);
    let hits = index.search(gone.vector, 100, &Scope::Everything).await.unwrap();
    assert_eq!(hits.len(), 4, "what is deleted is no hit");
    assert!(hits.iter().all(|hit| hit.chunk != gone.chunk));
    index.upsert(points("doc", 3, "a", 4)).await.unwrap();
    assert_eq!(index.count().await.unwrap(), 8, "what was deleted can come back");
}

async fn a_clear_removes_everything<I: VectorIndex>(index: &I) {
    index.clear().await.unwrap();
    index.upsert(points("one", 1, "a", 30)).await.unwrap();
    index.upsert(points("two", 1, "b", 30)).await.unwrap();
    index.flush().await.unwrap();
    index.clear().await.unwrap();
    index.flush().await.unwrap();
    assert_eq!(index.count().await.unwrap(), 0, "nothing is left");
    assert!(index.held().await.unwrap().is_empty(), "of any generation");
    let hits = index
        .search(unit_vector(1, DIM), 9, &Scope::Everything)
        .await
        .unwrap();
    assert!(hits.is_empty(), "to be found");
    index.upsert(points("one", 1, "a", 3)).await.unwrap();
    let hits = index
        .search(unit_vector(1, DIM), 9, &collection("a"))
        .await
        .unwrap();
    assert_eq!(hits.len(), 3, "and it goes on working");
}

async fn unusable_input_is_rejected_and_changes_nothing<I: VectorIndex>(index: &I) {
    use crate::ports::ErrorClass::Rejected;
    index.upsert(points("doc", 1, "a", 2)).await.unwrap();

    let mut short = point("doc", 1, "a", 8);
    short.vector.pop();
    let mut endless = point("doc", 1, "a", 8);
    endless.vector[0] = f32::NAN;
    let mut nameless = point("doc", 1, "a", 8);
    nameless.chunk = "chunk eight".into();
    for bad in [short, endless, nameless] {
        let batch = vec![point("doc", 1, "a", 9), bad];
        let error = index.upsert(batch).await.unwrap_err();
        assert_eq!(error.class, Rejected, "{error}");
    }
    for bad in [unit_vector(1, DIM + 1), vec![f32::INFINITY; DIM]] {
        let error = index.search(bad, 3, &Scope::Everything).await.unwrap_err();
        assert_eq!(error.class, Rejected, "{error}");
    }
    assert_eq!(
        index.count().await.unwrap(),
        2,
        "a refused batch leaves nothing behind"
    );
}

async fn names_are_taken_as_they_are<I: VectorIndex>(index: &I) {
    let names = [
        "it's \"quoted\"",
        "a@b@3",
        "../../etc",
        "*",
        "名前 مرحبا 🦀",
        " ",
        "Doc",
        "doc",
    ];
    for name in names {
        index.upsert(points(name, 2, name, 3)).await.unwrap();
    }
    for name in names {
        let hits = index
            .search(unit_vector(5, DIM), 50, &collection(name))
            .await
            .unwrap();
        assert_eq!(hits.len(), 3, "the collection {name:?} holds its own three");
    }
    let mut expected: Vec<_> = names.iter().map(|name| ((*name).to_owned(), 2, 3)).collect();
    expected.sort();
    assert_eq!(
        triples(index.held().await.unwrap()),
        expected,
        "every name comes back unchanged"
    );
    index.delete(&"*".into(), None).await.unwrap();
    assert_eq!(
        index.count().await.unwrap(),
        21,
        "a star is a name like any other"
    );
}

async fn many_points_stay_apart<I: VectorIndex>(index: &I) {
    let names: Vec<String> = (0..150).map(|number| format!("document {number}")).collect();
    let mut all = Vec::new();
    for (number, name) in names.iter().enumerate() {
        all.extend(points(
            name,
            1,
            if number % 3 == 0 { "third" } else { "rest" },
            20,
        ));
    }
    for batch in all.chunks(256) {
        index.upsert(batch.to_vec()).await.unwrap();
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
        .search(all[0].vector.clone(), 2_000, &collection("third"))
        .await
        .unwrap();
    assert_eq!(hits.len(), 1_000, "a scope reaches all it holds");
    assert_eq!(hits[0].chunk, all[0].chunk);
    assert!(
        hits.windows(2).all(|pair| pair[0].score >= pair[1].score),
        "best first"
    );
    for name in names.iter().step_by(3) {
        index.delete(&name.as_str().into(), None).await.unwrap();
    }
    index.flush().await.unwrap();
    assert_eq!(index.count().await.unwrap(), 2_000);
    let hits = index
        .search(all[0].vector.clone(), 5, &collection("third"))
        .await
        .unwrap();
    assert!(hits.is_empty(), "nothing of a deleted document is found");
}
