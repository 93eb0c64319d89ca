//! JSON, pinned.

use crate::log;
use adrag_contract::*;

fn citation() -> Citation {
    Citation {
        n: 1,
        document: DocumentId::new("d"),
        path: "/a.pdf".to_owned(),
        page: Some(2),
        span: (10, 20),
        text: "ten bytes!".to_owned(),
        title: "A".to_owned(),
        headings: vec!["H".to_owned()],
        chunk: ChunkId::new("c"),
        url: None,
        flagged: None,
        stores: vec![],
        rerank_score: None,
    }
}

fn answer() -> Answer {
    Answer {
        text: "Yes [1].".to_owned(),
        abstained: false,
        direct: false,
        citations: vec![citation()],
        uncited: Vec::new(),
        claims: Vec::new(),
        grounding: Grounding::Grounded,
        answerable: Some(0.875),
        confidence: Some(1.0),
        engine: EngineId::Quotes,
        model: None,
        broken_off: None,
        took_ms: 7,
        spent: Spent {
            passes: 1,
            llm_calls: 2,
            prompt_tokens: 30,
            completion_tokens: 4,
            estimated: false,
        },
    }
}

#[test]
fn every_event_of_answering() {
    let stage = StageId::ExternalTools;
    let error = AppError::new(ErrorCode::Timeout, "no answer").with_hint("try again");
    let events = log([
        Event::RunStarted {
            kind: RunKind::Ask {
                question: "Q?".to_owned(),
                engine: EngineId::Openai,
                collection: None,
                thread: Some("t".into()),
                replaces: Some("r".into()),
            },
        },
        Event::StageStarted { stage },
        Event::StageProgressed {
            stage,
            done: 1,
            total: 2,
            unit: "pages".to_owned(),
        },
        Event::StageFinished {
            stage,
            took_ms: 3,
            detail: StageDetail::ExternalTools {
                web: 4,
                queries: vec!["q".to_owned()],
                faults: vec!["wikipedia: it did not answer in time".to_owned()],
            },
        },
        Event::StageSkipped {
            stage,
            reason: "off".to_owned(),
        },
        Event::StageFailed {
            stage,
            error: error.clone(),
            degraded_to: Some("nothing".to_owned()),
        },
        Event::PassagesFound {
            store: Store::Vector,
            count: 5,
            took_ms: 6,
        },
        Event::Retried {
            attempt: 2,
            why: "w".to_owned(),
            changes: vec!["c".to_owned()],
        },
        Event::AnswerDelta { text: "Y".to_owned() },
        Event::CitationAdded { citation: citation() },
        Event::ClaimChecked {
            claim: Claim {
                sentence: "Yes.".to_owned(),
                span: (0, 8),
                verdict: Verdict::Supported,
                support: Some(1.0),
                citations: vec![1],
            },
        },
        Event::RunFinished {
            outcome: RunOutcome::Answered {
                answer: Box::new(answer()),
            },
        },
        Event::RunFailed { error, partial: None },
    ]);
    insta::assert_json_snapshot!(events);
}

#[test]
fn every_event_of_ingestion() {
    let report = DocumentReport {
        path: "/a.pdf".to_owned(),
        id: Some(DocumentId::new("d")),
        state: DocumentState::Ready,
        reason: None,
        chunks: 3,
        chars: 400,
    };
    let events = log([
        Event::RunStarted {
            kind: RunKind::Ingest {
                files: 1,
                collection: CollectionName::default(),
            },
        },
        Event::DocumentStateChanged {
            path: "/a.pdf".to_owned(),
            document: Some(DocumentId::new("d")),
            state: DocumentState::Embedding,
            reason: None,
        },
        Event::DocumentProgressed {
            path: "/a.pdf".to_owned(),
            done: 1,
            total: 3,
            unit: "chunks".to_owned(),
        },
        Event::RunPaused,
        Event::RunResumed,
        Event::RunFinished {
            outcome: RunOutcome::Ingested {
                documents: vec![report.clone()],
            },
        },
        Event::RunCancelled {
            documents: vec![report],
        },
    ]);
    insta::assert_json_snapshot!(events);
}

#[test]
fn the_settings_and_their_defaults() {
    insta::assert_json_snapshot!(Settings::default());
    let old: Settings = serde_json::from_str(r#"{"engine":"ollama"}"#).unwrap();
    assert_eq!(old.engine, EngineId::Ollama);
    assert_eq!(
        old.retrieval,
        RetrievalSettings::default(),
        "what is absent is the default"
    );
}

#[test]
fn every_event_comes_back_as_it_was() {
    let events = log([Event::RunFinished {
        outcome: RunOutcome::Answered {
            answer: Box::new(answer()),
        },
    }]);
    let json = serde_json::to_string(&events).unwrap();
    assert_eq!(serde_json::from_str::<Vec<RunEvent>>(&json).unwrap(), events);
}

#[test]
fn the_names_of_stages_and_commands_are_fixed() {
    let stages: Vec<&str> = StageId::ALL.iter().map(|stage| stage.as_str()).collect();
    insta::assert_json_snapshot!("names", (stages, COMMANDS));
    for stage in StageId::ALL {
        assert_eq!(serde_json::to_value(stage).unwrap(), stage.as_str());
    }
}

#[test]
fn a_key_is_not_in_the_debug_form_of_its_request() {
    let request = SaveKeyRequest {
        name: KeyName::Openai,
        key: "sk-secret".to_owned(),
    };
    assert!(!format!("{request:?}").contains("secret"));
}
