//! Markdown: structure by lines, the text stays as written. Not a CommonMark parser: nothing nests, nothing backtracks.

use super::source_text::{Line, block_over, document, lines};
use adrag_core::ports::{Block, BlockKind, ParsedDocument};

pub(crate) fn read(text: String) -> ParsedDocument {
    let all = lines(&text);
    let mut reader = Reader {
        text: &text,
        all: &all,
        at: 0,
        blocks: Vec::new(),
        title: None,
    };
    reader.front_matter();
    while reader.at < all.len() {
        reader.step();
    }
    let Reader { blocks, title, .. } = reader;
    let title = title.or_else(|| {
        let first = blocks.iter().find(|block| block.kind == BlockKind::Heading(1))?;
        Some(text[first.start..first.end].to_owned())
    });
    let mut parsed = document("markdown", text, blocks);
    parsed.title = title;
    parsed
}

struct Reader<'a> {
    text: &'a str,
    all: &'a [Line<'a>],
    at: usize,
    blocks: Vec<Block>,
    title: Option<String>,
}

impl<'a> Reader<'a> {
    /// `--- ... ---` at the very top: settings of the page, of which the title is worth knowing.
    fn front_matter(&mut self) {
        if self.all[0].text.trim_end() != "---" {
            return;
        }
        let close = self
            .all
            .iter()
            .skip(1)
            .take(200)
            .position(|line| matches!(line.text.trim_end(), "---" | "..."));
        let Some(close) = close.map(|at| at + 1) else {
            return;
        };
        self.title = self.all[1..close].iter().find_map(|line| {
            let value = line.text.strip_prefix("title:")?.trim().trim_matches(['"', '\'']);
            (!value.is_empty()).then(|| value.to_owned())
        });
        self.take(BlockKind::Code, 0, close + 1);
    }

    fn step(&mut self) {
        let line = self.all[self.at];
        if line.is_blank() {
            self.at += 1;
        } else if let Some(fence) = fence(line.text) {
            self.fenced(fence);
        } else if let Some((level, from, to)) = atx(line.text) {
            self.blocks.extend(block_over(
                BlockKind::Heading(level),
                self.text,
                line.start + from,
                line.start + to,
            ));
            self.at += 1;
        } else if self.is_table() {
            self.table();
        } else if is_item(line.text) {
            self.item();
        } else if indent(line.text) >= 4 {
            self.indented();
        } else {
            self.paragraph();
        }
    }

    /// Makes one block of lines and moves behind them.
    fn take(&mut self, kind: BlockKind, from: usize, to: usize) {
        let end = self.all[to - 1].end();
        self.blocks
            .extend(block_over(kind, self.text, self.all[from].start, end));
        self.at = to;
    }

    fn fenced(&mut self, fence: (char, usize)) {
        let from = self.at;
        let mut to = from + 1;
        while to < self.all.len() {
            to += 1;
            let line = self.all[to - 1].text.trim();
            if line.len() >= fence.1 && line.chars().all(|c| c == fence.0) {
                break;
            }
        }
        self.take(BlockKind::Code, from, to);
    }

    fn is_table(&self) -> bool {
        self.all[self.at].text.contains('|')
            && self.all.get(self.at + 1).is_some_and(|next| {
                next.text.contains('-')
                    && next.text.contains('|')
                    && next
                        .text
                        .trim()
                        .chars()
                        .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
            })
    }

    fn table(&mut self) {
        let head = self.at;
        self.take(BlockKind::TableRow, head, head + 1);
        self.at = head + 2;
        while self.at < self.all.len() && self.all[self.at].text.contains('|') {
            let row = self.at;
            self.take(BlockKind::TableRow, row, row + 1);
        }
    }

    /// A list item with the lines that go on with it; nested items stand for themselves.
    fn item(&mut self) {
        let from = self.at;
        let mut to = from + 1;
        while to < self.all.len() {
            let line = self.all[to];
            let goes_on = if line.is_blank() {
                // A blank line continues an item only when an indented, plain line follows.
                self.all.get(to + 1).is_some_and(|next| {
                    !next.is_blank()
                        && indent(next.text) >= 2
                        && !is_item(next.text)
                        && fence(next.text).is_none()
                })
            } else {
                !starts_block(line.text)
            };
            if !goes_on {
                break;
            }
            to += 1;
        }
        self.take(BlockKind::ListItem, from, to);
    }

    fn indented(&mut self) {
        let from = self.at;
        let mut to = from + 1;
        while to < self.all.len() && !self.all[to].is_blank() && indent(self.all[to].text) >= 4 {
            to += 1;
        }
        self.take(BlockKind::Code, from, to);
    }

    fn paragraph(&mut self) {
        let from = self.at;
        let mut to = from + 1;
        while to < self.all.len() && !self.all[to].is_blank() {
            if let Some(level) = setext(self.all[to].text) {
                self.take(BlockKind::Heading(level), from, to);
                self.at = to + 1;
                return;
            }
            if starts_block(self.all[to].text) {
                break;
            }
            to += 1;
        }
        self.take(BlockKind::Prose, from, to);
    }
}

fn starts_block(line: &str) -> bool {
    fence(line).is_some() || atx(line).is_some() || is_item(line)
}

fn indent(line: &str) -> usize {
    line.chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

/// Mark and length of an opening code fence.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    (length >= 3 && !(mark == '`' && line[length..].contains('`'))).then_some((mark, length))
}

/// Level and title span of a `#` heading.
fn atx(line: &str) -> Option<(u8, usize, usize)> {
    let body = line.trim_start_matches(' ');
    let lead = line.len() - body.len();
    let level = body.chars().take_while(|c| *c == '#').count();
    if lead > 3 || !(1..=6).contains(&level) {
        return None;
    }
    let rest = &body[level..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim_end();
    let closed = title.trim_end_matches('#');
    let title = if closed.ends_with([' ', '\t']) {
        closed
    } else {
        title
    };
    let from = lead + level;
    Some((level as u8, from, from + title.len()))
}

fn setext(line: &str) -> Option<u8> {
    let rule = line.trim();
    if indent(line) > 3 || rule.len() < 2 {
        return None;
    }
    match rule.chars().next() {
        Some('=') if rule.chars().all(|c| c == '=') => Some(1),
        Some('-') if rule.chars().all(|c| c == '-') => Some(2),
        _ => None,
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return rest.starts_with([' ', '\t']) && rest.chars().any(char::is_alphanumeric);
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    (1..=9).contains(&digits) && {
        let rest = &line[digits..];
        rest.starts_with(". ") || rest.starts_with(") ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(BlockKind, &str)]) {
        let document = read(text.to_owned());
        let found: Vec<(BlockKind, &str)> = document
            .blocks
            .iter()
            .map(|block| (block.kind, &document.text[block.start..block.end]))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(document.text, text);
    }

    #[test]
    fn structure_is_found_and_text_is_kept() {
        use BlockKind::{Code, Heading, ListItem, Prose, TableRow};
        check(
            "# One #\n\nText\ngoes on\n- a\n- b\n  more\n\nTwo\n---\n```rs\nfn x() {}\n\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n",
            &[
                (Heading(1), "One"),
                (Prose, "Text\ngoes on"),
                (ListItem, "- a"),
                (ListItem, "- b\n  more"),
                (Heading(2), "Two"),
                (Code, "```rs\nfn x() {}\n\n```"),
                (TableRow, "| a | b |"),
                (TableRow, "| 1 | 2 |"),
            ],
        );
    }

    #[test]
    fn front_matter_names_the_title() {
        let document = read("---\ntitle: \"Q3 report\"\n---\n# Other\n".to_owned());
        assert_eq!(document.title.as_deref(), Some("Q3 report"));
    }

    #[test]
    fn marks_without_end_cost_no_time() {
        for mark in ["[", ">", "> ", "*", "`", "|", "- ", "#", "```\n"] {
            let document = read(mark.repeat(100_000));
            assert_eq!(document.text.len(), mark.len() * 100_000);
        }
    }
}
