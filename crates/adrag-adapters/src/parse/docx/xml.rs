//! XML under its caps: no document type, no entities but the predefined, bounded depth.

use super::super::failure::{ReadResult, Unreadable};
use super::super::limits::MAX_XML_DEPTH;
use super::archive::Archive;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

/// What a walk sees; names are local names, prefixes are not looked at.
pub(super) enum Token<'a> {
    Start(&'a BytesStart<'a>),
    End(&'a str),
    Text(&'a str),
}

/// Calls `visit` with every token of a part.
pub(super) fn walk(part: &str, mut visit: impl FnMut(Token<'_>) -> ReadResult<()>) -> ReadResult<()> {
    let mut reader = Reader::from_str(part);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0usize;
    loop {
        match reader
            .read_event()
            .map_err(|error| Unreadable::corrupt("DOCX", error))?
        {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_XML_DEPTH {
                    return Err(unsafe_xml(&format!(
                        "elements nested deeper than {MAX_XML_DEPTH}"
                    )));
                }
                visit(Token::Start(&start))?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                visit(Token::End(end.local_name().as_ref()))?;
            }
            Event::Text(text) => visit(Token::Text(&text.into_inner()))?,
            Event::CData(text) => visit(Token::Text(&text.into_inner()))?,
            Event::GeneralRef(reference) => {
                if let Some(c) = reference
                    .resolve_char_ref()
                    .map_err(|error| Unreadable::corrupt("DOCX", error))?
                {
                    visit(Token::Text(c.encode_utf8(&mut [0; 4])))?;
                } else {
                    match resolve_predefined_entity(&reference.into_inner()) {
                        Some(text) => visit(Token::Text(text))?,
                        None => return Err(unsafe_xml("it uses entities of its own")),
                    }
                }
            }
            Event::DocType(_) => return Err(unsafe_xml("it declares a document type")),
            Event::Eof if depth > 0 => return Err(Unreadable::corrupt("DOCX", "a part ends too early")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// An attribute by its local name.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    start
        .attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .find_map(|attribute| {
            let matches = attribute.key.local_name().as_ref() == name;
            matches
                .then(|| {
                    attribute
                        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                        .ok()
                })?
                .map(|value| value.into_owned())
        })
}

/// The name of the part that holds the document.
pub(super) fn main_part(archive: &mut Archive<'_>) -> ReadResult<String> {
    let mut main = None;
    if let Some(relations) = archive.read("_rels/.rels")? {
        walk(&relations, |token| {
            if let Token::Start(start) = token
                && attribute(start, "Type").is_some_and(|kind| kind.ends_with("/officeDocument"))
            {
                main = attribute(start, "Target");
            }
            Ok(())
        })?;
    }
    Ok(main.map_or_else(
        || "word/document.xml".to_owned(),
        |target| target.trim_start_matches('/').to_owned(),
    ))
}

/// Text of the first element of a name, if there is any.
pub(super) fn first_text(part: &str, name: &str) -> ReadResult<Option<String>> {
    let (mut inside, mut found) = (false, String::new());
    walk(part, |token| {
        match token {
            Token::Start(start) if start.local_name().as_ref() == name => inside = found.is_empty(),
            Token::End(end) if end == name => inside = false,
            Token::Text(text) if inside => found.push_str(text),
            _ => {}
        }
        Ok(())
    })?;
    let found = found.trim();
    Ok((!found.is_empty()).then(|| found.to_owned()))
}

fn unsafe_xml(detail: &str) -> Unreadable {
    Unreadable::new(format!("is refused as unsafe XML: {detail}"))
        .hint("open it in Word and save it again, if you trust it")
}
