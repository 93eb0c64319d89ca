//! Entities named in a text, by rule: the ones that link chunks in the graph.
//!
//! No model and no dictionary of names, so it costs next to nothing, works offline and finds names nobody has heard of.
//! It does not tell persons from places, and a name written in small letters in a document is not found. The rules:
//!
//! - **Capitalised phrases**: words that begin with a capital of any alphabet, up to [`PHRASE_WORDS`] in a row, at most
//!   one line break apart, a few connecting words between them (`Bank of England`). Common words at either end are cut
//!   off, so one that only begins a sentence is none. A number right after belongs to it (`Article 7`). A phrase of several
//!   words also yields each word, so that `Curie` meets `Marie Curie`.
//! - **Acronyms**: two to six capitals (`NATO`).
//! - **Identifiers**: words with letters and digits or an inner capital or underscore (`SK-118-C`, `httpServer`, `user_id`).
//! - **Quoted terms** of one to six words in quotation marks or backticks.
//! - **Chinese, Japanese, Korean**: runs of two to eight characters of one script, Chinese ones cut at its commonest
//!   function characters; longer runs carry no boundary to go by and are left out.
//!
//! Spellings meet in the key ([`key_of`]): NFKC, folded case, plain hyphens and apostrophes, no possessive `'s`.
//! Every step is one pass with a bounded look ahead, and the output is bounded, whatever the text.

mod cjk;
mod question;
mod stop;
#[cfg(test)]
mod tests;
mod words;

pub use question::entities_of_question;

use crate::ports::Entity;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;
use words::{Form, Word};

/// Most entities of a chunk.
pub const PER_CHUNK: usize = 64;

/// Most candidates of a question.
pub const PER_QUESTION: usize = 48;

/// Most words of a phrase.
pub const PHRASE_WORDS: usize = 5;

/// Most bytes of a name; longer ones are no names.
const NAME_BYTES: usize = 80;

/// The entities a text names, distinct by key, in order of appearance, at most [`PER_CHUNK`].
pub fn entities_of(text: &str) -> Vec<Entity> {
    let mut found = Found::new(PER_CHUNK);
    collect(text, &mut found);
    found.entities
}

/// The normal form in which spellings of a name meet.
pub fn key_of(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for character in name.nfkc() {
        match character {
            // Soft hyphen, zero-width and direction characters do not show.
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => key.push('-'),
            '\u{2018}' | '\u{2019}' => key.push('\''),
            // Simple lower-casing leaves these two apart from their other spellings.
            'ß' | 'ẞ' => key.push_str("ss"),
            'ς' => key.push('σ'),
            _ if character.is_whitespace() => {
                if !key.is_empty() && !key.ends_with(' ') {
                    key.push(' ');
                }
            }
            _ if character.is_control() => {}
            _ => key.extend(
                character
                    .to_lowercase()
                    .map(|lower| if lower == 'ς' { 'σ' } else { lower }),
            ),
        }
    }
    let trimmed = key.trim_end();
    let trimmed = trimmed.strip_suffix("'s").unwrap_or(trimmed);
    trimmed.to_owned()
}

/// Entities found so far: distinct and bounded.
struct Found {
    entities: Vec<Entity>,
    keys: HashSet<String>,
    limit: usize,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self {
            entities: Vec::new(),
            keys: HashSet::new(),
            limit,
        }
    }

    fn is_full(&self) -> bool {
        self.entities.len() >= self.limit
    }

    fn add(&mut self, name: &str) {
        if self.is_full() || name.len() > NAME_BYTES {
            return;
        }
        let key = key_of(name);
        if key.chars().nth(1).is_some() && key.len() <= 2 * NAME_BYTES && self.keys.insert(key.clone()) {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            self.entities.push(Entity { key, name });
        }
    }
}

fn collect(text: &str, found: &mut Found) {
    let mut phrase: Vec<Word<'_>> = Vec::new();
    // Connecting words that follow the phrase; part of it only when a name follows them.
    let mut connecting: Vec<Word<'_>> = Vec::new();
    let mut quotes = words::Quotes::new(text);
    for word in words::words(text) {
        if found.is_full() {
            return;
        }
        while let Some(term) = quotes.next_before(word.start) {
            found.add(term);
        }
        let attached = phrase
            .last()
            .is_some_and(|last| words::attached(text, connecting.last().unwrap_or(last), &word));
        if !attached {
            finish(text, &mut phrase, &mut connecting, found);
        }
        match word.form {
            Form::Capitalised | Form::Acronym | Form::Identifier => {
                if phrase.len() + connecting.len() >= PHRASE_WORDS {
                    finish(text, &mut phrase, &mut connecting, found);
                }
                phrase.append(&mut connecting);
                phrase.push(word);
            }
            Form::Number if attached && connecting.is_empty() && phrase.len() < PHRASE_WORDS => {
                phrase.push(word);
                finish(text, &mut phrase, &mut connecting, found);
            }
            Form::Lower if attached && connecting.len() < 2 && stop::connects(word.text) => {
                connecting.push(word)
            }
            Form::Cjk => {
                finish(text, &mut phrase, &mut connecting, found);
                cjk::terms(word.text, |term| found.add(term));
            }
            Form::Number | Form::Lower => finish(text, &mut phrase, &mut connecting, found),
        }
    }
    finish(text, &mut phrase, &mut connecting, found);
    while let Some(term) = quotes.next_before(text.len()) {
        found.add(term);
    }
}

/// Ends a phrase: the whole, without a number after it, and each of its words.
fn finish<'t>(text: &'t str, phrase: &mut Vec<Word<'t>>, connecting: &mut Vec<Word<'t>>, found: &mut Found) {
    connecting.clear();
    let is_common = |word: &Word<'_>| word.form != Form::Identifier && stop::is_common(word.text);
    let start = phrase
        .iter()
        .position(|word| !is_common(word))
        .unwrap_or(phrase.len());
    let end = phrase
        .iter()
        .rposition(|word| !is_common(word))
        .map_or(start, |last| last + 1);
    let words = &phrase[start..end.max(start)];
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        // A number alone is what is left when the words before it were common.
        if first.form != Form::Number {
            found.add(&text[first.start..last.end()]);
        }
        if words.len() > 1 {
            if let (Form::Number, Some(before)) = (last.form, words.len().checked_sub(2)) {
                found.add(&text[first.start..words[before].end()]);
            }
            for word in words {
                if !matches!(word.form, Form::Number | Form::Lower) && !is_common(word) {
                    found.add(word.text);
                }
            }
        }
    }
    phrase.clear();
}
