//! Filters in a question, over every store: what they shut out is not cited, and a filter that leaves nothing says so.

use crate::bench::{Bench, view};
use adrag_contract::{AddFilesRequest, EngineId, Event, RowStatus, StageId};

const WORK: (&str, &str) = (
    "/docs/pump manual.txt",
    "The bilge pump HX-40 uses seal kit SK-131-A of rubber.",
);
const NOTE: (&str, &str) = (
    "/docs/note.md",
    "The bilge pump HX-40 used seal kit SK-118-C of diesel grade.",
);

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.add(&[WORK]).await;
    bench.parser.put(NOTE.0, NOTE.1);
    let request = AddFilesRequest {
        paths: vec![NOTE.0.to_owned()],
        collection: "Private".into(),
    };
    let run = bench.engine.add_files(request).await.unwrap();
    bench.engine.wait(&run).await.unwrap();
    bench
}

#[tokio::test]
async fn only_what_passes_is_cited() {
    let bench = bench().await;
    for (filter, cited) in [
        ("in:private", Some(NOTE.0)),
        ("doc:\"pump manual\"", Some(WORK.0)),
        ("type:md", Some(NOTE.0)),
        ("+rubber", Some(WORK.0)),
        ("-rubber", Some(NOTE.0)),
        ("+\"diesel grade\"", Some(NOTE.0)),
        ("before:1971-01-01", Some(WORK.0)),
        ("in:elsewhere", None),
        ("after:2100-01-01", None),
    ] {
        let events = bench
            .ask(
                &format!("Which seal kit does the bilge pump HX-40 use? {filter}"),
                EngineId::Quotes,
            )
            .await;
        let view = view(&events);
        let answer = view.answer.clone().unwrap();
        match cited {
            Some(path) if filter.starts_with("before") => {
                // Both documents are of the fake clock's first day.
                assert!(
                    answer.citations.iter().any(|citation| citation.path == path),
                    "{filter}"
                );
            }
            Some(path) => {
                assert!(!answer.citations.is_empty(), "{filter}");
                for citation in &answer.citations {
                    assert_eq!(citation.path, path, "{filter}");
                }
                assert!(
                    answer.uncited.iter().all(|passage| passage.path == path),
                    "{filter}"
                );
            }
            None => {
                assert!(answer.abstained && answer.citations.is_empty(), "{filter}");
                assert_eq!(
                    view.row(StageId::Retrieval).status,
                    RowStatus::Degraded,
                    "{filter}"
                );
                let said = events.iter().any(|event| {
                    matches!(&event.event, Event::StageFailed { error, .. } if error.message.contains(filter))
                });
                assert!(said, "{filter}");
            }
        }
    }
}

#[tokio::test]
async fn the_words_of_a_filter_are_not_searched_for_and_are_shown() {
    let bench = bench().await;
    let events = bench
        .ask("Which seal kit? -rubber in:private", EngineId::Quotes)
        .await;
    let details: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.event {
            Event::StageFinished { detail, .. } => Some(detail.clone()),
            _ => None,
        })
        .collect();
    assert!(details.iter().any(|detail| matches!(
        detail,
        adrag_contract::StageDetail::Planner { queries, .. } if queries == &["Which seal kit?"]
    )));
    assert!(details.iter().any(|detail| matches!(
        detail,
        adrag_contract::StageDetail::Retrieval { filters, .. } if filters == &["-rubber", "in:private"]
    )));
}
