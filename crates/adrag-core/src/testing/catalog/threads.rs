//! Promises about threads.

use crate::ports::Catalog;
use adrag_contract::{Event, RunEvent, RunId, RunSummary, ThreadId};

fn summary(run: &str, thread: &str, at: i64) -> RunSummary {
    RunSummary {
        run: RunId::from(run),
        thread: ThreadId::from(thread),
        replaces: None,
        question: format!("Question of {run}"),
        started_at_ms: at,
        finished: true,
    }
}

fn said(run: &str, text: &str) -> Vec<RunEvent> {
    vec![RunEvent {
        run: RunId::from(run),
        seq: 0,
        at_ms: 1,
        attempt: 1,
        event: Event::AnswerDelta {
            text: text.to_owned(),
        },
    }]
}

pub(super) async fn threads_are_kept(catalog: &dyn Catalog) {
    let ids = |found: Vec<adrag_contract::ThreadSummary>| -> Vec<String> {
        found
            .into_iter()
            .map(|thread| thread.thread.as_str().to_owned())
            .collect()
    };
    assert!(catalog.threads("", 10).await.unwrap().is_empty());
    let again = RunSummary {
        replaces: Some("a1".into()),
        ..summary("a2", "a1", 300)
    };
    catalog
        .save_run(&summary("a1", "a1", 100), &said("a1", "The Größe is 4."))
        .await
        .unwrap();
    catalog
        .save_run(&summary("b1", "b1", 200), &said("b1", "100% sure_thing"))
        .await
        .unwrap();
    catalog.save_run(&again, &said("a2", "It is 5.")).await.unwrap();
    let found = catalog.threads("", 10).await.unwrap();
    assert_eq!(found[0].thread.as_str(), "a1", "asked in last");
    assert_eq!(found[0].title, "Question of a1");
    assert_eq!(
        (found[0].questions, found[0].started_at_ms, found[0].updated_at_ms),
        (1, 100, 300),
        "an answer given anew is no further question"
    );
    assert_eq!(ids(catalog.threads("", 1).await.unwrap()), ["a1"]);
    let runs = catalog.thread_runs(&"a1".into()).await.unwrap();
    assert_eq!(runs, [summary("a1", "a1", 100), again]);
    assert!(catalog.thread_runs(&"unknown".into()).await.unwrap().is_empty());

    for (find, expected) in [
        ("question of b", vec!["b1"]),
        ("größe", vec!["a1"]),
        ("GRÖSSE", vec![]),
        ("%", vec!["b1"]),
        ("sure_", vec!["b1"]),
        ("s_re", vec![]),
        ("'; DROP TABLE runs; --", vec![]),
    ] {
        assert_eq!(ids(catalog.threads(find, 10).await.unwrap()), expected, "{find}");
    }

    catalog
        .rename_thread(&"b1".into(), "Müller's <pump>")
        .await
        .unwrap();
    assert_eq!(
        catalog.threads("müller", 10).await.unwrap()[0].title,
        "Müller's <pump>"
    );
    catalog.rename_thread(&"b1".into(), "").await.unwrap();
    assert_eq!(catalog.threads("", 10).await.unwrap()[1].title, "Question of b1");
    catalog.rename_thread(&"unknown".into(), "x").await.unwrap();
    assert_eq!(catalog.threads("", 10).await.unwrap().len(), 2);

    catalog.rename_thread(&"a1".into(), "kept name").await.unwrap();
    catalog
        .delete_threads(&["a1".into(), "unknown".into()])
        .await
        .unwrap();
    assert_eq!(ids(catalog.threads("", 10).await.unwrap()), ["b1"]);
    assert!(catalog.run_events(&"a2".into()).await.unwrap().is_empty());
    catalog.save_run(&summary("a1", "a1", 100), &[]).await.unwrap();
    assert!(
        catalog.threads("kept name", 10).await.unwrap().is_empty(),
        "its name went too"
    );
    catalog.clear_runs().await.unwrap();
    assert!(catalog.threads("", 10).await.unwrap().is_empty());
}
