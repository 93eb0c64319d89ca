//! Tables as text: the delimiter is found by trying, malformed quotes lose no row.

use super::builder::{DocumentBuilder, names_columns, row_text};
use super::failure::ReadResult;
use adrag_core::ports::{BlockKind, ParsedDocument};

/// A quoted field longer than this was most likely never closed.
const MAX_QUOTED_BYTES: usize = 64 * 1024;
/// After so many unclosed quotes a quote is taken as an ordinary character.
const MAX_UNCLOSED: usize = 100;

/// Each row becomes a record of `column: value` lines.
pub(crate) fn read(text: &str) -> ReadResult<ParsedDocument> {
    let delimiter = sniff(text);
    let mut rows = Rows::new(text, delimiter);
    let mut builder = DocumentBuilder::default();
    let mut columns = Vec::new();
    let first = rows.next();
    let mut pending = None;
    if let Some(first) = first {
        if names_columns(&first) && delimiter != '\0' {
            columns = first;
        } else {
            pending = Some(first);
        }
    }
    let mut empty = true;
    for row in pending.into_iter().chain(rows) {
        let separator = if columns.is_empty() { ", " } else { "\n" };
        builder.push(BlockKind::TableRow, &row_text(&columns, &row, separator))?;
        empty = false;
    }
    if empty {
        builder.push(BlockKind::TableRow, &columns.join(", "))?;
    }
    Ok(builder.finish("csv"))
}

/// The delimiter by which most of the first rows have the same count of fields; NUL when none divides.
fn sniff(text: &str) -> char {
    let mut end = text.len().min(64 * 1024);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut best = ('\0', 0usize);
    for delimiter in [',', ';', '\t', '|'] {
        let counts: Vec<usize> = Rows::new(&text[..end], delimiter)
            .take(50)
            .map(|row| row.len())
            .filter(|count| *count > 1)
            .collect();
        let common = counts
            .iter()
            .map(|count| (counts.iter().filter(|other| *other == count).count(), *count))
            .max();
        let score = common.map_or(0, |(rows, fields)| rows * 100 + fields.min(99));
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// Reads records; blank lines are passed over.
struct Rows<'a> {
    text: &'a str,
    at: usize,
    delimiter: char,
    unclosed: usize,
}

impl<'a> Rows<'a> {
    fn new(text: &'a str, delimiter: char) -> Self {
        Self {
            text,
            at: 0,
            delimiter,
            unclosed: 0,
        }
    }

    /// A field, and whether the row goes on behind it.
    fn field(&mut self) -> (String, bool) {
        let rest = &self.text[self.at..];
        let lead = rest.len() - rest.trim_start_matches(' ').len();
        if rest[lead..].starts_with('"') && self.unclosed < MAX_UNCLOSED {
            match self.quoted(lead + 1) {
                Some((value, length)) => {
                    self.at += length;
                    return (value, self.pass_delimiter());
                }
                None => self.unclosed += 1,
            }
        }
        let end = rest.find(['\n', self.delimiter]).unwrap_or(rest.len());
        self.at += end;
        (rest[..end].to_owned(), self.pass_delimiter())
    }

    /// The value of a quoted field and its length with quotes, if it closes before a delimiter or a line end.
    fn quoted(&self, from: usize) -> Option<(String, usize)> {
        let rest = &self.text[self.at..];
        let mut value = String::new();
        let mut at = from;
        loop {
            let close = at
                + rest[at..]
                    .bytes()
                    .take(MAX_QUOTED_BYTES)
                    .position(|byte| byte == b'"')?;
            value.push_str(&rest[at..close]);
            let after = &rest[close + 1..];
            if after.starts_with('"') {
                value.push('"');
                at = close + 2;
                if value.len() > MAX_QUOTED_BYTES {
                    return None;
                }
                continue;
            }
            let blank = after.len() - after.trim_start_matches(' ').len();
            let ends = after[blank..]
                .chars()
                .next()
                .is_none_or(|c| c == '\n' || c == self.delimiter);
            return ends.then_some((value, close + 1 + blank));
        }
    }

    fn pass_delimiter(&mut self) -> bool {
        match self.text[self.at..].chars().next() {
            Some(c) if c == self.delimiter => {
                self.at += c.len_utf8();
                true
            }
            Some(_) => {
                self.at += 1;
                false
            }
            None => false,
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        loop {
            if self.at >= self.text.len() {
                return None;
            }
            let mut row = Vec::new();
            loop {
                let (value, more) = self.field();
                row.push(value);
                if !more {
                    break;
                }
            }
            if row.iter().any(|cell| !cell.trim().is_empty()) {
                return Some(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<String> {
        let document = read(text).unwrap();
        document
            .blocks
            .iter()
            .map(|block| document.text[block.start..block.end].to_owned())
            .collect()
    }

    #[test]
    fn every_delimiter_is_found() {
        for delimiter in [',', ';', '\t', '|'] {
            let text = "name,size\npump,3\nvalve,4\n".replace(',', &delimiter.to_string());
            assert_eq!(
                records(&text),
                ["name: pump\nsize: 3", "name: valve\nsize: 4"],
                "{delimiter:?}"
            );
        }
    }

    #[test]
    fn an_unclosed_quote_loses_no_row() {
        let found = records("id,name\n1,\"never closed\n2,Chen,extra\n\"3\",\"a \"\"b\"\" c\"\n4,last\n");
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[2], "id: 3\nname: a \"b\" c");
        assert_eq!(found[3], "id: 4\nname: last");
    }

    #[test]
    fn line_breaks_in_quotes_stay_in_the_field() {
        assert_eq!(records("a,b\n1,\"x\ny\"\n3,4\n"), ["a: 1\nb: x\ny", "a: 3\nb: 4"]);
    }

    #[test]
    fn hostile_shapes_end_soon() {
        read(&"a,".repeat(100_000)).unwrap();
        read(&"\"a\n".repeat(200_000)).unwrap();
        read(&format!("a,b\n1,\"{}\"\n", "x".repeat(2_000_000))).unwrap();
    }
}
