//! The eight stages of answering and the stores they search: one enum each, used by everything that names them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A stage of answering, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageId {
    /// Decides whether and what to search.
    Planner,
    /// Searches vectors, words and graph concurrently.
    Retrieval,
    /// Searches the web when asked to.
    ExternalTools,
    /// Fuses the stores' lists into one pool.
    Aggregate,
    /// Orders the pool by relevance to the question.
    Rerank,
    /// Fits the passages into the context budget.
    Compress,
    /// Writes the cited answer.
    Reason,
    /// Checks every sentence of the answer.
    Reflect,
}

impl StageId {
    /// Every stage, in running order.
    pub const ALL: [Self; 8] = [
        Self::Planner,
        Self::Retrieval,
        Self::ExternalTools,
        Self::Aggregate,
        Self::Rerank,
        Self::Compress,
        Self::Reason,
        Self::Reflect,
    ];

    /// Position in running order, 0 to 7.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Retrieval => "retrieval",
            Self::ExternalTools => "external_tools",
            Self::Aggregate => "aggregate",
            Self::Rerank => "rerank",
            Self::Compress => "compress",
            Self::Reason => "reason",
            Self::Reflect => "reflect",
        }
    }

    /// Name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Planner => "Plan",
            Self::Retrieval => "Search",
            Self::ExternalTools => "Web",
            Self::Aggregate => "Fuse",
            Self::Rerank => "Rerank",
            Self::Compress => "Fit",
            Self::Reason => "Answer",
            Self::Reflect => "Check",
        }
    }
}

impl fmt::Display for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a passage was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    /// Dense vectors (Qdrant).
    Vector,
    /// Words, BM25 (tantivy).
    Keyword,
    /// Entity graph (sled, petgraph).
    Graph,
    /// Web search.
    Web,
}

impl Store {
    /// The stores of the person's own documents.
    pub const LOCAL: [Self; 3] = [Self::Vector, Self::Keyword, Self::Graph];

    /// Name on the wire and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Keyword => "keyword",
            Self::Graph => "graph",
            Self::Web => "web",
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
