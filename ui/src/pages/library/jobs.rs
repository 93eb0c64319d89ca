//! Documents being added: how many of how many, which one now, and how far it is.

use crate::components::icon::{Glyph, Icon};
use crate::components::mark::ProgressBar;
use crate::components::problem::said;
use crate::state::library::{JobProgress, job_progress};
use crate::state::runs::Live;
use crate::state::{format, use_app};
use adrag_contract::{RunId, RunStatus};
use leptos::prelude::*;

/// The jobs of this session that are still of interest.
#[component]
pub fn Jobs() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="jobs" aria-live="polite">
            <For each=move || app.runs.jobs.get() key=|(run, _)| run.clone() let((run, live))>
                <Job run=run live=live />
            </For>
        </div>
    }
}

#[component]
fn Job(run: RunId, live: Live) -> impl IntoView {
    let app = use_app();
    let (for_progress, for_status, for_error) = (live.clone(), live.clone(), live);
    let progress: Memo<JobProgress> =
        Memo::new(move |_| for_progress.with(|follow| job_progress(&follow.view)));
    let status = Memo::new(move |_| for_status.with(|follow| follow.view.status));
    let error = Memo::new(move |_| for_error.with(|follow| follow.view.error.clone()));
    let (for_stop, for_close) = (run.clone(), run);
    let is_over = move || {
        matches!(
            status.get(),
            RunStatus::Finished | RunStatus::Failed | RunStatus::Cancelled
        )
    };
    let title = move || {
        let now = progress.get();
        match status.get() {
            RunStatus::Waiting | RunStatus::Running => "Adding documents".to_owned(),
            RunStatus::Finished if now.trouble == 0 => {
                format!("Added {}", format::counted(now.files, "document", "documents"))
            }
            RunStatus::Finished => format!(
                "Added {} of {}",
                format::count(now.files - now.trouble),
                format::counted(now.files, "document", "documents")
            ),
            RunStatus::Failed => "Adding documents failed".to_owned(),
            RunStatus::Cancelled => format!(
                "Stopped after {} of {}",
                format::count(now.done),
                format::counted(now.files, "document", "documents")
            ),
        }
    };
    view! {
        <section class="job" data-testid="job" data-over=move || is_over().to_string()>
            <div class="job-head">
                <strong>{title}</strong>
                <span class="quiet">{move || (progress.get().trouble > 0).then(|| format!("{} without text or failed", progress.get().trouble))}</span>
                <span class="spring"></span>
                {move || if is_over() {
                    let run = for_close.clone();
                    view! {
                        <button class="button quiet square" aria-label="Close" on:click=move |_| app.runs.jobs.update(|jobs| jobs.retain(|(known, _)| *known != run))>
                            <Icon glyph=Glyph::Close />
                        </button>
                    }.into_any()
                } else {
                    let run = for_stop.clone();
                    view! { <button class="button quiet" on:click=move |_| app.shelf.stop(run.clone())><Icon glyph=Glyph::Stop />"Stop"</button> }.into_any()
                }}
            </div>
            {move || error.get().map(|error| view! { <p class="job-error">{said(&error.to_string())}</p> })}
            {move || (!is_over()).then(|| {
                let now = progress.get();
                view! {
                    <ProgressBar done=now.done total=now.files unit="files" />
                    <p class="job-current">
                        <span class="mono">{now.current.map(|path| format::plain(format::file_name(&path)))}</span>
                        <span>{now.progress.map(|part| match part.unit.as_str() {
                            "bytes" => format!("{} of {}", format::size(part.done), format::size(part.total)),
                            unit => format!("{} of {} {unit}", format::count(part.done), format::count(part.total)),
                        })}</span>
                    </p>
                }
            })}
        </section>
    }
}
