//! A table under way: cells to rows, merged cells filled, rows to records.

use super::super::builder::{names_columns, row_text};
use super::body::Item;
use adrag_core::ports::BlockKind;

/// Widest span of a cell that is believed.
const MAX_SPAN: usize = 64;
/// A cell longer than this is layout, not data.
const LONG_CELL: usize = 1_200;

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
    span: usize,
    /// Whether the cell goes on from the one above.
    continued: bool,
    header: bool,
    /// Notes of its cells.
    pub(super) after: Vec<Item>,
}

impl Table {
    pub(super) fn start_row(&mut self) {
        self.row.clear();
    }

    pub(super) fn start_cell(&mut self) {
        self.cell.clear();
        self.span = 1;
        self.continued = false;
    }

    pub(super) fn span(&mut self, span: usize) {
        self.span = span.clamp(1, MAX_SPAN);
    }

    pub(super) fn merged(&mut self, restart: bool) {
        self.continued = !restart;
    }

    pub(super) fn header_row(&mut self) {
        self.header |= self.rows.is_empty();
    }

    pub(super) fn write(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.cell.is_empty() {
            self.cell.push('\n');
        }
        self.cell.push_str(text);
    }

    pub(super) fn end_cell(&mut self) {
        let column = self.row.len();
        let mut cell = std::mem::take(&mut self.cell);
        if self.continued && cell.is_empty() {
            let above = self.rows.last().and_then(|row| row.get(column));
            cell = above
                .filter(|above| above.len() <= 200)
                .cloned()
                .unwrap_or_default();
        }
        self.row.push(cell);
        self.row
            .extend(std::iter::repeat_n(String::new(), self.span.saturating_sub(1)));
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The blocks of the table: records where the first row names the columns, else rows of cells.
    pub(super) fn finish(self) -> Vec<Item> {
        let named = self.rows.len() > 1
            && self
                .rows
                .first()
                .is_some_and(|first| names_columns(first) || self.header && first.len() > 1);
        let mut columns: Vec<String> = Vec::new();
        let mut blocks = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let filled = row.iter().filter(|cell| !cell.is_empty()).count();
            if filled <= 1 || row.iter().any(|cell| cell.len() > LONG_CELL) {
                blocks.extend(row.iter().map(|cell| Item::Block(BlockKind::Prose, cell.clone())));
                continue;
            }
            let cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
            if index == 0 && named {
                blocks.push(Item::Block(BlockKind::TableRow, row_text(&[], &cells, " | ")));
                columns = cells;
            } else {
                let separator = if columns.is_empty() { " | " } else { "; " };
                blocks.push(Item::Block(
                    BlockKind::TableRow,
                    row_text(&columns, &cells, separator),
                ));
            }
        }
        blocks.extend(self.after);
        blocks
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
