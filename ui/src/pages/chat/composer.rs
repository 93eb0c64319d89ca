//! Where a question is written: what is searched, who answers, send and stop.

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::state::{format, use_app};
use adrag_contract::{CollectionName, EngineId};
use leptos::prelude::*;

/// The composer.
#[component]
pub fn Composer() -> impl IntoView {
    let app = use_app();
    let is_busy = Memo::new(move |_| app.chat.is_busy());
    let is_blank = move || app.chat.draft.with(|draft| draft.trim().is_empty());
    let send = move || {
        if !is_busy.get_untracked() && !app.chat.draft.with_untracked(|draft| draft.trim().is_empty()) {
            app.reader.reveal_trace();
            app.chat.send();
        }
    };
    view! {
        <div class="composer-place">
            <div class="composer">
                // The copy behind the field gives it its height: it grows with the text.
                <div class="composer-text">
                    <div class="composer-copy" aria-hidden="true">{move || format!("{}\u{200b}", app.chat.draft.get())}</div>
                    <textarea
                        id="composer"
                        data-testid="composer"
                        rows="1"
                        aria-label="Question"
                        placeholder="Ask a question about your documents"
                        prop:value=move || app.chat.draft.get()
                        on:input:target=move |event| app.chat.draft.set(event.target().value())
                        on:keydown=move |event| {
                            if bridge::is_composing(&event) {
                                return;
                            }
                            let is_first_line = app.chat.draft.with_untracked(|draft| !draft.contains('\n'));
                            match event.key().as_str() {
                                "Enter" if !event.shift_key() => send(),
                                "ArrowUp" if is_first_line => {
                                    let shown = app.chat.draft.get_untracked();
                                    match app.chat.recall.try_update(|recall| recall.earlier(&shown)).flatten() {
                                        Some(question) => app.chat.draft.set(question),
                                        None => return,
                                    }
                                }
                                "ArrowDown" if is_first_line => {
                                    match app.chat.recall.try_update(|recall| recall.later()).flatten() {
                                        Some(question) => app.chat.draft.set(question),
                                        None => return,
                                    }
                                }
                                _ => return,
                            }
                            event.prevent_default();
                        }
                    ></textarea>
                </div>
                <div class="composer-tools">
                    <Scope />
                    <EngineChoice />
                    <WebSwitch />
                    <span class="spring"></span>
                    {move || if is_busy.get() {
                        view! {
                            <button class="button stop" data-testid="stop" title="Stop (Esc)" on:click=move |_| app.chat.stop()>
                                <Icon glyph=Glyph::Stop />"Stop"
                            </button>
                        }.into_any()
                    } else {
                        view! {
                            <button class="button primary send" data-testid="send" title="Send (Enter)" disabled=is_blank on:click=move |_| send()>
                                <Icon glyph=Glyph::Send />"Ask"
                            </button>
                        }.into_any()
                    }}
                </div>
            </div>
        </div>
    }
}

/// Which collection is searched.
#[component]
fn Scope() -> impl IntoView {
    let app = use_app();
    let total = move || {
        app.shelf
            .collections
            .with(|all| all.iter().map(|one| one.ready).sum::<u64>())
    };
    let chosen = move || {
        app.chat.scope.with(|scope| {
            scope
                .as_ref()
                .map(|name| name.as_str().to_owned())
                .unwrap_or_default()
        })
    };
    view! {
        <label class="pick" title="What is searched">
            <Icon glyph=Glyph::Folder />
            <select
                aria-label="Collection"
                data-testid="scope"
                prop:value=chosen
                on:change:target=move |event| {
                    let name = event.target().value();
                    app.chat.scope.set((!name.is_empty()).then(|| CollectionName::new(name)));
                }
            >
                <option value="">{move || format!("All documents ({})", format::count(total()))}</option>
                {move || app.shelf.collections.get().into_iter().map(|collection| {
                    let name = collection.name.as_str().to_owned();
                    let is_chosen = chosen() == name;
                    view! {
                        <option value=name.clone() selected=is_chosen>{format!("{} ({})", format::plain(&name), format::count(collection.ready))}</option>
                    }
                }).collect_view()}
            </select>
        </label>
    }
}

/// Whether this question may go to the web; only where the settings allow it at all.
#[component]
fn WebSwitch() -> impl IntoView {
    let app = use_app();
    let is_offered = Memo::new(move |_| app.preferences.settings.with(|settings| settings.web.enabled));
    let is_on = move || app.chat.web.get();
    move || {
        is_offered.get().then(|| {
            view! {
                <button
                    class="button quiet web-switch"
                    role="switch"
                    aria-checked=move || is_on().to_string()
                    data-testid="web-switch"
                    title="Whether the words of this question may be sent to a web search"
                    on:click=move |_| app.chat.web.update(|on| *on = !*on)
                >
                    <Icon glyph=Glyph::Link />{move || if is_on() { "Web on" } else { "Web off" }}
                </button>
            }
        })
    }
}

/// Which engine answers.
#[component]
fn EngineChoice() -> impl IntoView {
    let app = use_app();
    let engine = move || app.preferences.settings.with(|settings| settings.engine);
    let is_down = move || {
        app.preferences
            .engine(engine())
            .is_some_and(|status| !status.available)
    };
    let why = move || {
        app.preferences
            .engine(engine())
            .and_then(|status| status.error)
            .map_or_else(|| "Who answers".to_owned(), |error| error.to_string())
    };
    view! {
        <label class="pick" class:down=is_down title=why>
            <Icon glyph=Glyph::Sparkle />
            <select
                aria-label="Engine"
                data-testid="engine"
                on:change:target=move |event| {
                    if let Ok(engine) = event.target().value().parse::<EngineId>() {
                        app.preferences.change(|settings| settings.engine = engine);
                    }
                }
            >
                {EngineId::ALL.map(|id| {
                    let label = move || {
                        let is_down = app.preferences.engine(id).is_some_and(|status| !status.available);
                        format!("{}{}", id.label(), if is_down { " (not available)" } else { "" })
                    };
                    view! { <option value=id.as_str() selected=move || engine() == id>{label}</option> }
                }).collect_view()}
            </select>
        </label>
    }
}
