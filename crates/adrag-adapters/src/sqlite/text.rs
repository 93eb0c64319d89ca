//! Extracted text in segments: a passage of a long document costs its own length, not the document's.

use super::error::Failure;
use super::{int, unsigned};
use rusqlite::{Transaction, params};

/// Bytes of a segment, give or take a character. Small enough to cut a passage cheaply, large enough to be few.
const SEGMENT: usize = 16 * 1024;

/// Keeps the text of a generation.
pub(super) fn keep(tx: &Transaction<'_>, generation: i64, text: &str) -> Result<(), Failure> {
    let mut insert =
        tx.prepare_cached("INSERT INTO segments (generation, start, text) VALUES (?1, ?2, ?3)")?;
    let mut start = 0;
    while start < text.len() {
        let mut end = (start + SEGMENT).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        insert.execute(params![
            generation,
            int(start as u64),
            &text.as_bytes()[start..end]
        ])?;
        start = end;
    }
    Ok(())
}

/// The text between two offsets of a generation whose text is `length` bytes long, both moved outward to character
/// boundaries, with the start really used.
pub(super) fn cut(
    tx: &Transaction<'_>,
    generation: i64,
    length: u64,
    start: u64,
    end: u64,
) -> Result<(u64, String), Failure> {
    let start = start.min(length);
    let end = end.clamp(start, length);
    let mut statement = tx.prepare_cached(
        "SELECT start, text FROM segments WHERE generation = ?1 AND start < ?3
            AND start >= (SELECT max(start) FROM segments WHERE generation = ?1 AND start <= ?2)
         ORDER BY start",
    )?;
    let mut rows = statement.query(params![generation, int(start), int(end.max(start + 1))])?;
    let mut base = None;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        base.get_or_insert(unsigned(row.get(0)?));
        let segment = row.get_ref(1)?;
        let segment = segment
            .as_blob()
            .map_err(|error| Failure::Stored(error.to_string()))?;
        bytes.extend_from_slice(segment);
    }
    let base = base.unwrap_or(start);
    let text = String::from_utf8(bytes).map_err(|error| Failure::Stored(error.to_string()))?;
    let short = || Failure::Stored("the text of a document is shorter than it should be".to_owned());
    let mut from = usize::try_from(start - base).map_err(|_| short())?;
    let mut to = usize::try_from(end - base).map_err(|_| short())?;
    if to > text.len() {
        return Err(short());
    }
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    Ok((base + from as u64, text[from..to].to_owned()))
}
