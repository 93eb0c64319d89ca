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
    // The buttons are drawn anew for these alone: one that is drawn anew loses the keyboard.
    let is_paused = Memo::new(move |_| progress.with(|now| now.is_paused));
    let failed = Memo::new(move |_| progress.with(|now| now.failed.clone()));
    let (for_pause, for_stop, for_close) = (run.clone(), run.clone(), run);
    let is_over = move || {
        matches!(
            status.get(),
            RunStatus::Finished | RunStatus::Failed | RunStatus::Cancelled
        )
    };
    let for_turn = for_close.clone();
    // One job is done at a time.
    let is_behind = move |run: &RunId| {
        app.runs
            .running_jobs()
            .first()
            .is_some_and(|(first, _)| first != run)
    };
    let title = move || {
        let now = progress.get();
        match status.get() {
            RunStatus::Waiting | RunStatus::Running if now.is_paused => "Paused".to_owned(),
            RunStatus::Waiting | RunStatus::Running if now.is_waiting && is_behind(&for_turn) => {
                "Waiting for the job before it".to_owned()
            }
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
                    let (for_retry, run) = (for_close.clone(), for_close.clone());
                    let failed = failed.get();
                    let again = format!(
                        "Try {} again",
                        format::counted(failed.len() as u64, "failed document", "failed documents")
                    );
                    let close = move |run: &RunId| app.runs.jobs.update(|jobs| jobs.retain(|(known, _)| known != run));
                    view! {
                        {(!failed.is_empty()).then(|| view! {
                            <button class="button" data-testid="retry-failed" on:click=move |_| {
                                app.shelf.retry_all(failed.clone());
                                close(&for_retry);
                            }>
                                <Icon glyph=Glyph::Again />{again}
                            </button>
                        })}
                        <button class="button quiet square" aria-label="Close" on:click=move |_| close(&run)>
                            <Icon glyph=Glyph::Close />
                        </button>
                    }.into_any()
                } else {
                    let (for_pause, run) = (for_pause.clone(), for_stop.clone());
                    let rests = is_paused.get();
                    let (glyph, word) = if rests { (Glyph::Resume, "Resume") } else { (Glyph::Pause, "Pause") };
                    view! {
                        <button class="button quiet" data-testid="job-pause" on:click=move |_| app.shelf.pause(for_pause.clone(), !rests)><Icon glyph=glyph />{word}</button>
                        <button class="button quiet" on:click=move |_| app.shelf.stop(run.clone())><Icon glyph=Glyph::Stop />"Stop"</button>
                    }.into_any()
                }}
            </div>
            {move || error.get().map(|error| view! { <p class="job-error">{said(&error.to_string())}</p> })}
            {move || (!is_over()).then(|| {
                let now = progress.get();
                let pace = pace(&now);
                view! {
                    <ProgressBar done=now.done total=now.files unit="files" />
                    <p class="job-current">
                        <span class="mono">{now.current.map(|path| format::plain(format::file_name(&path)))}</span>
                        <span>{now.progress.map(|part| match part.unit.as_str() {
                            "bytes" => format!("{} of {}", format::size(part.done), format::size(part.total)),
                            unit => format!("{} of {} {unit}", format::count(part.done), format::count(part.total)),
                        })}</span>
                        <span class="job-pace" data-testid="job-pace">{pace}</span>
                    </p>
                }
            })}
        </section>
    }
}

/// `42 chunks/s · about 3 min left`.
fn pace(now: &JobProgress) -> String {
    let parts: Vec<String> = [
        now.per_second.map(format::rate),
        now.left_ms.map(format::time_left),
    ]
    .into_iter()
    .flatten()
    .collect();
    parts.join(" \u{b7} ")
}
