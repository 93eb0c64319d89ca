//! What happens during a run, as a gapless sequence that ends in exactly one terminal event.

use crate::{
    Answer, AppError, Citation, Claim, CollectionName, DocumentId, DocumentReport, DocumentState, EngineId,
    Grounding, RunId, StageId, Store, ThreadId,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An event in its envelope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// The run it belongs to.
    pub run: RunId,
    /// 0, 1, 2, ... without gaps.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The pass over the stages, 1-based.
    pub attempt: u32,
    /// What happened.
    pub event: Event,
}

/// What a run is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunKind {
    /// A question is answered.
    Ask {
        /// The question as asked.
        question: String,
        /// The engine that will write the answer.
        engine: EngineId,
        /// The collection searched; all of them when absent.
        collection: Option<CollectionName>,
        /// The thread it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<ThreadId>,
        /// The run whose answer it gives anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<RunId>,
    },
    /// Files are ingested.
    Ingest {
        /// Files to do.
        files: u64,
        /// Where they go.
        collection: CollectionName,
    },
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    /// First event of every run.
    RunStarted {
        /// What it is for.
        kind: RunKind,
    },
    /// A stage began.
    StageStarted {
        /// The stage.
        stage: StageId,
    },
    /// A stage did some of its work.
    StageProgressed {
        /// The stage.
        stage: StageId,
        /// Units done.
        done: u64,
        /// Units in all.
        total: u64,
        /// What is counted: `pairs`, `sentences`, ...
        unit: String,
    },
    /// A stage ended well.
    StageFinished {
        /// The stage.
        stage: StageId,
        /// How long it took, milliseconds.
        took_ms: u64,
        /// What it found or decided.
        detail: StageDetail,
    },
    /// A stage had nothing to do.
    StageSkipped {
        /// The stage.
        stage: StageId,
        /// Why.
        reason: String,
    },
    /// A stage failed; the run goes on when `degraded_to` says how.
    StageFailed {
        /// The stage.
        stage: StageId,
        /// What went wrong.
        error: AppError,
        /// What was done instead.
        degraded_to: Option<String>,
    },
    /// A store answered a search.
    PassagesFound {
        /// The store.
        store: Store,
        /// Passages found.
        count: u64,
        /// How long it took, milliseconds.
        took_ms: u64,
    },
    /// Another pass begins, with something changed.
    Retried {
        /// The pass that begins, 1-based.
        attempt: u32,
        /// Why.
        why: String,
        /// What differs from the pass before.
        changes: Vec<String>,
    },
    /// The answer grew.
    AnswerDelta {
        /// Text to append.
        text: String,
    },
    /// The answer referred to a passage for the first time.
    CitationAdded {
        /// The reference.
        citation: Citation,
    },
    /// A sentence was checked.
    ClaimChecked {
        /// The sentence and the verdict.
        claim: Claim,
    },
    /// A document moved to another state.
    DocumentStateChanged {
        /// The file.
        path: String,
        /// The document, once it has an id.
        document: Option<DocumentId>,
        /// The state it moved to.
        state: DocumentState,
        /// Why, for `empty` and `failed`, or a remark on `ready`.
        reason: Option<String>,
    },
    /// Work was done on a document.
    DocumentProgressed {
        /// The file.
        path: String,
        /// Units done.
        done: u64,
        /// Units in all.
        total: u64,
        /// What is counted: `bytes`, `chunks`.
        unit: String,
    },
    /// The person paused the run: nothing new is begun until it is resumed or stopped.
    RunPaused,
    /// The run goes on.
    RunResumed,
    /// Terminal: the run did its work.
    RunFinished {
        /// The result.
        outcome: RunOutcome,
    },
    /// Terminal: the run could not do its work.
    RunFailed {
        /// Why.
        error: AppError,
        /// What there was of an answer, marked as broken off.
        partial: Option<Box<Answer>>,
    },
    /// Terminal: the person stopped it.
    RunCancelled {
        /// What ingestion had finished by then.
        documents: Vec<DocumentReport>,
    },
}

impl Event {
    /// True for the last event of a run.
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Self::RunFinished { .. } | Self::RunFailed { .. } | Self::RunCancelled { .. }
        )
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunOutcome {
    /// A question was answered.
    Answered {
        /// The answer.
        answer: Box<Answer>,
    },
    /// Files were ingested, each with its own fate.
    Ingested {
        /// One report a file, in the order given.
        documents: Vec<DocumentReport>,
    },
}

/// The form of a question; it steers the answer's form and how widely to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Asks for a fact.
    #[default]
    Factual,
    /// Asks to weigh, compare or explain.
    Analytical,
    /// Small talk.
    Conversational,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a stage found or decided: one variant a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum StageDetail {
    /// The plan.
    Planner {
        /// Whether the documents are searched.
        retrieve: bool,
        /// Whether the web is searched.
        use_web: bool,
        /// The question's form.
        kind: QuestionKind,
        /// The question made independent of the conversation.
        standalone_question: String,
        /// What will be searched for.
        queries: Vec<String>,
        /// Who planned: `rules` or the engine.
        by: String,
        /// One sentence on why.
        reasoning: String,
    },
    /// Hits per store.
    Retrieval {
        /// Vector hits.
        vector: u64,
        /// Keyword hits.
        keyword: u64,
        /// Graph hits.
        graph: u64,
        /// Stores that did not answer.
        down: Vec<Store>,
        /// What the person wrote to narrow the search.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        filters: Vec<String>,
        /// Hits that this shut out.
        #[serde(default, skip_serializing_if = "is_zero")]
        left_out: u64,
    },
    /// Web hits.
    ExternalTools {
        /// Hits.
        web: u64,
        /// What was searched for: the words that left the machine.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        queries: Vec<String>,
        /// Providers that gave nothing, each with what went wrong.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        faults: Vec<String>,
    },
    /// Fusion.
    Aggregate {
        /// Candidates of all stores.
        before: u64,
        /// Distinct passages.
        after: u64,
        /// Distinct passages each store found; one found by several counts for each.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        stores: BTreeMap<Store, u64>,
    },
    /// Reranking.
    Rerank {
        /// What read the pairs: a model's name.
        by: String,
        /// Passages scored.
        scored: u64,
        /// Passages kept.
        kept: u64,
        /// Best probability of relevance, 0 to 1.
        best: Option<f32>,
        /// That of each kept passage, in their order; 0 for one that was not read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scores: Vec<f32>,
        /// Kept passages each store found; one found by several counts for each.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        stores: BTreeMap<Store, u64>,
    },
    /// Fitting.
    Compress {
        /// Model tokens before.
        tokens_before: u64,
        /// Model tokens after.
        tokens_after: u64,
        /// Passages in the context.
        passages: u64,
        /// Characters before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chars_before: Option<u64>,
        /// Characters after.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chars_after: Option<u64>,
    },
    /// Answering.
    Reason {
        /// The engine.
        engine: EngineId,
        /// Its model.
        model: Option<String>,
        /// Passages cited.
        cited: u64,
        /// Probability that the documents answer the question, 0 to 1, where it was estimated.
        #[serde(default)]
        answerable: Option<f32>,
        /// Citation numbers that were removed because no such passage exists.
        removed_citations: u64,
        /// Tokens read, where the engine counts them.
        prompt_tokens: Option<u64>,
        /// Tokens written, where the engine counts them.
        completion_tokens: Option<u64>,
    },
    /// Checking.
    Reflect {
        /// What checked: `verbatim`, a model, or nothing.
        by: String,
        /// Whether the answer stands on the documents.
        grounding: Grounding,
        /// Sentences checked.
        checked: u64,
        /// Sentences supported.
        supported: u64,
        /// What is wrong or missing, as the check says it.
        issues: Vec<String>,
    },
}

impl StageDetail {
    /// The stage it belongs to.
    pub fn stage(&self) -> StageId {
        match self {
            Self::Planner { .. } => StageId::Planner,
            Self::Retrieval { .. } => StageId::Retrieval,
            Self::ExternalTools { .. } => StageId::ExternalTools,
            Self::Aggregate { .. } => StageId::Aggregate,
            Self::Rerank { .. } => StageId::Rerank,
            Self::Compress { .. } => StageId::Compress,
            Self::Reason { .. } => StageId::Reason,
            Self::Reflect { .. } => StageId::Reflect,
        }
    }
}
