//! What a person writes into a question to narrow the search: `in:`, `doc:`, `type:`, `after:`, `before:`, `+word`, `-word`,
//! `+"two words"`, `-"two words"`; a plain `"phrase"` comes first where it is found, and shuts nothing out.
//!
//! Parsed by us, applied to what the stores found; no store's query grammar ever sees the person's words. What is not exactly
//! one of these forms is part of the question: a hyphen in a word, a minus before a number, a colon in a sentence.

use crate::ports::StoredChunk;
use adrag_contract::DocumentInfo;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;
/// Most filters of a question; further ones are words.
const MAX_FILTERS: usize = 16;

/// What a passage must and must not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Names of collections, any of them.
    pub collections: Vec<String>,
    /// Parts of titles or file names, any of them.
    pub documents: Vec<String>,
    /// Kinds or extensions of files, any of them.
    pub kinds: Vec<String>,
    /// Earliest change of the document, milliseconds since the Unix epoch.
    pub after_ms: Option<i64>,
    /// The document changed before this, milliseconds since the Unix epoch.
    pub before_ms: Option<i64>,
    /// Words or phrases a passage must hold, all of them.
    pub must: Vec<String>,
    /// Words or phrases it must not hold.
    pub must_not: Vec<String>,
    /// Phrases that come first.
    pub phrases: Vec<String>,
    /// The filters as they were written, for showing.
    pub written: Vec<String>,
}

impl Filters {
    /// Whether anything could be shut out.
    pub fn shuts_out(&self) -> bool {
        !self.written.is_empty()
    }

    /// Whether the text of a passage and where it stands pass.
    pub fn passes_chunk(&self, stored: &StoredChunk) -> bool {
        let any = |names: &[String], held: &dyn Fn(&str) -> bool| {
            names.is_empty() || names.iter().any(|name| held(name))
        };
        let title = folded(&stored.title);
        let file = folded(stored.path.rsplit(['/', '\\']).next().unwrap_or(&stored.path));
        any(&self.collections, &|name| {
            folded(stored.collection.as_str()) == name
        }) && any(&self.documents, &|name| {
            title.contains(name) || file.contains(name)
        }) && (self.must.is_empty() && self.must_not.is_empty() || {
            let text = folded(&format!(
                "{} {} {}",
                stored.title,
                stored.chunk.headings.join(" "),
                stored.chunk.text
            ));
            self.must.iter().all(|words| holds(&text, words))
                && !self.must_not.iter().any(|words| holds(&text, words))
        })
    }

    /// Whether the document passes.
    pub fn passes_document(&self, document: &DocumentInfo) -> bool {
        let extension = document
            .path
            .rsplit_once('.')
            .map(|(_, extension)| folded(extension));
        let kind = folded(&document.kind);
        (self.kinds.is_empty()
            || self
                .kinds
                .iter()
                .any(|wanted| *wanted == kind || Some(wanted) == extension.as_ref()))
            && self.after_ms.is_none_or(|after| document.updated_at_ms >= after)
            && self
                .before_ms
                .is_none_or(|before| document.updated_at_ms < before)
    }

    /// Whether the document itself must be looked at.
    pub fn asks_of_documents(&self) -> bool {
        !self.kinds.is_empty() || self.after_ms.is_some() || self.before_ms.is_some()
    }

    /// How many of the phrases a text holds.
    pub fn phrases_in(&self, text: &str) -> usize {
        let text = folded(text);
        self.phrases.iter().filter(|phrase| holds(&text, phrase)).count()
    }
}

/// The question without its filters, and the filters. A question of nothing but filters is asked with the words of them.
pub fn parse(question: &str) -> (String, Filters) {
    let mut filters = Filters::default();
    let mut rest = String::new();
    for piece in pieces(question) {
        let taken = filters.written.len() < MAX_FILTERS && take(&mut filters, &piece);
        if !taken {
            if let Some(phrase) = quoted(piece.text) {
                filters.phrases.push(folded(phrase));
            }
            rest.push_str(piece.before);
            rest.push_str(piece.text);
        }
    }
    let rest = rest.trim().to_owned();
    if rest.chars().any(char::is_alphanumeric) || !filters.shuts_out() {
        return (rest, filters);
    }
    let words: Vec<&str> = filters
        .must
        .iter()
        .chain(&filters.documents)
        .map(String::as_str)
        .collect();
    if words.is_empty() {
        // Nothing could be searched for: then it was no filter.
        return (question.trim().to_owned(), Filters::default());
    }
    (words.join(" "), filters)
}

/// A word or a quotation, with what stood before it.
struct Piece<'a> {
    before: &'a str,
    text: &'a str,
}

/// The question cut at white space; quotations stay whole, also behind `doc:` or `+`.
fn pieces(question: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < question.len() {
        let rest = &question[at..];
        let start = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let word = &rest[start..];
        let mut end = word.find(char::is_whitespace).unwrap_or(word.len());
        if let Some(open) = word[..end].find('"').filter(|open| is_opener(&word[..*open]))
            && let Some(close) = word[open + 1..].find('"')
        {
            end = open + close + 2;
        }
        pieces.push(Piece {
            before: &rest[..start],
            text: &word[..end],
        });
        at += start + end;
        if end == 0 {
            break;
        }
    }
    pieces
}

/// What may stand right before a quotation that is one piece.
fn is_opener(before: &str) -> bool {
    matches!(before, "" | "+" | "-" | "in:" | "doc:" | "type:")
}

fn quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?.trim();
    inner.chars().any(char::is_alphanumeric).then_some(inner)
}

/// Takes a piece as a filter, if it is one.
fn take(filters: &mut Filters, piece: &Piece<'_>) -> bool {
    let text = piece.text;
    let words = |text: &str| -> Option<String> {
        let plain = quoted(text).map(str::to_owned).or_else(|| {
            let whole = text
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
            (whole && text.chars().any(char::is_alphabetic)).then(|| text.to_owned())
        })?;
        Some(folded(&plain))
    };
    let taken = if let Some(value) = text.strip_prefix('+') {
        words(value).map(|value| filters.must.push(value))
    } else if let Some(value) = text.strip_prefix('-') {
        // A word that begins with a letter: a minus before a number is arithmetic.
        words(value)
            .filter(|value| value.starts_with(char::is_alphabetic))
            .map(|value| filters.must_not.push(value))
    } else {
        match text.split_once(':') {
            Some(("in", value)) => words(value).map(|value| filters.collections.push(value)),
            Some(("doc", value)) => words(value).map(|value| filters.documents.push(value)),
            Some(("type", value)) => {
                words(value).map(|value| filters.kinds.push(value.trim_start_matches('.').to_owned()))
            }
            Some(("after", value)) => day(value).map(|day| filters.after_ms = Some(day)),
            Some(("before", value)) => day(value).map(|day| filters.before_ms = Some(day)),
            _ => None,
        }
    };
    if taken.is_some() {
        filters.written.push(text.to_owned());
    }
    taken.is_some()
}

/// `2024-01-31` as milliseconds since the Unix epoch, UTC (days from civil date after H. Hinnant, "chrono-compatible low-level
/// date algorithms").
fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut next = |length: usize| -> Option<i64> {
        let part = parts.next()?;
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten()
    };
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) * DAY_MS)
}

/// Whether a text holds words, not inside longer ones.
fn holds(text: &str, words: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    // Scripts without blanks have no edges of words to look at.
    let edged = |c: Option<char>| c.is_some_and(|c| c.is_ascii() || c.is_alphabetic() && (c as u32) < 0x0e00);
    text.match_indices(words).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let (first, last) = (words.chars().next(), words.chars().next_back());
        (!edged(first) || !is_word(before)) && (!edged(last) || !is_word(after))
    })
}

fn folded(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_taken_out_and_the_rest_is_the_question() {
        let (question, filters) = parse(
            "in:work Which seal? doc:\"HX 40\" type:.PDF +kit -\"old pump\" after:2024-02-29 before:2025-01-01 -diesel",
        );
        assert_eq!(question, "Which seal?");
        assert_eq!(filters.collections, ["work"]);
        assert_eq!(filters.documents, ["hx 40"]);
        assert_eq!(filters.kinds, ["pdf"]);
        assert_eq!(filters.must, ["kit"]);
        assert_eq!(filters.must_not, ["old pump", "diesel"]);
        assert_eq!(filters.after_ms, Some(1_709_164_800_000));
        assert_eq!(filters.before_ms, Some(1_735_689_600_000));
        assert_eq!(filters.written.len(), 8);
    }

    #[test]
    fn what_people_write_is_no_filter() {
        for question in [
            "Which is the bilge-pump of HX-40?",
            "What is 5 -3 or 5 - 3?",
            "usb-c \"\"",
            "note: what is in:?",
            "y+(y+25)",
            "error {0}: {1}",
            "- item",
            "Is it after:now or before: lunch?",
            "C++ -> Rust?",
            "https://example.org/a?b=c",
            ">>>",
            "\"unbalanced",
            "a:(^",
            "*",
        ] {
            let (rest, filters) = parse(question);
            assert_eq!(rest, question);
            assert!(!filters.shuts_out(), "{question}: {filters:?}");
        }
    }

    #[test]
    fn a_plain_phrase_comes_first_and_shuts_nothing_out() {
        let (question, filters) = parse("What does the \"Seal  kit\" cost?");
        assert_eq!(question, "What does the \"Seal  kit\" cost?");
        assert!(!filters.shuts_out());
        assert_eq!(filters.phrases, ["seal kit"]);
        assert_eq!(filters.phrases_in("A SEAL\nkit of rubber"), 1);
        assert_eq!(filters.phrases_in("seal kits"), 0);
    }

    #[test]
    fn words_are_whole_words_where_a_script_has_them() {
        assert!(holds("the kit is here", "kit") && !holds("the kitchen", "kit"));
        assert!(holds("海のポンプを修理", "ポンプ"));
    }

    #[test]
    fn nothing_but_filters_is_asked_by_their_words_or_is_a_question() {
        assert_eq!(parse("+seal +kit").0, "seal kit");
        let (question, filters) = parse("type:pdf");
        assert_eq!((question.as_str(), filters.shuts_out()), ("type:pdf", false));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_and_nothing_is_invented(question in "\\PC{0,120}") {
            let (rest, filters) = parse(&question);
            if !filters.shuts_out() {
                proptest::prop_assert_eq!(rest, question.trim());
            }
        }
    }
}
