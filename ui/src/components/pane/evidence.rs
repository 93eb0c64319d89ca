//! The passages behind an answer: those it cites, and those that were read but not cited.

use crate::components::mark::{RelevanceBar, StoreLetters};
use crate::state::chat::Exchange;
use crate::state::format;
use crate::state::reader::{Target, citations};
use crate::state::sources::REMOVED;
use crate::state::use_app;
use adrag_contract::{Citation, DocumentId, Passage};
use leptos::prelude::*;

/// The evidence side.
#[component]
pub fn Evidence(
    /// The exchange the pane speaks of.
    exchange: Signal<Option<Exchange>>,
) -> impl IntoView {
    let key = move || exchange.with(|exchange| exchange.as_ref().map_or(0, |exchange| exchange.key));
    let cited = Memo::new(move |_| {
        exchange
            .get()
            .map(|exchange| citations(&exchange))
            .unwrap_or_default()
    });
    let uncited = Memo::new(move |_| {
        let found = exchange.get().and_then(|exchange| {
            exchange.read(|view| view.answer.as_ref().map(|answer| answer.uncited.clone()))
        });
        found.flatten().unwrap_or_default()
    });
    view! {
        <div class="pane-body evidence" role="tabpanel" data-testid="evidence-pane">
            {move || (cited.with(Vec::is_empty) && uncited.with(Vec::is_empty)).then(|| view! {
                <div class="empty"><p>"The passages that were found for an answer are listed here, with the stores that found them."</p></div>
            })}
            {move || (!cited.with(Vec::is_empty)).then(|| view! {
                <h3 class="pane-section">"Cited"<span>{cited.with(Vec::len)}</span></h3>
                <ul class="evidence-list">{cited.get().into_iter().map(|citation| cited_item(citation, key())).collect_view()}</ul>
            })}
            {move || (!uncited.with(Vec::is_empty)).then(|| view! {
                <h3 class="pane-section">"Read, not cited"<span>{uncited.with(Vec::len)}</span></h3>
                <ul class="evidence-list">
                    {
                        let best = uncited.with(|all| all.iter().map(|passage| passage.fused_score).fold(0.0, f32::max));
                        uncited.get().into_iter().map(|passage| uncited_item(passage, best, key())).collect_view()
                    }
                </ul>
            })}
        </div>
    }
}

fn cited_item(citation: Citation, key: usize) -> impl IntoView {
    let app = use_app();
    let target = Target::cited(key, &citation);
    view! {
        <li>
            <button class="evidence-item" on:click=move |_| app.reader.show(target.clone())>
                <span class="evidence-head">
                    <span class="chip still">{citation.n}</span>
                    <span class="evidence-title">{format::plain(&citation.title)}</span>
                    <RemovedMark document=citation.document.clone() />
                    <span class="quiet">{citation.page.map(|page| format!("p. {page}"))}</span>
                </span>
                <span class="evidence-text serif">{format::shortened(&citation.text, 220)}</span>
            </button>
        </li>
    }
}

/// Says that a document was deleted since.
#[component]
fn RemovedMark(document: DocumentId) -> impl IntoView {
    let app = use_app();
    view! { {move || app.shelf.is_removed(&document).then(|| view! { <span class="removed-mark">{REMOVED}</span> })} }
}

fn uncited_item(passage: Passage, best: f32, key: usize) -> impl IntoView {
    let app = use_app();
    let target = Target::uncited(key, &passage);
    // A reranker's probability is a share by itself; without one the bar compares the passages shown.
    let share = match passage.rerank_score {
        Some(score) if (0.0..=1.0).contains(&score) => score,
        _ if best > 0.0 => passage.fused_score / best,
        _ => 0.0,
    };
    let reranked = passage
        .rerank_score
        .map(|score| format!(", reranked {score:.3}"))
        .unwrap_or_default();
    let words = format!("fused {:.4}{reranked}", passage.fused_score);
    let ranks: Vec<String> = passage
        .found_by
        .iter()
        .map(|finding| format!("{} #{}", finding.store, finding.rank))
        .collect();
    view! {
        <li>
            <button class="evidence-item" on:click=move |_| app.reader.show(target.clone())>
                <span class="evidence-head">
                    <StoreLetters passage=passage.clone() />
                    <span class="evidence-title">{format::plain(&passage.title)}</span>
                    <RemovedMark document=passage.document.clone() />
                    <span class="quiet">{passage.page().map(|page| format!("p. {page}"))}</span>
                    <RelevanceBar share=share words=words />
                </span>
                <span class="evidence-text serif">{format::shortened(&passage.text, 220)}</span>
                <span class="evidence-ranks">{ranks.join(" \u{b7} ")}</span>
            </button>
        </li>
    }
}
