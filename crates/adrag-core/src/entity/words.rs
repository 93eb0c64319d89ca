//! Words of a text with their form, and terms in quotation marks: two lazy passes over the characters.

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Begins with a capital.
    Capitalised,
    /// Two to six capitals.
    Acronym,
    /// Letters with digits, an inner capital or an underscore.
    Identifier,
    /// Digits.
    Number,
    /// Anything else.
    Lower,
    /// A run of Chinese, Japanese or Korean characters of any length.
    Cjk,
}

/// A word where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
    pub(super) form: Form,
}

impl Word<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// True for characters of scripts written without spaces or, like Hangul, without capitals but in runs.
pub(super) fn is_cjk(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30fe}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

fn is_word(character: char) -> bool {
    (character.is_alphanumeric() || character == '_') && !is_cjk(character)
}

/// The words, in order. Hyphens, apostrophes and ampersands join what they stand between, full stops join digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = text[at..].find(|character| is_word(character) || is_cjk(character))? + at;
        let cjk = text[begin..].starts_with(is_cjk);
        let end = if cjk {
            text[begin..]
                .find(|character| !is_cjk(character))
                .map_or(text.len(), |length| begin + length)
        } else {
            end_of_word(text, begin)
        };
        at = end;
        let word = &text[begin..end];
        Some(Word {
            start: begin,
            text: word,
            form: if cjk { Form::Cjk } else { form(word) },
        })
    })
}

fn end_of_word(text: &str, begin: usize) -> usize {
    let mut characters = text[begin..].char_indices().peekable();
    let mut before = ' ';
    let mut end = begin;
    while let Some((at, character)) = characters.next() {
        if !is_word(character) {
            let after = characters.peek().map_or(' ', |(_, after)| *after);
            let joins = match character {
                '-' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2019}' | '&' => is_word(after),
                '\u{ad}' => is_word(after),
                '.' => before.is_ascii_digit() && after.is_ascii_digit(),
                // A mark that belongs to the letter before it.
                _ => unicode_normalization::char::is_combining_mark(character),
            };
            if !joins {
                break;
            }
        }
        before = character;
        end = begin + at + character.len_utf8();
    }
    end
}

fn form(word: &str) -> Form {
    let (mut letters, mut digits, mut capitals, mut lower, mut inner, mut underscore) =
        (0, 0, 0, 0, false, false);
    let mut before_lower = false;
    for character in word.chars() {
        underscore |= character == '_';
        if character.is_numeric() {
            digits += 1;
        } else if character.is_alphabetic() {
            letters += 1;
            if character.is_uppercase() {
                capitals += 1;
                inner |= before_lower;
            } else if character.is_lowercase() {
                lower += 1;
            }
        }
        before_lower = character.is_lowercase();
    }
    let first_is_capital = word.chars().next().is_some_and(char::is_uppercase);
    if letters == 0 {
        Form::Number
    } else if digits > 0 && !is_ordinal(word) || inner || underscore && letters > 1 {
        Form::Identifier
    } else if capitals == letters && (2..=6).contains(&letters) {
        Form::Acronym
    } else if first_is_capital && (lower > 0 || letters > 6) {
        Form::Capitalised
    } else {
        Form::Lower
    }
}

/// `1st`, `22nd`, `80s`: digits and at most two small letters after them.
fn is_ordinal(word: &str) -> bool {
    let letters = word.trim_start_matches(|character: char| character.is_ascii_digit());
    letters.len() < word.len() && matches!(letters, "st" | "nd" | "rd" | "th" | "s")
}

/// True when only white space with at most one line break stands between two words.
pub(super) fn attached(text: &str, left: &Word<'_>, right: &Word<'_>) -> bool {
    let between = &text[left.end()..right.start];
    between.len() <= 8
        && !between.is_empty()
        && between.chars().all(char::is_whitespace)
        && between.matches('\n').count() <= 1
}

/// Terms in quotation marks, in order of their start.
pub(super) struct Quotes<'t> {
    text: &'t str,
    at: usize,
}

/// Most bytes between two quotation marks.
const QUOTED_BYTES: usize = 60;

/// Most words between two quotation marks.
const QUOTED_WORDS: usize = 6;

impl<'t> Quotes<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next term whose opening mark stands before `limit`.
    pub(super) fn next_before(&mut self, limit: usize) -> Option<&'t str> {
        while self.at < limit {
            let rest = &self.text[self.at..limit];
            let Some(offset) = rest.find(|character| closing(character).is_some()) else {
                self.at = limit;
                return None;
            };
            let open = self.at + offset;
            let mark = self.text[open..].chars().next()?;
            let begin = open + mark.len_utf8();
            self.at = begin;
            if let Some(length) = quoted(&self.text[begin..], closing(mark)?) {
                let term = self.text[begin..begin + length].trim();
                self.at = begin + length + 1;
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
                return Some(term);
            }
        }
        None
    }
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\u{201c}' | '\u{201e}' => Some('\u{201d}'),
        '«' => Some('»'),
        '`' => Some('`'),
        '「' => Some('」'),
        '《' => Some('》'),
        _ => None,
    }
}

/// Length of what stands before the closing mark, when it reads like a term.
fn quoted(text: &str, close: char) -> Option<usize> {
    for (at, character) in text.char_indices() {
        if at > QUOTED_BYTES || character == '\n' {
            return None;
        }
        // German opens low and closes with what others open with.
        if character == close || close == '\u{201d}' && character == '\u{201c}' {
            let term = &text[..at];
            let is_term = !term.trim().is_empty()
                && term.split_whitespace().count() <= QUOTED_WORDS
                && term.chars().any(char::is_alphanumeric);
            return is_term.then_some(at);
        }
    }
    None
}
