//! The pane at the right: the source of a citation, the trace of the run, the evidence behind the answer.

mod evidence;
mod source;
mod trace;

use super::icon::{Glyph, Icon};
use super::splitter::Splitter;
use crate::state::chat::Exchange;
use crate::state::reader::Side;
use crate::state::use_app;
use leptos::prelude::*;

/// The pane.
#[component]
pub fn Pane() -> impl IntoView {
    let app = use_app();
    // The pane speaks of the exchange a passage was opened from, else of the latest.
    let exchange = Signal::derive(move || -> Option<Exchange> {
        let opened = app
            .reader
            .target
            .with(|target| target.as_ref().map(|target| target.exchange));
        opened
            .and_then(|key| app.chat.exchange(key))
            .or_else(|| app.chat.exchanges.with(|all| all.last().cloned()))
    });
    let tab = move |side: Side, label: &'static str, testid: &'static str| {
        let is_shown = move || app.reader.side.get() == side;
        view! {
            <button
                role="tab"
                class="tab"
                data-testid=testid
                aria-selected=move || is_shown().to_string()
                on:click=move |_| app.reader.side.set(side)
            >
                {label}
            </button>
        }
    };
    view! {
        <Show when=move || app.reader.is_open.get()>
            <div class="pane-shade" on:click=move |_| app.reader.is_open.set(false)></div>
            <aside class="pane" aria-label="Source, trace and evidence">
                <Splitter />
                <header class="pane-head">
                    <div class="tabs" role="tablist">
                        {tab(Side::Source, "Source", "tab-source")}
                        {tab(Side::Trace, "Trace", "tab-trace")}
                        {tab(Side::Evidence, "Evidence", "tab-evidence")}
                    </div>
                    <button class="button quiet square" aria-label="Close the pane" on:click=move |_| app.reader.is_open.set(false)>
                        <Icon glyph=Glyph::Close />
                    </button>
                </header>
                {move || match app.reader.side.get() {
                    Side::Source => view! { <source::Source exchange=exchange /> }.into_any(),
                    Side::Trace => view! { <trace::Trace exchange=exchange /> }.into_any(),
                    Side::Evidence => view! { <evidence::Evidence exchange=exchange /> }.into_any(),
                }}
            </aside>
        </Show>
    }
}
