//! The pane at the right: which passage is read, and which of its three sides is shown.

use super::chat::{Chat, Exchange};
use super::notices::Notices;
use crate::bridge::{self, Anchor};
use adrag_contract::{AppError, Citation, DocumentId, Passage, PassageView, ReadPassage, ReadPassageRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Bytes of text read on each side of a passage.
const AROUND: u64 = 2_400;
/// Below this width of the window the pane is a drawer.
pub const NARROW: f64 = 1_100.0;

/// A side of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The passage in its document.
    Source,
    /// What every stage did.
    #[default]
    Trace,
    /// Cited and uncited passages.
    Evidence,
}

/// A passage to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The exchange it belongs to.
    pub exchange: usize,
    /// Its number, when it is cited.
    pub n: Option<u32>,
    /// The document.
    pub document: DocumentId,
    /// Its title.
    pub title: String,
    /// First page.
    pub page: Option<u32>,
    /// Where it stands in the document's text.
    pub span: (u64, u64),
    /// The passage as it was when the answer was given.
    pub text: String,
    /// Address of the page, for a passage of the web.
    pub url: Option<String>,
    /// Why the passage looks as if it were meant for a program.
    pub flagged: Option<String>,
}

impl Target {
    /// A citation.
    pub fn cited(exchange: usize, citation: &Citation) -> Self {
        Self {
            exchange,
            n: Some(citation.n),
            document: citation.document.clone(),
            title: citation.title.clone(),
            page: citation.page,
            span: citation.span,
            text: citation.text.clone(),
            url: citation.url.clone(),
            flagged: citation.flagged.clone(),
        }
    }

    /// A passage that was found but not cited.
    pub fn uncited(exchange: usize, passage: &Passage) -> Self {
        Self {
            exchange,
            n: None,
            document: passage.document.clone(),
            title: passage.title.clone(),
            page: passage.page(),
            span: passage.span,
            text: passage.text.clone(),
            url: passage.url.clone(),
            flagged: passage.flagged.clone(),
        }
    }

    /// The passage as a quotation with its source.
    pub fn quotation(&self) -> String {
        let page = match (&self.url, self.page) {
            (Some(url), _) => format!(", {url}"),
            (None, Some(page)) => format!(", p. {page}"),
            (None, None) => String::new(),
        };
        format!("\u{201c}{}\u{201d} ({}{page})", self.text.trim(), self.title)
    }
}

/// What is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reading {
    /// Nothing.
    #[default]
    Nothing,
    /// It is on its way.
    Loading,
    /// The passage in its document.
    Shown(Box<PassageView>),
    /// A passage of the web: there is no more of it than the passage.
    Page,
    /// It could not be read.
    Failed(AppError),
}

/// A passage shown beside its chip while the pointer rests there.
#[derive(Clone, Debug, PartialEq)]
pub struct Glimpse {
    /// The citation.
    pub citation: Citation,
    /// Where it belongs.
    pub anchor: Anchor,
}

/// The pane.
#[derive(Clone, Copy)]
pub struct Reader {
    /// What is shown beside a chip.
    pub glimpse: RwSignal<Option<Glimpse>>,
    hovers: StoredValue<u64>,
    /// Whether it is open.
    pub is_open: RwSignal<bool>,
    /// The side shown.
    pub side: RwSignal<Side>,
    /// The passage asked for.
    pub target: RwSignal<Option<Target>>,
    /// The passage read.
    pub reading: RwSignal<Reading>,
    notices: Notices,
}

impl Reader {
    /// Open where there is room for it.
    pub fn new(notices: Notices) -> Self {
        Self {
            glimpse: RwSignal::new(None),
            hovers: StoredValue::new(0),
            is_open: RwSignal::new(bridge::window_width() >= NARROW),
            side: RwSignal::new(Side::default()),
            target: RwSignal::new(None),
            reading: RwSignal::new(Reading::default()),
            notices,
        }
    }

    /// Shows a passage in its document.
    pub fn show(self, target: Target) {
        self.end_glimpse();
        self.is_open.set(true);
        self.side.set(Side::Source);
        self.target.set(Some(target.clone()));
        if target.url.is_some() {
            self.reading.set(Reading::Page);
            return;
        }
        self.reading.set(Reading::Loading);
        spawn_local(async move {
            let request = ReadPassageRequest {
                document: target.document.clone(),
                span: target.span,
                around: AROUND,
            };
            let read = bridge::call::<ReadPassage>(&request).await;
            // The person may have gone to another passage meanwhile.
            if self.target.with_untracked(|now| now.as_ref() != Some(&target)) {
                return;
            }
            self.reading.set(match read {
                Ok(view) => Reading::Shown(Box::new(view)),
                Err(error) => Reading::Failed(error),
            });
            bridge::next_frame().await;
            bridge::scroll_into_view("source-highlight");
        });
    }

    /// Shows a passage beside its chip, if the pointer rests there for a moment.
    pub fn glimpse_soon(self, citation: Citation, anchor: Anchor) {
        const AFTER_MS: u32 = 250;
        let hover = self.hovers.get_value() + 1;
        self.hovers.set_value(hover);
        spawn_local(async move {
            bridge::sleep(AFTER_MS).await;
            if self.hovers.get_value() == hover {
                self.glimpse.set(Some(Glimpse { citation, anchor }));
            }
        });
    }

    /// The pointer went elsewhere.
    pub fn end_glimpse(self) {
        self.hovers.update_value(|hover| *hover += 1);
        self.glimpse.set(None);
    }

    /// Shows the citation after or before the one shown; the first when none is.
    pub fn step(self, chat: Chat, forward: bool) {
        let shown = self.target.get_untracked();
        let exchange = match &shown {
            Some(target) => untrack(|| chat.exchange(target.exchange)),
            None => None,
        };
        let exchange = exchange.or_else(|| chat.exchanges.with_untracked(|all| all.last().cloned()));
        let Some(exchange) = exchange else { return };
        let citations = untrack(|| citations(&exchange));
        let at = shown.and_then(|target| citations.iter().position(|citation| Some(citation.n) == target.n));
        let next = match at {
            None => 0,
            Some(at) if forward => (at + 1).min(citations.len().saturating_sub(1)),
            Some(at) => at.saturating_sub(1),
        };
        if let Some(citation) = citations.get(next) {
            self.show(Target::cited(exchange.key, citation));
        }
    }

    /// Shows what the stages do, where that does not cover the answer.
    pub fn reveal_trace(self) {
        self.side.set(Side::Trace);
        self.target.set(None);
        self.reading.set(Reading::Nothing);
        if bridge::window_width() >= NARROW {
            self.is_open.set(true);
        }
    }

    /// Goes back to the sentence the passage was opened from.
    pub fn back(self) {
        if bridge::window_width() < NARROW {
            self.is_open.set(false);
        }
        if let Some(Target {
            exchange, n: Some(n), ..
        }) = self.target.get_untracked()
        {
            bridge::focus_first(&format!("[data-chip=\"{}\"]", chip_name(exchange, n)));
        }
    }

    /// Puts the passage with its source onto the clipboard.
    pub fn copy_quotation(self) {
        let Some(target) = self.target.get_untracked() else {
            return;
        };
        spawn_local(async move {
            if self
                .notices
                .report(bridge::copy(&target.quotation()).await)
                .is_some()
            {
                self.notices.tell("Quotation copied");
            }
        });
    }
}

/// The citations of an exchange, by number.
pub fn citations(exchange: &Exchange) -> Vec<Citation> {
    let mut all = exchange.read(|view| view.citations.clone()).unwrap_or_default();
    all.sort_by_key(|citation| citation.n);
    all.dedup_by_key(|citation| citation.n);
    all
}

/// The name that all chips of a citation carry.
pub fn chip_name(exchange: usize, n: u32) -> String {
    format!("{exchange}-{n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_names_its_source() {
        let target = Target {
            exchange: 0,
            n: Some(1),
            document: "d".into(),
            title: "Lease".to_owned(),
            page: Some(4),
            span: (0, 1),
            url: None,
            flagged: None,
            text: " The roof. ".to_owned(),
        };
        assert_eq!(target.quotation(), "\u{201c}The roof.\u{201d} (Lease, p. 4)");
    }
}
