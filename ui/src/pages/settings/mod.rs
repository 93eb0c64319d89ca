//! Settings: sections at the left, one of them in the middle. Every change is saved at once.

mod appearance;
mod engine_card;
mod engines;
mod knobs;
mod storage;
mod web;

use crate::state::route::{Route, Section};
use crate::state::use_app;
use leptos::prelude::*;

/// The page.
#[component]
pub fn SettingsPage(
    /// The section shown.
    section: Section,
) -> impl IntoView {
    let app = use_app();
    let body = match section {
        Section::Engines => view! { <engines::Engines /> }.into_any(),
        Section::Retrieval => view! { <knobs::Retrieval /> }.into_any(),
        Section::Answers => view! { <knobs::Answers /> }.into_any(),
        Section::Web => view! { <web::Web /> }.into_any(),
        Section::Appearance => view! { <appearance::Appearance /> }.into_any(),
        Section::Storage => view! { <storage::Storage /> }.into_any(),
    };
    let items = Section::ALL.map(|other| {
        view! {
            <li>
                <button class="list-item" aria-current=(other == section).then_some("true") data-testid=format!("section-{}", other.as_str()) on:click=move |_| app.go(Route::Settings(other))>
                    <span class="list-item-text">{other.label()}</span>
                </button>
            </li>
        }
    });
    view! {
        <section class="list" aria-label="Sections">
            <div class="list-body">
                <h3 class="list-group">"Settings"</h3>
                <ul>{items.collect_view()}</ul>
            </div>
        </section>
        <main class="centre broad">
            <header class="page-head"><h1 class="page-title">{section.label()}</h1></header>
            <div class="page-body settings">{body}</div>
        </main>
    }
}
