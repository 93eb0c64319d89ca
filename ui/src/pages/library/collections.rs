//! The collections, with how much each holds.

use crate::components::icon::{Glyph, Icon};
use crate::state::{format, use_app};
use adrag_contract::CollectionName;
use leptos::prelude::*;

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
            </div>
            <div class="list-foot">
                <p class="quiet">
                    {move || format::counted(shelf.collections.with(|all| all.iter().map(|one| one.chunks).sum()), "searchable chunk", "searchable chunks")}
                </p>
            </div>
        </section>
    }
}
