//! A passage in its document, highlighted in the text around it.

use crate::components::icon::{Glyph, Icon};
use crate::components::problem::Problem;
use crate::state::chat::Exchange;
use crate::state::reader::{Reading, Target, citations};
use crate::state::{format, use_app};
use adrag_contract::{ErrorCode, PassageView};
use leptos::prelude::*;

/// The source side.
#[component]
pub fn Source(
    /// The exchange the pane speaks of.
    exchange: Signal<Option<Exchange>>,
) -> impl IntoView {
    let app = use_app();
    view! {
        <div class="pane-body source" data-testid="source-pane" role="tabpanel">
            {move || app.reader.target.get().map(|target| view! { <Toolbar target=target exchange=exchange /> })}
            {move || match app.reader.reading.get() {
                Reading::Nothing => view! {
                    <div class="empty">
                        <Icon glyph=Glyph::Quote />
                        <p>"Choose a citation to read its passage here, in the text around it."</p>
                    </div>
                }.into_any(),
                Reading::Loading => view! { <p class="quiet pane-wait">"Opening the passage"</p> }.into_any(),
                Reading::Shown(view) => shown(*view).into_any(),
                Reading::Failed(error) => {
                    let is_gone = error.code == ErrorCode::NotFound;
                    let kept = app.reader.target.get_untracked();
                    let again = kept.clone();
                    let step = again.filter(|_| !is_gone).map(|target| {
                        ("Try again", Callback::new(move |()| app.reader.show(target.clone())))
                    });
                    view! {
                        <div class="source-failed">
                            <Problem error=error step=step />
                            {kept.map(|target| view! {
                                <p class="quiet">"The passage as it was when the answer was given:"</p>
                                <div class="passage serif"><mark data-testid="source-highlight">{target.text}</mark></div>
                            })}
                        </div>
                    }.into_any()
                }
            }}
        </div>
    }
}

fn shown(view: PassageView) -> impl IntoView {
    let place = view.pages.map(|pages| format::pages(pages.first, pages.last));
    let headings = view.headings.join(" \u{203a} ");
    view! {
        <div class="source-head">
            <h2>{format::plain(&view.document.title)}</h2>
            <p class="quiet">
                {place.map(|place| view! { <span class="source-page">{place}</span> })}
                <span>{format::plain(&headings)}</span>
            </p>
        </div>
        <div class="passage serif" tabindex="0">
            <span class="around">{view.before}</span>
            <mark id="source-highlight" data-testid="source-highlight">{view.passage}</mark>
            <span class="around">{view.after}</span>
        </div>
    }
}

#[component]
fn Toolbar(target: Target, exchange: Signal<Option<Exchange>>) -> impl IntoView {
    let app = use_app();
    let n = target.n;
    let place = move || {
        let exchange = exchange.get()?;
        let all = citations(&exchange);
        let at = all.iter().position(|citation| Some(citation.n) == n)?;
        Some(format!("{} of {}", at + 1, all.len()))
    };
    let document = target.document.clone();
    let is_cited = n.is_some();
    view! {
        <div class="source-tools">
            <button class="button quiet square" title="Back to the sentence (B)" aria-label="Back to the sentence" disabled=!is_cited on:click=move |_| app.reader.back()>
                <Icon glyph=Glyph::Return />
            </button>
            <button class="button quiet square" title="Previous citation (K)" aria-label="Previous citation" data-testid="citation-previous" on:click=move |_| app.reader.step(app.chat, false)>
                <Icon glyph=Glyph::Back />
            </button>
            <span class="source-count">{move || place().unwrap_or_else(|| "not cited".to_owned())}</span>
            <button class="button quiet square" title="Next citation (J)" aria-label="Next citation" data-testid="citation-next" on:click=move |_| app.reader.step(app.chat, true)>
                <Icon glyph=Glyph::Forward />
            </button>
            <span class="spring"></span>
            <button class="button quiet" title="Copy the passage with its source" on:click=move |_| app.reader.copy_quotation()>
                <Icon glyph=Glyph::Copy />"Quote"
            </button>
            <button class="button quiet" title="Open the file in its own program" on:click=move |_| app.shelf.open(document.clone())>
                <Icon glyph=Glyph::Open />"Open file"
            </button>
        </div>
    }
}
