//! "The documents do not say" as an answer of its own: when the evidence is too weak to quote from.
//!
//! Two signs, both cheap and explainable: how much of what the question asks about occurs in the passages, and how near
//! the best passage is. A calibrated model of support is to take their place once there is one.

use adrag_contract::Passage;
use std::collections::HashSet;

/// Below this cosine of the best sentence nothing in the passages is about the question.
const FAR: f32 = 0.25;
/// Below this share of the question's words in the passages, they are about something else.
const FOREIGN: f32 = 0.34;
/// Between [`FAR`] and this cosine both signs must speak for the passages.
const NEAR: f32 = 0.45;

/// Words that carry no subject.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "according",
    "after",
    "all",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "kind",
    "many",
    "may",
    "more",
    "most",
    "much",
    "must",
    "need",
    "of",
    "on",
    "one",
    "or",
    "should",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "two",
    "under",
    "up",
    "use",
    "used",
    "was",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// The words of a text that carry its subject, folded to lower case and cut to a rough stem.
pub(super) fn subject_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .map(|word| word.trim_matches(|c| c == '-' || c == '_').to_lowercase())
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()))
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

/// True when the passages do not bear on the question. `best` is the best cosine, where there is one.
pub(super) fn too_weak(question: &str, passages: &[Passage], best: Option<f32>) -> bool {
    let words = subject_words(question);
    let text: String = passages
        .iter()
        .map(|passage| format!("{}\n{}\n", passage.title, passage.text))
        .collect();
    let covered = coverage(&words, &text);
    match best {
        _ if passages.is_empty() => true,
        Some(best) if best < FAR => covered < 0.5,
        Some(best) if best < NEAR => covered < FOREIGN,
        Some(_) => false,
        None => covered < FOREIGN,
    }
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
    fn without_passages_the_evidence_is_too_weak() {
        assert!(too_weak("Which seal?", &[], Some(0.9)));
    }
}
