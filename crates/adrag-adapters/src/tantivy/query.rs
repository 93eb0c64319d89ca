//! The words of a question to a query of term matches. No grammar: nothing a person types can be an operator.

use super::Fields;
use super::analyzer::{View, terms};
use adrag_core::ports::Scope;
use std::collections::HashSet;
use std::sync::LazyLock;
use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

/// Text read of a question; what follows adds nothing that a search could use.
const MAX_BYTES: usize = 16 * 1_024;
/// Distinct terms searched for in each view.
const MAX_TERMS: usize = 64;

/// Weights of the views, found by measuring (see the adapter's retrieval test).
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub words: f32,
    pub exact: f32,
    pub header: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            words: 1.0,
            exact: 0.4,
            header: 0.3,
        }
    }
}

/// Words of English questions that say nothing about what is asked; they are searched for only when there is nothing
/// else.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me",
    "my", "of", "on", "or", "our", "shall", "should", "so", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// The query for a text in a scope; nothing when the text holds no term.
pub(super) fn query(text: &str, scope: &Scope, fields: &Fields, weights: Weights) -> Option<Box<dyn Query>> {
    let text = bounded(text);
    let words = chosen(text, View::Words);
    let mut exact = chosen(text, View::Exact);
    // A single character of a script without spaces says much when it is all there is, and nothing among others.
    if !words.is_empty() {
        exact.retain(|term| term.is_ascii() || term.chars().nth(1).is_some());
    }
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for (terms, field, weight) in [
        (&words, fields.words, weights.words),
        (&exact, fields.exact, weights.exact),
        (&words, fields.header, weights.header),
    ] {
        if weight > 0.0 {
            clauses.extend(
                terms
                    .iter()
                    .map(|term| (Occur::Should, weighted(field, term, weight))),
            );
        }
    }
    if clauses.is_empty() {
        return None;
    }
    let any: Box<dyn Query> = Box::new(BooleanQuery::new(clauses));
    let Scope::Collection(name) = scope else {
        return Some(any);
    };
    let inside = TermQuery::new(
        Term::from_field_text(fields.collection, name.as_str()),
        IndexRecordOption::Basic,
    );
    let inside = ConstScoreQuery::new(Box::new(inside), 0.0);
    Some(Box::new(BooleanQuery::new(vec![
        (Occur::Must, any),
        (Occur::Must, Box::new(inside)),
    ])))
}

fn weighted(field: Field, term: &str, weight: f32) -> Box<dyn Query> {
    let term = TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs);
    Box::new(BoostQuery::new(Box::new(term), weight))
}

/// Distinct terms in order, without stop words unless there is nothing else, at most [`MAX_TERMS`].
fn chosen(text: &str, view: View) -> Vec<String> {
    let stop = stop_terms(view);
    let mut seen = HashSet::new();
    let distinct: Vec<String> = terms(text, view)
        .into_iter()
        .filter(|term| seen.insert(term.clone()))
        .collect();
    let telling: Vec<String> = distinct
        .iter()
        .filter(|term| !stop.contains(*term))
        .cloned()
        .collect();
    let mut chosen = if telling.is_empty() { distinct } else { telling };
    chosen.truncate(MAX_TERMS);
    chosen
}

/// The stop words as terms of a view: stems among the words.
fn stop_terms(view: View) -> &'static HashSet<String> {
    static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| stop_set(View::Words));
    static EXACT: LazyLock<HashSet<String>> = LazyLock::new(|| stop_set(View::Exact));
    match view {
        View::Words => &WORDS,
        View::Exact => &EXACT,
    }
}

fn stop_set(view: View) -> HashSet<String> {
    terms(&STOP_WORDS.join(" "), view).into_iter().collect()
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        chosen(bounded(text), View::Exact)
    }

    #[test]
    fn stop_words_go_when_others_remain() {
        assert_eq!(words("What is the tariff of the harbour?"), ["tariff", "harbour"]);
        assert_eq!(words("What is it?"), ["what", "is", "it"]);
        assert_eq!(
            chosen("Why does this tariff apply?", View::Words),
            ["tariff", "appli"]
        );
    }

    #[test]
    fn a_query_is_bounded() {
        let many: String = (0..20_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(words(&many).len(), MAX_TERMS);
        assert_eq!(bounded(&"é".repeat(20_000)).len(), MAX_BYTES);
    }
}
