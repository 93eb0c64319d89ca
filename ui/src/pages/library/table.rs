//! The documents: only the rows on the screen are in the page, however many there are.

use super::{Filters, deleting};
use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::components::mark::{ProgressBar, StateMark};
use crate::state::library::{Row, Sort, SortKey, rows, window};
use crate::state::{format, use_app};
use adrag_contract::{DocumentId, DocumentInfo, DocumentState};
use leptos::prelude::*;
use leptos::task::spawn_local;

const SCROLLER: &str = "documents";
const ROW_HEIGHT: f64 = 52.0;

/// The list with its filters.
#[component]
pub fn Documents(
    /// Documents of the collection chosen.
    held: Memo<Option<Vec<DocumentInfo>>>,
) -> impl IntoView {
    let app = use_app();
    let shelf = app.shelf;
    let shown: Memo<Vec<Row>> = Memo::new(move |_| {
        let jobs: Vec<_> = app
            .runs
            .running_jobs()
            .into_iter()
            .map(|(_, view)| view)
            .collect();
        let (query, filter, sort) = (shelf.query.get(), shelf.filter.get(), shelf.sort.get());
        held.with(|held| rows(held.as_deref().unwrap_or_default(), &jobs, &query, filter, sort))
    });
    let scroll = RwSignal::new((0.0, 900.0));
    let measure = move || scroll.set(bridge::scroll_state(SCROLLER));
    Effect::new(move |_| {
        spawn_local(async move {
            bridge::next_frame().await;
            measure();
        });
    });
    let part = Memo::new(move |_| {
        let (top, height) = scroll.get();
        window(shown.with(Vec::len), ROW_HEIGHT, top, height)
    });
    let visible = move || {
        let (start, end) = part.get();
        shown.with(|all| all.get(start..end.min(all.len())).unwrap_or_default().to_vec())
    };
    let marked = move || shelf.marked.with(|marked| marked.len());
    let delete_marked = move |_| {
        let chosen: Vec<DocumentInfo> = shelf.documents.with_untracked(|documents| {
            let all = documents.as_deref().unwrap_or_default();
            all.iter()
                .filter(|document| {
                    shelf
                        .marked
                        .with_untracked(|marked| marked.contains(&document.id))
                })
                .cloned()
                .collect()
        });
        app.ask_first(deleting(app, &chosen));
    };
    view! {
        <div class="table-tools">
            <label class="search">
                <Icon glyph=Glyph::Search />
                <input type="search" placeholder="Filter by name" aria-label="Filter by name" data-testid="filter-name" prop:value=move || shelf.query.get() on:input:target=move |event| shelf.query.set(event.target().value()) />
            </label>
            <Filters held=held />
            <span class="spring"></span>
            <Show when=move || { marked() > 0 }>
                <span class="quiet">{marked}" selected"</span>
                <button class="button" data-testid="delete-marked" on:click=delete_marked><Icon glyph=Glyph::Trash />"Delete"</button>
            </Show>
        </div>
        <div class="table" role="table" aria-label="Documents" aria-rowcount=move || shown.with(Vec::len).to_string()>
            <div class="table-head" role="row">
                <span role="columnheader" aria-label="Selected"></span>
                <Heading key=SortKey::Name label="Document" />
                <span role="columnheader" class="column">"State"</span>
                <Heading key=SortKey::Kind label="Kind" />
                <Heading key=SortKey::Size label="Size" />
                <Heading key=SortKey::Chunks label="Chunks" />
                <Heading key=SortKey::Added label="Added" />
                <span role="columnheader" aria-label="Actions"></span>
            </div>
            <div id=SCROLLER class="table-body" on:scroll=move |_| measure()>
                <div class="table-room" style:height=move || format!("{}px", shown.with(Vec::len) as f64 * ROW_HEIGHT)>
                    <div class="table-window" style:transform=move || format!("translateY({}px)", part.get().0 as f64 * ROW_HEIGHT)>
                        <For each=visible key=|row| (row.document.id.clone(), format!("{row:?}")) children=row_view />
                    </div>
                </div>
                {move || shown.with(Vec::is_empty).then(|| view! { <p class="quiet page-wait">"No document matches."</p> })}
            </div>
        </div>
    }
}

#[component]
fn Heading(key: SortKey, label: &'static str) -> impl IntoView {
    let app = use_app();
    let sort = app.shelf.sort;
    let direction = move || match sort.get() {
        Sort { key: now, descending } if now == key => {
            Some(if descending { "descending" } else { "ascending" })
        }
        _ => None,
    };
    let is_number = matches!(key, SortKey::Size | SortKey::Chunks);
    view! {
        <span role="columnheader" class="column" class:right=is_number aria-sort=direction>
            <button class="column-button" on:click=move |_| sort.update(|sort| *sort = sort.toggled(key))>
                {label}
                {move || direction().map(|direction| view! { <Icon glyph=if direction == "descending" { Glyph::Down } else { Glyph::Up } /> })}
            </button>
        </span>
    }
}

fn row_view(row: Row) -> impl IntoView {
    let app = use_app();
    let shelf = app.shelf;
    let Row { document, progress } = row;
    let (id, for_mark, for_retry, for_open, for_delete) = (
        document.id.clone(),
        document.id.clone(),
        document.id.clone(),
        document.id.clone(),
        document.clone(),
    );
    let is_marked = Signal::derive(move || shelf.marked.with(|marked| marked.contains(&id)));
    let title = format::plain(&document.title);
    let state = document.state;
    let can_retry = matches!(state, DocumentState::Failed | DocumentState::Empty);
    let is_settled = state.is_final();
    let below = match (&document.reason, can_retry) {
        (Some(reason), true) => view! { <span class="row-reason" title=reason.clone()>{format::plain(reason)}</span> }.into_any(),
        _ => view! { <span class="row-path" title=document.path.clone()>{format::plain(&document.path)}</span> }.into_any(),
    };
    let pages = document
        .pages
        .map(|pages| format!(" \u{b7} {}", format::counted(u64::from(pages), "page", "pages")))
        .unwrap_or_default();
    view! {
        <div class="row" role="row" data-testid="document-row" data-state=state.as_str() data-title=title.clone() class:marked=is_marked>
            <span role="cell">
                <input type="checkbox" class="tick" aria-label=format!("Select {title}") prop:checked=is_marked on:change:target=move |event| toggle(app, &for_mark, event.target().checked()) />
            </span>
            <span role="cell" class="row-name"><span class="row-title" title=title.clone()>{title.clone()}</span>{below}</span>
            <span role="cell" class="row-state">
                <StateMark state=state />
                {progress.map(|now| view! { <ProgressBar done=now.done total=now.total unit=now.unit /> })}
            </span>
            <span role="cell" class="row-kind">{document.kind.clone()}{pages}</span>
            <span role="cell" class="right number">{format::size(document.bytes)}</span>
            <span role="cell" class="right number">{(document.chunks > 0).then(|| format::count(document.chunks))}</span>
            <span role="cell" class="row-added">{bridge::date_time(document.updated_at_ms)}</span>
            <span role="cell" class="row-actions">
                {can_retry.then(|| view! {
                    <button class="button quiet square" title="Try again" aria-label=format!("Try {title} again") data-testid="retry" on:click=move |_| shelf.retry(for_retry.clone())>
                        <Icon glyph=Glyph::Again />
                    </button>
                })}
                <button class="button quiet square" title="Open the file" aria-label=format!("Open {title}") on:click=move |_| shelf.open(for_open.clone())>
                    <Icon glyph=Glyph::Open />
                </button>
                <button class="button quiet square" title="Delete" aria-label=format!("Delete {title}") data-testid="delete" disabled=!is_settled on:click=move |_| app.ask_first(deleting(app, std::slice::from_ref(&for_delete)))>
                    <Icon glyph=Glyph::Trash />
                </button>
            </span>
        </div>
    }
}

fn toggle(app: crate::state::App, id: &DocumentId, is_on: bool) {
    app.shelf.marked.update(|marked| {
        if is_on {
            marked.insert(id.clone());
        } else {
            marked.remove(id);
        }
    });
}
