//! The language of marks: shape first, colour second, words on hover and for screen readers.

use crate::state::{format, trace};
use adrag_contract::{DocumentState, Passage, RowStatus, Store, Verdict};
use leptos::prelude::*;

/// The mark of a stage.
#[component]
pub fn StageMark(
    /// How the stage stands.
    #[prop(into)]
    status: Signal<RowStatus>,
) -> impl IntoView {
    let shape = move || match status.get() {
        RowStatus::Waiting => view! { <circle cx="8" cy="8" r="4.5" /> }.into_any(),
        RowStatus::Active => {
            view! { <circle cx="8" cy="8" r="4.5" /><circle class="core" cx="8" cy="8" r="2" /> }.into_any()
        }
        RowStatus::Done => view! { <path d="M3.5 8.5l3 3 6-6.5" /> }.into_any(),
        RowStatus::Skipped => view! { <path d="M4 8h8" /> }.into_any(),
        RowStatus::Degraded => view! { <path d="M8 3l5.5 10h-11zM8 7v2.8M8 11.3v.1" /> }.into_any(),
        RowStatus::Failed => view! { <path d="M4 4l8 8M12 4l-8 8" /> }.into_any(),
    };
    view! {
        <svg class="mark stage-mark" viewBox="0 0 16 16" aria-hidden="true" data-status=move || trace::status(status.get())>
            {shape}
        </svg>
    }
}

/// A verdict in words.
pub fn verdict_label(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "Supported by the cited passage",
        Verdict::Partly => "Supported in part",
        Verdict::Unsupported => "No cited passage says this",
        Verdict::Uncited => "Makes a claim without a citation",
        Verdict::Unverified => "Could not be checked",
    }
}

/// The name of a verdict in style sheets.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "supported",
        Verdict::Partly => "partly",
        Verdict::Unsupported => "unsupported",
        Verdict::Uncited => "uncited",
        Verdict::Unverified => "unverified",
    }
}

/// The mark at the end of a checked sentence.
#[component]
pub fn VerdictMark(
    /// What the check found.
    verdict: Verdict,
    /// Probability of support.
    #[prop(optional_no_strip)]
    support: Option<f32>,
) -> impl IntoView {
    let shape = match verdict {
        Verdict::Supported => view! { <circle class="fill" cx="6" cy="6" r="3" /> }.into_any(),
        Verdict::Partly => {
            view! { <circle cx="6" cy="6" r="3.7" /><path class="fill" d="M6 2.3a3.7 3.7 0 0 0 0 7.4z" /> }
                .into_any()
        }
        Verdict::Unsupported => {
            view! { <circle cx="6" cy="6" r="4" /><path d="M3.2 8.8l5.6-5.6" /> }.into_any()
        }
        Verdict::Uncited | Verdict::Unverified => view! { <path d="M2.5 6h2.6M6.9 6h2.6" /> }.into_any(),
    };
    let words = match support {
        Some(support) => format!("{} ({:.0} %)", verdict_label(verdict), support * 100.0),
        None => verdict_label(verdict).to_owned(),
    };
    view! {
        <span class="mark verdict-mark" data-verdict=verdict_name(verdict) role="img" aria-label=words.clone() title=words>
            <svg viewBox="0 0 12 12" aria-hidden="true">{shape}</svg>
        </span>
    }
}

/// The letters V K G (and W), filled for each store that found a passage.
#[component]
pub fn StoreLetters(
    /// The passage.
    passage: Passage,
) -> impl IntoView {
    let letter = move |store: Store| {
        let finding = passage.found_by.iter().find(|finding| finding.store == store);
        let words = match finding {
            Some(finding) => format!("{store}: rank {}, score {:.3}", finding.rank, finding.score),
            None => format!("{store}: not found"),
        };
        let is_shown = store != Store::Web || finding.is_some();
        is_shown.then(|| {
            let letter = match store {
                Store::Vector => "V",
                Store::Keyword => "K",
                Store::Graph => "G",
                Store::Web => "W",
            };
            view! {
                <span class="store-letter" class:found=finding.is_some() title=words.clone() aria-label=words role="img">{letter}</span>
            }
        })
    };
    let letters = [Store::Vector, Store::Keyword, Store::Graph, Store::Web].map(letter);
    view! { <span class="store-letters">{letters.to_vec()}</span> }
}

/// How well a passage fits, as a bar; the number on hover.
#[component]
pub fn RelevanceBar(
    /// Filled part, 0 to 1.
    share: f32,
    /// The numbers behind it.
    words: String,
) -> impl IntoView {
    let width = format!("{:.0}%", share.clamp(0.0, 1.0) * 100.0);
    view! {
        <span class="relevance" role="img" aria-label=words.clone() title=words>
            <span class="relevance-fill" style:width=width></span>
        </span>
    }
}

/// A document's state as a mark with its word.
#[component]
pub fn StateMark(
    /// The state.
    state: DocumentState,
) -> impl IntoView {
    let (status, word) = match state {
        DocumentState::Queued => (RowStatus::Waiting, "Waiting"),
        DocumentState::Parsing => (RowStatus::Active, "Reading"),
        DocumentState::Chunking => (RowStatus::Active, "Cutting"),
        DocumentState::Embedding => (RowStatus::Active, "Embedding"),
        DocumentState::Indexing => (RowStatus::Active, "Indexing"),
        DocumentState::Ready => (RowStatus::Done, "Ready"),
        DocumentState::Empty => (RowStatus::Degraded, "No text"),
        DocumentState::Failed => (RowStatus::Failed, "Failed"),
        DocumentState::Deleting => (RowStatus::Skipped, "Deleting"),
    };
    view! { <span class="state-mark"><StageMark status=status />{word}</span> }
}

/// Work done, as a bar with its counts.
#[component]
pub fn ProgressBar(
    /// Units done.
    done: u64,
    /// Units in all.
    total: u64,
    /// What is counted.
    #[prop(into)]
    unit: String,
) -> impl IntoView {
    let share = if total == 0 {
        0.0
    } else {
        done as f64 / total as f64
    };
    let (done, total) = match unit.as_str() {
        "bytes" => (format::size(done), format::size(total)),
        _ => (format::count(done), format!("{} {unit}", format::count(total))),
    };
    let words = format!("{done} of {total}");
    view! {
        <span class="progress" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow=format!("{:.0}", share * 100.0)
            aria-label=words.clone()>
            <span class="progress-track"><span class="progress-fill" style:width=format!("{:.1}%", share * 100.0)></span></span>
            <span class="progress-words">{words.clone()}</span>
        </span>
    }
}
