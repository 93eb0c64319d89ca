//! Citations in the text of an answer: reading them, and removing those that point nowhere.

use std::collections::BTreeSet;
use std::ops::Range;

/// Longest run of digits read as a citation number.
const MAX_DIGITS: usize = 3;

/// A bracket that holds citation numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its bytes, brackets included.
    pub span: Range<usize>,
    /// The numbers in it, in order.
    pub numbers: Vec<u32>,
}

/// The citation markers of a text: `[n]`, `[n, m]`, `[n; m]`, `[^n]`, `[^n, ^m]`.
///
/// An escaped bracket (`\[1]`), a link (`[1](...)`) and a footnote definition are no markers.
pub fn markers(text: &str) -> Vec<Marker> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('[').map(|offset| at + offset) {
        at = open + 1;
        let escaped = open > 0 && bytes[open - 1] == b'\\';
        let Some(close) = text[at..].find([']', '[', '\n']).map(|offset| at + offset) else {
            break;
        };
        if bytes[close] != b']' || escaped {
            continue;
        }
        let followed = bytes.get(close + 1).copied();
        if followed == Some(b'(') {
            continue;
        }
        if let Some(numbers) = numbers(&text[at..close]) {
            found.push(Marker {
                span: open..close + 1,
                numbers,
            });
            at = close + 1;
        }
    }
    found
}

fn numbers(inside: &str) -> Option<Vec<u32>> {
    inside
        .split([',', ';'])
        .map(|part| {
            let digits = part.trim().trim_start_matches('^');
            (!digits.is_empty() && digits.len() <= MAX_DIGITS && digits.bytes().all(|b| b.is_ascii_digit()))
                .then(|| digits.parse().ok())
                .flatten()
        })
        .collect()
}

/// A text whose every marker points at a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// The text, with each marker as `[n]` or `[n][m]`.
    pub text: String,
    /// The numbers it cites, ascending.
    pub numbers: BTreeSet<u32>,
    /// How many numbers were removed because no such passage exists.
    pub removed: u64,
}

/// Keeps the numbers from 1 to `passages` and removes all others, with the white space before a marker left empty.
pub fn validate(text: &str, passages: usize) -> Cited {
    let mut cited = Cited {
        text: String::with_capacity(text.len()),
        numbers: BTreeSet::new(),
        removed: 0,
    };
    let mut done = 0;
    for marker in markers(text) {
        cited.text.push_str(&text[done..marker.span.start]);
        done = marker.span.end;
        let before = cited.text.len();
        for number in marker.numbers {
            if (1..=passages).contains(&(number as usize)) {
                cited.numbers.insert(number);
                cited.text.push_str(&format!("[{number}]"));
            } else {
                cited.removed += 1;
            }
        }
        if cited.text.len() == before {
            cited.text.truncate(cited.text.trim_end_matches(' ').len());
        }
    }
    cited.text.push_str(&text[done..]);
    cited
}

/// Document text with whatever looks like a citation escaped, so that it is shown as it is and links nowhere.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut done = 0;
    for marker in markers(text) {
        escaped.push_str(&text[done..marker.span.start]);
        escaped.push('\\');
        done = marker.span.start;
    }
    escaped.push_str(&text[done..]);
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, passages: usize, expect: &str, numbers: &[u32], removed: u64) {
        let cited = validate(text, passages);
        assert_eq!(cited.text, expect);
        assert_eq!(cited.numbers, numbers.iter().copied().collect());
        assert_eq!(cited.removed, removed);
    }

    #[test]
    fn all_forms_are_read() {
        check(
            "a [1] b [2, 5] c [2][3] d [^4].",
            5,
            "a [1] b [2][5] c [2][3] d [4].",
            &[1, 2, 3, 4, 5],
            0,
        );
    }

    #[test]
    fn numbers_without_a_passage_are_removed_and_counted() {
        check("a [0] b [11]. c [1, 9]", 3, "a b. c [1]", &[1], 3);
    }

    #[test]
    fn what_only_looks_like_a_citation_stays() {
        check(
            "x[i] [a] [1](http://e) \\[2] [2024-01] [1234]",
            9,
            "x[i] [a] [1](http://e) \\[2] [2024-01] [1234]",
            &[],
            0,
        );
    }

    #[test]
    fn escaped_document_text_holds_no_marker() {
        let escaped = escape("see [1] and [2, 3]");
        assert_eq!(escaped, "see \\[1] and \\[2, 3]");
        assert!(markers(&escaped).is_empty());
    }

    #[test]
    fn ten_thousand_open_brackets_take_linear_time() {
        assert!(markers(&"[".repeat(10_000)).is_empty());
    }
}
