//! The words of a question to a query of term matches. No grammar: nothing a person types can be an operator.

use super::Fields;
use super::analyzer::{View, terms};
use adrag_core::ports::Scope;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

/// Text read of a question; what follows adds nothing that a search could use.
const MAX_BYTES: usize = 16 * 1_024;
/// Distinct terms searched for in each view.
const MAX_TERMS: usize = 64;
/// How often a term counts at most: a long question says what matters more than once.
const MAX_TIMES: usize = 8;

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
        exact.retain(|(term, _)| term.is_ascii() || term.chars().nth(1).is_some());
    }
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for (terms, field, weight) in [
        (&words, fields.words, weights.words),
        (&exact, fields.exact, weights.exact),
        (&words, fields.header, weights.header),
    ] {
        if weight > 0.0 {
            clauses.extend(terms.iter().map(|(term, times)| {
                let weight = weight * (*times).min(MAX_TIMES) as f32;
                (Occur::Should, weighted(field, term, weight))
            }));
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

/// Distinct terms in order, each with how often it stands in the text; without stop words unless there is nothing
/// else; at most [`MAX_TERMS`].
fn chosen(text: &str, view: View) -> Vec<(String, usize)> {
    let stop = stop_terms(view);
    let mut places = HashMap::new();
    let mut distinct: Vec<(String, usize)> = Vec::new();
    for term in terms(text, view) {
        match places.get(&term) {
            Some(&place) => {
                let (_, times): &mut (String, usize) = &mut distinct[place];
                *times += 1;
            }
            None => {
                places.insert(term.clone(), distinct.len());
                distinct.push((term, 1));
            }
        }
    }
    if distinct.iter().any(|(term, _)| !stop.contains(term)) {
        distinct.retain(|(term, _)| !stop.contains(term));
    }
    distinct.truncate(MAX_TERMS);
    distinct
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
            .into_iter()
            .map(|(term, _)| term)
            .collect()
    }

    #[test]
    fn stop_words_go_when_others_remain() {
        assert_eq!(words("What is the tariff of the harbour?"), ["tariff", "harbour"]);
        assert_eq!(words("What is it?"), ["what", "is", "it"]);
        let stems = chosen("Why does this tariff apply to a tariff?", View::Words);
        assert_eq!(stems, [("tariff".to_owned(), 2), ("appli".to_owned(), 1)]);
    }

    #[test]
    fn a_query_is_bounded() {
        let many: String = (0..20_000).map(|number| format!("w{number} ")).collect();
        assert_eq!(words(&many).len(), MAX_TERMS);
        assert_eq!(bounded(&"é".repeat(20_000)).len(), MAX_BYTES);
    }
}
