//! Paragraphs, tables, text boxes and notes of a part, in reading order.
//!
//! Insertions are read, deletions are not; of alternative contents the first that has text.

use super::super::failure::ReadResult;
use super::super::xml::{Token, attribute, walk};
use super::styles::{Styles, outline_level};
use super::table::Table;
use adrag_core::ports::BlockKind;
use quick_xml::events::BytesStart;

/// A piece of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Block(BlockKind, String),
    /// A reference to a footnote (`f`) or an endnote (`e`).
    Note(char, String),
}

/// What a part holds.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) items: Vec<Item>,
    /// The paragraph in the style "Title".
    pub(super) title: Option<String>,
}

impl Body {
    /// All text, a line a block.
    pub(super) fn plain_text(&self) -> String {
        let text: Vec<&str> = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Block(_, text) => Some(text.trim()).filter(|text| !text.is_empty()),
                Item::Note(..) => None,
            })
            .collect();
        text.join("\n")
    }
}

/// Reads the main part, a header or a footer.
pub(super) fn read(part: &str, styles: &Styles) -> ReadResult<Body> {
    let mut walker = Walker::new(styles);
    walk(super::WHAT, part, |token| {
        walker.token(token);
        Ok(())
    })?;
    Ok(walker.body)
}

/// Reads a part of notes: id and text of each.
pub(super) fn read_notes(part: &str, styles: &Styles) -> ReadResult<Vec<(String, String)>> {
    let mut walker = Walker::new(styles);
    let mut notes = Vec::new();
    let mut id = None;
    walk(super::WHAT, part, |token| {
        match &token {
            Token::Start(start) if matches!(start.local_name().as_ref(), "footnote" | "endnote") => {
                // Separator lines are notes of a type.
                id = attribute(start, "id")
                    .filter(|_| attribute(start, "type").is_none_or(|kind| kind == "normal"));
                walker.body = Body::default();
            }
            Token::End("footnote" | "endnote") => {
                let text = std::mem::take(&mut walker.body).plain_text();
                notes.extend(id.take().filter(|_| !text.is_empty()).map(|id| (id, text)));
            }
            _ => {}
        }
        walker.token(token);
        Ok(())
    })?;
    Ok(notes)
}

#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    outline: Option<u8>,
    numbered: bool,
    /// What stands behind it: notes, text boxes.
    after: Vec<Item>,
}

/// A place that takes blocks: the body, or a cell.
enum Place {
    Table(Table),
    /// A text box inside a paragraph: its blocks go behind the paragraph.
    Paragraph(Paragraph),
}

struct Walker<'a> {
    styles: &'a Styles,
    body: Body,
    places: Vec<Place>,
    /// Depth of the element being passed over, counted from it.
    skipping: usize,
    in_properties: usize,
    in_text: bool,
    /// For each open alternative content: whether a choice had text.
    alternatives: Vec<bool>,
    choices: Vec<usize>,
    characters: usize,
}

impl<'a> Walker<'a> {
    fn new(styles: &'a Styles) -> Self {
        Self {
            styles,
            body: Body::default(),
            places: Vec::new(),
            skipping: 0,
            in_properties: 0,
            in_text: false,
            alternatives: Vec::new(),
            choices: Vec::new(),
            characters: 0,
        }
    }

    fn token(&mut self, token: Token<'_>) {
        match token {
            Token::Start(_) if self.skipping > 0 => self.skipping += 1,
            Token::End(_) if self.skipping > 0 => self.skipping -= 1,
            Token::Text(_) if self.skipping > 0 => {}
            Token::Start(start) => self.start(start),
            Token::End(name) => self.end(name),
            Token::Text(text) if self.in_text => self.write(text),
            Token::Text(_) => {}
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) {
        let name = start.local_name();
        let name = name.as_ref();
        if self.in_properties > 0 {
            return self.property(name, start);
        }
        match name {
            "pPr" | "rPr" | "tblPr" | "trPr" | "tcPr" | "sectPr" | "sdtPr" => self.in_properties = 1,
            "del" | "moveFrom" | "delText" | "instrText" | "rt" => self.skipping = 1,
            "p" => self.places.push(Place::Paragraph(Paragraph::default())),
            "t" => self.in_text = true,
            "tab" => self.write("\t"),
            "br" | "cr" => self.write("\n"),
            "noBreakHyphen" => self.write("-"),
            "tbl" => self.places.push(Place::Table(Table::default())),
            "tr" => self.in_table(Table::start_row),
            "tc" => self.in_table(Table::start_cell),
            "footnoteReference" => self.note('f', start),
            "endnoteReference" => self.note('e', start),
            "AlternateContent" => self.alternatives.push(false),
            "Choice" if self.alternatives.last() == Some(&false) => self.choices.push(self.characters),
            "Choice" => self.skipping = 1,
            "Fallback" if self.alternatives.last() == Some(&true) => self.skipping = 1,
            "textpath" => {
                if let Some(text) = attribute(start, "string") {
                    self.write(&text);
                }
            }
            _ => {}
        }
    }

    fn property(&mut self, name: &str, start: &BytesStart<'_>) {
        self.in_properties += 1;
        let value = attribute(start, "val");
        match self.places.last_mut() {
            Some(Place::Paragraph(paragraph)) => match name {
                "pStyle" => paragraph.style = value,
                "outlineLvl" => paragraph.outline = outline_level(value.as_deref()),
                "numId" => paragraph.numbered = value.is_some_and(|id| id != "0"),
                _ => {}
            },
            Some(Place::Table(table)) => match name {
                "gridSpan" => table.span(value.and_then(|span| span.parse().ok()).unwrap_or(1)),
                "vMerge" => table.merged(value.as_deref() == Some("restart")),
                "tblHeader" => table.header_row(),
                _ => {}
            },
            None => {}
        }
    }

    fn end(&mut self, name: &str) {
        if self.in_properties > 0 {
            self.in_properties -= 1;
            return;
        }
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => self.in_table(Table::end_cell),
            "tr" => self.in_table(Table::end_row),
            "tbl" => {
                if let Some(Place::Table(table)) =
                    self.places.pop_if(|place| matches!(place, Place::Table(_)))
                {
                    for item in table.finish() {
                        self.emit(item);
                    }
                }
            }
            "Choice" => {
                let before = self.choices.pop();
                if let Some(alternative) = self.alternatives.last_mut() {
                    *alternative = before.is_some_and(|before| self.characters > before);
                }
            }
            "AlternateContent" => {
                self.alternatives.pop();
            }
            _ => {}
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(Place::Paragraph(paragraph)) = self.places.last_mut() {
            paragraph.text.push_str(text);
            self.characters += text.trim().len();
        }
    }

    fn note(&mut self, kind: char, start: &BytesStart<'_>) {
        if let (Some(id), Some(Place::Paragraph(paragraph))) =
            (attribute(start, "id"), self.places.last_mut())
        {
            paragraph.after.push(Item::Note(kind, id));
        }
    }

    fn in_table(&mut self, act: impl FnOnce(&mut Table)) {
        if let Some(Place::Table(table)) = self.places.last_mut() {
            act(table);
        }
    }

    fn end_paragraph(&mut self) {
        let Some(Place::Paragraph(paragraph)) =
            self.places.pop_if(|place| matches!(place, Place::Paragraph(_)))
        else {
            return;
        };
        let style = paragraph.style.as_deref().unwrap_or_default();
        let title = self.styles.is_title(style) && !paragraph.text.trim().is_empty();
        let kind = if title {
            self.body
                .title
                .get_or_insert_with(|| paragraph.text.trim().to_owned());
            BlockKind::Heading(1)
        } else if let Some(level) = paragraph.outline.or_else(|| self.styles.heading(style)) {
            BlockKind::Heading(level)
        } else if paragraph.numbered || self.styles.is_list(style) {
            BlockKind::ListItem
        } else {
            BlockKind::Prose
        };
        self.emit(Item::Block(kind, paragraph.text));
        for item in paragraph.after {
            self.emit(item);
        }
    }

    /// Gives a piece to the innermost open place.
    fn emit(&mut self, item: Item) {
        match (self.places.last_mut(), item) {
            (Some(Place::Table(table)), Item::Block(_, text)) => table.write(&text),
            // A note of a cell stands behind the table.
            (Some(Place::Table(table)), note) => table.after.push(note),
            (Some(Place::Paragraph(paragraph)), item) => paragraph.after.push(item),
            (None, item) => self.body.items.push(item),
        }
    }
}
