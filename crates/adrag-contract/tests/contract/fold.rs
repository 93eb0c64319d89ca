//! The fold of a run's events.

use crate::log;
use adrag_contract::*;

fn ask() -> Event {
    Event::RunStarted {
        kind: RunKind::Ask {
            question: "Q?".to_owned(),
            engine: EngineId::Quotes,
            collection: None,
            thread: None,
            replaces: None,
        },
    }
}

#[test]
fn a_missing_event_is_a_gap_and_a_repeated_one_is_ignored() {
    let events = log([
        ask(),
        Event::AnswerDelta { text: "a".to_owned() },
        Event::AnswerDelta { text: "b".to_owned() },
    ]);
    let mut view = RunView::default();
    view.apply(&events[0]).unwrap();
    assert_eq!(view.apply(&events[2]), Err(Gap { expected: 1, got: 2 }));
    for event in events.iter().chain(&events) {
        view.apply(event).unwrap();
    }
    assert_eq!(view.text, "ab");
}

#[test]
fn a_stage_that_goes_on_without_something_stays_degraded() {
    let stage = StageId::Retrieval;
    let view = RunView::replay(&log([
        ask(),
        Event::StageStarted { stage },
        Event::StageFailed {
            stage,
            error: AppError::new(ErrorCode::StoreFailed, "graph is down"),
            degraded_to: Some("without it".to_owned()),
        },
        Event::StageFinished {
            stage,
            took_ms: 9,
            detail: StageDetail::Retrieval {
                vector: 1,
                keyword: 1,
                graph: 0,
                down: vec![Store::Graph],
            },
        },
    ]))
    .unwrap();
    assert_eq!(view.row(stage).status, RowStatus::Degraded);
    assert_eq!(view.row(stage).took_ms, Some(9));
}

#[test]
fn another_pass_clears_the_rows_after_the_planner_and_the_answer() {
    let planner = Event::StageFinished {
        stage: StageId::Planner,
        took_ms: 1,
        detail: StageDetail::ExternalTools {
            web: 0,
            queries: Vec::new(),
            faults: Vec::new(),
        },
    };
    let view = RunView::replay(&log([
        ask(),
        planner,
        Event::StageStarted {
            stage: StageId::Reason,
        },
        Event::AnswerDelta {
            text: "no".to_owned(),
        },
        Event::Retried {
            attempt: 2,
            why: "w".to_owned(),
            changes: Vec::new(),
        },
    ]))
    .unwrap();
    assert_eq!(view.row(StageId::Planner).status, RowStatus::Done);
    assert_eq!(view.row(StageId::Reason).status, RowStatus::Waiting);
    assert_eq!(view.text, "");
    assert_eq!(view.attempts.len(), 1);
}

#[test]
fn a_run_that_fails_leaves_no_stage_active() {
    let view = RunView::replay(&log([
        ask(),
        Event::StageStarted {
            stage: StageId::Reason,
        },
        Event::RunFailed {
            error: AppError::new(ErrorCode::Timeout, "t"),
            partial: None,
        },
    ]))
    .unwrap();
    assert_eq!(view.status, RunStatus::Failed);
    assert_eq!(view.row(StageId::Reason).status, RowStatus::Failed);
}

#[test]
fn a_run_rests_between_its_pause_and_its_end() {
    let progressed = |path: &str, done| Event::DocumentProgressed {
        path: path.to_owned(),
        done,
        total: 40,
        unit: "chunks".to_owned(),
    };
    let mut events = log([
        Event::RunStarted {
            kind: RunKind::Ingest {
                files: 2,
                collection: CollectionName::default(),
            },
        },
        progressed("/a", 16),
        progressed("/a", 32),
        progressed("/b", 16),
        Event::RunPaused,
        Event::RunResumed,
        Event::RunPaused,
        Event::RunCancelled {
            documents: Vec::new(),
        },
    ]);
    for (at, event) in (0_i64..).zip(&mut events) {
        event.at_ms = at * 1_000;
    }
    let after = |count: usize| RunView::replay(&events[..count]).unwrap();
    assert_eq!(after(4).pace.per_second(), Some(16.0));
    assert_eq!(after(4).pace.chunks(), 48, "what is done is counted once");
    assert!(!after(4).paused);
    assert!(after(5).paused);
    assert_eq!(after(5).pace.per_second(), None, "no rate while nothing is done");
    assert_eq!(after(5).status, RunStatus::Running);
    assert!(!after(6).paused);
    assert!(after(7).paused);
    assert!(!after(8).paused, "what is over does not rest");
}
