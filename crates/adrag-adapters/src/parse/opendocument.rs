//! OpenDocument texts, presentations and spreadsheets: one walk over `content.xml`. What was deleted under change tracking is
//! left out; a repeated cell is read once, so an empty grid of any size costs nothing.

use super::archive::Archive;
use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::records::Records;
use super::xml::{self, Token, attribute, walk};
use adrag_core::ports::{BlockKind, ParsedDocument};
use quick_xml::events::BytesStart;

/// Widest repetition of a cell with text that is believed.
const MAX_REPEATED: usize = 64;
/// Most blanks of one space element.
const MAX_BLANKS: usize = 64;

/// Reads a document of the kind `odt`, `odp` or `ods`.
pub(crate) fn read(kind: &'static str, bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let what = match kind {
        "ods" => "ODS",
        "odp" => "ODP",
        _ => "ODT",
    };
    let mut archive = Archive::open(bytes, what)?;
    if archive
        .read("META-INF/manifest.xml")?
        .is_some_and(|manifest| manifest.contains("encryption-data"))
    {
        return Err(Unreadable::password());
    }
    let content = archive
        .read("content.xml")?
        .ok_or_else(|| Unreadable::corrupt(what, "it has no part `content.xml`"))?;
    let title = match archive.read("meta.xml")? {
        Some(part) => xml::first_text(what, &part, "title")?,
        None => None,
    };
    let mut walker = Walker {
        sheet: kind == "ods",
        ..Walker::default()
    };
    walk(what, &content, |token| walker.token(&token))?;
    let pages = walker.page;
    let title = title.or_else(|| walker.builder.first_heading());
    let mut parsed = walker.builder.finish(kind);
    parsed.title = title;
    parsed.pages = (pages > 0).then_some(pages);
    Ok(parsed)
}

#[derive(Default)]
struct Walker {
    builder: DocumentBuilder,
    /// Whether it is a spreadsheet, whose tables bear names given by people.
    sheet: bool,
    page: u32,
    /// Depth inside something that is not read.
    unseen: usize,
    /// Paragraphs under way, outermost first: a note or a text box stands inside one.
    paragraphs: Vec<String>,
    heading: Option<u8>,
    lists: usize,
    notes: Vec<String>,
    in_note: bool,
    /// Tables under way; only the outermost makes records.
    tables: usize,
    records: Records,
    row: Vec<(usize, String)>,
    column: usize,
    repeated: usize,
    cell: String,
}

impl Walker {
    fn token(&mut self, token: &Token<'_>) -> ReadResult<()> {
        match token {
            Token::Start(start) => {
                let name = start.local_name();
                if self.unseen > 0 || is_unseen(name.as_ref()) {
                    self.unseen += 1;
                    return Ok(());
                }
                self.start(name.as_ref(), start)
            }
            Token::End(_) if self.unseen > 0 => {
                self.unseen -= 1;
                Ok(())
            }
            Token::End(name) => self.end(name),
            Token::Text(text) => {
                if self.unseen == 0
                    && let Some(paragraph) = self.paragraphs.last_mut()
                {
                    push_collapsed(paragraph, text);
                }
                Ok(())
            }
        }
    }

    fn start(&mut self, name: &str, start: &BytesStart<'_>) -> ReadResult<()> {
        let count = |name: &str| attribute(start, name).and_then(|value| value.parse::<usize>().ok());
        match name {
            "p" | "h" => {
                if name == "h" {
                    let level = count("outline-level").unwrap_or(1).clamp(1, 9);
                    self.heading = u8::try_from(level).ok();
                }
                self.paragraphs.push(String::new());
            }
            "s" => {
                let blanks = count("c").unwrap_or(1).min(MAX_BLANKS);
                self.write(&" ".repeat(blanks));
            }
            "tab" => self.write("\t"),
            "line-break" => self.write("\n"),
            "list" => self.lists += 1,
            "note-body" => self.in_note = true,
            "page" if self.tables == 0 => {
                self.page += 1;
                self.builder.page = Some(self.page);
            }
            "table" => {
                self.tables += 1;
                if self.tables == 1 {
                    self.records = Records::default();
                    if let Some(name) = attribute(start, "name").filter(|_| self.sheet) {
                        self.builder.push(BlockKind::Heading(1), &name)?;
                    }
                }
            }
            "table-row" if self.tables == 1 => {
                self.row.clear();
                self.column = 0;
            }
            "table-cell" | "covered-table-cell" if self.tables == 1 => {
                self.cell.clear();
                self.repeated = count("number-columns-repeated").unwrap_or(1).max(1);
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.push_str(text);
        }
    }

    fn end(&mut self, name: &str) -> ReadResult<()> {
        match name {
            "p" | "h" => self.end_paragraph()?,
            "list" => self.lists = self.lists.saturating_sub(1),
            "note-body" => self.in_note = false,
            "table-cell" | "covered-table-cell" if self.tables == 1 => {
                let text = std::mem::take(&mut self.cell);
                if !text.is_empty() {
                    for offset in 0..self.repeated.min(MAX_REPEATED) {
                        self.row.push((self.column + offset, text.clone()));
                    }
                }
                self.column = self.column.saturating_add(self.repeated);
            }
            "table-row" if self.tables == 1 => {
                let row = std::mem::take(&mut self.row);
                self.records.push(&mut self.builder, &row)?;
            }
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    std::mem::take(&mut self.records).finish(&mut self.builder)?;
                    self.push_notes()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_paragraph(&mut self) -> ReadResult<()> {
        let text = self.paragraphs.pop().unwrap_or_default();
        let text = text.trim();
        let heading = self.heading.take();
        if text.is_empty() {
            return Ok(());
        }
        if self.in_note {
            self.notes.push(text.to_owned());
            return Ok(());
        }
        if self.tables > 0 {
            if !self.cell.is_empty() {
                self.cell.push('\n');
            }
            self.cell.push_str(text);
            return Ok(());
        }
        let kind = match heading {
            Some(level) => BlockKind::Heading(level),
            None if self.lists > 0 => BlockKind::ListItem,
            None => BlockKind::Prose,
        };
        self.builder.push(kind, text)?;
        if self.paragraphs.is_empty() {
            self.push_notes()?;
        }
        Ok(())
    }

    fn push_notes(&mut self) -> ReadResult<()> {
        for note in std::mem::take(&mut self.notes) {
            self.builder.push(BlockKind::Prose, &note)?;
        }
        Ok(())
    }
}

/// What a reader of the document does not see: deletions, comments, and marks that stand for others.
fn is_unseen(name: &str) -> bool {
    matches!(
        name,
        "tracked-changes"
            | "annotation"
            | "note-citation"
            | "forms"
            | "scripts"
            | "shapes"
            | "settings"
            | "desc"
    )
}

/// White space in the source is one blank; blanks that are meant have elements of their own.
fn push_collapsed(into: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_ascii_whitespace() {
            if !into.ends_with([' ', '\n', '\t']) {
                into.push(' ');
            }
        } else {
            into.push(c);
        }
    }
}
