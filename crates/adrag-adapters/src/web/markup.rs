//! A page as a row of tags and texts, for finding results in it. No tree, no scripts.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::RefCell;

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Open {
        name: String,
        class: String,
        href: Option<String>,
    },
    Close(String),
    Text(String),
}

/// The pieces of a page, in order.
pub(super) fn pieces(page: &str) -> Vec<Piece> {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(page));
    // A finished script hands control back; there is nothing to run.
    while let html5ever::TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// The text of a piece of markup, white space collapsed.
pub(super) fn plain_text(markup: &str) -> String {
    let text: String = pieces(markup)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    collapse(&text)
}

pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a class attribute names a class.
pub(super) fn has_class(class: &str, name: &str) -> bool {
    class.split_whitespace().any(|each| each == name)
}

#[derive(Default)]
struct Sink(RefCell<Vec<Piece>>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut pieces = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => pieces.push(Piece::Text(text.to_string())),
            Token::TagToken(tag) => {
                let name = tag.name.to_string();
                if tag.kind == TagKind::EndTag {
                    pieces.push(Piece::Close(name));
                    return TokenSinkResult::Continue;
                }
                let attribute = |wanted: &str| {
                    tag.attrs
                        .iter()
                        .find(|attribute| &*attribute.name.local == wanted)
                        .map(|attribute| attribute.value.to_string())
                };
                let raw = match name.as_str() {
                    "script" => Some(RawKind::ScriptData),
                    "style" | "noscript" | "iframe" => Some(RawKind::Rawtext),
                    "title" | "textarea" => Some(RawKind::Rcdata),
                    _ => None,
                };
                pieces.push(Piece::Open {
                    class: attribute("class").unwrap_or_default(),
                    href: attribute("href"),
                    name,
                });
                if let Some(raw) = raw {
                    return TokenSinkResult::RawData(raw);
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}
