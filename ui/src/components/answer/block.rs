//! Blocks and running text as nodes of the page. Text goes in as text: nothing here is ever read as HTML.

use super::Ink;
use super::chip::Chip;
use super::link::WebLink;
use crate::components::mark::{VerdictMark, verdict_name};
use crate::state::markdown::{Block, Inline, plain_text};
use adrag_contract::Verdict;
use leptos::prelude::*;

/// Draws a block and all within it; the tree's depth is bounded.
pub fn draw(block: Block, ink: Ink) -> AnyView {
    match block {
        Block::Paragraph(text) => view! { <p>{run(text, ink)}</p> }.into_any(),
        Block::Heading(level, text) => {
            // The page has its own first levels.
            match level {
                1 => view! { <h3 class="answer-heading">{run(text, ink)}</h3> }.into_any(),
                2 => view! { <h4 class="answer-heading">{run(text, ink)}</h4> }.into_any(),
                _ => view! { <h5 class="answer-heading">{run(text, ink)}</h5> }.into_any(),
            }
        }
        Block::List(None, items) => view! { <ul>{list(items, ink)}</ul> }.into_any(),
        Block::List(Some(first), items) => {
            view! { <ol start=first.to_string()>{list(items, ink)}</ol> }.into_any()
        }
        Block::Quote(blocks) => view! { <blockquote>{all(blocks, ink)}</blockquote> }.into_any(),
        Block::Code(language, text) => {
            view! { <pre data-language=language tabindex="0"><code>{text}</code></pre> }.into_any()
        }
        Block::Table(right, head, rows) => table(&right, head, rows, ink),
        Block::Rule => view! { <hr /> }.into_any(),
    }
}

fn all(blocks: Vec<Block>, ink: Ink) -> Vec<AnyView> {
    blocks.into_iter().map(|block| draw(block, ink)).collect()
}

fn list(items: Vec<Vec<Block>>, ink: Ink) -> Vec<AnyView> {
    items
        .into_iter()
        .map(|item| view! { <li>{all(item, ink)}</li> }.into_any())
        .collect()
}

fn table(right: &[bool], head: Vec<Vec<Inline>>, rows: Vec<Vec<Vec<Inline>>>, ink: Ink) -> AnyView {
    let is_right = |at: usize| right.get(at).copied().unwrap_or(false);
    let head: Vec<AnyView> = (0..)
        .zip(head)
        .map(|(at, cell)| view! { <th scope="col" class:right=is_right(at)>{run(cell, ink)}</th> }.into_any())
        .collect();
    let rows: Vec<AnyView> = rows
        .into_iter()
        .map(|row| {
            let cells: Vec<AnyView> = (0..)
                .zip(row)
                .map(|(at, cell)| view! { <td class:right=is_right(at)>{run(cell, ink)}</td> }.into_any())
                .collect();
            view! { <tr>{cells}</tr> }.into_any()
        })
        .collect();
    view! {
        <div class="answer-table" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
    }
    .into_any()
}

fn run(inlines: Vec<Inline>, ink: Ink) -> Vec<AnyView> {
    inlines.into_iter().map(|inline| piece(inline, ink)).collect()
}

fn piece(inline: Inline, ink: Ink) -> AnyView {
    match inline {
        Inline::Text(text, None) => text.into_any(),
        Inline::Text(text, Some(claim)) => {
            view! { <span class="claim" data-verdict=move || verdict_name(verdict(ink, claim))>{text}</span> }
                .into_any()
        }
        Inline::Code(code) => view! { <code>{code}</code> }.into_any(),
        Inline::Emphasis(inner) => view! { <em>{run(inner, ink)}</em> }.into_any(),
        Inline::Strong(inner) => view! { <strong>{run(inner, ink)}</strong> }.into_any(),
        Inline::Strike(inner) => view! { <s>{run(inner, ink)}</s> }.into_any(),
        Inline::Tied(inner) => view! { <span class="tied">{run(inner, ink)}</span> }.into_any(),
        Inline::Link(url, inner) => {
            let label: String = inner.iter().map(plain_text).collect();
            view! { <WebLink url=url label=label ink=ink /> }.into_any()
        }
        Inline::Citation(n) => view! { <Chip n=n ink=ink /> }.into_any(),
        Inline::Mark(claim) => mark(claim, ink),
        Inline::Break => view! { <br /> }.into_any(),
    }
}

fn mark(claim: usize, ink: Ink) -> AnyView {
    let shown = move || {
        ink.claims
            .with(|claims| claims.get(claim).map(|claim| (claim.verdict, claim.support)))
            .map(|(verdict, support)| {
                view! { <VerdictMark verdict=verdict support=support /> }
            })
    };
    shown.into_any()
}

fn verdict(ink: Ink, claim: usize) -> Verdict {
    ink.claims.with(|claims| {
        claims
            .get(claim)
            .map_or(Verdict::Unverified, |claim| claim.verdict)
    })
}
