//! The rail at the left: where one can go.

use super::icon::{Glyph, Icon};
use crate::bridge;
use crate::state::route::{Route, Section};
use crate::state::use_app;
use leptos::prelude::*;

/// The rail.
#[component]
pub fn Rail() -> impl IntoView {
    let app = use_app();
    let item =
        move |route: Route, glyph: Glyph, label: &'static str, testid: &'static str, keys: &'static str| {
            let is_here = move || std::mem::discriminant(&app.route.get()) == std::mem::discriminant(&route);
            view! {
                <button
                    class="rail-item"
                    data-testid=testid
                    title=format!("{label} ({keys})")
                    aria-current=move || is_here().then_some("page")
                    on:click=move |_| app.go(route)
                >
                    <Icon glyph=glyph />
                    <span>{label}</span>
                </button>
            }
        };
    let jobs = move || app.runs.running_jobs().len();
    view! {
        <nav class="rail" aria-label="Pages">
            <div class="rail-sign" aria-hidden="true">"ad"</div>
            {item(Route::Chat, Glyph::Chat, "Chat", "nav-chat", "Ctrl 1")}
            <div class="rail-slot">
                {item(Route::Library, Glyph::Library, "Library", "nav-library", "Ctrl 2")}
                <Show when=move || { jobs() > 0 }><span class="rail-dot" role="img" aria-label="Documents are being added"></span></Show>
            </div>
            {item(Route::Settings(Section::default()), Glyph::Settings, "Settings", "nav-settings", "Ctrl 3")}
            <div class="rail-space"></div>
            {bridge::is_demo().then(|| view! { <div class="rail-demo" title="No engine is connected: answers are scripted">"Demo"</div> })}
            <button class="rail-item" title="Shortcuts (?)" on:click=move |_| app.sheet.set(true)>
                <Icon glyph=Glyph::Keyboard />
                <span>"Keys"</span>
            </button>
        </nav>
    }
}
