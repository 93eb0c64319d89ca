//! JSON: the source text, broken into lines where it has none, one block for each element of the outermost level.

use super::failure::{ReadResult, Unreadable};
use super::limits::MAX_TEXT_BYTES;
use super::source_text::{block_over, document, read_code};
use adrag_core::ports::{BlockKind, ParsedDocument};
use serde::de::IgnoredAny;

/// A line longer than this is not made for reading.
const LONG_LINE: usize = 400;
/// Indentation stops growing here, so that deep nesting does not square the size.
const MAX_INDENT: usize = 16;

pub(crate) fn read(text: String) -> ReadResult<ParsedDocument> {
    if serde_json::from_str::<IgnoredAny>(&text).is_err() {
        let mut parsed = read_code("json", text);
        if !parsed.text.trim().is_empty() && !is_lines_of_json(&parsed.text) {
            parsed
                .remarks
                .push("not valid JSON, read as plain text".to_owned());
        }
        return Ok(parsed);
    }
    let text = if text.lines().any(|line| line.len() > LONG_LINE) {
        break_lines(&text)
    } else {
        text
    };
    if text.len() > MAX_TEXT_BYTES {
        return Err(Unreadable::too_much_text());
    }
    let mut blocks = Vec::new();
    let mut start = 0;
    for end in element_ends(&text) {
        blocks.extend(block_over(BlockKind::Code, &text, start, end));
        start = end;
    }
    blocks.extend(block_over(BlockKind::Code, &text, start, text.len()));
    Ok(document("json", text, blocks))
}

fn is_lines_of_json(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(20)
        .peekable();
    lines.peek().is_some() && lines.all(|line| serde_json::from_str::<IgnoredAny>(line).is_ok())
}

/// Walks the characters outside strings with the depth before each.
fn walk(text: &str, mut visit: impl FnMut(usize, char, usize)) {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, c) in text.char_indices() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        visit(at, c, depth);
        match c {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Places behind the commas of the outermost level.
fn element_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    walk(text, |at, c, depth| {
        if c == ',' && depth == 1 {
            ends.push(at + 1);
        }
    });
    ends
}

/// Adds line breaks after brackets and commas; nothing else changes.
fn break_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut from = 0;
    walk(text, |at, c, depth| {
        let (before, after) = match c {
            '{' | '[' => (None, Some(depth + 1)),
            ',' => (None, Some(depth)),
            '}' | ']' => (Some(depth.saturating_sub(1)), None),
            _ => return,
        };
        out.push_str(text[from..at].trim_matches([' ', '\n', '\t']));
        if let Some(depth) = before {
            new_line(&mut out, depth);
        }
        out.push(c);
        if let Some(depth) = after {
            new_line(&mut out, depth);
        }
        from = at + c.len_utf8();
    });
    out.push_str(text[from..].trim());
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', 2 * depth.min(MAX_INDENT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_stays_and_falls_into_elements() {
        let source = "{\n  \"name\": \"pump, large\",\n  \"parts\": [1, 2]\n}\n";
        let parsed = read(source.to_owned()).unwrap();
        assert_eq!(parsed.text, source);
        assert_eq!(parsed.blocks.len(), 2);
    }

    #[test]
    fn one_long_line_is_broken_without_changing_the_data() {
        let value: Vec<serde_json::Value> = (0..50)
            .map(|n| serde_json::json!({"id": n, "note": "a, [b] {c} \" \\"}))
            .collect();
        let source = serde_json::to_string(&value).unwrap();
        let parsed = read(source).unwrap();
        assert!(parsed.text.lines().count() > 100);
        assert_eq!(parsed.blocks.len(), 50);
        assert_eq!(
            serde_json::from_str::<Vec<serde_json::Value>>(&parsed.text).unwrap(),
            value
        );
    }

    #[test]
    fn what_is_no_json_is_still_text() {
        let parsed = read("{not json".to_owned()).unwrap();
        assert_eq!(parsed.text, "{not json");
        assert_eq!(parsed.remarks.len(), 1);
        assert_eq!(read("[".repeat(100_000)).unwrap().text.len(), 100_000);
    }
}
