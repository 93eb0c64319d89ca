//! The threads at the left, by day: search, name, export, forget.

use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::state::format::{day_group, plain};
use crate::state::notices::Confirm;
use crate::state::use_app;
use adrag_contract::{ExportFormat, ThreadId, ThreadSummary};
use leptos::prelude::*;

/// The list.
#[component]
pub fn Threads() -> impl IntoView {
    let app = use_app();
    let renamed: RwSignal<Option<ThreadId>> = RwSignal::new(None);
    let groups = move || {
        let now = bridge::local_ms(bridge::now_ms());
        let mut groups: Vec<(&'static str, Vec<ThreadSummary>)> = Vec::new();
        for thread in app.chat.past.get().unwrap_or_default() {
            let group = day_group(bridge::local_ms(thread.updated_at_ms), now);
            match groups.last_mut() {
                Some((name, threads)) if *name == group => threads.push(thread),
                _ => groups.push((group, vec![thread])),
            }
        }
        groups
    };
    let forget = move |_| {
        app.ask_first(Confirm {
            title: "Forget all conversations?".to_owned(),
            body: "Questions, answers and their traces are lost. Documents stay.".to_owned(),
            details: Vec::new(),
            yes: "Forget",
            is_destructive: true,
            action: Callback::new(move |()| app.chat.forget_runs()),
        });
    };
    let is_searching = move || app.chat.find.with(|find| !find.trim().is_empty());
    let has_any = Memo::new(move |_| {
        is_searching()
            || app
                .chat
                .past
                .with(|past| past.as_ref().is_some_and(|threads| !threads.is_empty()))
    });
    view! {
        <section class="list" aria-label="Conversations">
            <div class="list-head">
                <button class="button primary wide" data-testid="new-question" title="New conversation (Ctrl N)" on:click=move |_| app.chat.begin_anew()>
                    <Icon glyph=Glyph::Plus />"New question"
                </button>
                <Show when=move || has_any.get()>
                    <label class="search">
                        <Icon glyph=Glyph::Search />
                        <input type="search" placeholder="Search conversations" aria-label="Search conversations" data-testid="find-threads"
                            prop:value=move || app.chat.find.get()
                            on:input:target=move |event| {
                                app.chat.find.set(event.target().value());
                                app.chat.refresh_threads();
                            } />
                    </label>
                </Show>
            </div>
            <div class="list-body">
                {move || groups().into_iter().map(|(name, threads)| view! {
                    <h3 class="list-group">{name}</h3>
                    <ul>{threads.into_iter().map(|thread| item(thread, renamed)).collect_view()}</ul>
                }).collect_view()}
                {move || match app.chat.past.get() {
                    None => Some(view! { <p class="list-empty">"Loading"</p> }),
                    Some(threads) if threads.is_empty() && is_searching() => Some(view! { <p class="list-empty">"No conversation holds these words."</p> }),
                    Some(threads) if threads.is_empty() => Some(view! { <p class="list-empty">"Your conversations will be kept here."</p> }),
                    Some(_) => None,
                }}
            </div>
            <Show when=move || has_any.get()>
                <div class="list-foot"><button class="button quiet" on:click=forget><Icon glyph=Glyph::Trash />"Forget all"</button></div>
            </Show>
        </section>
    }
}

fn item(thread: ThreadSummary, renamed: RwSignal<Option<ThreadId>>) -> impl IntoView {
    let id = thread.thread.clone();
    let title = plain(&thread.title);
    move || {
        if renamed.with(|renamed| renamed.as_ref() == Some(&id)) {
            view! { <li><NameField thread=id.clone() title=title.clone() renamed=renamed /></li> }.into_any()
        } else {
            view! { <li class="thread"><Entry thread=thread.clone() renamed=renamed /></li> }.into_any()
        }
    }
}

#[component]
fn Entry(thread: ThreadSummary, renamed: RwSignal<Option<ThreadId>>) -> impl IntoView {
    let app = use_app();
    let title = plain(&thread.title);
    let ThreadSummary {
        thread: id,
        questions,
        updated_at_ms,
        ..
    } = thread;
    let (shown, opened, named, gone) = (id.clone(), id.clone(), id.clone(), id.clone());
    let called = title.clone();
    let forget = move |_| {
        let thread = gone.clone();
        app.ask_first(Confirm {
            title: "Forget this conversation?".to_owned(),
            body: format!(
                "\u{201c}{called}\u{201d}, with its answers and their traces, is lost. Documents stay."
            ),
            details: Vec::new(),
            yes: "Forget",
            is_destructive: true,
            action: Callback::new(move |()| app.chat.delete(thread.clone())),
        });
    };
    view! {
        <button class="list-item" data-testid="thread" title=format!("{title}\n{}", bridge::date_time(updated_at_ms)) aria-current=move || app.chat.holds(&shown).then_some("true") on:click=move |_| app.chat.open(opened.clone())>
            <span class="list-item-text">{title.clone()}</span>
            <span class="list-item-side">{(questions > 1).then_some(questions)}</span>
        </button>
        <span class="thread-tools">
            <button class="button quiet square" title="Rename" aria-label=format!("Rename {title}") data-testid="rename-thread" on:click=move |_| {
                renamed.set(Some(named.clone()));
                bridge::focus("thread-name");
            }><Icon glyph=Glyph::Pencil /></button>
            <ExportChoice thread=id title=title.clone() />
            <button class="button quiet square" title="Forget" aria-label=format!("Forget {title}") data-testid="delete-thread" on:click=forget><Icon glyph=Glyph::Trash /></button>
        </span>
    }
}

/// In which form a thread is written to a file.
#[component]
fn ExportChoice(thread: ThreadId, title: String) -> impl IntoView {
    let app = use_app();
    view! {
        <label class="button quiet square" title="Export">
            <Icon glyph=Glyph::Save />
            <select class="over" aria-label=format!("Export {title}") data-testid="export-thread" on:change:target=move |event| {
                if let Ok(format) = event.target().value().parse::<ExportFormat>() {
                    app.chat.export(thread.clone(), format);
                }
                event.target().set_value("");
            }>
                <option value="" selected=true>"Export as"</option>
                {ExportFormat::ALL.map(|format| {
                    let label = match format {
                        ExportFormat::Markdown => "Markdown",
                        ExportFormat::Html => "Web page",
                        ExportFormat::Json => "JSON",
                    };
                    view! { <option value=format.as_str()>{label}</option> }
                }).collect_view()}
            </select>
        </label>
    }
}

/// A thread's name while it is written: Enter keeps it, Escape does not.
#[component]
fn NameField(thread: ThreadId, title: String, renamed: RwSignal<Option<ThreadId>>) -> impl IntoView {
    let app = use_app();
    let name = RwSignal::new(title);
    let keep = move || {
        if renamed.with_untracked(Option::is_some) {
            renamed.set(None);
            app.chat.rename(thread.clone(), name.get_untracked());
        }
    };
    let keep_on_leave = keep.clone();
    view! {
        <input id="thread-name" class="thread-name" data-testid="thread-name" aria-label="Name of the conversation" maxlength="200" autofocus=true
            prop:value=move || name.get()
            on:input:target=move |event| name.set(event.target().value())
            on:keydown=move |event| match event.key().as_str() {
                "Enter" => keep(),
                "Escape" => {
                    event.stop_propagation();
                    renamed.set(None);
                }
                _ => {}
            }
            on:blur=move |_| keep_on_leave()
        />
    }
}
