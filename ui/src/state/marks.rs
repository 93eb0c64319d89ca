//! Citations and claims of an answer, by byte offset into its Markdown.

use adrag_contract::Claim;
use std::collections::BTreeSet;
use std::ops::Range;

/// What is marked in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Spans of the claims, in order, each with its number in the answer's list.
    spans: Vec<(Range<usize>, usize)>,
    known: BTreeSet<u32>,
}

/// A piece of text with the number of the claim it lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String, Option<usize>),
    /// A reference to a citation.
    Citation(u32, Option<usize>),
}

impl Marks {
    /// The marks of these claims and citation numbers.
    pub fn new(claims: &[Claim], citations: impl IntoIterator<Item = u32>) -> Self {
        let mut spans: Vec<(Range<usize>, usize)> = claims
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.span.0 < claim.span.1)
            .map(|(number, claim)| (claim.span.0 as usize..claim.span.1 as usize, number))
            .collect();
        spans.sort_by_key(|(span, _)| span.start);
        Self {
            spans,
            known: citations.into_iter().collect(),
        }
    }

    /// The claim at a byte of the answer.
    pub fn claim_at(&self, at: usize) -> Option<usize> {
        let after = self.spans.partition_point(|(span, _)| span.start <= at);
        let (span, number) = self.spans.get(after.checked_sub(1)?)?;
        span.contains(&at).then_some(*number)
    }

    /// The numbers of a whole `[n]` or `[n, m]`, when all of them are citations of this answer.
    pub fn citation(&self, text: &str) -> Option<Vec<u32>> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let numbers: Vec<u32> = inner
            .split(',')
            .map(|number| {
                let digits = number.trim();
                let is_plain =
                    !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit());
                digits.parse().ok().filter(|n| is_plain && self.known.contains(n))
            })
            .collect::<Option<_>>()?;
        Some(numbers)
    }

    /// Splits adjoining text events of the answer at citations and at the bounds of claims.
    pub fn split(&self, source: &str, events: &[(impl AsRef<str>, Range<usize>)]) -> Vec<Piece> {
        let text: String = events.iter().map(|(text, _)| text.as_ref()).collect();
        let places = Places::new(source, events);
        let mut pieces = Vec::new();
        let mut from = 0;
        for (range, numbers) in self.citations_in(&text) {
            self.split_text(&text, from..range.start, &places, &mut pieces);
            let claim = self.claim_at(places.source_of(range.start));
            pieces.extend(numbers.into_iter().map(|n| Piece::Citation(n, claim)));
            from = range.end;
        }
        self.split_text(&text, from..text.len(), &places, &mut pieces);
        pieces
    }

    fn citations_in(&self, text: &str) -> Vec<(Range<usize>, Vec<u32>)> {
        const LONGEST: usize = 40;
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(open) = text[from..].find('[').map(|at| from + at) {
            let near = &text[open..text.floor_char_boundary(open + LONGEST)];
            let end = near.find(']').map(|at| open + at + 1);
            match end.and_then(|end| Some((end, self.citation(&text[open..end])?))) {
                Some((end, numbers)) => {
                    found.push((open..end, numbers));
                    from = end;
                }
                None => from = open + 1,
            }
        }
        found
    }

    fn split_text(&self, text: &str, range: Range<usize>, places: &Places, pieces: &mut Vec<Piece>) {
        let mut begin = range.start;
        let mut claim = None;
        for (at, _) in text[range.clone()].char_indices() {
            let at = range.start + at;
            let here = self.claim_at(places.source_of(at));
            if at > begin && here != claim {
                pieces.push(Piece::Text(text[begin..at].to_owned(), claim));
                begin = at;
            }
            claim = here;
        }
        if begin < range.end {
            pieces.push(Piece::Text(text[begin..range.end].to_owned(), claim));
        }
    }
}

/// Where the bytes of joined text events stand in the source; an entity stands where it begins.
struct Places {
    runs: Vec<(usize, usize, bool)>,
}

impl Places {
    fn new(source: &str, events: &[(impl AsRef<str>, Range<usize>)]) -> Self {
        let mut at = 0;
        let runs = events
            .iter()
            .map(|(text, range)| {
                let begin = at;
                at += text.as_ref().len();
                (
                    begin,
                    range.start,
                    source.get(range.clone()) == Some(text.as_ref()),
                )
            })
            .collect();
        Self { runs }
    }

    fn source_of(&self, at: usize) -> usize {
        let after = self.runs.partition_point(|(begin, ..)| *begin <= at);
        match after.checked_sub(1).and_then(|run| self.runs.get(run)) {
            Some((begin, source, true)) => source + (at - begin),
            Some((_, source, false)) => *source,
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::Verdict;

    fn marks(spans: &[(u64, u64)], known: &[u32]) -> Marks {
        let claims: Vec<Claim> = spans
            .iter()
            .map(|span| Claim {
                sentence: String::new(),
                span: *span,
                verdict: Verdict::Supported,
                support: None,
                citations: Vec::new(),
            })
            .collect();
        Marks::new(&claims, known.iter().copied())
    }

    #[test]
    fn only_numbers_of_this_answer_are_citations() {
        let marks = marks(&[], &[1, 2, 12]);
        for (text, numbers) in [
            ("[1]", Some(vec![1])),
            ("[1, 12]", Some(vec![1, 12])),
            ("[2,1]", Some(vec![2, 1])),
        ] {
            assert_eq!(marks.citation(text), numbers);
        }
        for text in [
            "[3]",
            "[1, 3]",
            "[]",
            "[ ]",
            "[-1]",
            "[+1]",
            "[1-2]",
            "[x]",
            "[00001]",
            "1",
            "[99999999999]",
        ] {
            assert_eq!(marks.citation(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_split_at_citations_and_claims() {
        let source = "One is so. [1] Two [9].";
        let pieces = marks(&[(0, 14), (15, 23)], &[1]).split(source, &[(source, 0..source.len())]);
        assert_eq!(
            pieces,
            [
                Piece::Text("One is so. ".to_owned(), Some(0)),
                Piece::Citation(1, Some(0)),
                Piece::Text(" ".to_owned(), None),
                Piece::Text("Two [9].".to_owned(), Some(1)),
            ]
        );
    }

    #[test]
    fn an_entity_does_not_shift_what_follows() {
        let source = "a &amp; b. C.";
        let events = [("a ", 0..2), ("&", 2..7), (" b. C.", 7..13)];
        let pieces = marks(&[(0, 10), (11, 13)], &[]).split(source, &events);
        assert_eq!(
            pieces,
            [
                Piece::Text("a & b.".to_owned(), Some(0)),
                Piece::Text(" ".to_owned(), None),
                Piece::Text("C.".to_owned(), Some(1)),
            ]
        );
    }

    #[test]
    fn spans_beyond_the_text_do_no_harm() {
        let marks = marks(&[(5, 500), (9, 3)], &[1]);
        assert_eq!(marks.claim_at(2), None);
        assert_eq!(marks.claim_at(499), Some(0));
        assert_eq!(marks.split("é[1]", &[("é[1]", 0..5)]).len(), 2);
    }
}
