//! Text to terms, the same way for chunks and for questions.
//!
//! Two views of a text: its *words*, folded and stemmed so that forms of a word meet, and its *exact* terms, as
//! written but for case, with identifiers kept whole, so that an exact match outranks. Scripts written without spaces
//! become pairs of characters. No position is kept: no query asks for phrases.

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Characters of a term; what is longer is cut, in chunks and questions alike.
const MAX_CHARS: usize = 128;

/// Name in the schema of the analyzer of words; the number goes up whenever its terms change.
pub(super) const WORDS: &str = "words-1";
/// Name in the schema of the analyzer of exact terms.
pub(super) const EXACT: &str = "exact-1";

/// Which view of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Words,
    Exact,
}

/// The terms of a text, in order, repeated as often as they occur.
pub(super) fn terms(text: &str, view: View) -> Vec<String> {
    let mut terms = Vec::new();
    let mut segment = Segment::default();
    for c in text.nfkc() {
        let c = plain(c);
        if is_invisible(c) {
            continue;
        }
        let next = class(c);
        if next != segment.class {
            segment.finish(view, &mut terms);
            segment.class = next;
        }
        if next != Class::Break {
            segment.text.push(c);
        }
    }
    segment.finish(view, &mut terms);
    if view == View::Words {
        stem(&mut terms);
    }
    terms
}

/// An analyzer for tantivy that gives the terms of a view.
pub(super) fn analyzer(view: View) -> TextAnalyzer {
    TextAnalyzer::from(ViewTokenizer { view })
}

/// What a character does to the run it stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Class {
    /// Ends a run.
    #[default]
    Break,
    /// Part of a word, or what may join words to an identifier.
    Word,
    /// A script written without spaces.
    Unspaced,
}

#[derive(Debug, Default)]
struct Segment {
    class: Class,
    text: String,
}

impl Segment {
    fn finish(&mut self, view: View, terms: &mut Vec<String>) {
        match self.class {
            Class::Break => {}
            Class::Word => spaced(&self.text, view, terms),
            Class::Unspaced => unspaced(&self.text, view, terms),
        }
        self.text.clear();
    }
}

fn class(c: char) -> Class {
    if is_unspaced(c) {
        Class::Unspaced
    } else if c.is_alphanumeric() || is_combining_mark(c) || is_joiner(c) {
        Class::Word
    } else {
        Class::Break
    }
}

fn is_joiner(c: char) -> bool {
    matches!(
        c,
        '-' | '_' | '.' | ',' | '/' | '@' | ':' | '+' | '#' | '&' | '=' | '?' | '%' | '~' | '\\' | '\''
    )
}

/// Han, kana, hangul, Thai, Lao, Khmer, Myanmar, Tibetan.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x0f00..=0x0fff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff
        | 0x3005..=0x3007 | 0x3040..=0x30fa | 0x30fc..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0x20000..=0x3fffd)
}

/// Soft hyphen, zero-width characters, direction marks, byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0x00ad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0x2066..=0x2069 | 0xfeff)
}

/// One dash and one apostrophe for the many.
fn plain(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
        _ => c,
    }
}

fn spaced(text: &str, view: View, terms: &mut Vec<String>) {
    // A comma joins digits only; elsewhere it ends a run.
    let mut start = 0;
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(',') {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        if digit(at.checked_sub(1)) && digit(Some(at + 1)) {
            continue;
        }
        run(&text[start..at], view, terms);
        start = at + 1;
    }
    run(&text[start..], view, terms);
}

fn run(text: &str, view: View, terms: &mut Vec<String>) {
    let whole = trimmed(text);
    let mut pieces = 0;
    let mut after_apostrophe = false;
    for piece in whole.split_inclusive(is_joiner) {
        let word = piece.trim_end_matches(is_joiner);
        let possessive = after_apostrophe && word.eq_ignore_ascii_case("s");
        after_apostrophe = piece.ends_with('\'');
        if word.is_empty() || possessive {
            continue;
        }
        pieces += 1;
        match view {
            View::Exact => terms.push(lower(word)),
            View::Words => {
                terms.push(folded(word));
                camel(word, terms);
            }
        }
    }
    let is_identifier = pieces > 1 || whole.ends_with(['+', '#']);
    if view == View::Exact && is_identifier {
        let whole = lower(whole);
        if whole.contains(',') {
            let number: String = whole.chars().filter(|c| *c != ',').collect();
            terms.push(number);
        }
        terms.push(whole);
    }
}

/// Without what cannot begin or end a term. `C++` and `C#` keep their signs.
fn trimmed(text: &str) -> &str {
    let text = text.trim_start_matches(is_joiner);
    let bare = text.trim_end_matches(is_joiner);
    let signs = text[bare.len()..]
        .bytes()
        .take_while(|sign| matches!(sign, b'+' | b'#'))
        .count();
    let short = bare.chars().count() <= 2 && signs <= 2 && bare.chars().all(char::is_alphabetic);
    if short { &text[..bare.len() + signs] } else { bare }
}

/// The parts of `camelCase` and `HTTPServer`, beside the whole.
fn camel(word: &str, terms: &mut Vec<String>) {
    let chars: Vec<char> = word.chars().take(MAX_CHARS).collect();
    let mut start = 0;
    let mut parts = Vec::new();
    for at in 1..chars.len() {
        let rises = chars[at - 1].is_lowercase() && chars[at].is_uppercase();
        let ends_capitals = chars[at - 1].is_uppercase()
            && chars[at].is_uppercase()
            && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if rises || ends_capitals {
            parts.push(chars[start..at].iter().collect::<String>());
            start = at;
        }
    }
    if !parts.is_empty() {
        parts.push(chars[start..].iter().collect());
        terms.extend(parts.iter().map(|part| folded(part)));
    }
}

/// Pairs of characters among the words; single ones among the exact terms, which a question of one character finds.
fn unspaced(text: &str, view: View, terms: &mut Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    match view {
        View::Exact => terms.extend(chars.iter().map(char::to_string)),
        View::Words => terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
}

fn lower(word: &str) -> String {
    word.chars()
        .flat_map(char::to_lowercase)
        .take(MAX_CHARS)
        .collect()
}

/// Lower-case, and Latin and Greek letters without their marks, which people leave out.
fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase).take(MAX_CHARS) {
        if c.is_ascii()
            || !matches!(u32::from(c), 0x00c0..=0x024f | 0x0300..=0x036f | 0x0370..=0x03ff | 0x1e00..=0x1fff)
        {
            folded.push(c);
        } else {
            decompose_canonical(c, |part| {
                if !is_combining_mark(part) {
                    folded.push(part);
                }
            });
        }
    }
    folded
}

/// English stems of terms in Latin letters; a term with a digit is a name and stays.
fn stem(terms: &mut [String]) {
    let latin = |term: &String| term.bytes().all(|byte| byte.is_ascii_lowercase());
    let places: Vec<usize> = (0..terms.len()).filter(|place| latin(&terms[*place])).collect();
    let words = places
        .iter()
        .map(|place| std::mem::take(&mut terms[*place]))
        .collect();
    let mut stemmer = TextAnalyzer::builder(Given { words })
        .filter(Stemmer::new(Language::English))
        .build();
    let mut stems = stemmer.token_stream("");
    for place in places {
        if stems.advance() {
            terms[place].push_str(&stems.token().text);
        }
    }
}

/// Gives the words it was made with, whatever the text: how a filter of tantivy is applied to terms of ours.
#[derive(Clone, Debug)]
struct Given {
    words: Vec<String>,
}

impl Tokenizer for Given {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, _: &'a str) -> Terms {
        Terms::new(std::mem::take(&mut self.words))
    }
}

#[derive(Clone, Debug)]
struct ViewTokenizer {
    view: View,
}

impl Tokenizer for ViewTokenizer {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms {
        Terms::new(terms(text, self.view))
    }
}

struct Terms {
    rest: std::vec::IntoIter<String>,
    token: Token,
}

impl Terms {
    fn new(terms: Vec<String>) -> Self {
        Self {
            rest: terms.into_iter(),
            token: Token::default(),
        }
    }
}

impl TokenStream for Terms {
    fn advance(&mut self) -> bool {
        let Some(text) = self.rest.next() else {
            return false;
        };
        self.token.text = text;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(view: View, text: &str, expect: &[&str]) {
        assert_eq!(terms(text, view), expect, "{view:?} of {text:?}");
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        check(
            View::Words,
            "The Bridges were REPAIRED.",
            &["the", "bridg", "were", "repair"],
        );
        check(View::Words, "Résumé Ärzte ΑΘΉΝΑ", &["resum", "arzt", "αθηνα"]);
        check(View::Words, "ﬁle ｆｕｌｌ", &["file", "full"]);
        check(
            View::Words,
            "co\u{ad}operate zero\u{200b}width",
            &["cooper", "zerowidth"],
        );
    }

    #[test]
    fn exact_terms_keep_their_marks() {
        check(
            View::Exact,
            "Résumé of the Ärzte",
            &["résumé", "of", "the", "ärzte"],
        );
        check(
            View::Exact,
            "the dog’s, the dogs'",
            &["the", "dog", "the", "dogs"],
        );
    }

    #[test]
    fn identifiers_stay_whole_and_are_split_too() {
        check(View::Exact, "(SK-118-C),", &["sk", "118", "c", "sk-118-c"]);
        check(
            View::Exact,
            "HX40C–23–4588.",
            &["hx40c", "23", "4588", "hx40c-23-4588"],
        );
        check(View::Exact, "user_id:", &["user", "id", "user_id"]);
        check(
            View::Exact,
            "anna.berg@example.org",
            &["anna", "berg", "example", "org", "anna.berg@example.org"],
        );
        check(View::Exact, "v2.14.3", &["v2", "14", "3", "v2.14.3"]);
        check(
            View::Exact,
            "1,250,000 and a,b",
            &["1", "250", "000", "1250000", "1,250,000", "and", "a", "b"],
        );
        check(
            View::Exact,
            "C++ and C#, x-",
            &["c", "c++", "and", "c", "c#", "x"],
        );
        check(
            View::Words,
            "getUserName HTTPServer",
            &[
                "getusernam",
                "get",
                "user",
                "name",
                "httpserver",
                "http",
                "server",
            ],
        );
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        check(View::Words, "再生能源", &["再生", "生能", "能源"]);
        check(View::Words, "用BBDown下载", &["bbdown", "bb", "down", "下载"]);
        check(View::Exact, "猫 cat", &["猫", "cat"]);
        check(View::Words, "猫", &[]);
        check(View::Words, "データ", &["デー", "ータ"]);
        assert_eq!(terms("ใบอนุญาต", View::Words).len(), 7);
    }

    #[test]
    fn hostile_text_gives_bounded_terms() {
        for text in [
            "",
            "\u{0}\u{1}",
            "((((",
            "....",
            "-_-",
            "\u{202e}\u{feff}",
            "'''",
            ",,,",
            "👩‍🚀",
        ] {
            assert!(terms(text, View::Words).is_empty(), "{text:?}");
            assert!(terms(text, View::Exact).is_empty(), "{text:?}");
        }
        let long = "é".repeat(70_000);
        for view in [View::Words, View::Exact] {
            let terms = terms(&long, view);
            assert_eq!(terms.len(), 1);
            assert_eq!(terms[0].chars().count(), MAX_CHARS);
        }
    }
}
