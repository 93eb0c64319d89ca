//! The questions of the past, by day.

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::state::format::{day_group, plain};
use crate::state::notices::Confirm;
use crate::state::use_app;
use adrag_contract::RunSummary;
use leptos::prelude::*;

/// The list.
#[component]
pub fn PastRuns() -> impl IntoView {
    let app = use_app();
    let query = RwSignal::new(String::new());
    let groups = move || {
        let words = query.get().to_lowercase();
        let now = bridge::local_ms(bridge::now_ms());
        let mut groups: Vec<(&'static str, Vec<RunSummary>)> = Vec::new();
        for run in app.chat.past.get().unwrap_or_default() {
            if !run.question.to_lowercase().contains(&words) {
                continue;
            }
            let group = day_group(bridge::local_ms(run.started_at_ms), now);
            match groups.last_mut() {
                Some((name, runs)) if *name == group => runs.push(run),
                _ => groups.push((group, vec![run])),
            }
        }
        groups
    };
    let forget = move |_| {
        app.ask_first(Confirm {
            title: "Forget all questions?".to_owned(),
            body: "Questions, answers and their traces are lost. Documents stay.".to_owned(),
            details: Vec::new(),
            yes: "Forget",
            is_destructive: true,
            action: Callback::new(move |()| app.chat.forget_runs()),
        });
    };
    let has_any = move || {
        app.chat
            .past
            .with(|past| past.as_ref().is_some_and(|runs| !runs.is_empty()))
    };
    view! {
        <section class="list" aria-label="Questions">
            <div class="list-head">
                <button class="button primary wide" data-testid="new-question" title="New question (Ctrl N)" on:click=move |_| app.chat.begin_anew()>
                    <Icon glyph=Glyph::Plus />"New question"
                </button>
                <Show when=has_any>
                    <label class="search">
                        <Icon glyph=Glyph::Search />
                        <input type="search" placeholder="Search questions" aria-label="Search questions" prop:value=move || query.get() on:input:target=move |event| query.set(event.target().value()) />
                    </label>
                </Show>
            </div>
            <div class="list-body">
                {move || groups().into_iter().map(|(name, runs)| view! {
                    <h3 class="list-group">{name}</h3>
                    <ul>{runs.into_iter().map(item).collect_view()}</ul>
                }).collect_view()}
                {move || match app.chat.past.get() {
                    None => Some(view! { <p class="list-empty">"Loading"</p> }),
                    Some(runs) if runs.is_empty() => Some(view! { <p class="list-empty">"Your questions will be kept here."</p> }),
                    Some(_) if groups().is_empty() => Some(view! { <p class="list-empty">"No question holds these words."</p> }),
                    Some(_) => None,
                }}
            </div>
            <Show when=has_any>
                <div class="list-foot"><button class="button quiet" on:click=forget><Icon glyph=Glyph::Trash />"Forget all"</button></div>
            </Show>
        </section>
    }
}

fn item(run: RunSummary) -> impl IntoView {
    let app = use_app();
    let (id, opened) = (run.run.clone(), run.clone());
    let title = plain(&run.question);
    view! {
        <li>
            <button class="list-item" title=format!("{title}\n{}", bridge::date_time(run.started_at_ms)) aria-current=move || app.chat.holds(&id).then_some("true") on:click=move |_| app.chat.open(&opened)>
                <span class="list-item-text">{title.clone()}</span>
                <span class="list-item-side">
                    {(!run.finished).then_some("\u{2026}")}
                </span>
            </button>
        </li>
    }
}
