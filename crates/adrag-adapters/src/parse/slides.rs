//! PowerPoint presentations: a slide is a page, its title a heading; tables as rows, the speaker's notes below.

use super::archive::Archive;
use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::records::Records;
use super::xml::{self, Token, attribute, walk};
use adrag_core::ports::{BlockKind, ParsedDocument};

/// The format as messages name it.
const WHAT: &str = "PPTX";

pub(crate) fn read(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let mut archive = Archive::open(bytes, WHAT)?;
    let slides = slides(&mut archive)?;
    let mut builder = DocumentBuilder::default();
    for (index, name) in slides.iter().enumerate() {
        builder.page = Some(u32::try_from(index + 1).unwrap_or(u32::MAX));
        let Some(part) = archive.read(name)? else {
            continue;
        };
        Slide::read(&part, false)?.write(&mut builder)?;
        let notes = xml::relations(&mut archive, name)?
            .into_iter()
            .find(|relation| relation.kind == "notesSlide");
        if let Some(notes) = notes
            && let Some(part) = archive.read(&notes.target)?
        {
            Slide::read(&part, true)?.write(&mut builder)?;
        }
    }
    let title = match archive.read("docProps/core.xml")? {
        Some(part) => xml::first_text(WHAT, &part, "title")?,
        None => None,
    };
    let title = title.or_else(|| builder.first_heading());
    let mut parsed = builder.finish("pptx");
    parsed.title = title;
    parsed.pages = u32::try_from(slides.len()).ok();
    Ok(parsed)
}

/// Names of the parts of the slides, in the order shown.
fn slides(archive: &mut Archive<'_>) -> ReadResult<Vec<String>> {
    let main = xml::relations(archive, "")?
        .into_iter()
        .find(|relation| relation.kind == "officeDocument")
        .map_or_else(|| "ppt/presentation.xml".to_owned(), |relation| relation.target);
    let part = archive
        .read(&main)?
        .ok_or_else(|| Unreadable::corrupt(WHAT, format!("it has no part `{main}`")))?;
    let relations = xml::relations(archive, &main)?;
    let mut slides = Vec::new();
    walk(WHAT, &part, |token| {
        if let Token::Start(start) = token
            && start.local_name().as_ref() == "sldId"
        {
            // `id` without a prefix is a number of its own; the relation's is the one that a relation bears.
            let target = start
                .attributes()
                .with_checks(false)
                .filter_map(Result::ok)
                .filter(|attribute| attribute.key.local_name().as_ref() == "id")
                .find_map(|attribute| {
                    let value = attribute
                        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                        .ok()?;
                    relations
                        .iter()
                        .find(|relation| relation.kind == "slide" && relation.id == *value)
                });
            slides.extend(target.map(|relation| relation.target.clone()));
        }
        Ok(())
    })?;
    Ok(slides)
}

enum Item {
    Title(String),
    Text(String),
    Row(Vec<(usize, String)>),
    TableEnd,
}

/// What a slide, or the page of its notes, holds.
struct Slide {
    items: Vec<Item>,
    /// Whether it is a page of notes: there only the notes count, not the slide shown again.
    notes: bool,
    /// Role of the shape under way: `title`, `body`, `sldNum`...; empty for a shape of no role.
    role: String,
    paragraph: String,
    cell: String,
    row: Vec<(usize, String)>,
    column: usize,
    in_text: bool,
    in_cell: bool,
    /// Depth in a fallback of what was read already.
    fallback: usize,
}

impl Slide {
    fn read(part: &str, notes: bool) -> ReadResult<Self> {
        let mut slide = Self {
            items: Vec::new(),
            notes,
            role: String::new(),
            paragraph: String::new(),
            cell: String::new(),
            row: Vec::new(),
            column: 0,
            in_text: false,
            in_cell: false,
            fallback: 0,
        };
        walk(WHAT, part, |token| {
            match token {
                Token::Start(start) if slide.fallback > 0 => {
                    slide.fallback += usize::from(start.local_name().as_ref() == "Fallback");
                }
                Token::Start(start) => match start.local_name().as_ref() {
                    "Fallback" => slide.fallback = 1,
                    "sp" => slide.role.clear(),
                    "ph" => slide.role = attribute(start, "type").unwrap_or_else(|| "body".to_owned()),
                    "t" => slide.in_text = true,
                    "br" | "tab" => slide.paragraph.push(' '),
                    "tr" => {
                        slide.row.clear();
                        slide.column = 0;
                    }
                    "tc" => {
                        slide.in_cell = true;
                        slide.cell.clear();
                    }
                    _ => {}
                },
                Token::End(name) => slide.end(name),
                Token::Text(text) if slide.in_text && slide.fallback == 0 => slide.paragraph.push_str(text),
                Token::Text(_) => {}
            }
            Ok(())
        })?;
        Ok(slide)
    }

    fn end(&mut self, name: &str) {
        if self.fallback > 0 {
            self.fallback -= usize::from(name == "Fallback");
            return;
        }
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                self.in_cell = false;
                self.row.push((self.column, std::mem::take(&mut self.cell)));
                self.column += 1;
            }
            "tr" => self.items.push(Item::Row(std::mem::take(&mut self.row))),
            "tbl" => self.items.push(Item::TableEnd),
            "sp" => self.role.clear(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.in_cell {
            if !self.cell.is_empty() {
                self.cell.push(' ');
            }
            self.cell.push_str(text);
            return;
        }
        match self.role.as_str() {
            // Of every slide the same: number, date, footer, and on notes the picture of the slide.
            "sldNum" | "dt" | "ftr" | "hdr" | "sldImg" => {}
            "title" | "ctrTitle" if !self.notes => self.items.push(Item::Title(text.to_owned())),
            "body" | "" if self.notes && self.role.is_empty() => {}
            _ => self.items.push(Item::Text(text.to_owned())),
        }
    }

    fn write(self, builder: &mut DocumentBuilder) -> ReadResult<()> {
        let title: Vec<&str> = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Title(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        builder.push(BlockKind::Heading(1), &title.join(" "))?;
        let mut records = Records::default();
        for item in self.items {
            match item {
                Item::Title(_) => {}
                Item::Text(text) => builder.push(BlockKind::Prose, &text)?,
                Item::Row(row) => records.push(builder, &row)?,
                Item::TableEnd => std::mem::take(&mut records).finish(builder)?,
            }
        }
        Ok(())
    }
}
