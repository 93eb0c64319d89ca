//! The collections, with how much each holds, and the folders they follow.

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::state::{format, use_app, watched};
use adrag_contract::{CollectionName, WatchedFolder};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The list at the left.
#[component]
pub fn Collections() -> impl IntoView {
    let app = use_app();
    let shelf = app.shelf;
    let total = move || {
        shelf
            .documents
            .with(|documents| documents.as_ref().map_or(0, Vec::len)) as u64
    };
    let item = move |name: Option<CollectionName>, label: String, count: u64| {
        let (chosen, shown) = (name.clone(), name);
        view! {
            <li>
                <button
                    class="list-item"
                    title=label.clone()
                    aria-current=move || (shelf.collection.get() == shown).then_some("true")
                    on:click=move |_| shelf.collection.set(chosen.clone())
                >
                    <Icon glyph=Glyph::Folder />
                    <span class="list-item-text">{label.clone()}</span>
                    <span class="list-item-side">{format::count(count)}</span>
                </button>
            </li>
        }
    };
    view! {
        <section class="list" aria-label="Collections">
            <div class="list-body">
                <h3 class="list-group">"Library"</h3>
                <ul>{move || item(None, "All documents".to_owned(), total())}</ul>
                {move || {
                    let all = shelf.collections.get();
                    (!all.is_empty()).then(|| view! {
                        <h3 class="list-group">"Collections"</h3>
                        <ul>{all.into_iter().map(|one| item(Some(one.name.clone()), format::plain(one.name.as_str()), one.documents)).collect_view()}</ul>
                    })
                }}
                <Watched />
            </div>
            <div class="list-foot">
                <p class="quiet">
                    {move || format::counted(shelf.collections.with(|all| all.iter().map(|one| one.chunks).sum()), "searchable chunk", "searchable chunks")}
                </p>
            </div>
        </section>
    }
}

/// The followed folders of the collection shown.
#[component]
fn Watched() -> impl IntoView {
    /// A disk may come and go without any event that the window hears.
    const LOOK_AGAIN_MS: u32 = 15_000;
    let app = use_app();
    let shelf = app.shelf;
    // It goes with the panel, and the looking with it.
    let is_shown = StoredValue::new(true);
    spawn_local(async move {
        while is_shown.try_get_value().is_some() {
            shelf.refresh_watched();
            bridge::sleep(LOOK_AGAIN_MS).await;
        }
    });
    let folders = Memo::new(move |_| {
        let chosen = shelf.collection.get();
        shelf
            .watched
            .with(|all| watched::of_collection(all, chosen.as_ref()))
    });
    let target = move || {
        let name = shelf.collection.get().unwrap_or_default();
        format!(
            "Its files go to `{}`, now and whenever they change",
            format::plain(name.as_str())
        )
    };
    view! {
        <h3 class="list-group">"Followed folders"</h3>
        <ul>
            <For each=move || folders.get() key=|folder| format!("{folder:?}") children=watched_item />
        </ul>
        <button class="list-item" data-testid="follow-folder" title=target on:click=move |_| shelf.follow_folder()>
            <Icon glyph=Glyph::Plus />
            <span class="list-item-text">"Follow a folder\u{2026}"</span>
        </button>
    }
}

fn watched_item(folder: WatchedFolder) -> impl IntoView {
    let app = use_app();
    let name = format::plain(format::file_name(&folder.path));
    let leave = folder.clone();
    view! {
        <li class="watched" data-testid="watched-folder" data-state=watched::state_name(folder.state) title=watched::title(&folder)>
            <Icon glyph=if watched::is_trouble(folder.state) { Glyph::Warning } else { Glyph::Folder } />
            <span class="watched-words">
                <span class="watched-name">{name.clone()}</span>
                <span class="watched-state">{watched::words(&folder)}</span>
            </span>
            <button
                class="button quiet square"
                title="Stop following"
                aria-label=format!("Stop following {name}")
                data-testid="unfollow"
                on:click=move |_| app.shelf.leave_folder(leave.clone())
            >
                <Icon glyph=Glyph::Close />
            </button>
        </li>
    }
}
