//! A citation in an answer: rests as a number, shows its passage on hover, opens it on click.

use super::Ink;
use crate::bridge;
use crate::state::reader::{Target, chip_name};
use crate::state::sources::citation_name;
use crate::state::use_app;
use adrag_contract::Citation;
use leptos::prelude::*;

/// `[n]` as a button.
#[component]
pub fn Chip(
    /// The number.
    n: u32,
    /// The answer it stands in.
    ink: Ink,
) -> impl IntoView {
    let app = use_app();
    let citation = move || -> Option<Citation> {
        ink.citations
            .with_untracked(|all| all.iter().find(|citation| citation.n == n).cloned())
    };
    let open = move || {
        if let Some(citation) = citation() {
            app.reader.show(Target::cited(ink.exchange, &citation));
        }
    };
    let is_removed = move || citation().is_some_and(|citation| app.shelf.is_removed(&citation.document));
    let name = move || {
        let title = citation().map(|citation| citation.title);
        citation_name(n, title.as_deref(), is_removed())
    };
    let is_current = move || {
        app.reader.target.with(|target| {
            target
                .as_ref()
                .is_some_and(|target| target.exchange == ink.exchange && target.n == Some(n))
        })
    };
    view! {
        <button
            class="chip"
            class:current=is_current
            class:web=move || citation().is_some_and(|citation| citation.url.is_some())
            class:flagged=move || citation().is_some_and(|citation| citation.flagged.is_some())
            class:removed=is_removed
            data-testid=format!("citation-{n}")
            data-chip=chip_name(ink.exchange, n)
            aria-label=name
            on:click=move |_| open()
            on:mouseenter=move |event| {
                if let Some(citation) = citation() {
                    app.reader.glimpse_soon(citation, bridge::anchor(&event));
                }
            }
            on:mouseleave=move |_| app.reader.end_glimpse()
            on:blur=move |_| app.reader.end_glimpse()
        >
            {n}
        </button>
    }
}
