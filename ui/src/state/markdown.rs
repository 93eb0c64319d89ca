//! An answer's Markdown as a tree to draw, with citations and checked sentences in their places.
//!
//! The text is hostile. Nothing here makes HTML: raw HTML becomes text, an image its alternative text, a link a label
//! with a web address that only a person's click can open. Size, depth, cells and links are bounded.

use super::marks::{Marks, Piece};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Most bytes of an answer that are drawn.
pub const MOST_BYTES: usize = 200_000;
const MOST_DEPTH: usize = 32;
const MOST_CELLS: usize = 5_000;
const MOST_LINKS: usize = 500;

/// A block of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A heading and its level, 1 to 6.
    Heading(u8, Vec<Inline>),
    /// A list: the first number of an ordered one, and the items.
    List(Option<u64>, Vec<Vec<Block>>),
    /// A quotation.
    Quote(Vec<Block>),
    /// A code block: its language, if it names one, and its text.
    Code(String, String),
    /// A table: per column whether it is right-aligned, the head, the rows.
    Table(Vec<bool>, Vec<Vec<Inline>>, Vec<Vec<Vec<Inline>>>),
    /// A line between parts.
    Rule,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inline {
    /// Text, with the number of the claim it belongs to.
    Text(String, Option<usize>),
    /// Code.
    Code(String),
    /// Emphasised text.
    Emphasis(Vec<Inline>),
    /// Strong text.
    Strong(Vec<Inline>),
    /// Struck-out text.
    Strike(Vec<Inline>),
    /// A web link: its address and its label.
    Link(String, Vec<Inline>),
    /// A reference to a citation.
    Citation(u32),
    /// The end of a claim: where its mark stands.
    Mark(usize),
    /// The last word of a sentence with the chips and marks that belong to it: never parted by the end of a line.
    Tied(Vec<Inline>),
    /// A line break.
    Break,
}

/// A tree, and whether something was left out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// True when a bound was hit.
    pub cut: bool,
}

/// Reads an answer.
pub fn parse(text: &str, marks: &Marks) -> Tree {
    let shown = text.floor_char_boundary(MOST_BYTES.min(text.len()));
    let source = &text[..shown];
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut builder = Builder::new(source, marks);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        builder.take(event, range);
    }
    let mut tree = builder.finish();
    tree.cut |= shown < text.len();
    tree
}

enum Open {
    Root,
    Paragraph,
    Heading(u8),
    Quote,
    List(Option<u64>),
    Item,
    Code(String),
    Table(Vec<bool>),
    Row,
    Cell,
    Emphasis,
    Strong,
    Strike,
    /// A link whose address may be opened, or one that is only its label.
    Link(Option<String>),
    /// A citation that the text also defined as a reference link.
    Cited(Vec<u32>),
    Dropped,
}

struct Frame {
    open: Open,
    blocks: Vec<Block>,
    inlines: Vec<Inline>,
    items: Vec<Vec<Block>>,
    cells: Vec<Vec<Inline>>,
    rows: Vec<Vec<Vec<Inline>>>,
}

impl Frame {
    fn new(open: Open) -> Self {
        Self {
            open,
            blocks: Vec::new(),
            inlines: Vec::new(),
            items: Vec::new(),
            cells: Vec::new(),
            rows: Vec::new(),
        }
    }
}

struct Builder<'a> {
    source: &'a str,
    marks: &'a Marks,
    stack: Vec<Frame>,
    /// Elements opened beyond the deepest level: their text goes to the element above.
    too_deep: usize,
    text: Vec<(CowStr<'a>, Range<usize>)>,
    claim: Option<usize>,
    cells: usize,
    links: usize,
    cut: bool,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str, marks: &'a Marks) -> Self {
        Self {
            source,
            marks,
            stack: vec![Frame::new(Open::Root)],
            too_deep: 0,
            text: Vec::new(),
            claim: None,
            cells: 0,
            links: 0,
            cut: false,
        }
    }

    fn take(&mut self, event: Event<'a>, range: Range<usize>) {
        if let Event::Text(text) = event {
            if self.text.last().is_some_and(|(_, last)| last.end != range.start) {
                self.flush_text();
            }
            self.text.push((text, range));
            return;
        }
        self.flush_text();
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Code(code) => {
                let claim = self.marks.claim_at(range.start);
                self.settle_claim(claim);
                self.push(Inline::Code(code.into_string()));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                self.text.push((html, range));
                self.flush_text();
            }
            Event::SoftBreak => {
                let claim = self.marks.claim_at(range.start);
                self.push(Inline::Text(" ".to_owned(), claim));
            }
            Event::HardBreak => self.push(Inline::Break),
            Event::Rule => self.push_block(Block::Rule),
            // Not enabled in the options; shown as text should that ever change.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push(Inline::Text(text.into_string(), None));
            }
            Event::TaskListMarker(_) | Event::Text(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        if matches!(tag, Tag::Image { .. }) {
            return;
        }
        if self.stack.len() >= MOST_DEPTH {
            self.too_deep += 1;
            self.cut = true;
            return;
        }
        let open = match tag {
            Tag::Heading { level, .. } => Open::Heading(level as u8),
            Tag::BlockQuote(_) => Open::Quote,
            Tag::CodeBlock(kind) => Open::Code(language(&kind)),
            Tag::List(first) => Open::List(first),
            Tag::Item => Open::Item,
            Tag::Table(columns) => {
                Open::Table(columns.iter().map(|column| *column == Alignment::Right).collect())
            }
            Tag::TableHead | Tag::TableRow => Open::Row,
            Tag::TableCell => {
                self.cells += 1;
                if self.cells > MOST_CELLS {
                    self.cut = true;
                    Open::Dropped
                } else {
                    Open::Cell
                }
            }
            Tag::Emphasis => Open::Emphasis,
            Tag::Strong => Open::Strong,
            Tag::Strikethrough => Open::Strike,
            Tag::Link {
                link_type, dest_url, ..
            } => self.link(link_type, &dest_url, &range),
            _ => Open::Paragraph,
        };
        let is_block = !matches!(
            open,
            Open::Emphasis | Open::Strong | Open::Strike | Open::Link(_) | Open::Cited(_)
        );
        if is_block {
            self.wrap_loose_text();
        }
        self.stack.push(Frame::new(open));
    }

    fn link(&mut self, kind: LinkType, url: &str, range: &Range<usize>) -> Open {
        if matches!(
            kind,
            LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut
        ) && let Some(numbers) = self
            .source
            .get(range.clone())
            .and_then(|text| self.marks.citation(text))
        {
            return Open::Cited(numbers);
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            self.cut = true;
        }
        Open::Link(web_address(url).filter(|_| self.links <= MOST_LINKS))
    }

    fn end(&mut self, tag: TagEnd) {
        if matches!(tag, TagEnd::Image) {
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.stack.len() < 2 {
            return;
        }
        let ends_sentence = !matches!(
            tag,
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link
        );
        if ends_sentence {
            self.settle_claim(None);
        }
        if let Some(frame) = self.stack.pop() {
            self.close(frame);
        }
    }

    fn close(&mut self, mut frame: Frame) {
        match frame.open {
            Open::Root | Open::Dropped => {}
            Open::Paragraph => self.push_block(Block::Paragraph(frame.inlines)),
            Open::Heading(level) => self.push_block(Block::Heading(level, frame.inlines)),
            Open::Quote => {
                wrap(&mut frame);
                self.push_block(Block::Quote(frame.blocks));
            }
            Open::List(first) => self.push_block(Block::List(first, frame.items)),
            Open::Item => {
                wrap(&mut frame);
                self.top().items.push(frame.blocks);
            }
            Open::Code(language) => {
                let text = frame.inlines.iter().map(plain_text).collect();
                self.push_block(Block::Code(language, text));
            }
            Open::Table(right) => {
                let mut rows = frame.rows;
                let head = if rows.is_empty() {
                    Vec::new()
                } else {
                    rows.remove(0)
                };
                rows.retain(|row| !row.is_empty());
                self.push_block(Block::Table(right, head, rows));
            }
            Open::Row => self.top().rows.push(frame.cells),
            Open::Cell => self.top().cells.push(frame.inlines),
            Open::Emphasis => self.push(Inline::Emphasis(frame.inlines)),
            Open::Strong => self.push(Inline::Strong(frame.inlines)),
            Open::Strike => self.push(Inline::Strike(frame.inlines)),
            Open::Link(Some(url)) => self.push(Inline::Link(url, frame.inlines)),
            Open::Link(None) => self.top().inlines.append(&mut frame.inlines),
            Open::Cited(numbers) => numbers
                .into_iter()
                .for_each(|n| self.push_tied(Inline::Citation(n))),
        }
    }

    fn finish(mut self) -> Tree {
        self.flush_text();
        self.settle_claim(None);
        self.wrap_loose_text();
        while self.stack.len() > 1 {
            if let Some(frame) = self.stack.pop() {
                self.close(frame);
            }
        }
        let blocks = self.stack.pop().map(|root| root.blocks).unwrap_or_default();
        Tree {
            blocks,
            cut: self.cut,
        }
    }

    fn flush_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let events = std::mem::take(&mut self.text);
        if matches!(self.top().open, Open::Code(_)) {
            for (text, _) in events {
                self.push(Inline::Text(text.into_string(), None));
            }
            return;
        }
        for piece in self.marks.split(self.source, &events) {
            match piece {
                Piece::Text(text, claim) => {
                    self.settle_claim(claim);
                    self.push(Inline::Text(text, claim));
                }
                Piece::Citation(n, claim) => {
                    self.settle_claim(claim);
                    self.push_tied(Inline::Citation(n));
                }
            }
        }
    }

    /// Sets the mark of the claim that ends where `next` begins.
    fn settle_claim(&mut self, next: Option<usize>) {
        if let Some(ended) = self.claim.filter(|_| self.claim != next) {
            self.push_tied(Inline::Mark(ended));
        }
        self.claim = next;
    }

    fn top(&mut self) -> &mut Frame {
        if self.stack.is_empty() {
            self.stack.push(Frame::new(Open::Root));
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    /// Puts a chip or a mark to the word before it: alone at the beginning of a line it would not be seen to belong there.
    fn push_tied(&mut self, inline: Inline) {
        const LONGEST_WORD: usize = 32;
        let inlines = &mut self.top().inlines;
        match inlines.pop() {
            Some(Inline::Tied(mut tied)) => {
                tied.push(inline);
                inlines.push(Inline::Tied(tied));
            }
            Some(Inline::Text(mut text, claim)) => {
                let before = text.trim_end();
                let word = before.rfind(' ').map_or(0, |at| at + 1);
                if before.len() - word > LONGEST_WORD {
                    inlines.extend([Inline::Text(text, claim), inline]);
                    return;
                }
                let tied = vec![Inline::Text(text.split_off(word), claim), inline];
                if !text.is_empty() {
                    inlines.push(Inline::Text(text, claim));
                }
                inlines.push(Inline::Tied(tied));
            }
            other => inlines.extend(other.into_iter().chain([inline])),
        }
    }

    fn push(&mut self, inline: Inline) {
        self.top().inlines.push(inline);
    }

    fn push_block(&mut self, block: Block) {
        self.wrap_loose_text();
        self.top().blocks.push(block);
    }

    /// Text of a tight list item stands beside blocks; it becomes a paragraph of its own.
    fn wrap_loose_text(&mut self) {
        wrap(self.top());
    }
}

fn wrap(frame: &mut Frame) {
    let holds_blocks = matches!(frame.open, Open::Root | Open::Quote | Open::Item);
    if holds_blocks && !frame.inlines.is_empty() {
        frame
            .blocks
            .push(Block::Paragraph(std::mem::take(&mut frame.inlines)));
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Fenced(info) => info
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .chars()
            .take(24)
            .collect(),
        CodeBlockKind::Indented => String::new(),
    }
}

/// The address, when it is one a browser may be asked to open.
pub fn web_address(url: &str) -> Option<String> {
    const MOST: usize = 2_000;
    let url = url.trim();
    let scheme = url.split_once("://")?.0;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let is_clean = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    (is_web && is_clean && url.len() <= MOST).then(|| url.to_owned())
}

/// The text of a piece, without any form.
pub fn plain_text(inline: &Inline) -> String {
    match inline {
        Inline::Text(text, _) | Inline::Code(text) => text.clone(),
        Inline::Emphasis(inner)
        | Inline::Strong(inner)
        | Inline::Strike(inner)
        | Inline::Tied(inner)
        | Inline::Link(_, inner) => inner.iter().map(plain_text).collect(),
        Inline::Citation(n) => format!("[{n}]"),
        Inline::Mark(_) => String::new(),
        Inline::Break => "\n".to_owned(),
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
