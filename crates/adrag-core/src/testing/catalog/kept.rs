//! Promises about what is kept as it was: text, notes, settings and runs.

use super::conformance::{content, file, publish};
use crate::ports::Catalog;
use adrag_contract::{
    ChunkId, CollectionName, Event, RunEvent, RunId, RunKind, RunOutcome, RunSummary, Settings, Theme,
};

pub(super) async fn text_is_cut_on_characters(catalog: &dyn Catalog) {
    // Long enough for any store that keeps text in parts; three bytes a character, so every part has its seams.
    let text = "東京€\n".repeat(20_000);
    let key = publish(catalog, file("t", "/t/1", "sha-t1", 110), &text).await;
    let length = text.len() as u64;
    let cut = |start, end| catalog.text(&key.document, start, end);
    assert_eq!(cut(0, 3).await.unwrap(), Some((0, "東".to_owned())));
    assert_eq!(
        cut(1, 4).await.unwrap(),
        Some((0, "東京".to_owned())),
        "moved outward"
    );
    assert_eq!(cut(4, 4).await.unwrap(), Some((3, "京".to_owned())));
    assert_eq!(cut(3, 3).await.unwrap(), Some((3, String::new())));
    assert_eq!(
        cut(length - 1, u64::MAX).await.unwrap(),
        Some((length - 1, "\n".to_owned()))
    );
    assert_eq!(
        cut(length + 5, length + 9).await.unwrap(),
        Some((length, String::new()))
    );
    assert_eq!(
        cut(6, 3).await.unwrap(),
        Some((6, String::new())),
        "an end before the start is the start"
    );
    assert_eq!(cut(0, u64::MAX).await.unwrap(), Some((0, text.clone())));
    for seam in [4_096, 8_192, 16_384, 32_768, 65_536, 131_072_u64] {
        for start in seam - 4..seam + 4 {
            let (from, piece) = cut(start, start + 2).await.unwrap().unwrap();
            assert!(from <= start && from + piece.len() as u64 >= start + 2);
            let at = from as usize;
            assert_eq!(text[at..at + piece.len()], piece, "at {start}");
            assert!(piece.len() <= 8, "no further outward than characters go");
        }
    }
    assert_eq!(catalog.text(&"unknown".into(), 0, 1).await.unwrap(), None);
    let some = [
        ChunkId::new(format!("{}-1-19999", key.document)),
        ChunkId::new(format!("{}-1-9", key.document)),
    ];
    let found = catalog.resolve(&some).await.unwrap();
    assert!(found.len() == 2 && found.iter().all(|stored| stored.chunk.text == "東京€\n"));
    let mut wrong = content(&key, "right");
    wrong.chunks[0].text = "wrong".to_owned();
    let next = catalog
        .admit(file("t", "/t/1", "sha-t2", 111), "print-1")
        .await
        .unwrap()
        .key;
    assert!(
        catalog.store(&next, &wrong).await.is_err(),
        "a chunk is the text of its span"
    );
    assert!(
        catalog.chunks(&next).await.unwrap().is_empty(),
        "and nothing of it was kept"
    );
    let odd = "a\0b\u{feff}\r\u{202e}c";
    catalog.store(&next, &content(&next, odd)).await.unwrap();
    catalog.publish(&next, None).await.unwrap();
    assert_eq!(cut(0, 99).await.unwrap(), Some((0, odd.to_owned())));
    catalog.remove(std::slice::from_ref(&key.document)).await.unwrap();
}

pub(super) async fn small_things_are_kept(catalog: &dyn Catalog) {
    assert_eq!(catalog.note("print").await.unwrap(), None);
    catalog.set_note("print", "one").await.unwrap();
    catalog.set_note("print", "two").await.unwrap();
    catalog.set_note("other", "").await.unwrap();
    assert_eq!(catalog.note("print").await.unwrap().as_deref(), Some("two"));
    assert_eq!(catalog.note("other").await.unwrap().as_deref(), Some(""));
    assert_eq!(catalog.settings().await.unwrap(), Settings::default());
    let mut settings = Settings {
        theme: Theme::Dark,
        ..Settings::default()
    };
    settings.openai.model = "some-model".to_owned();
    settings.retrieval.keep = 9;
    catalog.save_settings(&Settings::default()).await.unwrap();
    catalog.save_settings(&settings).await.unwrap();
    assert_eq!(catalog.settings().await.unwrap(), settings);
}

pub(super) async fn runs_are_kept(catalog: &dyn Catalog) {
    let summary = |run: &str, at| RunSummary {
        run: RunId::from(run),
        thread: run.into(),
        replaces: None,
        question: format!("question of {run}"),
        started_at_ms: at,
        finished: true,
    };
    let event = |run: &str, seq, event| RunEvent {
        run: RunId::from(run),
        seq,
        at_ms: 5,
        attempt: 1,
        event,
    };
    let events = [
        event(
            "r1",
            0,
            Event::RunStarted {
                kind: RunKind::Ingest {
                    files: 0,
                    collection: CollectionName::default(),
                },
            },
        ),
        event(
            "r1",
            1,
            Event::AnswerDelta {
                text: "quoted \" and € \0".to_owned(),
            },
        ),
        event(
            "r1",
            2,
            Event::RunFinished {
                outcome: RunOutcome::Ingested {
                    documents: Vec::new(),
                },
            },
        ),
    ];
    assert!(catalog.runs(10).await.unwrap().is_empty());
    catalog.save_run(&summary("r1", 100), &events[..1]).await.unwrap();
    catalog.save_run(&summary("r3", 300), &[]).await.unwrap();
    catalog.save_run(&summary("r2", 200), &[]).await.unwrap();
    catalog.save_run(&summary("r1", 100), &events).await.unwrap();
    assert_eq!(
        catalog.run_events(&"r1".into()).await.unwrap(),
        events,
        "kept again, it is replaced"
    );
    assert!(catalog.run_events(&"unknown".into()).await.unwrap().is_empty());
    assert_eq!(
        catalog.runs(10).await.unwrap(),
        [summary("r3", 300), summary("r2", 200), summary("r1", 100)],
        "newest first"
    );
    assert_eq!(catalog.runs(1).await.unwrap(), [summary("r3", 300)]);
    catalog.clear_runs().await.unwrap();
    assert!(catalog.runs(10).await.unwrap().is_empty());
    assert!(catalog.run_events(&"r1".into()).await.unwrap().is_empty());
}
