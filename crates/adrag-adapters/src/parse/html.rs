//! Web pages: a walk over the tokens of html5ever. No tree is built, so no nesting is too deep and nothing is quadratic;
//! scripts, styles and what a page hides are left out.

mod page;

use super::failure::ReadResult;
use adrag_core::ports::ParsedDocument;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use page::Page;
use std::cell::RefCell;

pub(crate) fn read(text: &str) -> ReadResult<ParsedDocument> {
    read_as(text, false)
}

/// The same for a page written as XML, where `<title/>` ends at once.
pub(crate) fn read_xhtml(text: &str) -> ReadResult<ParsedDocument> {
    read_as(text, true)
}

fn read_as(text: &str, xml: bool) -> ReadResult<ParsedDocument> {
    let sink = Sink {
        page: RefCell::new(Page::default()),
        xml,
    };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(text));
    // A finished script hands control back; there is nothing to run.
    while let html5ever::TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
    tokenizer.sink.page.into_inner().finish()
}

struct Sink {
    page: RefCell<Page>,
    /// Whether an element that closes itself is closed.
    xml: bool,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.page.borrow_mut();
        match token {
            Token::CharacterTokens(text) => page.text(&text),
            Token::TagToken(tag) => return tag_token(&mut page, &tag, self.xml),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn tag_token(page: &mut Page, tag: &Tag, xml: bool) -> TokenSinkResult<()> {
    let name: &str = &tag.name;
    match tag.kind {
        TagKind::EndTag => page.close(name),
        TagKind::StartTag => {
            page.open(name, hides(tag), tag.self_closing);
            if xml && tag.self_closing {
                page.close(name);
                return TokenSinkResult::Continue;
            }
            match name {
                "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                    return TokenSinkResult::RawData(RawKind::Rawtext);
                }
                "title" | "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
                _ => {}
            }
        }
    }
    TokenSinkResult::Continue
}

/// Whether an element is marked as not shown.
fn hides(tag: &Tag) -> bool {
    tag.attrs.iter().any(|attribute| match &*attribute.name.local {
        "hidden" => true,
        "style" => {
            let style: String = attribute.value.to_lowercase().split_whitespace().collect();
            style.contains("display:none") || style.contains("visibility:hidden")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_core::ports::BlockKind;

    fn check(html: &str, expected: &[(BlockKind, &str)]) {
        let document = read(html).unwrap();
        let found: Vec<(BlockKind, &str)> = document
            .blocks
            .iter()
            .map(|block| (block.kind, &document.text[block.start..block.end]))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn structure_becomes_blocks() {
        use BlockKind::{Code, Heading, ListItem, Prose, TableRow};
        check(
            "<title>T</title><h1>One <b>two</b></h1><p>a&amp;b<br>c</p><ul><li>x<li>y</ul><pre>  k\n  l</pre>\
             <table><tr><th>n<th>v<tr><td>p<td>3</table>tail",
            &[
                (Heading(1), "One two"),
                (Prose, "a&b\nc"),
                (ListItem, "x"),
                (ListItem, "y"),
                (Code, "  k\n  l"),
                (TableRow, "n: p; v: 3"),
                (Prose, "tail"),
            ],
        );
        assert_eq!(
            read("<title> A\n b </title>x").unwrap().title.as_deref(),
            Some("A b")
        );
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        check(
            "<style>p{}</style><script>if (a<b) '</p>'</script><p>yes<span hidden>no</span></p>\
             <div style='display : none'><p>no<div>no</div></div><noscript>no</noscript><template><p>no</p></template>\
             <p>end",
            &[(BlockKind::Prose, "yes"), (BlockKind::Prose, "end")],
        );
    }

    #[test]
    fn a_page_written_as_xml_closes_what_closes_itself() {
        let page = "<html><head><title/><script src='x'/></head><body><p>shown</p></body></html>";
        assert_eq!(read_xhtml(page).unwrap().text, "shown\n");
    }

    #[test]
    fn deep_nesting_ends_soon() {
        let html = format!(
            "{}deep{}<p>after",
            "<div>".repeat(200_000),
            "</div>".repeat(200_000)
        );
        check(&html, &[(BlockKind::Prose, "deep"), (BlockKind::Prose, "after")]);
        let html = format!("{}deep", "<div hidden>".repeat(200_000));
        check(&html, &[]);
        let html = "<table><tr><td>".repeat(50_000);
        check(&html, &[]);
        let html = format!("{}x", "<b><i></p></b>".repeat(100_000));
        check(&html, &[(BlockKind::Prose, "x")]);
    }
}
