//! A passage in its document, highlighted in the text around it.

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::components::problem::Problem;
use crate::state::chat::Exchange;
use crate::state::notices::{Confirm, Detail};
use crate::state::reader::{Reading, Target, citations};
use crate::state::sources::{REMOVED, Sight, sight};
use crate::state::{format, use_app};
use adrag_contract::{ErrorCode, OpenLink, PassageView};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The source side.
#[component]
pub fn Source(
    /// The exchange the pane speaks of.
    exchange: Signal<Option<Exchange>>,
) -> impl IntoView {
    let app = use_app();
    let is_removed = Memo::new(move |_| {
        let target = app.reader.target.get();
        target.is_some_and(|target| app.shelf.is_removed(&target.document))
    });
    // A document that came back is read again.
    Effect::new(move |before: Option<bool>| {
        let now = is_removed.get();
        if before == Some(true)
            && !now
            && let Some(target) = app.reader.target.get_untracked()
        {
            app.reader.show(target);
        }
        now
    });
    view! {
        <div class="pane-body source" data-testid="source-pane" role="tabpanel">
            {move || app.reader.target.get().map(|target| view! { <Toolbar target=target exchange=exchange is_removed=is_removed /> })}
            {move || {
                let reading = app.reader.reading.get();
                let kept = app.reader.target.get_untracked();
                match (sight(&reading, is_removed.get()), reading) {
                    (Sight::Nothing, _) => view! {
                        <div class="empty">
                            <Icon glyph=Glyph::Quote />
                            <p>"Choose a citation to read its passage here, in the text around it."</p>
                        </div>
                    }.into_any(),
                    (Sight::Removed, _) => view! {
                        <div class="source-failed" data-testid="source-removed">
                            <p><span class="removed-mark">{format::sentence(REMOVED)}</span></p>
                            <p class="quiet">"This document was deleted after the answer was given."</p>
                            {kept.map(as_it_was)}
                        </div>
                    }.into_any(),
                    (_, Reading::Shown(view)) => shown(*view, kept.and_then(|target| target.flagged)).into_any(),
                    (_, Reading::Page) => kept.map(page).into_any(),
                    (_, Reading::Failed(error)) => {
                        let is_gone = error.code == ErrorCode::NotFound;
                        let again = kept.clone();
                        let step = again.filter(|_| !is_gone).map(|target| {
                            ("Try again", Callback::new(move |()| app.reader.show(target.clone())))
                        });
                        view! {
                            <div class="source-failed">
                                <Problem error=error step=step />
                                {kept.map(as_it_was)}
                            </div>
                        }.into_any()
                    }
                    _ => view! { <p class="quiet pane-wait">"Opening the passage"</p> }.into_any(),
                }
            }}
        </div>
    }
}

/// The passage without its document.
fn as_it_was(target: Target) -> impl IntoView {
    view! {
        <p class="quiet">"The passage as it was when the answer was given:"</p>
        <div class="passage serif"><mark data-testid="source-highlight">{target.text}</mark></div>
    }
}

/// A passage of the web.
fn page(target: Target) -> impl IntoView {
    view! {
        <div class="source-head" data-testid="source-page">
            <h2>{format::plain(&target.title)}</h2>
            <p class="quiet"><span class="source-page">"Web"</span><span>{format::plain(&target.url.unwrap_or_default())}</span></p>
            {target.flagged.map(flag)}
        </div>
        <div class="passage serif" tabindex="0"><mark data-testid="source-highlight">{target.text}</mark></div>
    }
}

/// Says that a passage speaks to programs.
fn flag(why: String) -> impl IntoView {
    view! { <p class="flagged" data-testid="flagged" role="note">{format!("Take care with this passage: {why}. Nothing it says was carried out.")}</p> }
}

fn shown(view: PassageView, flagged: Option<String>) -> impl IntoView {
    let place = view.pages.map(|pages| format::pages(pages.first, pages.last));
    let headings = view.headings.join(" \u{203a} ");
    view! {
        <div class="source-head">
            <h2>{format::plain(&view.document.title)}</h2>
            <p class="quiet">
                {place.map(|place| view! { <span class="source-page">{place}</span> })}
                <span>{format::plain(&headings)}</span>
            </p>
            {flagged.map(flag)}
        </div>
        <div class="passage serif" tabindex="0">
            <span class="around">{view.before}</span>
            <mark id="source-highlight" data-testid="source-highlight">{view.passage}</mark>
            <span class="around">{view.after}</span>
        </div>
    }
}

#[component]
fn Toolbar(target: Target, exchange: Signal<Option<Exchange>>, is_removed: Memo<bool>) -> impl IntoView {
    let app = use_app();
    let n = target.n;
    let place = move || {
        let exchange = exchange.get()?;
        let all = citations(&exchange);
        let at = all.iter().position(|citation| Some(citation.n) == n)?;
        Some(format!("{} of {}", at + 1, all.len()))
    };
    let document = target.document.clone();
    let url = target.url.clone();
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
            {match url {
                Some(url) => view! {
                    <button class="button quiet" title="Open the page in the browser" data-testid="open-page" on:click=move |_| app.ask_first(open_page(&url))>
                        <Icon glyph=Glyph::Open />"Open page"
                    </button>
                }.into_any(),
                None => view! {
                    <button class="button quiet" title="Open the file in its own program" disabled=move || is_removed.get() on:click=move |_| app.shelf.open(document.clone())>
                        <Icon glyph=Glyph::Open />"Open file"
                    </button>
                }.into_any(),
            }}
        </div>
    }
}

/// The question before a page of the web is opened.
fn open_page(url: &str) -> Confirm {
    let app = use_app();
    let target = url.to_owned();
    Confirm {
        title: "Open this page in the browser?".to_owned(),
        body: "It leaves adRAG. A web search found this page.".to_owned(),
        details: vec![Detail::address(url)],
        yes: "Open page",
        is_destructive: false,
        action: Callback::new(move |()| {
            let url = target.clone();
            spawn_local(async move {
                app.notices.report(bridge::call::<OpenLink>(&url).await);
            });
        }),
    }
}
