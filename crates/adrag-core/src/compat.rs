//! A run in the words of the source system: its stream of frames, made from our events and from nothing else.
//!
//! [`frames`] is pure, and what a server sends piece by piece ([`Frames::after`]) is the same fold. Five of its eight stage
//! names differ from ours, its reranker's scores are logits, and its critic says together with its verdict whether it will
//! try again; that frame therefore waits for the event that decides.

use crate::answer::ALSO_THE_WEB;
use adrag_contract::{
    Answer, Citation, Event, Grounding, Passage, QuestionKind, RunEvent, RunOutcome, StageDetail, StageId,
    Store,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Characters of a source's preview.
const PREVIEW: usize = 250;

/// What follows an answer of which not everything is supported.
const CAVEAT: &str = "\n\n⚠️ *Not every statement above is supported by the cited passages.*";

/// The frames of a whole log; `passes` is how often the stages may run, which its critic announces.
pub fn frames(log: &[RunEvent], passes: u32) -> Vec<Value> {
    let mut frames = Frames::new(passes);
    log.iter().flat_map(|event| frames.after(event)).collect()
}

/// The fold behind [`frames`].
#[derive(Debug)]
pub struct Frames {
    passes: u32,
    kind: QuestionKind,
    /// Whether this pass searches the documents and the web: a stage that has nothing to do is not announced.
    searches: bool,
    searches_web: bool,
    /// The stage that is running and announced or not.
    running: Option<(StageId, bool)>,
    /// What the critic said, until it is known whether another pass follows.
    review: Option<Map<String, Value>>,
    issues: Vec<String>,
}

impl Frames {
    /// Before the first event.
    pub fn new(passes: u32) -> Self {
        Self {
            passes,
            kind: QuestionKind::default(),
            searches: true,
            searches_web: false,
            running: None,
            review: None,
            issues: Vec::new(),
        }
    }

    /// The frames that the next event of the run adds.
    pub fn after(&mut self, event: &RunEvent) -> Vec<Value> {
        match &event.event {
            Event::StageStarted { stage } => self.started(*stage, event.attempt),
            Event::StageFinished { detail, .. } => self.finished(detail, event.attempt),
            Event::StageSkipped { stage, reason } => self.skipped(*stage, reason),
            Event::StageFailed { stage, error, .. } => {
                let mut out = self.announce(event.attempt);
                out.push(frame(
                    "stage_error",
                    json!({ "stage": name(*stage), "error": error.message }),
                ));
                out
            }
            Event::Retried {
                attempt,
                why,
                changes,
            } => self.retried(*attempt, why, changes),
            Event::RunFinished {
                outcome: RunOutcome::Answered { answer },
            } => self.answered(answer),
            Event::RunFailed { error, .. } => self.ended(&error.message),
            Event::RunCancelled { .. } => self.ended("The run was stopped"),
            Event::RunFinished {
                outcome: RunOutcome::Ingested { .. },
            }
            | Event::RunStarted { .. }
            | Event::StageProgressed { .. }
            | Event::PassagesFound { .. }
            | Event::AnswerDelta { .. }
            | Event::CitationAdded { .. }
            | Event::ClaimChecked { .. }
            | Event::DocumentStateChanged { .. }
            | Event::DocumentProgressed { .. }
            | Event::RunPaused
            | Event::RunResumed => Vec::new(),
        }
    }

    fn started(&mut self, stage: StageId, attempt: u32) -> Vec<Value> {
        self.running = Some((stage, false));
        match stage {
            StageId::Retrieval if !self.searches => Vec::new(),
            StageId::ExternalTools if !self.searches_web => Vec::new(),
            _ => self.announce(attempt),
        }
    }

    /// Says that the running stage began, unless that was said.
    fn announce(&mut self, attempt: u32) -> Vec<Value> {
        let Some((stage, false)) = self.running else {
            return Vec::new();
        };
        self.running = Some((stage, true));
        let mut data = json!({ "stage": name(stage), "message": beginning(stage) });
        if stage == StageId::Reflect {
            data["attempt"] = json!(attempt);
            data["max_attempts"] = json!(self.passes);
        }
        vec![frame("stage_start", data)]
    }

    fn finished(&mut self, detail: &StageDetail, attempt: u32) -> Vec<Value> {
        let mut out = self.announce(attempt);
        self.running = None;
        let stage = name(detail.stage());
        let complete = |data: Value| frame("stage_complete", with_stage(stage, data));
        match detail {
            StageDetail::Planner {
                retrieve,
                use_web,
                kind,
                reasoning,
                ..
            } => {
                (self.kind, self.searches, self.searches_web) = (*kind, *retrieve, *use_web);
                let message = match (retrieve, use_web) {
                    (true, true) => "The documents and the web are searched",
                    (true, false) => "The documents are searched",
                    (false, true) => "The web is searched",
                    (false, false) => "Answered without searching",
                };
                out.push(complete(json!({
                    "message": message, "retrieve": retrieve, "use_external": use_web,
                    "query_type": kind, "reasoning": reasoning,
                })));
            }
            StageDetail::Retrieval {
                vector,
                keyword,
                graph,
                ..
            } => out.push(frame(
                "retrieval_result",
                json!({
                    "stage": stage, "vector_count": vector, "bm25_count": keyword, "graph_count": graph,
                    "message": format!("Vector: {vector} | BM25: {keyword} | Graph: {graph}"),
                }),
            )),
            StageDetail::ExternalTools { web, .. } => out.push(complete(json!({
                "message": format!("{web} pages of the web"), "web_count": web,
            }))),
            StageDetail::Aggregate {
                before,
                after,
                stores,
            } => {
                let repeats = before.saturating_sub(*after);
                out.push(complete(json!({
                    "message": format!("{after} passages ({before} found, {repeats} of them repeats)"),
                    "before": before, "after": after, "sources": by_store(stores),
                })));
            }
            StageDetail::Rerank {
                kept, scores, stores, ..
            } => {
                let scores: Vec<f64> = scores.iter().map(|score| logit(Some(*score))).collect();
                out.push(complete(json!({
                    "message": format!("{kept} passages kept"),
                    "top_k": kept, "scores": scores, "sources": by_store(stores),
                })));
            }
            StageDetail::Compress {
                chars_before,
                chars_after,
                ..
            } => out.push(complete(compressed(
                chars_before.unwrap_or_default(),
                chars_after.unwrap_or_default(),
            ))),
            StageDetail::Reason {
                cited, answerable, ..
            } => out.push(complete(json!({
                "message": "The answer is written", "confidence": rounded(answerable.unwrap_or(0.5), 2),
                "is_sufficient": *cited > 0, "key_facts": [],
            }))),
            StageDetail::Reflect {
                grounding,
                checked,
                supported,
                issues,
                ..
            } => {
                self.issues.clone_from(issues);
                self.review = Some(review(*grounding, share(*supported, *checked), issues));
            }
        }
        out
    }

    fn skipped(&mut self, stage: StageId, reason: &str) -> Vec<Value> {
        let began = self.running.take().is_some_and(|(running, _)| running == stage);
        let message = json!({ "message": reason });
        let complete = |data: Value| vec![frame("stage_complete", with_stage(name(stage), data))];
        match stage {
            StageId::Aggregate if began => complete(json!({
                "message": reason, "before": 0, "after": 0, "sources": {},
            })),
            StageId::Reflect if began => {
                self.issues.clear();
                self.review = Some(review(Grounding::Unverified, None, &[]));
                Vec::new()
            }
            StageId::Planner | StageId::Rerank | StageId::Compress | StageId::Reason if began => {
                complete(message)
            }
            _ => {
                let mut out = self.settle(false, false);
                out.push(frame("stage_skip", with_stage(name(stage), message)));
                out
            }
        }
    }

    fn retried(&mut self, attempt: u32, why: &str, changes: &[String]) -> Vec<Value> {
        let escalates = changes.iter().any(|change| change == ALSO_THE_WEB);
        let mut out = self.settle(true, escalates);
        (self.searches, self.searches_web) = (true, self.searches_web || escalates);
        out.push(frame(
            "retry",
            json!({
                "attempt": attempt, "max_attempts": self.passes, "reason": why,
                "escalate_external": escalates,
                "message": format!("Pass {attempt} of {}: {}", self.passes, changes.join(", ")),
            }),
        ));
        out
    }

    /// Lets the critic's frame go, now that it is known what follows.
    fn settle(&mut self, will_retry: bool, escalates: bool) -> Vec<Value> {
        let Some(mut review) = self.review.take() else {
            return Vec::new();
        };
        review.insert("will_retry".to_owned(), json!(will_retry));
        review.insert("escalate_external".to_owned(), json!(escalates));
        vec![frame(
            "stage_complete",
            with_stage(name(StageId::Reflect), Value::Object(review)),
        )]
    }

    fn answered(&mut self, answer: &Answer) -> Vec<Value> {
        let mut out = self.settle(false, false);
        let grounded = answer.grounding == Grounding::Grounded;
        out.push(frame(
            "finalize",
            json!({
                "stage": name(StageId::Reflect), "grounded": grounded,
                "message": if grounded { "The answer stands on the documents" } else { "The answer is final" },
            }),
        ));
        out.push(frame(
            "done",
            json!({
                "answer": text_of(answer),
                "sources": answer.citations.iter().map(source).collect::<Vec<_>>(),
                "metadata": {
                    "query_type": self.kind,
                    "sources_used": used(answer),
                    "retry_count": answer.spent.passes.saturating_sub(1),
                    "grounded": grounded,
                    "confidence": answer.confidence.map(|confidence| rounded(confidence, 2)),
                    "issues": self.issues,
                },
            }),
        ));
        out.push(end());
        out
    }

    fn ended(&mut self, why: &str) -> Vec<Value> {
        let mut out = self.settle(false, false);
        out.push(frame("error", json!({ "message": why, "stage": "pipeline" })));
        out.push(end());
        out
    }
}

fn frame(kind: &str, data: Value) -> Value {
    json!({ "type": kind, "data": data })
}

/// The last frame, the only one without data.
fn end() -> Value {
    json!({ "type": "stream_end" })
}

fn with_stage(stage: &str, mut data: Value) -> Value {
    data["stage"] = json!(stage);
    data
}

/// Its name of a stage.
fn name(stage: StageId) -> &'static str {
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

/// Its name of a store.
fn store(store: Store) -> &'static str {
    match store {
        Store::Keyword => "bm25",
        Store::Vector | Store::Graph | Store::Web => store.as_str(),
    }
}

fn beginning(stage: StageId) -> &'static str {
    match stage {
        StageId::Planner => "Deciding what to search",
        StageId::Retrieval => "Searching vectors, words and graph",
        StageId::ExternalTools => "Searching the web",
        StageId::Aggregate => "Fusing what was found",
        StageId::Rerank => "Ordering by relevance",
        StageId::Compress => "Fitting the evidence",
        StageId::Reason => "Writing the answer",
        StageId::Reflect => "Checking every sentence",
    }
}

fn by_store(counts: &BTreeMap<Store, u64>) -> Value {
    counts
        .iter()
        .map(|(found, count)| (store(*found).to_owned(), json!(count)))
        .collect::<Map<_, _>>()
        .into()
}

fn compressed(before: u64, after: u64) -> Value {
    let mut data = json!({
        "message": format!("{before} → {after} characters"),
        "original_chars": before, "compressed_chars": after,
    });
    if let (true, Some(ratio)) = (before != after, share(after, before)) {
        data["ratio"] = json!(rounded(ratio, 2));
    }
    data
}

fn review(grounding: Grounding, confidence: Option<f32>, issues: &[String]) -> Map<String, Value> {
    let message = match grounding {
        Grounding::Grounded => "Every sentence is supported",
        Grounding::NotGrounded => "Not every sentence is supported",
        Grounding::Unverified => "Nothing was checked",
    };
    Map::from_iter([
        ("message".to_owned(), json!(message)),
        ("grounded".to_owned(), json!(grounding == Grounding::Grounded)),
        (
            "confidence".to_owned(),
            json!(confidence.map(|share| rounded(share, 2))),
        ),
        ("issues".to_owned(), json!(issues)),
    ])
}

fn text_of(answer: &Answer) -> String {
    let doubted = answer.grounding == Grounding::NotGrounded && !answer.abstained && !answer.direct;
    let caveat = if doubted { CAVEAT } else { "" };
    format!("{}{caveat}", answer.text)
}

fn source(citation: &Citation) -> Value {
    let first = citation.stores.first().copied();
    let file = citation.path.rsplit(['/', '\\']).next().unwrap_or_default();
    json!({
        "index": citation.n,
        "file_name": match (&citation.url, file) {
            (Some(_), _) | (None, "") => citation.title.as_str(),
            (None, file) => file,
        },
        "source_type": if citation.url.is_some() { "web" } else { store(first.unwrap_or(Store::Vector)) },
        "url": citation.url.as_deref().unwrap_or_default(),
        "page": citation.page.map_or_else(|| json!(""), |page| json!(page)),
        "rerank_score": logit(citation.rerank_score),
        "content_preview": citation.text.chars().take(PREVIEW).collect::<String>(),
        "content": citation.text,
    })
}

/// The store of every passage that was read, as it names one each.
fn used(answer: &Answer) -> Vec<&'static str> {
    let first = |stores: &[Store]| store(stores.first().copied().unwrap_or(Store::Vector));
    let cited = answer.citations.iter().map(|citation| first(&citation.stores));
    let uncited = answer.uncited.iter().map(Passage::stores);
    cited.chain(uncited.map(|stores| first(&stores))).collect()
}

/// Its scores are the cross-encoder's raw logits, four decimals; what was never read has 0.
fn logit(probability: Option<f32>) -> f64 {
    let Some(probability) = probability.filter(|probability| *probability > 0.0) else {
        return 0.0;
    };
    let probability = f64::from(probability).clamp(1e-6, 1.0 - 1e-6);
    ((probability / (1.0 - probability)).ln() * 1e4).round() / 1e4
}

fn share(part: u64, whole: u64) -> Option<f32> {
    #[expect(clippy::cast_precision_loss, reason = "a share of two counts")]
    (whole > 0).then(|| part as f32 / whole as f32)
}

fn rounded(value: f32, decimals: i32) -> f64 {
    let factor = 10_f64.powi(decimals);
    (f64::from(value) * factor).round() / factor
}
