//! "The documents do not say" as an answer of its own: when the evidence is too weak to answer from.
//!
//! A logistic regression over five signs, each between 0 and 1 and each explainable. Its weights are learned beside the
//! judge, on held-out questions with and without their documents (`models/judge/evaluate.py`).

use super::Desk;
use super::types::Context;
use crate::ports::{PortResult, SupportPair};
use crate::sentence::windows;
use adrag_contract::{Event, Passage, StageId};
use std::collections::HashSet;

/// Sentences of the window in which the support of the best sentence is looked for.
pub(super) const WINDOW_SENTENCES: usize = 5;

/// What speaks for an answer in the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Highest probability of relevance among the passages.
    pub top: f32,
    /// How far that is above the mean of the other passages.
    pub margin: f32,
    /// Share of the question's subject words that all passages hold together.
    pub coverage: f32,
    /// Share of them that a single passage holds, at best.
    pub focus: f32,
    /// Probability that the best sentence, after the question, is supported where it stands.
    pub support: f32,
}

/// Weights by which the evidence becomes a probability: `sigmoid(bias + sum of weight * sign)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
pub struct Abstention {
    /// Constant.
    pub bias: f32,
    /// Weight of [`Evidence::top`].
    pub top: f32,
    /// Weight of [`Evidence::margin`].
    pub margin: f32,
    /// Weight of [`Evidence::coverage`].
    pub coverage: f32,
    /// Weight of [`Evidence::focus`].
    pub focus: f32,
    /// Weight of [`Evidence::support`].
    pub support: f32,
}

impl Default for Abstention {
    /// For rerankers nothing was learned with: half and half where a cosine is 0.25 and half of the words are held.
    fn default() -> Self {
        Self {
            bias: -4.0,
            top: 6.0,
            margin: 0.0,
            coverage: 5.0,
            focus: 0.0,
            support: 0.0,
        }
    }
}

impl Abstention {
    /// The probability that the passages answer, 0 to 1.
    pub fn answerable(&self, evidence: &Evidence) -> f32 {
        let sum = self.bias
            + self.top * evidence.top
            + self.margin * evidence.margin
            + self.coverage * evidence.coverage
            + self.focus * evidence.focus
            + self.support * evidence.support;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// The probability that the context answers the question; 0 without any passage.
pub(super) async fn answerable(desk: Desk<'_>, question: &str, context: &Context) -> PortResult<f32> {
    if context.passages.is_empty() {
        return Ok(0.0);
    }
    let words = subject_words(question);
    let (top, margin) = relevance(&context.passages);
    let held: Vec<f32> = context
        .passages
        .iter()
        .map(|passage| coverage(&words, &titled(passage)))
        .collect();
    let together: String = context
        .passages
        .iter()
        .map(|passage| titled(passage) + "\n")
        .collect();
    let evidence = Evidence {
        top,
        margin,
        coverage: coverage(&words, &together),
        focus: held.into_iter().fold(0.0, f32::max),
        support: support_of_best(desk, question, &context.passages).await?,
    };
    let answerable = desk.ports.abstention.answerable(&evidence);
    tracing::debug!(?evidence, answerable, "whether the documents answer");
    Ok(answerable)
}

fn titled(passage: &Passage) -> String {
    format!("{}\n{}", passage.title, passage.text)
}

/// Highest relevance, and how far it is above the mean of the others; one half where nothing was read.
fn relevance(passages: &[Passage]) -> (f32, f32) {
    let mut scores: Vec<f32> = passages
        .iter()
        .filter_map(|passage| passage.rerank_score)
        .collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let Some((top, others)) = scores.split_first() else {
        return (0.5, 0.0);
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of passages")]
    let mean = others.iter().sum::<f32>() / others.len().max(1) as f32;
    (*top, top - mean)
}

/// Support of the question with the sentence of the best passage that shares most of its words, where it stands.
async fn support_of_best(desk: Desk<'_>, question: &str, passages: &[Passage]) -> PortResult<f32> {
    let best = passages.iter().max_by(|a, b| {
        let score = |passage: &Passage| passage.rerank_score.unwrap_or(passage.fused_score);
        score(a).total_cmp(&score(b))
    });
    let (Some(model), Some(best)) = (&desk.ports.support, best) else {
        return Ok(0.5);
    };
    let words = subject_words(question);
    let nearest = |spans: Vec<std::ops::Range<usize>>| {
        spans
            .into_iter()
            .map(|span| &best.text[span])
            .rev()
            .max_by(|a, b| coverage(&words, a).total_cmp(&coverage(&words, b)))
    };
    let sentence = nearest(crate::sentence::sentences(&best.text));
    let window = nearest(windows(&best.text, WINDOW_SENTENCES));
    let (Some(sentence), Some(window)) = (sentence, window) else {
        return Ok(0.5);
    };
    let pair = SupportPair {
        claim: format!("{question} {sentence}"),
        evidence: window.to_owned(),
    };
    match model.support(&[pair], &desk.run.cancel).await {
        Ok(support) => Ok(support.first().copied().unwrap_or(0.5)),
        Err(error) if error.is_cancelled() => Err(error),
        Err(error) => {
            desk.run.emit(Event::StageFailed {
                stage: StageId::Reason,
                error: error.error,
                degraded_to: Some("the evidence is weighed without its support".to_owned()),
            });
            Ok(0.5)
        }
    }
}

/// Words that carry no subject, one a line. The training of the abstention reads the same list.
const STOP_WORDS: &str = include_str!("stop_words.txt");

/// The words of a text that carry its subject, folded to lower case and cut to a rough stem.
pub(super) fn subject_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .map(|word| word.trim_matches(|c| c == '-' || c == '_').to_lowercase())
        .filter(|word| !word.is_empty() && !STOP_WORDS.lines().any(|stop| stop == word))
        .map(|word| stem(&word))
        .filter(|word| seen.insert(word.clone()))
        .collect()
}

/// Endings cut so that singular and plural, verb and noun meet. Rough on purpose: it only counts coincidences.
fn stem(word: &str) -> String {
    if word.chars().any(|c| c.is_ascii_digit()) || !word.is_ascii() {
        return word.to_owned();
    }
    for ending in [
        "ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e",
    ] {
        if let Some(short) = word.strip_suffix(ending)
            && short.len() >= 3
        {
            return short.to_owned();
        }
    }
    word.to_owned()
}

/// The share of these words that occur in a text, 0 to 1.
pub(super) fn coverage(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let held: HashSet<String> = subject_words(text).into_iter().collect();
    let found = words.iter().filter(|word| held.contains(*word)).count();
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = found as f32 / words.len() as f32;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_meet_and_identifiers_stay() {
        assert_eq!(
            subject_words("Which seals fit pump SK-118-C?"),
            ["seal", "fit", "pump", "sk-118-c"]
        );
        assert!((coverage(&subject_words("pump seals"), "one seal of the pumps") - 1.0).abs() < 1e-6);
    }

    #[test]
    fn more_evidence_makes_an_answer_more_probable_and_the_probability_is_one() {
        let weights = Abstention::default();
        let evidence = |top, coverage| Evidence {
            top,
            margin: 0.0,
            coverage,
            focus: 0.0,
            support: 0.5,
        };
        let weak = weights.answerable(&evidence(0.1, 0.2));
        let strong = weights.answerable(&evidence(0.7, 0.9));
        assert!(
            0.0 < weak && weak < 0.5 && 0.5 < strong && strong < 1.0,
            "{weak} {strong}"
        );
        assert!((weights.answerable(&evidence(0.25, 0.5)) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn the_margin_is_over_the_mean_of_the_others() {
        let scored = |score| Passage {
            rerank_score: score,
            ..Passage::of_text("x")
        };
        let (top, margin) = relevance(&[
            scored(Some(0.4)),
            scored(Some(0.9)),
            scored(Some(0.2)),
            scored(None),
        ]);
        assert!(
            (top - 0.9).abs() < 1e-6 && (margin - 0.6).abs() < 1e-6,
            "{top} {margin}"
        );
        assert_eq!(relevance(&[scored(None)]), (0.5, 0.0));
    }
}
