//! What the PDF library gives: text of pages, bookmarks, form values. The one place that names it.

use super::super::failure::{ReadResult, Unreadable};
use pdf_oxide::object::{Object, ObjectRef};
use pdf_oxide::optional_content::decode_pdf_text_string;
use pdf_oxide::{Destination, OutlineItem, PdfDocument};
use std::collections::HashSet;

/// Bookmarks looked at.
const MAX_BOOKMARKS: usize = 5_000;
/// Form fields listed.
const MAX_FIELDS: usize = 2_000;
/// Pages read of one file.
const MAX_PAGES: usize = 20_000;

/// What came out of a file.
#[derive(Default)]
pub(super) struct Contents {
    /// Text of each page; empty where there is none.
    pub(super) pages: Vec<String>,
    /// Pages that could not be read, 0-based.
    pub(super) failed: Vec<usize>,
    /// Bookmarks that name a page, in order of pages.
    pub(super) headings: Vec<Heading>,
    /// Values of form fields that are not on the pages: `name: value`.
    pub(super) fields: Vec<String>,
    pub(super) title: Option<String>,
}

/// A bookmark.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) page: usize,
    pub(super) level: u8,
    key: String,
}

impl Heading {
    /// Whether a line of its page is the heading it names.
    pub(super) fn is_line(&self, line: &str) -> bool {
        !self.key.is_empty() && line.len() < 400 && key(line) == self.key
    }
}

/// Letters only: numbering, spacing and case differ between a bookmark and the page.
fn key(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect()
}

pub(super) fn read(bytes: Vec<u8>) -> ReadResult<Contents> {
    let document = PdfDocument::from_bytes(bytes).map_err(corrupt)?;
    if !document.is_authenticated() && !document.authenticate(b"").map_err(corrupt)? {
        return Err(Unreadable::password());
    }
    let count = document.page_count().map_err(corrupt)?;
    if count == 0 {
        return Err(Unreadable::corrupt("PDF", "it has no pages"));
    }
    if count > MAX_PAGES {
        return Err(
            Unreadable::new(format!("has {count} pages, at most {MAX_PAGES} are read"))
                .hint("split it into smaller files"),
        );
    }
    let mut contents = Contents::default();
    for page in 0..count {
        match document.extract_text(page) {
            Ok(text) => contents.pages.push(text),
            Err(error) => {
                tracing::debug!(page = page + 1, %error, "page could not be read");
                contents.failed.push(page);
                contents.pages.push(String::new());
            }
        }
    }
    if contents.failed.len() == count {
        return Err(Unreadable::corrupt("PDF", "none of its pages can be read"));
    }
    contents.headings = headings(&document);
    contents.fields = fields(&document, &contents.pages);
    contents.title = title(&document);
    Ok(contents)
}

fn corrupt(error: pdf_oxide::Error) -> Unreadable {
    match error {
        pdf_oxide::Error::EncryptedPdf => Unreadable::password(),
        error => Unreadable::corrupt("PDF", error),
    }
}

fn headings(document: &PdfDocument) -> Vec<Heading> {
    if !bookmarks_end(document) {
        return Vec::new();
    }
    let Ok(Some(outline)) = document.get_outline() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(&outline, 1, &mut found);
    found.sort_by_key(|heading| heading.page);
    found
}

fn collect(items: &[OutlineItem], level: u8, found: &mut Vec<Heading>) {
    for item in items {
        if let Some(Destination::PageIndex(page)) = item.dest {
            found.push(Heading {
                page,
                level,
                key: key(&item.title),
            });
        }
        if level < 6 {
            collect(&item.children, level + 1, found);
        }
    }
}

/// Whether the chain of bookmarks ends; the library follows a circle forever.
fn bookmarks_end(document: &PdfDocument) -> bool {
    let catalog = document.catalog().ok();
    let outlines = catalog
        .as_ref()
        .and_then(|catalog| reference(catalog, "Outlines"));
    let mut waiting: Vec<ObjectRef> = outlines.into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(next) = waiting.pop() {
        if !seen.insert(next) || seen.len() > MAX_BOOKMARKS {
            return false;
        }
        if let Ok(object) = document.load_object(next) {
            waiting.extend(
                [reference(&object, "First"), reference(&object, "Next")]
                    .into_iter()
                    .flatten(),
            );
        }
    }
    true
}

fn reference(object: &Object, key: &str) -> Option<ObjectRef> {
    object.as_dict()?.get(key)?.as_reference()
}

fn fields(document: &PdfDocument, pages: &[String]) -> Vec<String> {
    use pdf_oxide::extractors::forms::{FieldValue, FormExtractor};
    let Ok(fields) = FormExtractor::extract_fields(document) else {
        return Vec::new();
    };
    let text = pages.concat();
    fields
        .into_iter()
        .take(MAX_FIELDS)
        .filter_map(|field| {
            let value = match field.value {
                FieldValue::Text(text) => text,
                FieldValue::Array(values) => values.join(", "),
                _ => return None,
            };
            let (name, value) = (field.full_name.trim(), value.trim());
            let said = value.is_empty() || text.contains(value);
            (!said).then(|| {
                if name.is_empty() {
                    value.to_owned()
                } else {
                    format!("{name}: {value}")
                }
            })
        })
        .collect()
}

fn title(document: &PdfDocument) -> Option<String> {
    let information = document
        .load_object(reference(document.trailer(), "Info")?)
        .ok()?;
    let title = information
        .as_dict()?
        .get("Title")?
        .as_string()
        .map(decode_pdf_text_string)?;
    // Programs put the file name there, or their own.
    let useful = title.trim().chars().any(char::is_alphabetic)
        && !title.starts_with("Microsoft Word -")
        && !title.to_lowercase().ends_with(".doc")
        && !title.to_lowercase().starts_with("untitled");
    useful.then(|| title.trim().to_owned())
}
