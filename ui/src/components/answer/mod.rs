//! An answer on the screen: its Markdown, block by block, with citations and checked sentences in their places.

mod block;
mod chip;
mod link;

use crate::state::chat::Exchange;
use crate::state::markdown::{self, Block, Tree};
use crate::state::marks::Marks;
use adrag_contract::{Citation, Claim};
use leptos::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What every part of an answer may look up.
#[derive(Clone, Copy)]
pub struct Ink {
    /// Number of the exchange.
    pub exchange: usize,
    /// The checked sentences.
    pub claims: Memo<Vec<Claim>>,
    /// The references.
    pub citations: Memo<Vec<Citation>>,
}

/// The text of an answer, as far as it is there.
#[component]
pub fn AnswerText(
    /// The exchange it belongs to.
    exchange: Exchange,
) -> impl IntoView {
    let key = exchange.key;
    let (for_claims, for_citations) = (exchange.clone(), exchange.clone());
    let claims = Memo::new(move |_| for_claims.read(|view| view.claims.clone()).unwrap_or_default());
    let citations = Memo::new(move |_| {
        for_citations
            .read(|view| view.citations.clone())
            .unwrap_or_default()
    });
    let tree: Memo<Tree> = Memo::new(move |_| {
        let marks = claims
            .with(|claims| citations.with(|all| Marks::new(claims, all.iter().map(|citation| citation.n))));
        exchange
            .read(|view| markdown::parse(&view.text, &marks))
            .unwrap_or_default()
    });
    let ink = Ink {
        exchange: key,
        claims,
        citations,
    };
    view! {
        <div class="answer-text">
            // A block that did not change keeps its place in the page: no jumps while the text grows.
            <For each=move || numbered(tree.get().blocks) key=|(at, block)| (*at, fingerprint(block)) let((_, block))>
                {block::draw(block, ink)}
            </For>
            <Show when=move || tree.with(|tree| tree.cut)>
                <p class="quiet">"Some of this answer is not shown: it goes beyond what can be drawn safely. Copy it to read all of it."</p>
            </Show>
        </div>
    }
}

fn numbered(blocks: Vec<Block>) -> Vec<(usize, Block)> {
    blocks.into_iter().enumerate().collect()
}

fn fingerprint(block: &Block) -> u64 {
    let mut hasher = DefaultHasher::new();
    block.hash(&mut hasher);
    hasher.finish()
}
