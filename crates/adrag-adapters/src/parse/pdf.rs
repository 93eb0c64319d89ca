//! PDF: text of each page in reading order, what is known of headings, and honest remarks on pages without text.
//!
//! Page text comes from one library (`source.rs`); everything that makes it fit for search is here. No OCR.

mod quality;
mod source;
mod tidy;

use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use adrag_core::ports::{BlockKind, ParsedDocument};
use source::{Contents, Heading};
use tidy::Vocabulary;

const CUT_OFF: &str = "its end is missing and nothing readable is left";

pub(crate) fn read(bytes: Vec<u8>) -> ReadResult<ParsedDocument> {
    let cut_off = !ends_like_a_pdf(&bytes);
    // A file without its end cannot be opened with any password.
    let contents =
        source::read(bytes).map_err(|failure| if cut_off { or_cut_off(failure) } else { failure })?;
    let unreadable: Vec<usize> = pages_where(&contents, quality::is_unreadable);
    let blank: Vec<usize> = pages_where(&contents, |page| page.trim().is_empty());
    let count = contents.pages.len();
    if cut_off && unreadable.len() + blank.len() == count {
        return Err(Unreadable::corrupt(
            "PDF",
            "its end is missing and nothing readable is left",
        ));
    }
    let mut parsed = write(&contents, &unreadable)?;
    parsed.pages = u32::try_from(count).ok();
    parsed.title = contents.title.clone();
    for (pages, singular, plural) in [
        (&blank, "has no text layer", "have no text layer"),
        (&unreadable, "", ""),
        (&contents.failed, "could not be read", "could not be read"),
    ] {
        if pages.is_empty() {
            continue;
        }
        parsed.remarks.push(match singular {
            "" => format!(
                "text of {} cannot be decoded (font without Unicode map)",
                numbers(pages)
            ),
            _ => format!(
                "{} {}",
                numbers(pages),
                if pages.len() == 1 { singular } else { plural }
            ),
        });
    }
    Ok(parsed)
}

fn or_cut_off(failure: Unreadable) -> Unreadable {
    if failure == Unreadable::password() {
        Unreadable::corrupt("PDF", CUT_OFF)
    } else {
        failure
    }
}

fn pages_where(contents: &Contents, test: impl Fn(&str) -> bool) -> Vec<usize> {
    let pages = contents.pages.iter().enumerate();
    pages
        .filter(|(index, page)| !contents.failed.contains(index) && test(page))
        .map(|(index, _)| index)
        .collect()
}

fn write(contents: &Contents, unreadable: &[usize]) -> ReadResult<ParsedDocument> {
    let vocabulary = Vocabulary::of(&contents.pages);
    let mut headings = contents.headings.iter().peekable();
    let mut builder = DocumentBuilder::default();
    for (index, page) in contents.pages.iter().enumerate() {
        if unreadable.contains(&index) {
            continue;
        }
        builder.page = u32::try_from(index + 1).ok();
        let page = tidy::tidy(page, &vocabulary);
        let mut paragraph = String::new();
        // Headings of pages gone by were not found as lines.
        while headings.next_if(|heading| heading.page < index).is_some() {}
        let mut open: Vec<&Heading> =
            std::iter::from_fn(|| headings.next_if(|heading| heading.page == index)).collect();
        for line in page.lines() {
            let heading = open.iter().position(|heading| heading.is_line(line));
            if line.is_empty() || heading.is_some() {
                builder.push(BlockKind::Prose, &std::mem::take(&mut paragraph))?;
            }
            match heading {
                Some(at) => builder.push(BlockKind::Heading(open.remove(at).level), line)?,
                None => {
                    paragraph.push_str(line);
                    paragraph.push('\n');
                }
            }
        }
        builder.push(BlockKind::Prose, &paragraph)?;
    }
    for field in &contents.fields {
        builder.push(BlockKind::ListItem, field)?;
    }
    Ok(builder.finish("pdf"))
}

fn ends_like_a_pdf(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(2048)..];
    tail.windows(5).any(|found| found == b"%%EOF")
}

/// `page 3`, `pages 1, 3-5`.
fn numbers(pages: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for page in pages {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *page => *last = *page,
            _ => ranges.push((*page, *page)),
        }
    }
    let shown: Vec<String> = ranges
        .iter()
        .map(|(first, last)| {
            if first == last {
                format!("{}", first + 1)
            } else {
                format!("{}-{}", first + 1, last + 1)
            }
        })
        .collect();
    format!(
        "{} {}",
        if pages.len() == 1 { "page" } else { "pages" },
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_for_people() {
        assert_eq!(numbers(&[2]), "page 3");
        assert_eq!(numbers(&[0, 2, 3, 4, 8]), "pages 1, 3-5, 9");
    }
}
