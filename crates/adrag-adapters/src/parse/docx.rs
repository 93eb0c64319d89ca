//! Word documents: the parts of the archive that hold text, walked without building a tree.

mod body;
mod styles;
mod table;

use super::archive::Archive;
use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::xml;
use adrag_core::ports::{BlockKind, ParsedDocument};
use body::{Body, Item};
use std::collections::{BTreeMap, HashSet};

/// The format as messages name it.
const WHAT: &str = "DOCX";

pub(crate) fn read(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let mut archive = Archive::open(bytes, WHAT)?;
    let main = xml::relations(&mut archive, "")?
        .into_iter()
        .find(|relation| relation.kind == "officeDocument")
        .map_or_else(|| "word/document.xml".to_owned(), |relation| relation.target);
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let document = archive
        .read(&main)?
        .ok_or_else(|| Unreadable::corrupt(WHAT, format!("it has no part `{main}`")))?;
    let styles = match archive.read(&part(&folder, "styles.xml"))? {
        Some(part) => styles::read(&part)?,
        None => styles::Styles::default(),
    };
    let mut notes = BTreeMap::new();
    for (name, kind) in [("footnotes.xml", 'f'), ("endnotes.xml", 'e')] {
        if let Some(part) = archive.read(&part(&folder, name))? {
            for (id, text) in body::read_notes(&part, &styles)? {
                notes.insert((kind, id), text);
            }
        }
    }
    let mut body = body::read(&document, &styles)?;
    let title = match archive.read("docProps/core.xml")? {
        Some(part) => xml::first_text(WHAT, &part, "title")?,
        None => None,
    };
    let headers = margins(&mut archive, &part(&folder, "header"), &styles)?;
    let footers = margins(&mut archive, &part(&folder, "footer"), &styles)?;

    let mut builder = DocumentBuilder::default();
    for text in headers {
        builder.push(BlockKind::Prose, &text)?;
    }
    write_body(&mut builder, &mut body, &mut notes)?;
    // Notes that nothing points at are text all the same.
    for text in notes.values() {
        builder.push(BlockKind::Prose, text)?;
    }
    for text in footers {
        builder.push(BlockKind::Prose, &text)?;
    }
    let title = title.or(body.title).or_else(|| builder.first_heading());
    let mut parsed = builder.finish("docx");
    parsed.title = title;
    Ok(parsed)
}

fn part(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Text of all headers or footers, each distinct one once; a bare page number is none.
fn margins(archive: &mut Archive<'_>, prefix: &str, styles: &styles::Styles) -> ReadResult<Vec<String>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for name in archive.names_like(prefix, ".xml") {
        let Some(part) = archive.read(&name)? else {
            continue;
        };
        let text = body::read(&part, styles)?.plain_text();
        if text.chars().any(char::is_alphabetic) && seen.insert(text.clone()) {
            found.push(text);
        }
    }
    Ok(found)
}

fn write_body(
    builder: &mut DocumentBuilder,
    body: &mut Body,
    notes: &mut BTreeMap<(char, String), String>,
) -> ReadResult<()> {
    for item in body.items.drain(..) {
        match item {
            Item::Block(kind, text) => builder.push(kind, &text)?,
            Item::Note(kind, id) => {
                if let Some(text) = notes.remove(&(kind, id)) {
                    builder.push(BlockKind::Prose, &text)?;
                }
            }
        }
    }
    Ok(())
}
