//! E-mails: who, when and what about as one block, then the text; attached messages are read too, other attachments are
//! named.

use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::{html, source_text};
use adrag_core::ports::{BlockKind, ParsedDocument};
use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

/// Deepest nesting of messages in messages.
const MAX_DEPTH: usize = 4;
/// Most attachments named.
const MAX_NAMED: usize = 50;

pub(crate) fn read(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let message = MessageParser::default()
        .parse(bytes)
        .filter(|message| !message.headers().is_empty())
        .ok_or_else(|| Unreadable::corrupt("e-mail", "it has no headers"))?;
    let mut builder = DocumentBuilder::default();
    write(&message, 1, &mut builder)?;
    let mut parsed = builder.finish("email");
    parsed.title = message.subject().map(str::to_owned);
    Ok(parsed)
}

fn write(message: &Message<'_>, depth: usize, builder: &mut DocumentBuilder) -> ReadResult<()> {
    let level = u8::try_from(depth).unwrap_or(u8::MAX);
    builder.push(BlockKind::Heading(level), message.subject().unwrap_or_default())?;
    builder.push(BlockKind::Prose, &head(message))?;
    for part in message.text_bodies() {
        match &part.body {
            PartType::Html(page) => builder.append(&html::read(page)?)?,
            PartType::Text(text) => builder.append(&source_text::read_plain(normal(text)))?,
            _ => {}
        }
    }
    let mut names = Vec::new();
    for attachment in message.attachments() {
        match &attachment.body {
            PartType::Message(inner) if depth < MAX_DEPTH => write(inner, depth + 1, builder)?,
            _ => names.extend(attachment.attachment_name().map(str::to_owned)),
        }
    }
    if !names.is_empty() {
        let more = names.len().saturating_sub(MAX_NAMED);
        names.truncate(MAX_NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        builder.push(
            BlockKind::Prose,
            &format!("Attachments: {}{more}", names.join(", ")),
        )?;
    }
    Ok(())
}

/// The headers a person reads, a line each.
fn head(message: &Message<'_>) -> String {
    let mut lines = Vec::new();
    for (name, people) in [
        ("From", message.from()),
        ("To", message.to()),
        ("Cc", message.cc()),
    ] {
        let people = people.map(shown).unwrap_or_default();
        if !people.is_empty() {
            lines.push(format!("{name}: {people}"));
        }
    }
    if let Some(date) = message.date() {
        lines.push(format!("Date: {}", date.to_rfc3339()));
    }
    if let Some(subject) = message.subject() {
        lines.push(format!("Subject: {subject}"));
    }
    lines.join("\n")
}

fn shown(people: &Address<'_>) -> String {
    let each: Vec<String> = people
        .iter()
        .filter_map(|person| match (person.name(), person.address()) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
            (None, None) => None,
        })
        .collect();
    each.join(", ")
}

fn normal(text: &str) -> String {
    super::encoding::normal_lines(text.to_owned())
}
