//! An engine as a card: whether it could answer now, and why not; and the field for a key, which is write-only.

use crate::components::field::Field;
use crate::components::icon::{Glyph, Icon};
use crate::components::mark::StageMark;
use crate::components::problem;
use crate::state::{format, use_app};
use adrag_contract::{EngineId, KeyName, KeyStatus, RowStatus};
use leptos::prelude::*;

/// A card.
#[component]
pub fn Card(
    /// The engine.
    engine: EngineId,
    /// What it is.
    about: &'static str,
    /// Its fields; an engine without any has nothing to set.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let app = use_app();
    let preferences = app.preferences;
    let is_chosen = move || preferences.settings.with(|settings| settings.engine == engine);
    let status = Memo::new(move |_| preferences.engine(engine));
    let mark = Signal::derive(move || match status.get() {
        None => RowStatus::Waiting,
        Some(status) if status.available => RowStatus::Done,
        Some(_) => RowStatus::Degraded,
    });
    let said = move || match status.get() {
        None => "Checking".to_owned(),
        Some(status) if status.available => {
            let mut facts = vec!["Ready".to_owned()];
            facts.extend(status.model);
            facts.extend(status.about);
            facts.push(format::duration(status.took_ms));
            facts.join(" \u{b7} ")
        }
        Some(status) => status
            .error
            .map_or_else(|| "Not available".to_owned(), |error| error.message),
    };
    let hint = move || {
        status
            .get()
            .and_then(|status| status.error)
            .and_then(|error| error.hint)
    };
    view! {
        <section class="card" class:chosen=is_chosen data-testid=format!("engine-{engine}") data-available=move || status.get().is_some_and(|status| status.available).to_string()>
            <header class="card-head">
                <div class="card-words">
                    <h2>{engine.label()}</h2>
                    <p class="quiet">{about}</p>
                </div>
                {move || if is_chosen() {
                    view! { <span class="card-chosen"><Icon glyph=Glyph::Check />"In use"</span> }.into_any()
                } else {
                    view! {
                        <button class="button" data-testid=format!("use-{engine}") on:click=move |_| preferences.change(|settings| settings.engine = engine)>"Use"</button>
                    }.into_any()
                }}
            </header>
            <p class="card-status" role="status">
                <StageMark status=mark /><span>{move || problem::said(&said())}</span>
                {move || hint().map(|hint| view! { <span class="quiet">{problem::said(&hint)}</span> })}
            </p>
            {children.map(|children| view! { <div class="card-fields">{children()}</div> })}
        </section>
    }
}

/// A key: it goes in and never comes out.
#[component]
pub fn KeyField(
    /// Which key.
    name: KeyName,
) -> impl IntoView {
    let app = use_app();
    let preferences = app.preferences;
    let key = RwSignal::new(String::new());
    let status = Memo::new(move |_| preferences.key(name));
    let is_stored = move || status.get().is_some_and(|status| status.stored);
    let save = move || {
        let typed = key.get_untracked().trim().to_owned();
        key.set(String::new());
        if !typed.is_empty() {
            preferences.save_key(name, typed);
        }
    };
    view! {
        <Field id="openai-key" label="Key" about="Kept by the system's keychain. It is never shown again.">
            <div class="key">
                <input
                    id="openai-key"
                    class="input text"
                    type="password"
                    autocomplete="off"
                    data-testid="key"
                    placeholder=move || if is_stored() { "paste a new key to replace it" } else { "paste a key" }
                    prop:value=move || key.get()
                    on:input:target=move |event| key.set(event.target().value())
                    on:keydown=move |event| if event.key() == "Enter" { save() }
                />
                <button class="button" data-testid="save-key" disabled=move || key.with(|key| key.trim().is_empty()) on:click=move |_| save()>"Save"</button>
                <Show when=is_stored>
                    <button class="button quiet" on:click=move |_| preferences.save_key(name, String::new())>"Remove"</button>
                </Show>
            </div>
            <p class="key-status" data-testid="key-status"><Icon glyph=Glyph::Key />{move || words(status.get().as_ref())}</p>
        </Field>
    }
}

fn words(status: Option<&KeyStatus>) -> String {
    match status {
        Some(KeyStatus {
            stored: true,
            last_four,
            session_only,
            ..
        }) => {
            let ending = last_four
                .as_ref()
                .map(|last| format!(", ending in {last}"))
                .unwrap_or_default();
            let place = if *session_only {
                "Kept in memory until adRAG closes: this system has no keychain"
            } else {
                "Stored in the keychain"
            };
            format!("{place}{ending}")
        }
        Some(KeyStatus {
            session_only: true, ..
        }) => "No key. This system has no keychain, so a key is kept until adRAG closes".to_owned(),
        _ => "No key stored".to_owned(),
    }
}
