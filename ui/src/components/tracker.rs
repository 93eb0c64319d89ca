//! The eight stages as they happen: a strip above the answer.

use super::mark::StageMark;
use crate::state::chat::Exchange;
use crate::state::format::duration;
use crate::state::trace;
use adrag_contract::{RowStatus, RunView, StageId, StageRow};
use leptos::prelude::*;

/// The strip of a run: every stage with its mark, what it found and how long it took.
#[component]
pub fn Strip(
    /// The exchange.
    exchange: Exchange,
) -> impl IntoView {
    let rows: Memo<Vec<StageRow>> = Memo::new(move |_| {
        exchange
            .read(|view| view.rows.clone())
            .unwrap_or_else(|| RunView::default().rows)
    });
    view! {
        <ol class="strip" aria-label="Stages">
            {StageId::ALL.map(|stage| view! { <Cell rows=rows stage=stage /> }).collect_view()}
        </ol>
    }
}

#[component]
fn Cell(rows: Memo<Vec<StageRow>>, stage: StageId) -> impl IntoView {
    let row = Memo::new(move |_| rows.with(|rows| rows.get(stage.index()).cloned()));
    let status =
        Signal::derive(move || row.with(|row| row.as_ref().map_or(RowStatus::Waiting, |row| row.status)));
    let sentence = move || row.with(|row| row.as_ref().map(trace::sentence));
    let below = move || {
        row.with(|row| {
            let row = row.as_ref()?;
            match (&row.status, row.took_ms, &row.progress) {
                (RowStatus::Active, _, Some(now)) => Some(format!("{}/{}", now.done, now.total)),
                (RowStatus::Skipped, ..) => Some("skipped".to_owned()),
                (RowStatus::Failed, None, _) => Some("failed".to_owned()),
                (_, Some(took), _) => Some(duration(took)),
                _ => None,
            }
        })
    };
    let share = move || {
        row.with(|row| {
            row.as_ref()
                .and_then(|row| row.progress.as_ref())
                .map(|now| now.done as f64 / now.total.max(1) as f64)
        })
    };
    view! {
        <li
            class="strip-cell"
            data-testid=format!("tracker-{stage}")
            data-status=move || trace::status(status.get())
            title=sentence
            aria-label=sentence
        >
            <span class="strip-head"><StageMark status=status />{stage.label()}</span>
            <span class="strip-below">{below}</span>
            <span class="strip-bar" aria-hidden="true">
                <span class="strip-fill" style:width=move || format!("{:.0}%", share().unwrap_or(0.0) * 100.0)></span>
            </span>
        </li>
    }
}
