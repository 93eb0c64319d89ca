//! XML under its caps: no document type, no entities but the predefined, bounded depth.

use super::archive::Archive;
use super::failure::{ReadResult, Unreadable};
use super::limits::MAX_XML_DEPTH;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

/// What a walk sees; names are local names, prefixes are not looked at.
pub(crate) enum Token<'a> {
    Start(&'a BytesStart<'a>),
    End(&'a str),
    Text(&'a str),
}

/// Calls `visit` with every token of a part of an archive of the named kind.
pub(crate) fn walk(
    what: &str,
    part: &str,
    mut visit: impl FnMut(Token<'_>) -> ReadResult<()>,
) -> ReadResult<()> {
    let mut reader = Reader::from_str(part);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0usize;
    loop {
        match reader
            .read_event()
            .map_err(|error| Unreadable::corrupt(what, error))?
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
                    .map_err(|error| Unreadable::corrupt(what, error))?
                {
                    visit(Token::Text(c.encode_utf8(&mut [0; 4])))?;
                } else {
                    match resolve_predefined_entity(&reference.into_inner()) {
                        Some(text) => visit(Token::Text(text))?,
                        None => return Err(unsafe_xml("it uses entities of its own")),
                    }
                }
            }
            // A book may name the type of its parts; nothing is fetched. Declarations are another thing.
            Event::DocType(text) if what == "EPUB" && !text.contains('[') => {}
            Event::DocType(_) => return Err(unsafe_xml("it declares a document type")),
            Event::Eof if depth > 0 => return Err(Unreadable::corrupt(what, "a part ends too early")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// An attribute by its local name.
pub(crate) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
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

/// A relation of an Office part: what it is, its id, and the part it points at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    /// The last piece of its type: `slide`, `notesSlide`, `officeDocument`.
    pub(crate) kind: String,
    pub(crate) id: String,
    /// The name of the part, complete.
    pub(crate) target: String,
}

/// The relations of a part, none when it has none. The root's part is the empty name.
pub(crate) fn relations(archive: &mut Archive<'_>, of: &str) -> ReadResult<Vec<Relation>> {
    let (folder, name) = of.rsplit_once('/').unwrap_or(("", of));
    let what = archive.what();
    let Some(part) = archive.read(&below(folder, &format!("_rels/{name}.rels")))? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    walk(what, &part, |token| {
        if let Token::Start(start) = token
            && start.local_name().as_ref() == "Relationship"
            && let (Some(kind), Some(id), Some(target)) = (
                attribute(start, "Type"),
                attribute(start, "Id"),
                attribute(start, "Target"),
            )
        {
            found.push(Relation {
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                id,
                target: below(folder, &target),
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// A name as seen from a folder of the archive: `..` goes up, a leading `/` begins at the root.
pub(crate) fn below(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = match name.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Text of the first element of a name, if there is any.
pub(crate) fn first_text(what: &str, part: &str, name: &str) -> ReadResult<Option<String>> {
    let (mut inside, mut found) = (false, String::new());
    walk(what, part, |token| {
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
        .hint("open it in its own program and save it again, if you trust it")
}
