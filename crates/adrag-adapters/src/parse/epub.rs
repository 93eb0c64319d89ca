//! EPUB books: the chapters in the order of the spine, each read as a web page.

use super::archive::Archive;
use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::html;
use super::xml::{self, Token, attribute, below};
use adrag_core::ports::ParsedDocument;
use std::collections::HashMap;

/// The format as messages name it.
const WHAT: &str = "EPUB";
/// Ways to scramble fonts; a book that scrambles nothing else can be read.
const FONT_SCRAMBLING: [&str; 2] = [
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];

pub(crate) fn read(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let mut archive = Archive::open(bytes, WHAT)?;
    refuse_locked(&mut archive)?;
    let package_name = package_name(&mut archive)?;
    let package = archive
        .read(&package_name)?
        .ok_or_else(|| Unreadable::corrupt(WHAT, format!("it has no part `{package_name}`")))?;
    let folder = package_name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let chapters = spine(&package, folder)?;
    let mut builder = DocumentBuilder::default();
    let mut missing = 0u64;
    for chapter in chapters {
        match archive.read(&chapter)? {
            Some(page) => builder.append(&html::read_xhtml(&page)?)?,
            None => missing += 1,
        }
    }
    let title = xml::first_text(WHAT, &package, "title")?.or_else(|| builder.first_heading());
    let mut parsed = builder.finish("epub");
    parsed.title = title;
    if missing > 0 {
        parsed
            .remarks
            .push(format!("chapters missing from the file: {missing}"));
    }
    Ok(parsed)
}

/// # Errors
/// When chapters are encrypted.
fn refuse_locked(archive: &mut Archive<'_>) -> ReadResult<()> {
    let Some(part) = archive.read("META-INF/encryption.xml")? else {
        return Ok(());
    };
    let mut locked = false;
    xml::walk(WHAT, &part, |token| {
        if let Token::Start(start) = token
            && start.local_name().as_ref() == "EncryptionMethod"
        {
            let way = attribute(start, "Algorithm").unwrap_or_default();
            locked |= !FONT_SCRAMBLING.contains(&way.as_str());
        }
        Ok(())
    })?;
    if locked {
        return Err(Unreadable::new("is locked by copy protection (DRM)")
            .hint("it can be read only by the program it was bought for"));
    }
    Ok(())
}

fn package_name(archive: &mut Archive<'_>) -> ReadResult<String> {
    let container = archive
        .read("META-INF/container.xml")?
        .ok_or_else(|| Unreadable::corrupt(WHAT, "it has no part `META-INF/container.xml`"))?;
    let mut name = None;
    xml::walk(WHAT, &container, |token| {
        if let Token::Start(start) = token
            && start.local_name().as_ref() == "rootfile"
            && name.is_none()
        {
            name = attribute(start, "full-path");
        }
        Ok(())
    })?;
    name.ok_or_else(|| Unreadable::corrupt(WHAT, "it does not say where the book is"))
}

/// Names of the chapters' parts, in reading order.
fn spine(package: &str, folder: &str) -> ReadResult<Vec<String>> {
    let mut parts: HashMap<String, String> = HashMap::new();
    let mut order = Vec::new();
    xml::walk(WHAT, package, |token| {
        let Token::Start(start) = token else { return Ok(()) };
        match start.local_name().as_ref() {
            "item" => {
                if let (Some(id), Some(href)) = (attribute(start, "id"), attribute(start, "href")) {
                    parts.insert(id, below(folder, &percent_decoded(&href)));
                }
            }
            "itemref" => order.extend(attribute(start, "idref")),
            _ => {}
        }
        Ok(())
    })?;
    Ok(order.iter().filter_map(|id| parts.get(id).cloned()).collect())
}

fn percent_decoded(href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let bytes = href.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| href.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
