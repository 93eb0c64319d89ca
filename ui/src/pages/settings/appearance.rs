//! How the window looks.

use crate::state::use_app;
use adrag_contract::Theme;
use leptos::prelude::*;

/// The section.
#[component]
pub fn Appearance() -> impl IntoView {
    let app = use_app();
    let choice = move |theme: Theme, name: &'static str, label: &'static str| {
        let is_chosen = move || app.preferences.settings.with(|settings| settings.theme == theme);
        view! {
            <button class="theme" data-swatch=name data-testid=format!("theme-{name}") aria-pressed=move || is_chosen().to_string() on:click=move |_| app.preferences.change(|settings| settings.theme = theme)>
                <span class="swatch" aria-hidden="true"><span></span><span></span><span></span></span>
                {label}
            </button>
        }
    };
    view! {
        <section class="card">
            <header class="card-head"><h2>"Theme"</h2></header>
            <div class="themes" role="group" aria-label="Theme">
                {choice(Theme::System, "system", "As the system")}
                {choice(Theme::Light, "light", "Light")}
                {choice(Theme::Dark, "dark", "Dark")}
            </div>
        </section>
        <p class="quiet">"Motion follows the system's own setting."</p>
    }
}
