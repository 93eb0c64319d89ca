//! Rows of a sheet to records: a line of titles above, a row that names the columns, then `column: value` pairs. Sparse:
//! a cell far to the right costs no more than one near.

use super::builder::{DocumentBuilder, names_columns, row_text};
use super::failure::ReadResult;
use adrag_core::ports::BlockKind;
use std::collections::BTreeMap;

/// One table under way; make a new one for each sheet.
#[derive(Default)]
pub(crate) struct Records {
    /// Name of each column by its number, once a row named them.
    columns: BTreeMap<usize, String>,
    /// Whether a row of several cells was seen: the first decides about names.
    begun: bool,
    /// Rows written below the one that names the columns.
    written: bool,
}

impl Records {
    /// Adds a row: column numbers, 0-based and rising, with their text. Cells without text are none.
    pub(crate) fn push(&mut self, builder: &mut DocumentBuilder, row: &[(usize, String)]) -> ReadResult<()> {
        let row: Vec<(usize, &str)> = row
            .iter()
            .map(|(column, text)| (*column, text.trim()))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        match row.as_slice() {
            [] => return Ok(()),
            [(_, text)] if !self.begun => return builder.push(BlockKind::Prose, text),
            _ => {}
        }
        let cells: Vec<String> = row.iter().map(|(_, text)| (*text).to_owned()).collect();
        if !self.begun {
            self.begun = true;
            if names_columns(&cells) {
                self.columns = row
                    .iter()
                    .map(|(column, text)| (*column, one_line(text)))
                    .collect();
                return Ok(());
            }
        }
        self.written = true;
        let names: Vec<String> = row
            .iter()
            .map(|(column, _)| self.columns.get(column).cloned().unwrap_or_default())
            .collect();
        let separator = if self.columns.is_empty() { ", " } else { "\n" };
        builder.push(BlockKind::TableRow, &row_text(&names, &cells, separator))
    }

    /// Ends the table: names of columns without a row below them are text all the same.
    pub(crate) fn finish(self, builder: &mut DocumentBuilder) -> ReadResult<()> {
        if self.written || self.columns.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.columns.into_values().collect();
        builder.push(BlockKind::TableRow, &names.join(", "))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(rows: &[&[(usize, &str)]]) -> Vec<(BlockKind, String)> {
        let mut builder = DocumentBuilder::default();
        let mut records = Records::default();
        for row in rows {
            let row: Vec<(usize, String)> = row
                .iter()
                .map(|(column, text)| (*column, (*text).to_owned()))
                .collect();
            records.push(&mut builder, &row).unwrap();
        }
        records.finish(&mut builder).unwrap();
        let document = builder.finish("xlsx");
        document
            .blocks
            .iter()
            .map(|block| (block.kind, document.text[block.start..block.end].to_owned()))
            .collect()
    }

    #[test]
    fn a_title_above_then_names_then_records() {
        use BlockKind::{Prose, TableRow};
        assert_eq!(
            blocks(&[
                &[(0, "Stock in March")],
                &[],
                &[(1, "part"), (3, "count")],
                &[(1, "seal"), (3, "4"), (16_383, "far")],
                &[(1, "pump")],
            ]),
            [
                (Prose, "Stock in March".to_owned()),
                (TableRow, "part: seal\ncount: 4\nfar".to_owned()),
                (TableRow, "part: pump".to_owned()),
            ]
        );
    }

    #[test]
    fn numbers_name_nothing_and_names_alone_are_kept() {
        assert_eq!(blocks(&[&[(0, "1"), (1, "2")]])[0].1, "1, 2");
        assert_eq!(blocks(&[&[(0, "part"), (1, "count")]])[0].1, "part, count");
    }
}
