//! A run's events as the frames of the source system, so that its own web front end can follow our engine.
//!
//! Pure: the same events give the same frames. What our events do not know is left out or empty, never made up; characters of
//! the compressor are estimated at four a token. `docs/PARITY.md` names what differs.

use adrag_contract::{
    Answer, Event, Grounding, Passage, QuestionKind, RunEvent, RunOutcome, StageDetail, StageId, Store,
};
use serde_json::{Map, Value, json};

/// Characters a token stands for.
const CHARS_PER_TOKEN: u64 = 4;
/// Characters of a source's preview.
const PREVIEW_CHARS: usize = 250;
/// What is added to an answer that is not grounded.
const CAVEAT: &str = "\n\n⚠️ *Some claims of this answer may not be supported by the sources.*";

/// Turns events into frames, one run at a time, in order.
#[derive(Debug)]
pub struct CompatFrames {
    max_attempts: u32,
    attempt: u32,
    /// What the stores found in this pass.
    found: Vec<(Store, u64)>,
    question_kind: QuestionKind,
    /// The check's frame: whether there will be another pass is known with the next event.
    held: Option<Map<String, Value>>,
}

impl CompatFrames {
    /// For a run that may take so many passes.
    pub fn new(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            attempt: 1,
            found: Vec::new(),
            question_kind: QuestionKind::default(),
            held: None,
        }
    }

    /// The frames an event adds: each has `type`, all but the last also `data`.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Value> {
        let mut frames = Vec::new();
        if let Some(mut held) = self.held.take() {
            let retries = matches!(event.event, Event::Retried { .. });
            let escalates = escalates(&event.event);
            held.insert("will_retry".to_owned(), json!(retries));
            held.insert("escalate_external".to_owned(), json!(escalates));
            frames.push(frame("stage_complete", Value::Object(held)));
        }
        match &event.event {
            Event::StageStarted { stage } => frames.extend(self.started(*stage)),
            Event::StageFinished { stage, detail, .. } => frames.extend(self.finished(*stage, detail)),
            Event::StageSkipped { stage, reason } => frames.extend(skipped(*stage, reason)),
            Event::StageFailed { stage, error, .. } => frames.push(frame(
                "stage_error",
                json!({"stage": wire(*stage), "error": error.message}),
            )),
            Event::PassagesFound { store, count, .. } => self.found.push((*store, *count)),
            Event::Retried { attempt, why, .. } => {
                self.attempt = *attempt;
                self.found.clear();
                frames.push(frame(
                    "retry",
                    json!({
                        "attempt": attempt, "max_attempts": self.max_attempts, "reason": why,
                        "escalate_external": escalates(&event.event),
                        "message": format!("Retrying ({attempt} of {})", self.max_attempts),
                    }),
                ));
            }
            Event::RunFinished {
                outcome: RunOutcome::Answered { answer },
            } => frames.extend(self.done(answer)),
            Event::RunFinished { .. } => frames.push(json!({"type": "stream_end"})),
            Event::RunFailed { error, .. } => frames.extend(broken(&error.message)),
            Event::RunCancelled { .. } => frames.extend(broken("The run was stopped")),
            _ => {}
        }
        frames
    }

    fn started(&self, stage: StageId) -> Option<Value> {
        let message = match stage {
            StageId::Planner => "Deciding how to answer",
            StageId::Retrieval => "Searching the knowledge base",
            // Whether it runs at all is known when it ends.
            StageId::ExternalTools => return None,
            StageId::Aggregate => "Merging the evidence",
            StageId::Rerank => "Ordering the evidence by relevance",
            StageId::Compress => "Fitting the evidence",
            StageId::Reason => "Writing the answer",
            StageId::Reflect => "Checking the answer",
        };
        let mut data = json!({"stage": wire(stage), "message": message});
        if stage == StageId::Reflect {
            data["attempt"] = json!(self.attempt);
            data["max_attempts"] = json!(self.max_attempts);
        }
        Some(frame("stage_start", data))
    }

    fn finished(&mut self, stage: StageId, detail: &StageDetail) -> Vec<Value> {
        let complete = |message: String, more: Value| {
            let mut data = json!({"stage": wire(stage), "message": message});
            if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
                data.extend(more);
            }
            frame("stage_complete", data)
        };
        match detail {
            StageDetail::Planner {
                retrieve,
                use_web,
                kind,
                reasoning,
                ..
            } => {
                self.question_kind = *kind;
                vec![complete(
                    "Planned".to_owned(),
                    json!({"retrieve": retrieve, "use_external": use_web, "query_type": kind_name(*kind), "reasoning": reasoning}),
                )]
            }
            StageDetail::Retrieval {
                vector,
                keyword,
                graph,
                ..
            } => vec![frame(
                "retrieval_result",
                json!({
                    "stage": wire(stage), "vector_count": vector, "bm25_count": keyword, "graph_count": graph,
                    "message": format!("Vector: {vector} | BM25: {keyword} | Graph: {graph}"),
                }),
            )],
            StageDetail::ExternalTools { web, .. } => vec![
                frame(
                    "stage_start",
                    json!({"stage": wire(stage), "message": "Searching the web"}),
                ),
                complete(format!("{web} pages found"), json!({"web_count": web})),
            ],
            StageDetail::Aggregate { before, after } => vec![complete(
                format!(
                    "{after} unique docs (from {before} total, {} duplicates removed)",
                    before.saturating_sub(*after)
                ),
                json!({"before": before, "after": after, "sources": self.sources()}),
            )],
            StageDetail::Rerank { kept, best, .. } => vec![complete(
                format!("Kept the best {kept}"),
                json!({"top_k": kept, "scores": best.iter().map(|best| rounded(*best)).collect::<Vec<_>>(), "sources": self.sources()}),
            )],
            StageDetail::Compress {
                tokens_before,
                tokens_after,
                ..
            } => {
                let (before, after) = (tokens_before * CHARS_PER_TOKEN, tokens_after * CHARS_PER_TOKEN);
                let mut more = json!({"original_chars": before, "compressed_chars": after});
                if before != after {
                    #[expect(clippy::cast_precision_loss, reason = "a share of two lengths")]
                    let ratio = after as f64 / before.max(1) as f64;
                    more["ratio"] = json!((ratio * 100.0).round() / 100.0);
                }
                vec![complete(format!("Compressed {before} → {after} chars"), more)]
            }
            StageDetail::Reason { answerable, .. } => vec![complete(
                "Answer written".to_owned(),
                json!({"confidence": answerable.map_or(0.5, rounded), "is_sufficient": true, "key_facts": []}),
            )],
            StageDetail::Reflect {
                grounding,
                issues,
                checked,
                supported,
                ..
            } => {
                let mut held = Map::new();
                held.insert("stage".to_owned(), json!(wire(stage)));
                held.insert(
                    "message".to_owned(),
                    json!(format!("{supported} of {checked} sentences supported")),
                );
                held.insert("grounded".to_owned(), json!(*grounding == Grounding::Grounded));
                held.insert("confidence".to_owned(), Value::Null);
                held.insert("issues".to_owned(), json!(issues));
                self.held = Some(held);
                Vec::new()
            }
        }
    }

    fn sources(&self) -> Value {
        let mut sources = Map::new();
        for (store, count) in self.found.iter().filter(|(_, count)| *count > 0) {
            sources.insert(store_name(*store).to_owned(), json!(count));
        }
        Value::Object(sources)
    }

    fn done(&self, answer: &Answer) -> Vec<Value> {
        let grounded = answer.grounding == Grounding::Grounded || answer.direct || answer.abstained;
        let mut text = answer.text.clone();
        if answer.grounding == Grounding::NotGrounded {
            text.push_str(CAVEAT);
        }
        let metadata = json!({
            "query_type": kind_name(self.question_kind),
            "sources_used": answer.citations.iter().map(|citation| if citation.url.is_some() { "web" } else { "vector" }).collect::<Vec<_>>(),
            "retry_count": self.attempt - 1,
            "grounded": grounded,
            "confidence": answer.confidence.map(|confidence| (f64::from(confidence) * 100.0).round() / 100.0),
            "issues": answer.claims.iter().filter(|claim| claim.verdict != adrag_contract::Verdict::Supported).map(|claim| claim.sentence.as_str()).collect::<Vec<_>>(),
        });
        vec![
            frame(
                "finalize",
                json!({"stage": "reflection", "grounded": grounded, "message": "Done"}),
            ),
            frame(
                "done",
                json!({"answer": text, "sources": sources_of(answer), "metadata": metadata}),
            ),
            json!({"type": "stream_end"}),
        ]
    }
}

/// The cited passages in the source system's words, numbered as the answer cites them.
fn sources_of(answer: &Answer) -> Vec<Value> {
    let score = |chunk: &adrag_contract::ChunkId| {
        let known: Option<&Passage> = answer.uncited.iter().find(|passage| passage.chunk == *chunk);
        known
            .and_then(|passage| passage.rerank_score)
            .map_or(0.0, rounded)
    };
    answer
        .citations
        .iter()
        .map(|citation| {
            let name = citation.path.rsplit(['/', '\\']).next().unwrap_or(&citation.path);
            json!({
                "index": citation.n,
                "file_name": if citation.url.is_some() { citation.title.as_str() } else { name },
                "source_type": if citation.url.is_some() { "web" } else { "vector" },
                "url": citation.url.clone().unwrap_or_default(),
                "page": citation.page.map_or_else(|| json!(""), |page| json!(page)),
                "rerank_score": score(&citation.chunk),
                "content_preview": citation.text.chars().take(PREVIEW_CHARS).collect::<String>(),
                "content": citation.text,
            })
        })
        .collect()
}

fn frame(kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data})
}

fn broken(message: &str) -> Vec<Value> {
    vec![
        frame("error", json!({"message": message, "stage": "pipeline"})),
        json!({"type": "stream_end"}),
    ]
}

fn skipped(stage: StageId, reason: &str) -> Vec<Value> {
    let data = json!({"stage": wire(stage), "message": reason});
    match stage {
        StageId::Retrieval | StageId::ExternalTools => vec![frame("stage_skip", data)],
        // The others have no way to be skipped there: they end without numbers.
        _ => vec![frame("stage_complete", data)],
    }
}

fn escalates(event: &Event) -> bool {
    matches!(event, Event::Retried { changes, .. } if changes.iter().any(|change| change.contains("web")))
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 10_000.0).round() / 10_000.0
}

fn wire(stage: StageId) -> &'static str {
    match stage {
        StageId::Planner => "planner",
        StageId::Retrieval => "retrieval",
        StageId::ExternalTools => "external_tools",
        StageId::Aggregate => "aggregator",
        StageId::Rerank => "reranker",
        StageId::Compress => "compressor",
        StageId::Reason => "reasoning",
        StageId::Reflect => "reflection",
    }
}

fn kind_name(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Factual => "factual",
        QuestionKind::Analytical => "analytical",
        QuestionKind::Conversational => "conversational",
    }
}

fn store_name(store: Store) -> &'static str {
    match store {
        Store::Vector => "vector",
        Store::Keyword => "bm25",
        Store::Graph => "graph",
        Store::Web => "web",
    }
}
