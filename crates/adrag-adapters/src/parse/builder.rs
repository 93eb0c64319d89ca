//! Collects text and blocks of a document whose text is made, not kept: pages, paragraphs, records.

use super::failure::{ReadResult, Unreadable};
use super::limits::MAX_TEXT_BYTES;
use adrag_core::ports::{Block, BlockKind, ParsedDocument};

/// Grows a document block by block, so that blocks are in order and apart by construction.
#[derive(Default)]
pub(crate) struct DocumentBuilder {
    text: String,
    blocks: Vec<Block>,
    /// Page that following blocks begin on.
    pub(crate) page: Option<u32>,
}

impl DocumentBuilder {
    /// Adds a block; its text is trimmed at the ends, and nothing is added when that leaves nothing.
    pub(crate) fn push(&mut self, kind: BlockKind, text: &str) -> ReadResult<()> {
        let text = match kind {
            BlockKind::Code => text.trim_end().trim_matches('\n'),
            _ => text.trim(),
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        if self.text.len() + text.len() + 2 > MAX_TEXT_BYTES {
            return Err(Unreadable::too_much_text());
        }
        if let Some(last) = self.blocks.last() {
            let together = last.kind == kind
                && last.page == self.page
                && matches!(kind, BlockKind::ListItem | BlockKind::TableRow)
                && !text.contains('\n');
            self.text.push_str(if together { "\n" } else { "\n\n" });
        }
        let start = self.text.len();
        push_clean(&mut self.text, text);
        self.blocks.push(Block {
            kind,
            start,
            end: self.text.len(),
            page: self.page,
        });
        Ok(())
    }

    /// Adds the blocks of a document that was read on its own: a chapter, a cell, the body of a message.
    pub(crate) fn append(&mut self, part: &ParsedDocument) -> ReadResult<()> {
        for block in &part.blocks {
            self.push(block.kind, &part.text[block.start..block.end])?;
        }
        Ok(())
    }

    /// The first heading, as a title where the format has none of its own.
    pub(crate) fn first_heading(&self) -> Option<String> {
        let block = self
            .blocks
            .iter()
            .find(|block| matches!(block.kind, BlockKind::Heading(_)))?;
        Some(self.text[block.start..block.end].to_owned())
    }

    pub(crate) fn finish(mut self, kind: &str) -> ParsedDocument {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        ParsedDocument {
            title: None,
            kind: kind.to_owned(),
            text: self.text,
            blocks: self.blocks,
            pages: None,
            remarks: Vec::new(),
        }
    }
}

/// Copies text without what no reader can see and no store wants: NUL, stray control characters, soft hyphens.
fn push_clean(into: &mut String, text: &str) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                if rest.peek() != Some(&'\n') {
                    into.push('\n');
                }
            }
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => into.push('\n'),
            '\n' | '\t' => into.push(c),
            '\u{ad}' | '\u{feff}' => {}
            c if c.is_control() => {}
            c => into.push(c),
        }
    }
}

/// A row of a table: `column: value` pairs where columns are known, else the cells; empty cells are left out.
pub(crate) fn row_text(columns: &[String], cells: &[String], separator: &str) -> String {
    let mut row = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let cell = cell.trim();
        if cell.is_empty() {
            continue;
        }
        if !row.is_empty() {
            row.push_str(separator);
        }
        if let Some(column) = columns
            .get(index)
            .map(|column| column.trim())
            .filter(|column| !column.is_empty())
        {
            row.push_str(column);
            row.push_str(": ");
        }
        row.push_str(cell);
    }
    row
}

/// Whether a first row names columns: several cells, all filled, all different, none of them a number.
pub(crate) fn names_columns(row: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    row.len() > 1
        && row.iter().all(|cell| {
            let cell = cell.trim();
            !cell.is_empty()
                && cell.chars().count() <= 120
                && cell.chars().any(char::is_alphabetic)
                && cell.replace(',', ".").parse::<f64>().is_err()
                && seen.insert(cell.to_lowercase())
        })
}
