//! Candidate keys of a question.

use super::words::{self, Form};
use super::{Found, PER_QUESTION, cjk, collect, stop};
use crate::ports::Entity;

/// Most bytes of a question that are looked at.
const QUESTION_BYTES: usize = 4_000;

/// Most entities found as in a document.
const NAMED: usize = 20;

/// Most single words, pairs and triples.
const WORDS: [usize; 3] = [14, 8, 6];

/// The entities a question may mean, at most [`PER_QUESTION`](super::PER_QUESTION): those found as in a document, then its
/// words, pairs and triples of words in any case (people ask in small letters), without those that begin or end in a
/// common word. Most triples are no entity: ask [`EntityGraph::known`](crate::ports::EntityGraph::known).
pub fn entities_of_question(question: &str) -> Vec<Entity> {
    let mut end = question.len().min(QUESTION_BYTES);
    while !question.is_char_boundary(end) {
        end -= 1;
    }
    let question = &question[..end];
    let mut found = Found::new(NAMED);
    collect(question, &mut found);
    let words: Vec<words::Word<'_>> = words::words(question).collect();
    for (size, most) in (1..).zip(WORDS) {
        found.limit = (found.entities.len() + most).min(PER_QUESTION);
        for window in words.windows(size) {
            let (first, last) = (&window[0], &window[size - 1]);
            let together = window
                .iter()
                .zip(&window[1..])
                .all(|(left, right)| words::attached(question, left, right));
            let telling = [first, last]
                .iter()
                .all(|word| !matches!(word.form, Form::Cjk | Form::Number) && tells(word.text));
            if together && telling {
                found.add(&question[first.start..last.end()]);
            }
        }
    }
    found.limit = PER_QUESTION;
    for word in words.iter().filter(|word| word.form == Form::Cjk) {
        cjk::pieces(word.text, |piece| found.add(piece));
    }
    found.entities
}

/// A word that can begin or end a name.
fn tells(word: &str) -> bool {
    word.chars().nth(2).is_some() && !stop::is_common(word)
        || word.chars().any(char::is_numeric)
        || word.chars().all(char::is_uppercase) && word.len() > 1
}
