//! Before the first question: what this is, and how to begin.

use crate::components::drop_zone::DropZone;
use crate::components::mark::ProgressBar;
use crate::state::library::job_progress;
use crate::state::route::Route;
use crate::state::{format, use_app};
use leptos::prelude::*;

/// What an empty conversation shows.
#[component]
pub fn Welcome() -> impl IntoView {
    let app = use_app();
    let ready = Memo::new(move |_| {
        app.shelf
            .collections
            .with(|all| all.iter().map(|collection| collection.ready).sum::<u64>())
    });
    let jobs = move || app.runs.running_jobs();
    view! {
        <div class="welcome">
            {move || {
                let running = jobs();
                if !running.is_empty() {
                    let progress = job_progress(&running[0].1);
                    view! {
                        <h2>"Reading your documents"</h2>
                        <p class="lead">"You can ask as soon as the first one is ready."</p>
                        <ProgressBar done=progress.done total=progress.files unit="files" />
                        <button class="button" on:click=move |_| app.go(Route::Library)>"Show the library"</button>
                    }.into_any()
                } else if ready.get() > 0 {
                    view! {
                        <h2>"Ask your documents"</h2>
                        <p class="lead">
                            {format::counted(ready.get(), "document is", "documents are")}
                            " ready. Every sentence of an answer points at the passage it came from."
                        </p>
                    }.into_any()
                } else if app.shelf.documents.with(Option::is_none) {
                    view! { <p class="quiet">"Loading"</p> }.into_any()
                } else {
                    view! {
                        <h2>"Answers from your own documents, with the proof beside them"</h2>
                        <p class="lead">"Add documents, ask a question, and click any citation to read the passage it came from."</p>
                        <DropZone />
                    }.into_any()
                }
            }}
        </div>
    }
}
