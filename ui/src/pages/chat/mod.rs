//! Chat: questions at the left, the conversation in the middle, sources at the right.

mod composer;
mod exchange;
mod threads;
mod welcome;

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::components::pane::Pane;
use crate::state::use_app;
use leptos::prelude::*;
use leptos::task::spawn_local;

const SCROLLER: &str = "conversation";

/// The page.
#[component]
pub fn ChatPage() -> impl IntoView {
    let app = use_app();
    let is_at_end = RwSignal::new(true);
    // How much there is to read: when it grows, the eye stays at the end if it was there.
    let amount = Memo::new(move |_| {
        app.chat.exchanges.with(|all| {
            let last = all.last().and_then(|exchange| {
                exchange.read(|view| {
                    (
                        view.text.len() + view.claims.len() + view.citations.len(),
                        view.is_over(),
                    )
                })
            });
            (all.len(), last)
        })
    });
    let has_any = Memo::new(move |_| app.chat.exchanges.with(|all| !all.is_empty()));
    // With one question a title would only repeat it.
    let title = move || {
        app.chat.exchanges.with(|all| match all.as_slice() {
            [] => "New question".to_owned(),
            [_] => String::new(),
            [first, ..] => first.asked(),
        })
    };
    Effect::new(move |before: Option<usize>| {
        let (count, _) = amount.get();
        if before.is_some_and(|before| before < count) || is_at_end.get_untracked() {
            spawn_local(async {
                bridge::next_frame().await;
                bridge::scroll_to_end(SCROLLER);
            });
        }
        count
    });
    view! {
        <threads::Threads />
        <main class="centre">
            <header class="page-head">
                <h1 class="page-title">{title}</h1>
                <span class="spring"></span>
                <Show when=move || has_any.get()>
                    <button
                        class="button quiet"
                        aria-pressed=move || app.chat.checking.get().to_string()
                        title="Show the mark of every checked sentence"
                        on:click=move |_| app.chat.checking.update(|on| *on = !*on)
                    >
                        <Icon glyph=Glyph::Check />"Marks"
                    </button>
                    <button
                        class="button quiet square"
                        title="Side pane"
                        aria-label="Side pane"
                        data-testid="toggle-pane"
                        aria-pressed=move || app.reader.is_open.get().to_string()
                        on:click=move |_| app.reader.is_open.update(|open| *open = !*open)
                    >
                        <Icon glyph=Glyph::Panel />
                    </button>
                </Show>
            </header>
            <div
                id=SCROLLER
                class="conversation"
                class:checking=move || app.chat.checking.get()
                on:scroll=move |_| is_at_end.set(bridge::is_at_end(SCROLLER))
            >
                {move || app.chat.exchanges.with(Vec::is_empty).then(|| view! { <welcome::Welcome /> })}
                <For each=move || app.chat.exchanges.get() key=|exchange| exchange.key let(exchange)>
                    <exchange::ExchangeView exchange=exchange />
                </For>
            </div>
            <composer::Composer />
        </main>
        <Show when=move || has_any.get()>
            <Pane />
        </Show>
    }
}
