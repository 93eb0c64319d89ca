//! Sentences of a text, as byte spans. One deterministic rule set for chunking, quoting and checking alike.
//!
//! Unicode sentence boundaries (UAX #29, `unicode-segmentation`), repaired where they are known to cut too early:
//! abbreviations, initials, numbered references, and single line breaks of hard-wrapped text.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A sentence shorter than this is read with the next.
const SHORT_BYTES: usize = 48;
/// Units of a text that are looked at.
const MAX_UNITS: usize = 24;
/// Sentences between the beginnings of two windows.
const WINDOW_STEP: usize = 2;

/// Words before a full stop that does not end a sentence, lower case.
const ABBREVIATIONS: &[&str] = &[
    "al", "approx", "art", "bzw", "ca", "cf", "co", "corp", "dept", "dr", "ed", "eds", "eq", "est", "etc",
    "fig", "figs", "gen", "hon", "inc", "jr", "ltd", "max", "min", "mr", "mrs", "ms", "mt", "no", "nos",
    "nr", "op", "p", "pp", "prof", "resp", "rev", "sec", "sr", "st", "tab", "usw", "v", "vgl", "viz", "vol",
    "vs",
];

/// The sentences of a text: byte spans without surrounding white space, in order, never empty.
///
/// A blank line always ends a sentence; a single line break never does by itself.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for paragraph in paragraphs(text) {
        let unwrapped: String = text[paragraph.clone()]
            .chars()
            .map(|c| if c == '\n' { ' ' } else { c })
            .collect();
        let mut open: Option<Range<usize>> = None;
        for (at, piece) in unwrapped.split_sentence_bound_indices() {
            let span = at..at + piece.len();
            open = Some(match open {
                Some(before) if continues(&unwrapped[before.clone()], piece) => before.start..span.end,
                Some(before) => {
                    push_trimmed(&mut spans, text, paragraph.start, before);
                    span
                }
                None => span,
            });
        }
        if let Some(last) = open {
            push_trimmed(&mut spans, text, paragraph.start, last);
        }
    }
    spans
}

fn push_trimmed(spans: &mut Vec<Range<usize>>, text: &str, offset: usize, span: Range<usize>) {
    let span = trim(text, offset + span.start..offset + span.end);
    if !span.is_empty() {
        spans.push(span);
    }
}

/// The sentences of a passage, short ones joined with the next, long records by line.
pub fn units(text: &str) -> Vec<Range<usize>> {
    /// A longer stretch without a sentence's end is a table or code: its lines are the units.
    const RECORD_BYTES: usize = 280;
    let mut units: Vec<Range<usize>> = Vec::new();
    for span in sentences(text) {
        let parts: Vec<Range<usize>> = if span.len() > RECORD_BYTES && text[span.clone()].contains('\n') {
            lines(&text[span.clone()])
                .map(|(at, line)| trim(text, span.start + at..span.start + at + line.len()))
                .filter(|line| !line.is_empty())
                .collect()
        } else {
            vec![span]
        };
        for part in parts {
            match units.last_mut() {
                Some(last) if last.len() < SHORT_BYTES && part.start - last.end <= 2 => last.end = part.end,
                _ => units.push(part),
            }
        }
    }
    units.truncate(MAX_UNITS);
    units
}

/// Windows of so many consecutive sentences, each beginning two sentences after the one before; the text itself when it
/// has no more sentences than one window.
pub fn windows(text: &str, size: usize) -> Vec<Range<usize>> {
    let spans = sentences(text);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    if spans.len() <= size {
        return std::iter::once(first.start..last.end).collect();
    }
    (0..spans.len() - size + WINDOW_STEP)
        .step_by(WINDOW_STEP)
        .map(|at| spans[at].start..spans[(at + size).min(spans.len()) - 1].end)
        .collect()
}

/// A span without the white space at its ends.
pub fn trim(text: &str, span: Range<usize>) -> Range<usize> {
    let piece = &text[span.clone()];
    let start = span.start + (piece.len() - piece.trim_start().len());
    let end = start + piece.trim().len();
    start..end
}

fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut blank_from: Option<usize> = None;
    for (at, line) in lines(text) {
        if line.trim().is_empty() {
            blank_from.get_or_insert(at);
        } else if let Some(end) = blank_from.take() {
            found.push(start..end);
            start = at;
        }
    }
    found.push(start..text.len());
    found.retain(|span| !text[span.clone()].trim().is_empty());
    found
}

/// Lines with their first byte; a line keeps its `\n`.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// True when the boundary between `before` and `next` is none.
fn continues(before: &str, next: &str) -> bool {
    let trimmed = before.trim_end();
    if next
        .trim_start()
        .starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | ';' | ')' | ']'))
    {
        return true;
    }
    let Some(stem) = trimmed.strip_suffix('.') else {
        return false;
    };
    let word = stem
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '.'))
        .next()
        .unwrap_or_default();
    let letters = word.chars().count();
    let initial = letters == 1 && word.chars().all(char::is_uppercase);
    let dotted = stem.ends_with("e.g") || stem.ends_with("i.e") || stem.ends_with("z.B");
    initial || dotted || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let got: Vec<&str> = sentences(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn splits_at_full_stops_and_marks() {
        check("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]);
    }

    #[test]
    fn abbreviations_and_initials_do_not_end_a_sentence() {
        check(
            "Dr. A. Lindqvist wrote Fig. 3. It shows e.g. Pumps.",
            &["Dr. A. Lindqvist wrote Fig. 3.", "It shows e.g. Pumps."],
        );
    }

    #[test]
    fn a_hard_wrapped_line_goes_on_and_a_blank_line_ends() {
        check(
            "The pump\nfailed twice.\n\nNew part",
            &["The pump\nfailed twice.", "New part"],
        );
    }

    #[test]
    fn chinese_full_stops_count() {
        check("泵坏了。换了新泵。", &["泵坏了。", "换了新泵。"]);
    }

    #[test]
    fn windows_cover_every_sentence_and_overlap() {
        let text = "A one. B two. C three. D four. E five. F six.";
        let got: Vec<&str> = windows(text, 3).into_iter().map(|span| &text[span]).collect();
        assert_eq!(
            got,
            [
                "A one. B two. C three.",
                "C three. D four. E five.",
                "E five. F six."
            ]
        );
        let short = windows("One. Two.", 3);
        assert_eq!((short.len(), &short[0]), (1, &(0..9)));
    }

    #[test]
    fn nothing_comes_of_white_space() {
        check(" \n\n \t\n", &[]);
    }
}
