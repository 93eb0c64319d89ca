//! Which paragraph styles are headings.

use super::super::failure::ReadResult;
use super::super::xml::{Token, attribute, walk};
use std::collections::HashMap;

/// What is known of a style.
#[derive(Clone, Debug, Default)]
struct Style {
    heading: Option<u8>,
    title: bool,
    list: bool,
    parent: Option<String>,
}

/// The paragraph styles of a document by id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Heading level of a style, 1 outermost, its own or inherited.
    pub(super) fn heading(&self, id: &str) -> Option<u8> {
        self.find(id, |style| style.heading).or_else(|| by_name(id))
    }

    /// Whether a style is the document's title.
    pub(super) fn is_title(&self, id: &str) -> bool {
        self.0
            .get(id)
            .map_or(id.eq_ignore_ascii_case("title"), |style| style.title)
    }

    /// Whether a style makes list items.
    pub(super) fn is_list(&self, id: &str) -> bool {
        self.find(id, |style| style.list.then_some(())).is_some()
    }

    fn find<T>(&self, id: &str, what: impl Fn(&Style) -> Option<T>) -> Option<T> {
        let mut id = id;
        // A chain of styles may bite its tail.
        for _ in 0..16 {
            let style = self.0.get(id)?;
            if let Some(found) = what(style) {
                return Some(found);
            }
            id = style.parent.as_deref()?;
        }
        None
    }
}

fn by_name(name: &str) -> Option<u8> {
    let name = name.to_lowercase().replace(' ', "");
    let level: u8 = name.strip_prefix("heading")?.parse().ok()?;
    (1..=9).contains(&level).then_some(level)
}

pub(super) fn read(part: &str) -> ReadResult<Styles> {
    let mut styles = HashMap::new();
    let mut current: Option<(String, Style)> = None;
    walk(super::WHAT, part, |token| {
        match token {
            Token::Start(start) => match start.local_name().as_ref() {
                "style" => current = attribute(start, "styleId").map(|id| (id, Style::default())),
                name => {
                    if let Some((_, style)) = &mut current {
                        note(style, name, attribute(start, "val"));
                    }
                }
            },
            Token::End("style") => styles.extend(current.take()),
            _ => {}
        }
        Ok(())
    })?;
    Ok(Styles(styles))
}

fn note(style: &mut Style, element: &str, value: Option<String>) {
    match element {
        "name" => {
            let name = value.unwrap_or_default();
            style.heading = style.heading.or(by_name(&name));
            style.title = name.eq_ignore_ascii_case("title");
        }
        "basedOn" => style.parent = value,
        "outlineLvl" => style.heading = style.heading.or_else(|| outline_level(value.as_deref())),
        "numId" => style.list = value.is_some_and(|id| id != "0"),
        _ => {}
    }
}

/// Heading level of an outline level, which counts from 0 and says "body text" with 9.
pub(super) fn outline_level(value: Option<&str>) -> Option<u8> {
    let level: u8 = value?.parse().ok()?;
    (level < 9).then_some(level + 1)
}
