//! The types a question moves through.

use crate::filter::Filters;
use crate::ports::Scope;
use adrag_contract::{Citation, Claim, Grounding, Passage, QuestionKind, Store, Turn};

/// A question as it was asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The words.
    pub text: String,
    /// The turns before it, oldest first.
    pub history: Vec<Turn>,
    /// Which documents may answer it.
    pub scope: Scope,
    /// What the person wrote to narrow the search.
    pub filters: Filters,
    /// Whether the web may be searched for it.
    pub may_search_web: bool,
}

/// What will be done for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Whether the documents are searched.
    pub retrieve: bool,
    /// Whether the web is searched.
    pub use_web: bool,
    /// The question's form.
    pub kind: QuestionKind,
    /// The question made independent of the conversation.
    pub question: String,
    /// What is searched for; the question itself first.
    pub queries: Vec<String>,
    /// Sampling temperature of the answer; rises with every pass.
    pub temperature: f32,
    /// What the check of the pass before found wanting.
    pub critique: Vec<String>,
    /// An answer that needs no documents, where a rule knows it.
    pub direct_answer: Option<String>,
}

impl Plan {
    /// Whether anything is searched, so that the answer must stand on what is found.
    pub fn searches(&self) -> bool {
        self.retrieve || self.use_web
    }

    /// The plan of the next pass, when the review asks for one and something can change. `may_escalate` says whether
    /// the web may be searched without being asked for, `listens` whether what writes the answer can be told anything.
    pub fn after(&self, review: &Review, may_escalate: bool, listens: bool) -> Option<Self> {
        let escalates = may_escalate && self.retrieve && !self.use_web;
        if !(review.retry || review.wanting && escalates) {
            return None;
        }
        let mut next = self.clone();
        for query in &review.missing {
            if !next.queries.contains(query) {
                next.queries.push(query.clone());
            }
        }
        if listens {
            next.critique.clone_from(&review.issues);
        }
        next.temperature = (self.temperature + 0.3).min(1.0);
        next.use_web |= escalates;
        (next.queries != self.queries || next.critique != self.critique || next.use_web != self.use_web)
            .then_some(next)
    }

    /// What differs from the plan before, for people.
    pub fn changes_from(&self, before: &Self) -> Vec<String> {
        let mut changes: Vec<String> = self
            .queries
            .iter()
            .filter(|query| !before.queries.contains(query))
            .map(|query| format!("also searches for \"{query}\""))
            .collect();
        if self.use_web && !before.use_web {
            changes.push(ALSO_THE_WEB.to_owned());
        }
        if self.critique != before.critique {
            changes.push("the answer is told what was wrong".to_owned());
        }
        changes
    }
}

/// How a pass that escalates says so among its changes.
pub const ALSO_THE_WEB: &str = "also searches the web";

/// Hits of every list, before fusion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The lists.
    pub lists: Vec<crate::fuse::RankedList>,
    /// Stores that did not answer.
    pub down: Vec<Store>,
    /// Passages of the web, which no catalogue knows; a list of theirs is among `lists`.
    pub web: Vec<Passage>,
}

/// Distinct passages, in fused order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// The passages.
    pub passages: Vec<Passage>,
}

/// Passages in order of relevance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedPassages {
    /// Those kept for the answer, best first.
    pub kept: Vec<Passage>,
    /// The rest, best first.
    pub rest: Vec<Passage>,
}

/// The evidence as it is numbered for the answer: number `n` is `passages[n - 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Numbered passages, as citations show them.
    pub passages: Vec<Passage>,
    /// What a language model reads of each: all of it, or the sentences that matter.
    pub excerpts: Vec<String>,
    /// Relevant passages that did not fit.
    pub left_out: Vec<Passage>,
}

/// An answer before it is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The text, every `[n]` valid.
    pub text: String,
    /// What the numbers point at.
    pub citations: Vec<Citation>,
    /// True when the documents do not say.
    pub abstained: bool,
    /// True when the model wrote nothing at all.
    pub empty: bool,
    /// True when no document was looked into.
    pub direct: bool,
    /// Probability that the documents answer the question, where it was estimated.
    pub answerable: Option<f32>,
}

/// What the check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The sentences.
    pub claims: Vec<Claim>,
    /// Whether the answer stands.
    pub grounding: Grounding,
    /// Confidence, where something measured it.
    pub confidence: Option<f32>,
    /// What is wrong or missing.
    pub issues: Vec<String>,
    /// What to search for in another pass.
    pub missing: Vec<String>,
    /// Whether another pass could help.
    pub retry: bool,
    /// Whether the evidence itself is wanting: the documents do not answer, or the answer does not stand on them.
    pub wanting: bool,
}
