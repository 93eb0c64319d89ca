//! What lies over the screen: the question before something is lost, the sheet of shortcuts, notices, a glimpse of a
//! passage, and the veil while files are dragged.

use super::icon::{Glyph, Icon};
use super::problem::said;
use crate::bridge;
use crate::state::notices::{Detail, Notice};
use crate::state::sources::REMOVED;
use crate::state::{format, use_app};
use leptos::html::Dialog;
use leptos::prelude::*;

/// All of them.
#[component]
pub fn Overlays() -> impl IntoView {
    let app = use_app();
    view! {
        <ConfirmDialog />
        <ShortcutSheet />
        <Glance />
        <NoticeList />
        <Show when=move || app.dragging.get()>
            <div class="veil" aria-hidden="true">
                <div class="veil-card"><Icon glyph=Glyph::Drop />"Drop to add to the library"</div>
            </div>
        </Show>
    }
}

/// Asks once before something is lost or leaves the program.
#[component]
fn ConfirmDialog() -> impl IntoView {
    let app = use_app();
    view! {
        {move || app.confirm.get().map(|confirm| {
            let dialog = opened();
            let action = confirm.action;
            let close = move || app.confirm.set(None);
            let lines = confirm.details.iter().map(detail).collect_view();
            view! {
                <dialog node_ref=dialog class="dialog" aria-labelledby="confirm-title" aria-describedby="confirm-body" on:close=move |_| close()>
                    <h2 id="confirm-title">{confirm.title.clone()}</h2>
                    <p id="confirm-body">{confirm.body.clone()}</p>
                    <ul class="dialog-details">{lines}</ul>
                    <div class="dialog-actions">
                        <button class="button" data-testid="confirm-no" on:click=move |_| close()>"Cancel"</button>
                        <button
                            class="button primary"
                            class:danger=confirm.is_destructive
                            data-testid="confirm-yes"
                            on:click=move |_| {
                                close();
                                action.run(());
                            }
                        >
                            {confirm.yes}
                        </button>
                    </div>
                </dialog>
            }
        })}
    }
}

fn detail(detail: &Detail) -> impl IntoView + use<> {
    view! { <li>{format::plain(&detail.before)}<strong>{format::plain(&detail.strong)}</strong>{format::plain(&detail.after)}</li> }
}

/// A dialog that opens itself over everything once it is in the page.
fn opened() -> NodeRef<Dialog> {
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get() {
            bridge::show_dialog(&dialog);
        }
    });
    dialog
}

const SHORTCUTS: &[(&str, &[(&str, &str)])] = &[
    (
        "Anywhere",
        &[
            ("Ctrl 1 2 3", "Chat, Library, Settings"),
            ("Ctrl O", "Add files"),
            ("Ctrl N", "New question"),
            ("Ctrl Z", "Undo the latest deletion"),
            ("?", "This sheet"),
            ("Esc", "Stop or close"),
        ],
    ),
    (
        "Chat",
        &[
            ("Enter", "Send"),
            ("Shift Enter", "New line"),
            ("\u{2191} \u{2193}", "Earlier questions"),
            ("/", "Write a question"),
        ],
    ),
    (
        "Reading",
        &[
            ("J", "Next citation"),
            ("K", "Previous citation"),
            ("B", "Back to the sentence"),
        ],
    ),
];

#[component]
fn ShortcutSheet() -> impl IntoView {
    let app = use_app();
    view! {
        {move || app.sheet.get().then(|| {
            let dialog = opened();
            let groups = SHORTCUTS.iter().map(|(name, keys)| {
                let rows = keys.iter().map(|(key, what)| {
                    let caps = key.split(' ').map(|cap| view! { <kbd>{cap}</kbd> }).collect_view();
                    view! { <div class="shortcut"><dt>{*what}</dt><dd>{caps}</dd></div> }
                });
                view! { <section><h3>{*name}</h3><dl>{rows.collect_view()}</dl></section> }
            });
            view! {
                <dialog node_ref=dialog class="dialog sheet" aria-labelledby="sheet-title" on:close=move |_| app.sheet.set(false)>
                    <header class="sheet-head">
                        <h2 id="sheet-title">"Shortcuts"</h2>
                        <button class="button quiet square" aria-label="Close" on:click=move |_| app.sheet.set(false)><Icon glyph=Glyph::Close /></button>
                    </header>
                    {groups.collect_view()}
                </dialog>
            }
        })}
    }
}

/// The passage of a citation, beside its chip.
#[component]
fn Glance() -> impl IntoView {
    const WIDTH: f64 = 360.0;
    const HEIGHT: f64 = 240.0;
    let app = use_app();
    view! {
        {move || app.reader.glimpse.get().map(|glimpse| {
            let at = glimpse.anchor;
            let left = (at.left - 24.0).min(at.window_width - WIDTH - 12.0).max(12.0);
            let is_above = at.bottom + HEIGHT > at.window_height;
            let citation = glimpse.citation;
            let page = citation.page.map(|page| format!("p. {page}"));
            view! {
                <div
                    class="glimpse"
                    role="tooltip"
                    style:left=format!("{left}px")
                    style:top=if is_above { "auto".to_owned() } else { format!("{}px", at.bottom + 6.0) }
                    style:bottom=if is_above { format!("{}px", at.window_height - at.top + 6.0) } else { "auto".to_owned() }
                >
                    <div class="glimpse-head">
                        <strong>{format::plain(&citation.title)}</strong>
                        {app.shelf.is_removed(&citation.document).then(|| view! { <span class="removed-mark">{REMOVED}</span> })}
                        <span>{page}</span>
                    </div>
                    <p class="serif">{format::shortened(&citation.text, 420)}</p>
                </div>
            }
        })}
    }
}

/// Notices at the lower edge, read out as they come.
#[component]
fn NoticeList() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="notices" role="status" aria-live="polite">
            <For each=move || app.notices.all.get() key=|notice| notice.id children=notice_view />
        </div>
    }
}

fn notice_view(notice: Notice) -> impl IntoView {
    let app = use_app();
    let id = notice.id;
    view! {
        <div class="notice" class:error=notice.is_error data-testid=if notice.is_error { "notice-error" } else { "notice" }>
            <Icon glyph=if notice.is_error { Glyph::Warning } else { Glyph::Check } />
            <div class="notice-words">
                <p>{said(&notice.text)}</p>
                {notice.hint.map(|hint| view! { <p class="quiet">{said(&hint)}</p> })}
            </div>
            {notice.step.map(|step| view! {
                <button class="button" data-testid="notice-step" on:click=move |_| app.notices.take_step(id, &step)>{step.word}</button>
            })}
            <button class="button quiet square" aria-label="Close" on:click=move |_| app.notices.close(id)><Icon glyph=Glyph::Close /></button>
        </div>
    }
}
