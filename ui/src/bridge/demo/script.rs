//! The demo's event logs: what an engine would send while it answers or ingests, with the waits between.

use super::documents::{SAMPLES, Sample, sample};
use adrag_contract::{
    Answer, AppError, Citation, Claim, DocumentReport, DocumentState, EngineId, ErrorCode, Event, Finding,
    Grounding, Passage, QuestionKind, RunKind, RunOutcome, Spent, StageDetail, StageId, Store, ThreadId,
    Verdict,
};

/// An event and the wait before it, milliseconds.
pub type Beat = (u32, Event);

/// What the demo answers with.
struct Scene {
    text: &'static str,
    /// Document and first words of each cited passage, by number.
    cites: &'static [(&'static str, &'static str)],
    uncited: &'static [(&'static str, &'static str)],
    /// Sentences and what checking them found.
    claims: &'static [(&'static str, Verdict)],
}

const WATER: Scene = Scene {
    text: "**The landlord** has to repair the roof: clause 14.2 gives it the roof, the outer walls and the foundations. [1] Because rain comes in, works must begin within three days of written notice. [1]\n\n\
The survey found eleven slates missing above the kiln room and stains that point to more than one winter of rain. [2] It estimates the repair at **3,800** with scaffolding. [3]\n\n\
If the landlord does not begin in time:\n\n- you may have the works done yourself, and\n- you may deduct the reasonable cost from the next quarter's rent. [4]\n\n\
Send the notice by registered post, because electronic mail has never counted under English law. [5]",
    cites: &[
        ("demo-lease", "14.2 The Landlord"),
        ("demo-survey", "The slates on"),
        ("demo-survey", "The missing slates"),
        ("demo-lease", "14.3 If the"),
        ("demo-lease", "15.1 Either"),
    ],
    uncited: &[
        ("demo-lease", "14.1 The Tenant"),
        ("demo-lease", "15.2 On leaving"),
        ("demo-survey", "The incoming"),
    ],
    claims: &[
        (
            "**The landlord** has to repair the roof: clause 14.2 gives it the roof, the outer walls and the foundations. [1]",
            Verdict::Supported,
        ),
        (
            "Because rain comes in, works must begin within three days of written notice. [1]",
            Verdict::Supported,
        ),
        (
            "The survey found eleven slates missing above the kiln room and stains that point to more than one winter of rain. [2]",
            Verdict::Supported,
        ),
        (
            "It estimates the repair at **3,800** with scaffolding. [3]",
            Verdict::Supported,
        ),
        (
            "you may deduct the reasonable cost from the next quarter's rent. [4]",
            Verdict::Supported,
        ),
        (
            "Send the notice by registered post, because electronic mail has never counted under English law. [5]",
            Verdict::Unsupported,
        ),
    ],
};

const POWER: Scene = Scene {
    text: "Not as it stands. The kiln draws 9.6 kW and needs a circuit of its own with a 45 A breaker. [1] The survey found no dedicated circuit to the kiln room. [2]\n\n\
| | needed | there |\n|---|--:|--:|\n| Circuit | own, 45 A | none |\n| Main fuse | 45 A | 80 A |\n\n\
The main fuse leaves room for it. Ask an electrician before you order.",
    cites: &[("demo-kiln", "The kiln draws"), ("demo-survey", "The incoming")],
    uncited: &[("demo-kiln", "E1 means"), ("demo-kiln", "The controller")],
    claims: &[
        (
            "The kiln draws 9.6 kW and needs a circuit of its own with a 45 A breaker. [1]",
            Verdict::Supported,
        ),
        (
            "The survey found no dedicated circuit to the kiln room. [2]",
            Verdict::Supported,
        ),
        ("The main fuse leaves room for it.", Verdict::Partly),
        ("Ask an electrician before you order.", Verdict::Uncited),
    ],
};

const NOTHING: Scene = Scene {
    text: "The documents do not say. The nearest passages are about the workshop's repairs and its supply.",
    cites: &[],
    uncited: &[
        ("demo-lease", "14.1 The Tenant"),
        ("demo-survey", "The incoming"),
        ("demo-kiln", "The controller"),
    ],
    claims: &[],
};

/// The log of a question.
pub fn ask(question: &str, engine: EngineId, thread: &ThreadId) -> Vec<Beat> {
    let words = question.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
    let mut beats = vec![(
        0,
        Event::RunStarted {
            kind: RunKind::Ask {
                question: question.to_owned(),
                engine,
                collection: None,
                thread: Some(thread.clone()),
                replaces: None,
            },
        },
    )];
    if has(&["fail", "error"]) {
        beats.extend(failing(question));
        return beats;
    }
    let scene = if has(&["roof", "rain", "water", "repair", "leak"]) {
        &WATER
    } else if has(&["kiln", "power", "supply", "circuit", "fuse"]) {
        &POWER
    } else {
        &NOTHING
    };
    beats.extend(searching(question, scene));
    beats.extend(answering(scene, engine));
    beats
}

fn started(stage: StageId) -> Event {
    Event::StageStarted { stage }
}

fn finished(took_ms: u64, detail: StageDetail) -> Event {
    Event::StageFinished {
        stage: detail.stage(),
        took_ms,
        detail,
    }
}

fn planned(question: &str) -> Event {
    finished(
        3,
        StageDetail::Planner {
            retrieve: true,
            use_web: false,
            kind: QuestionKind::Factual,
            standalone_question: question.to_owned(),
            queries: vec![question.to_owned()],
            by: "rules".to_owned(),
            reasoning: "the question asks for facts that documents may hold".to_owned(),
        },
    )
}

fn searching(question: &str, scene: &Scene) -> Vec<Beat> {
    let passages = (scene.cites.len() + scene.uncited.len()) as u64;
    let found = |store, count, took_ms| Event::PassagesFound {
        store,
        count,
        took_ms,
    };
    let progress = |done| Event::StageProgressed {
        stage: StageId::Rerank,
        done,
        total: 24,
        unit: "passages".to_owned(),
    };
    vec![
        (120, started(StageId::Planner)),
        (90, planned(question)),
        (10, started(StageId::Retrieval)),
        (120, found(Store::Keyword, 18, 4)),
        (60, found(Store::Vector, 30, 11)),
        (60, found(Store::Graph, 12, 16)),
        (
            20,
            finished(
                17,
                StageDetail::Retrieval {
                    vector: 30,
                    keyword: 18,
                    graph: 12,
                    down: Vec::new(),
                    filters: Vec::new(),
                    left_out: 0,
                },
            ),
        ),
        (
            10,
            Event::StageSkipped {
                stage: StageId::ExternalTools,
                reason: "web search is off".to_owned(),
            },
        ),
        (10, started(StageId::Aggregate)),
        (
            60,
            finished(
                1,
                StageDetail::Aggregate {
                    before: 60,
                    after: 24,
                    stores: Default::default(),
                },
            ),
        ),
        (10, started(StageId::Rerank)),
        (200, progress(8)),
        (200, progress(16)),
        (200, progress(24)),
        (
            20,
            finished(
                212,
                StageDetail::Rerank {
                    by: "embedder all-MiniLM-L6-v2".to_owned(),
                    scored: 24,
                    kept: passages,
                    best: Some(0.83),
                    scores: vec![],
                    stores: Default::default(),
                },
            ),
        ),
        (10, started(StageId::Compress)),
        (
            50,
            finished(
                2,
                StageDetail::Compress {
                    tokens_before: 1_412,
                    tokens_after: 1_106,
                    passages,
                    chars_before: None,
                    chars_after: None,
                },
            ),
        ),
        (10, started(StageId::Reason)),
    ]
}

fn answering(scene: &Scene, engine: EngineId) -> Vec<Beat> {
    let answer = answer(scene, engine);
    let mut beats = Vec::new();
    for (at, piece) in pieces(scene.text).into_iter().enumerate() {
        for citation in answer
            .citations
            .iter()
            .filter(|citation| piece.contains(&format!("[{}]", citation.n)))
        {
            beats.push((
                0,
                Event::CitationAdded {
                    citation: citation.clone(),
                },
            ));
        }
        beats.push((if at == 0 { 350 } else { 28 }, Event::AnswerDelta { text: piece }));
    }
    let cited = answer.citations.len() as u64;
    beats.push((
        20,
        finished(
            1_840,
            StageDetail::Reason {
                engine,
                model: answer.model.clone(),
                cited,
                answerable: Some(if answer.abstained { 0.12 } else { 0.94 }),
                removed_citations: 0,
                prompt_tokens: Some(1_204),
                completion_tokens: Some(scene.text.len() as u64 / 4),
            },
        ),
    ));
    beats.push((10, started(StageId::Reflect)));
    beats.extend(
        answer
            .claims
            .iter()
            .map(|claim| (90, Event::ClaimChecked { claim: claim.clone() })),
    );
    beats.push((
        30,
        finished(
            340,
            StageDetail::Reflect {
                by: "verbatim".to_owned(),
                grounding: answer.grounding,
                checked: answer.claims.len() as u64,
                supported: answer
                    .claims
                    .iter()
                    .filter(|claim| claim.verdict == Verdict::Supported)
                    .count() as u64,
                issues: issues(&answer),
            },
        ),
    ));
    beats.push((
        10,
        Event::RunFinished {
            outcome: RunOutcome::Answered {
                answer: Box::new(answer),
            },
        },
    ));
    beats
}

fn issues(answer: &Answer) -> Vec<String> {
    let unsupported = answer
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Unsupported);
    unsupported
        .map(|claim| format!("no passage says: {}", claim.sentence))
        .collect()
}

fn pieces(text: &str) -> Vec<String> {
    text.split_inclusive(' ')
        .collect::<Vec<_>>()
        .chunks(2)
        .map(|words| words.concat())
        .collect()
}

fn failing(question: &str) -> Vec<Beat> {
    let error = AppError::new(
        ErrorCode::Unreachable,
        "nothing answers at `http://127.0.0.1:11434`",
    )
    .with_hint("start Ollama, or choose another engine");
    vec![
        (120, started(StageId::Planner)),
        (90, planned(question)),
        (10, started(StageId::Retrieval)),
        (
            150,
            Event::PassagesFound {
                store: Store::Keyword,
                count: 18,
                took_ms: 4,
            },
        ),
        (
            400,
            Event::StageFailed {
                stage: StageId::Retrieval,
                error: AppError::new(ErrorCode::Timeout, "the vector store did not answer within 10 s"),
                degraded_to: Some("words and graph only".to_owned()),
            },
        ),
        (
            10,
            finished(
                410,
                StageDetail::Retrieval {
                    vector: 0,
                    keyword: 18,
                    graph: 12,
                    down: vec![Store::Vector],
                    filters: Vec::new(),
                    left_out: 0,
                },
            ),
        ),
        (10, started(StageId::Reason)),
        (
            700,
            Event::StageFailed {
                stage: StageId::Reason,
                error: error.clone(),
                degraded_to: None,
            },
        ),
        (10, Event::RunFailed { error, partial: None }),
    ]
}

fn answer(scene: &Scene, engine: EngineId) -> Answer {
    let citations: Vec<Citation> = (1..)
        .zip(scene.cites)
        .filter_map(|(n, (id, begins))| Some(citation(n, sample(id)?, begins)))
        .collect();
    let claims: Vec<Claim> = scene
        .claims
        .iter()
        .filter_map(|(sentence, verdict)| claim(scene.text, sentence, *verdict))
        .collect();
    let is_grounded = claims.iter().all(|claim| claim.verdict == Verdict::Supported);
    Answer {
        text: scene.text.to_owned(),
        abstained: citations.is_empty(),
        direct: false,
        answerable: Some(if citations.is_empty() { 0.12 } else { 0.94 }),
        uncited: (0..)
            .zip(scene.uncited)
            .filter_map(|(at, (id, begins))| Some(passage(at, sample(id)?, begins)))
            .collect(),
        grounding: if is_grounded {
            Grounding::Grounded
        } else {
            Grounding::NotGrounded
        },
        confidence: (!citations.is_empty()).then_some(if is_grounded { 0.93 } else { 0.71 }),
        citations,
        claims,
        engine,
        model: (engine != EngineId::Quotes).then(|| "demo".to_owned()),
        broken_off: None,
        took_ms: 2_415,
        spent: Spent::default(),
    }
}

fn claim(text: &str, sentence: &str, verdict: Verdict) -> Option<Claim> {
    let begin = text.find(sentence)? as u64;
    let support = match verdict {
        Verdict::Supported => 0.94,
        Verdict::Partly => 0.55,
        _ => 0.08,
    };
    Some(Claim {
        sentence: sentence.to_owned(),
        span: (begin, begin + sentence.len() as u64),
        verdict,
        support: Some(support),
        citations: (1..=5).filter(|n| sentence.contains(&format!("[{n}]"))).collect(),
    })
}

fn citation(n: u32, document: &Sample, begins: &str) -> Citation {
    let span = document.span(begins);
    let (headings, pages) = document.place(span.0);
    Citation {
        n,
        document: document.id.into(),
        path: document.path.to_owned(),
        page: pages.map(|pages| pages.first),
        span,
        text: document.text[span.0 as usize..span.1 as usize].to_owned(),
        title: document.title.to_owned(),
        headings,
        chunk: format!("{}-{n}", document.id).as_str().into(),
        url: None,
        flagged: None,
        stores: vec![],
        rerank_score: None,
    }
}

fn passage(at: u32, document: &Sample, begins: &str) -> Passage {
    let cited = citation(at, document, begins);
    let finding = |store, rank, score| Finding { store, rank, score };
    let mut found_by = vec![finding(Store::Vector, 5 + at * 3, 0.61 - at as f32 * 0.07)];
    if at != 1 {
        found_by.push(finding(Store::Keyword, 9 + at, 4.2 - at as f32));
    }
    if at == 0 {
        found_by.push(finding(Store::Graph, 4, 0.031));
    }
    Passage {
        chunk: cited.chunk,
        document: cited.document,
        title: cited.title,
        path: cited.path,
        pages: document.place(cited.span.0).1,
        headings: cited.headings,
        span: cited.span,
        text: cited.text,
        found_by,
        fused_score: 0.041 - at as f32 * 0.008,
        rerank_score: Some(0.52 - at as f32 * 0.14),
        url: None,
        flagged: None,
    }
}

/// The log of adding the demo's documents.
pub fn ingest() -> Vec<Beat> {
    let files = SAMPLES.len() as u64;
    let mut beats = vec![(
        0,
        Event::RunStarted {
            kind: RunKind::Ingest {
                files,
                collection: "default".into(),
            },
        },
    )];
    let changed = |document: &Sample, state: DocumentState| Event::DocumentStateChanged {
        path: document.path.to_owned(),
        document: Some(document.id.into()),
        state,
        reason: document.reason.filter(|_| state.is_final()).map(str::to_owned),
    };
    beats.extend(
        SAMPLES
            .iter()
            .map(|document| (40, changed(document, DocumentState::Queued))),
    );
    for document in SAMPLES {
        beats.push((120, changed(document, DocumentState::Parsing)));
        if document.text.is_empty() {
            beats.push((400, changed(document, DocumentState::Failed)));
            continue;
        }
        beats.push((220, changed(document, DocumentState::Chunking)));
        beats.push((120, changed(document, DocumentState::Embedding)));
        let total = document.chunks();
        for done in (0..=total).step_by(4) {
            let path = document.path.to_owned();
            beats.push((
                90,
                Event::DocumentProgressed {
                    path,
                    done,
                    total,
                    unit: "chunks".to_owned(),
                },
            ));
        }
        beats.push((80, changed(document, DocumentState::Indexing)));
        beats.push((120, changed(document, DocumentState::Ready)));
    }
    beats.push((
        20,
        Event::RunFinished {
            outcome: RunOutcome::Ingested {
                documents: SAMPLES.iter().map(report).collect(),
            },
        },
    ));
    beats
}

fn report(document: &Sample) -> DocumentReport {
    let is_ready = !document.text.is_empty();
    DocumentReport {
        path: document.path.to_owned(),
        id: Some(document.id.into()),
        state: if is_ready {
            DocumentState::Ready
        } else {
            DocumentState::Failed
        },
        reason: document.reason.map(str::to_owned),
        chunks: document.chunks(),
        chars: document.text.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{RunEvent, RunStatus, RunView};

    fn view(beats: Vec<Beat>) -> RunView {
        let events: Vec<RunEvent> = (0..)
            .zip(beats)
            .map(|(seq, (_, event))| RunEvent {
                run: "r".into(),
                seq,
                at_ms: 0,
                attempt: 1,
                event,
            })
            .collect();
        RunView::replay(&events).unwrap()
    }

    #[test]
    fn every_scene_is_a_whole_run_whose_claims_stand_in_its_text() {
        for (question, scene) in [
            ("Who repairs the roof?", &WATER),
            ("Is the supply enough?", &POWER),
            ("Who was Ada?", &NOTHING),
        ] {
            let view = view(ask(question, EngineId::Quotes, &"t".into()));
            assert_eq!(view.status, RunStatus::Finished);
            assert_eq!(view.citations.len(), scene.cites.len(), "{question}");
            assert_eq!(view.claims.len(), scene.claims.len(), "{question}");
            assert!(view.citations.iter().all(|citation| !citation.text.is_empty()));
        }
    }

    #[test]
    fn a_failing_run_fails_and_an_ingestion_reports_every_file() {
        let failed = view(ask("fail", EngineId::Ollama, &"t".into()));
        assert_eq!(failed.status, RunStatus::Failed);
        assert_eq!(view(ingest()).reports.len(), SAMPLES.len());
    }
}
