//! Library: collections at the left, jobs and documents in the middle.

mod collections;
mod jobs;
mod table;

use crate::components::drop_zone::DropZone;
use crate::components::icon::{Glyph, Icon};
use crate::components::problem::Problem;
use crate::state::library::StateFilter;
use crate::state::notices::{Confirm, Detail};
use crate::state::{format, use_app};
use adrag_contract::DocumentInfo;
use leptos::prelude::*;

/// The page.
#[component]
pub fn LibraryPage() -> impl IntoView {
    let app = use_app();
    let shelf = app.shelf;
    // What the collection chosen holds, before any filter.
    let held = Memo::new(move |_| {
        let chosen = shelf.collection.get();
        shelf.documents.with(|documents| {
            documents.as_ref().map(|all| {
                all.iter()
                    .filter(|document| chosen.as_ref().is_none_or(|name| document.collection == *name))
                    .cloned()
                    .collect::<Vec<_>>()
            })
        })
    });
    let body = move || {
        if let Some(error) = shelf.error.get() {
            let step = ("Try again", Callback::new(move |()| shelf.refresh()));
            return view! { <div class="page-body"><Problem error=error step=Some(step) /></div> }.into_any();
        }
        match held.with(|held| held.as_ref().map(Vec::is_empty)) {
            None => view! { <p class="quiet page-wait">"Loading"</p> }.into_any(),
            Some(true) => view! {
                <div class="page-body">
                    <jobs::Jobs />
                    <div class="welcome">
                        <h2>"Your documents will be listed here"</h2>
                        <p class="lead">"adRAG reads them once, on this computer, and keeps where every passage stands."</p>
                        <DropZone />
                    </div>
                </div>
            }.into_any(),
            Some(false) => view! {
                <div class="page-body filled">
                    <jobs::Jobs />
                    <table::Documents held=held />
                </div>
            }.into_any(),
        }
    };
    let is_filled = move || held.with(|held| held.as_ref().is_some_and(|all| !all.is_empty()));
    view! {
        <collections::Collections />
        <main class="centre broad">
            <header class="page-head">
                <h1 class="page-title">
                    {move || shelf.collection.get().map_or_else(|| "All documents".to_owned(), |name| format::plain(name.as_str()))}
                </h1>
                <span class="page-count">{move || held.with(|held| held.as_ref().map(|all| format::count(all.len() as u64)))}</span>
                <span class="spring"></span>
                <Show when=is_filled>
                    <button class="button quiet" data-testid="clear" on:click=move |_| app.ask_first(clearing(app, held))>
                        <Icon glyph=Glyph::Trash />"Clear"
                    </button>
                    <button class="button primary" data-testid="add-files" title="Add files (Ctrl O)" on:click=move |_| app.add_files()>
                        <Icon glyph=Glyph::Plus />"Add files"
                    </button>
                </Show>
            </header>
            {body}
        </main>
    }
}

/// Asks before a whole collection is deleted.
fn clearing(app: crate::state::App, held: Memo<Option<Vec<DocumentInfo>>>) -> Confirm {
    let (count, chunks) = held.with_untracked(|held| {
        held.as_ref().map_or((0, 0), |all| {
            (
                all.len() as u64,
                all.iter().map(|document| document.chunks).sum::<u64>(),
            )
        })
    });
    let place = app.shelf.collection.get_untracked().map_or_else(
        || "the library".to_owned(),
        |name| format!("`{}`", format::plain(name.as_str())),
    );
    Confirm {
        title: format!("Delete every document of {place}?"),
        body: "No answer will use them any more. This can be undone for a minute, and the files themselves stay where they are.".to_owned(),
        details: vec![Detail::strong(format!(
            "{} with {}",
            format::counted(count, "document", "documents"),
            format::counted(chunks, "chunk", "chunks")
        ))],
        yes: "Delete all",
        is_destructive: true,
        action: Callback::new(move |()| app.shelf.clear()),
    }
}

/// Asks before documents are deleted, and names them.
fn deleting(app: crate::state::App, documents: &[DocumentInfo]) -> Confirm {
    const NAMED: usize = 6;
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    let mut details: Vec<Detail> = documents
        .iter()
        .take(NAMED)
        .map(|document| Detail::strong(format::shortened(&document.title, 80)))
        .collect();
    if documents.len() > NAMED {
        details.push(Detail::quiet(format!("and {} more", documents.len() - NAMED)));
    }
    let title = match documents.len() {
        1 => "Delete this document?".to_owned(),
        count => format!("Delete {count} documents?"),
    };
    Confirm {
        title,
        body: "No answer will use it any more. This can be undone for a minute, and the file itself stays where it is."
            .to_owned(),
        details,
        yes: "Delete",
        is_destructive: true,
        action: Callback::new(move |()| app.shelf.delete(ids.clone())),
    }
}

/// The filter of states, with how many each admits.
#[component]
fn Filters(held: Memo<Option<Vec<DocumentInfo>>>) -> impl IntoView {
    let app = use_app();
    let count = move |filter: StateFilter| {
        held.with(|held| {
            held.as_ref().map_or(0, |all| {
                all.iter()
                    .filter(|document| filter.admits(document.state))
                    .count()
            })
        })
    };
    view! {
        <div class="segments" role="group" aria-label="State">
            {StateFilter::ALL.map(|filter| view! {
                <button
                    class="segment"
                    aria-pressed=move || (app.shelf.filter.get() == filter).to_string()
                    on:click=move |_| app.shelf.filter.set(filter)
                >
                    {filter.label()}<span class="segment-count">{move || count(filter)}</span>
                </button>
            }).collect_view()}
        </div>
    }
}
