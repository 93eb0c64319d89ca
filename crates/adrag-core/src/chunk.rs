//! Cutting a document into chunks: along its structure, measured in the embedder's tokens.
//!
//! Headings, paragraphs, table rows and lines of code are never mixed up; a sentence is cut only when it alone is too
//! long. Every chunk is one contiguous span of the document's text.

use crate::ports::{Block, BlockKind, Chunk, DocumentKey, ParsedDocument, Tokenizer};
use crate::sentence::{lines, sentences, trim};
use adrag_contract::{ChunkId, ChunkingSettings, PageRange};
use std::ops::Range;
use uuid::Uuid;

/// Changes with the rules of this module; part of the index fingerprint.
pub const CHUNKER_VERSION: &str = "chunker-1";

/// Special tokens the embedder adds around a text.
const SPECIAL_TOKENS: usize = 2;
/// Most characters of a header.
const MAX_HEADER_CHARS: usize = 160;
/// A token of running text is far shorter; a longer average means one "word" the model cannot read.
const MAX_CHARS_PER_TOKEN: usize = 8;
/// A section shorter than this share of a chunk is joined with the next.
const SMALL_SECTION: f32 = 0.35;

/// Id of a chunk: a version-5 UUID of document, generation and number.
pub fn chunk_id(key: &DocumentKey, ordinal: u32) -> ChunkId {
    let name = format!("{}/{}/{ordinal}", key.document, key.generation);
    ChunkId::new(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string())
}

/// Cuts a document. `limit` is what the embedder reads of one text, in tokens.
pub fn chunk(
    document: &ParsedDocument,
    title: &str,
    key: &DocumentKey,
    settings: &ChunkingSettings,
    limit: usize,
    tokenizer: &dyn Tokenizer,
) -> Vec<Chunk> {
    let budget = (settings.max_tokens as usize)
        .min(limit.saturating_sub(SPECIAL_TOKENS))
        .max(16);
    let mut packer = Packer {
        text: &document.text,
        title,
        key,
        tokenizer,
        budget,
        overlap: (settings.overlap_tokens as usize).min(budget / 3),
        headings: Vec::new(),
        open: Vec::new(),
        open_tokens: 0,
        open_headings: Vec::new(),
        open_header: 0,
        chunks: Vec::new(),
    };
    for block in &document.blocks {
        packer.take(block);
    }
    packer.close();
    packer.chunks
}

/// A span that is not cut further, with what packing needs to know.
#[derive(Clone)]
struct Piece {
    span: Range<usize>,
    tokens: usize,
    kind: BlockKind,
    page: Option<u32>,
}

struct Packer<'a> {
    text: &'a str,
    title: &'a str,
    key: &'a DocumentKey,
    tokenizer: &'a dyn Tokenizer,
    budget: usize,
    overlap: usize,
    headings: Vec<(u8, String)>,
    open: Vec<Piece>,
    open_tokens: usize,
    /// Headings above the first piece of the open chunk.
    open_headings: Vec<String>,
    /// Tokens of the header those headings make.
    open_header: usize,
    chunks: Vec<Chunk>,
}

impl Packer<'_> {
    fn take(&mut self, block: &Block) {
        if let BlockKind::Heading(level) = block.kind {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            let small = (self.budget as f32 * SMALL_SECTION) as usize;
            if self.open_tokens >= small || self.open.iter().any(|piece| piece.kind == BlockKind::TableRow) {
                self.close();
            }
            self.headings.retain(|(above, _)| *above < level);
            let name = one_line(&self.text[block.start..block.end]);
            self.headings.push((level, name));
        }
        let room = self.budget.saturating_sub(self.header_tokens()).max(8);
        for piece in self.pieces(block, room) {
            self.push(piece);
        }
    }

    fn push(&mut self, piece: Piece) {
        if !self.open.is_empty() && self.open_header + self.open_tokens + piece.tokens > self.budget {
            let tail = self.tail(&piece);
            self.close();
            self.begin();
            let tail_tokens: usize = tail.iter().map(|piece| piece.tokens).sum();
            if self.open_header + tail_tokens + piece.tokens <= self.budget {
                self.open = tail;
                self.open_tokens = tail_tokens;
            }
        }
        if self.open.is_empty() {
            self.begin();
        }
        self.open_tokens += piece.tokens;
        self.open.push(piece);
    }

    /// The last sentences of the open chunk that the next one repeats: only prose goes on over a boundary.
    fn tail(&self, next: &Piece) -> Vec<Piece> {
        if next.kind != BlockKind::Prose || self.open.len() < 2 {
            return Vec::new();
        }
        let mut tail = Vec::new();
        let mut tokens = 0;
        for piece in self.open.iter().skip(1).rev() {
            tokens += piece.tokens;
            if piece.kind != BlockKind::Prose || tokens > self.overlap {
                break;
            }
            tail.push(piece.clone());
        }
        tail.reverse();
        tail
    }

    fn begin(&mut self) {
        self.open_headings = self.headings.iter().map(|(_, name)| name.clone()).collect();
        self.open_header = self.tokenizer.count(&header(self.title, &self.open_headings));
    }

    fn close(&mut self) {
        let (Some(first), Some(last)) = (self.open.first(), self.open.last()) else {
            return;
        };
        let span = first.span.start..last.span.end;
        let pages = first.page.map(|from| PageRange {
            first: from,
            last: last.page.unwrap_or(from).max(from),
        });
        let kind = first_of_most(&self.open);
        let mut above = self.open_headings.clone();
        if matches!(first.kind, BlockKind::Heading(_)) {
            above.pop();
        }
        let header = header(self.title, &above);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a document has far fewer than 2^32 chunks and tokens"
        )]
        let (ordinal, tokens) = (
            self.chunks.len() as u32,
            (self.tokenizer.count(&header) + self.open_tokens) as u32,
        );
        self.chunks.push(Chunk {
            id: chunk_id(self.key, ordinal),
            ordinal,
            start: span.start as u64,
            end: span.end as u64,
            pages,
            headings: self.open_headings.clone(),
            kind,
            text: self.text[span].to_owned(),
            header,
            tokens,
        });
        self.open.clear();
        self.open_tokens = 0;
    }

    fn header_tokens(&self) -> usize {
        let above: Vec<String> = self.headings.iter().map(|(_, name)| name.clone()).collect();
        self.tokenizer.count(&header(self.title, &above))
    }

    fn pieces(&self, block: &Block, room: usize) -> Vec<Piece> {
        let text = &self.text[block.start..block.end];
        let spans: Vec<Range<usize>> = match block.kind {
            BlockKind::Prose | BlockKind::ListItem => sentences(text),
            BlockKind::Heading(_) | BlockKind::TableRow => vec![trim(text, 0..text.len())],
            BlockKind::Code => lines(text)
                .map(|(at, line)| at..at + line.trim_end().len())
                .collect(),
        };
        let mut pieces = Vec::with_capacity(spans.len());
        for span in spans.into_iter().filter(|span| !span.is_empty()) {
            let span = block.start + span.start..block.start + span.end;
            for (span, tokens) in self.fit(span, room) {
                pieces.push(Piece {
                    span,
                    tokens,
                    kind: block.kind,
                    page: block.page,
                });
            }
        }
        pieces
    }

    /// Cuts a span into parts of at most `room` tokens, at white space where there is any.
    fn fit(&self, span: Range<usize>, room: usize) -> Vec<(Range<usize>, usize)> {
        let mut parts = Vec::new();
        let mut rest = span;
        while !rest.is_empty() {
            let longest = nth_char(self.text, rest.start, room * MAX_CHARS_PER_TOKEN).unwrap_or(rest.end);
            let mut end = longest.min(rest.end);
            let mut tokens = self.measure(rest.start..end);
            let one = next_char(self.text, rest.start);
            while tokens > room && end > one {
                let keep = ((end - rest.start) * room / tokens).max(1);
                end = char_floor(self.text, rest.start + keep).clamp(one, end - 1);
                end = char_floor(self.text, end).max(one);
                tokens = self.measure(rest.start..end);
            }
            if end < rest.end {
                let piece = &self.text[rest.start..end];
                if let Some(space) = piece.rfind(char::is_whitespace)
                    && space > piece.len() / 2
                {
                    end = rest.start + space;
                    tokens = self.measure(rest.start..end);
                }
            }
            let part = trim(self.text, rest.start..end);
            if !part.is_empty() {
                parts.push((part, tokens));
            }
            rest = trim(self.text, end..rest.end);
        }
        parts
    }

    /// Tokens of a span. A run the model cannot read counts by its length, or one chunk could hold a whole file.
    fn measure(&self, span: Range<usize>) -> usize {
        let text = &self.text[span];
        self.tokenizer
            .count(text)
            .max(text.chars().count().div_ceil(MAX_CHARS_PER_TOKEN))
    }
}

fn char_floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

fn nth_char(text: &str, start: usize, n: usize) -> Option<usize> {
    text[start..].char_indices().nth(n).map(|(at, _)| start + at)
}

fn one_line(text: &str) -> String {
    let line = text.trim().trim_start_matches('#').trim();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Title and headings above a chunk in one line, the middle left out when it is too long.
fn header(title: &str, headings: &[String]) -> String {
    let mut parts: Vec<String> = vec![cut(title, MAX_HEADER_CHARS / 2)];
    let mut rest: Vec<&String> = headings
        .iter()
        .filter(|heading| heading.as_str() != title)
        .collect();
    while rest
        .iter()
        .map(|heading| heading.chars().count() + 3)
        .sum::<usize>()
        > MAX_HEADER_CHARS / 2
        && rest.len() > 1
    {
        rest.remove(0);
    }
    parts.extend(rest.into_iter().map(|heading| cut(heading, MAX_HEADER_CHARS / 2)));
    parts.retain(|part| !part.is_empty());
    parts.join(" > ")
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

fn first_of_most(pieces: &[Piece]) -> BlockKind {
    let tokens_of = |kind: BlockKind| -> usize {
        pieces
            .iter()
            .filter(|piece| piece.kind == kind)
            .map(|piece| piece.tokens)
            .sum()
    };
    let mut best = BlockKind::Prose;
    let mut most = 0;
    for piece in pieces {
        if !matches!(piece.kind, BlockKind::Heading(_)) && tokens_of(piece.kind) > most {
            most = tokens_of(piece.kind);
            best = piece.kind;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::embedder::WordTokenizer;
    use adrag_contract::DocumentId;
    use proptest::prelude::*;

    fn key() -> DocumentKey {
        DocumentKey {
            document: DocumentId::new("d"),
            generation: 1,
        }
    }

    fn settings(max_tokens: u32) -> ChunkingSettings {
        ChunkingSettings {
            max_tokens,
            overlap_tokens: 6,
        }
    }

    fn document(parts: &[(BlockKind, &str)]) -> ParsedDocument {
        let mut document = ParsedDocument::default();
        for (kind, text) in parts {
            let start = document.text.len();
            document.text.push_str(text);
            document.blocks.push(Block {
                kind: *kind,
                start,
                end: document.text.len(),
                page: None,
            });
            document.text.push_str("\n\n");
        }
        document
    }

    fn cut_up(document: &ParsedDocument, max_tokens: u32) -> Vec<Chunk> {
        chunk(
            document,
            "Pumps",
            &key(),
            &settings(max_tokens),
            256,
            &WordTokenizer,
        )
    }

    #[test]
    fn a_chunk_knows_its_headings_and_its_span() {
        let document = document(&[
            (BlockKind::Heading(1), "Pumps"),
            (BlockKind::Prose, &"The pump runs well. ".repeat(12)),
            (BlockKind::Heading(2), "Seals"),
            (BlockKind::Prose, "Seal kit SK-118-C fits."),
        ]);
        let chunks = cut_up(&document, 40);
        let last = chunks.last().expect("chunks");
        assert_eq!(last.headings, ["Pumps", "Seals"]);
        assert!(last.text.contains("SK-118-C"));
        for chunk in &chunks {
            assert_eq!(
                &document.text[chunk.start as usize..chunk.end as usize],
                chunk.text
            );
            assert!(chunk.tokens <= 40, "{chunk:?}");
        }
    }

    #[test]
    fn prose_overlaps_by_whole_sentences_and_rows_do_not() {
        let prose = document(&[(
            BlockKind::Prose,
            "One two three. Four five six. Seven eight nine. Ten eleven twelve. Thirteen fourteen fifteen. Last one here.",
        )]);
        let chunks = cut_up(&prose, 16);
        assert!(chunks.len() > 1);
        assert!(
            chunks[1].start < chunks[0].end,
            "the second chunk repeats the end of the first"
        );
        let rows = document(&[(BlockKind::TableRow, "part: A price: 1 place: B"); 8]);
        let chunks = cut_up(&rows, 16);
        assert!(chunks.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }

    #[test]
    fn one_endless_word_is_cut_and_nothing_is_lost() {
        let word = "x".repeat(70_000);
        let chunks = cut_up(&document(&[(BlockKind::Prose, &word)]), 40);
        assert!(chunks.len() > 10);
        assert_eq!(chunks.iter().map(|chunk| chunk.text.len()).sum::<usize>(), 70_000);
    }

    #[test]
    fn ids_depend_on_document_generation_and_number_only() {
        let other = DocumentKey {
            generation: 2,
            ..key()
        };
        assert_eq!(chunk_id(&key(), 0), chunk_id(&key(), 0));
        assert_ne!(chunk_id(&key(), 0), chunk_id(&key(), 1));
        assert_ne!(chunk_id(&key(), 0), chunk_id(&other, 0));
    }

    proptest! {
        #[test]
        fn every_word_of_any_document_is_in_some_chunk(words in prop::collection::vec("[a-zé水]{1,12}[.]?", 1..200), kinds in prop::collection::vec(0_u8..5, 1..8)) {
            let size = words.len().div_ceil(kinds.len()).max(1);
            let texts: Vec<(BlockKind, String)> = words.chunks(size).zip(kinds.iter().cycle()).map(|(words, kind)| (match kind {
                0 => BlockKind::Heading(1),
                1 => BlockKind::Prose,
                2 => BlockKind::ListItem,
                3 => BlockKind::TableRow,
                _ => BlockKind::Code,
            }, words.join(" "))).collect();
            let parts: Vec<(BlockKind, &str)> = texts.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
            let document = document(&parts);
            let chunks = cut_up(&document, 24);
            let all: String = chunks.iter().map(|chunk| format!("{} ", chunk.text)).collect();
            for word in &words {
                prop_assert!(all.contains(word.as_str()));
            }
            for chunk in &chunks {
                prop_assert_eq!(&document.text[chunk.start as usize..chunk.end as usize], chunk.text.as_str());
            }
        }
    }
}
