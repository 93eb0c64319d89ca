//! Documents whose text stays the source text: plain text, source code, Markdown. Blocks point into it.

use adrag_core::ports::{Block, BlockKind, ParsedDocument};

/// A line of a text: its bytes without the line end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    text.split('\n')
        .map(|line| {
            let found = Line { start, text: line };
            start += line.len() + 1;
            found
        })
        .collect()
}

pub(super) fn document(kind: &str, text: String, blocks: Vec<Block>) -> ParsedDocument {
    ParsedDocument {
        title: None,
        kind: kind.to_owned(),
        text,
        blocks,
        pages: None,
        remarks: Vec::new(),
    }
}

/// A block over whole lines, without white space at its ends; nothing when only white space is left.
pub(super) fn block_over(kind: BlockKind, text: &str, start: usize, end: usize) -> Option<Block> {
    let span = &text[start..end];
    let trimmed_end = start + span.trim_end().len();
    let lead = match kind {
        // Indentation of the first line is part of code.
        BlockKind::Code => {
            let before = span.len() - span.trim_start().len();
            span[..before].rfind('\n').map_or(0, |at| at + 1)
        }
        _ => span.len() - span.trim_start().len(),
    };
    let trimmed_start = start + lead;
    (trimmed_start < trimmed_end).then_some(Block {
        kind,
        start: trimmed_start,
        end: trimmed_end,
        page: None,
    })
}

/// Plain text: paragraphs between blank lines; a line underlined with `=` or `-` is a heading.
pub(crate) fn read_plain(text: String) -> ParsedDocument {
    let all = lines(&text);
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut index = 0;
    while index < all.len() {
        let line = all[index];
        if line.is_blank() {
            close(&text, &mut blocks, &mut open, line.start);
        } else if let Some(level) = all
            .get(index + 1)
            .and_then(|next| underline(line.text, next.text))
            .filter(|_| open.is_none())
        {
            blocks.extend(block_over(
                BlockKind::Heading(level),
                &text,
                line.start,
                line.end(),
            ));
            index += 1;
        } else if open.is_none() {
            open = Some(line.start);
        }
        index += 1;
    }
    let end = text.len();
    close(&text, &mut blocks, &mut open, end);
    document("text", text, blocks)
}

/// Source code: one block between blank lines.
pub(crate) fn read_code(language: &str, text: String) -> ParsedDocument {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    for line in lines(&text) {
        if line.is_blank() {
            if let Some(start) = open.take() {
                blocks.extend(block_over(BlockKind::Code, &text, start, line.start));
            }
        } else if open.is_none() {
            open = Some(line.start);
        }
    }
    if let Some(start) = open {
        blocks.extend(block_over(BlockKind::Code, &text, start, text.len()));
    }
    document(language, text, blocks)
}

fn close(text: &str, blocks: &mut Vec<Block>, open: &mut Option<usize>, end: usize) {
    if let Some(start) = open.take() {
        blocks.extend(block_over(BlockKind::Prose, text, start, end));
    }
}

/// The level of a heading that the next line underlines; the rule must be about as long as the title.
fn underline(title: &str, rule: &str) -> Option<u8> {
    let rule = rule.trim_end();
    let mark = rule
        .chars()
        .next()
        .filter(|mark| matches!(mark, '=' | '-' | '~'))?;
    let length = title.trim_end().chars().count();
    let fits = rule.chars().all(|c| c == mark) && rule.len() >= 3 && rule.len().abs_diff(length) <= 3;
    (fits && length <= 120 && title.chars().any(char::is_alphanumeric)).then_some(match mark {
        '=' => 1,
        '-' => 2,
        _ => 3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(document: &ParsedDocument) -> Vec<(BlockKind, &str)> {
        document
            .blocks
            .iter()
            .map(|block| (block.kind, &document.text[block.start..block.end]))
            .collect()
    }

    #[test]
    fn paragraphs_and_underlined_titles() {
        let document = read_plain("Title\n=====\n\nOne\ntwo.\n\n\n  Three.\n".to_owned());
        assert_eq!(
            kinds(&document),
            [
                (BlockKind::Heading(1), "Title"),
                (BlockKind::Prose, "One\ntwo."),
                (BlockKind::Prose, "Three.")
            ]
        );
    }

    #[test]
    fn code_keeps_its_first_indentation() {
        let document = read_code(
            "python",
            "class A:\n    x = 1\n\n    def f(self):\n        pass\n".to_owned(),
        );
        assert_eq!(
            kinds(&document),
            [
                (BlockKind::Code, "class A:\n    x = 1"),
                (BlockKind::Code, "    def f(self):\n        pass")
            ]
        );
    }
}
