//! What a question becomes: passages, citations, claims and the answer.

use crate::{AppError, ChunkId, DocumentId, EngineId, PageRange, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One store's finding of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The store.
    pub store: Store,
    /// Rank in the store's list, 1-based.
    pub rank: u32,
    /// Score on the store's own scale; never compared between stores.
    pub score: f32,
}

/// A passage of a document, with how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The chunk.
    pub chunk: ChunkId,
    /// The document.
    pub document: DocumentId,
    /// Title of the document.
    pub title: String,
    /// Path of the document.
    pub path: String,
    /// Pages, where the format has them.
    pub pages: Option<PageRange>,
    /// Heading path, outermost first.
    pub headings: Vec<String>,
    /// Byte offsets into the document's extracted text, end exclusive.
    pub span: (u64, u64),
    /// The text between them.
    pub text: String,
    /// Every store that found it.
    pub found_by: Vec<Finding>,
    /// Score after fusion.
    pub fused_score: f32,
    /// Probability of relevance by the reranker, 0 to 1, if it read the passage.
    pub rerank_score: Option<f32>,
    /// Address of the page, for a passage of the web; such a passage belongs to no document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why the passage looks as if it were meant for a program that reads, not for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
}

impl Passage {
    /// A text that belongs to no document of the library.
    pub fn of_text(text: &str) -> Self {
        Self {
            chunk: ChunkId::new(String::new()),
            document: DocumentId::new(String::new()),
            title: String::new(),
            path: String::new(),
            pages: None,
            headings: Vec::new(),
            span: (0, text.len() as u64),
            text: text.to_owned(),
            found_by: Vec::new(),
            fused_score: 0.0,
            rerank_score: None,
            url: None,
            flagged: None,
        }
    }

    /// First page, 1-based.
    pub fn page(&self) -> Option<u32> {
        self.pages.map(|pages| pages.first)
    }

    /// How many passages each store found; one found by several counts for each.
    pub fn count_stores<'a>(passages: impl IntoIterator<Item = &'a Self>) -> BTreeMap<Store, u64> {
        let mut counts = BTreeMap::new();
        for store in passages.into_iter().flat_map(Self::stores) {
            *counts.entry(store).or_default() += 1;
        }
        counts
    }

    /// Names of the stores that found it, in fixed order.
    pub fn stores(&self) -> Vec<Store> {
        let mut stores: Vec<Store> = self.found_by.iter().map(|finding| finding.store).collect();
        stores.sort();
        stores.dedup();
        stores
    }
}

/// A numbered reference of an answer. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number in the answer's `[n]`.
    pub n: u32,
    /// The document.
    pub document: DocumentId,
    /// Its path.
    pub path: String,
    /// First page, 1-based.
    pub page: Option<u32>,
    /// Byte offsets of the passage into the extracted text, end exclusive.
    pub span: (u64, u64),
    /// The passage.
    pub text: String,
    /// Title of the document.
    pub title: String,
    /// Heading path, outermost first.
    pub headings: Vec<String>,
    /// The chunk the passage came from.
    pub chunk: ChunkId,
    /// Address of the page, for a passage of the web; `path` is the same then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why the passage looks as if it were meant for a program that reads, not for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
    /// Stores that found the passage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Store>,
    /// Probability of relevance by the reranker, 0 to 1, if it read the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f32>,
}

/// What checking one sentence of an answer found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A cited passage says it.
    Supported,
    /// A cited passage says part of it.
    Partly,
    /// No cited passage says it.
    Unsupported,
    /// It makes a claim and cites nothing.
    Uncited,
    /// Nothing could check it.
    Unverified,
}

/// A checked sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence as it stands in the answer.
    pub sentence: String,
    /// Byte offsets into the answer, end exclusive.
    pub span: (u64, u64),
    /// What the check found.
    pub verdict: Verdict,
    /// Probability of support, 0 to 1, where a model gave one.
    pub support: Option<f32>,
    /// Citation numbers it carries.
    pub citations: Vec<u32>,
}

/// Whether the answer stands on the documents. A failed check is never "grounded".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grounding {
    /// Every claim is supported.
    Grounded,
    /// At least one claim is not.
    NotGrounded,
    /// It could not be checked.
    Unverified,
}

impl Grounding {
    /// `true`, `false` or nothing: the form of the command line's `grounded` key.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Grounded => Some(true),
            Self::NotGrounded => Some(false),
            Self::Unverified => None,
        }
    }
}

/// A finished answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Markdown with `[n]` citations.
    pub text: String,
    /// True when the documents do not say; then `citations` is empty.
    pub abstained: bool,
    /// True when it was given without looking into documents (a greeting, say).
    pub direct: bool,
    /// The references, by number.
    pub citations: Vec<Citation>,
    /// Passages that were read but not cited, best first.
    pub uncited: Vec<Passage>,
    /// The checked sentences, in order.
    pub claims: Vec<Claim>,
    /// Whether it stands on the documents.
    pub grounding: Grounding,
    /// Confidence that it does, 0 to 1, where something could measure it.
    pub confidence: Option<f32>,
    /// Probability that the documents answer the question at all, 0 to 1, where it was estimated.
    #[serde(default)]
    pub answerable: Option<f32>,
    /// The engine that wrote it.
    pub engine: EngineId,
    /// The engine's model, if it has any.
    pub model: Option<String>,
    /// Why the text breaks off, if it does.
    pub broken_off: Option<AppError>,
    /// Wall time of the run in milliseconds.
    pub took_ms: u64,
    /// What it cost.
    #[serde(default)]
    pub spent: Spent,
}

/// What answering a question used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Passes over the stages.
    pub passes: u32,
    /// Calls of the language model.
    pub llm_calls: u32,
    /// Tokens it read.
    pub prompt_tokens: u64,
    /// Tokens it wrote.
    pub completion_tokens: u64,
    /// True when the engine did not count for some call, and the tokens of our own model stand in.
    pub estimated: bool,
}

/// A turn of a conversation, as the person or the program said it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The program.
    Assistant,
}

/// One hit of `adrag search`. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The document.
    pub document: DocumentId,
    /// Its path.
    pub path: String,
    /// First page, 1-based.
    pub page: Option<u32>,
    /// Byte offsets into the extracted text, end exclusive.
    pub span: (u64, u64),
    /// The passage.
    pub text: String,
    /// Stores that found it.
    pub stores: Vec<Store>,
    /// Score after fusion (the store's own score when only one was asked).
    pub score: f32,
    /// Probability of relevance by the reranker, 0 to 1.
    pub rerank_score: Option<f32>,
}

/// Reply to `adrag search`. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReply {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Wall time in milliseconds.
    pub took_ms: u64,
}
