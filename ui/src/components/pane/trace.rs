//! What every stage did: rows that open to what it found and decided.

use crate::components::mark::StageMark;
use crate::components::problem;
use crate::state::chat::Exchange;
use crate::state::format::{count, duration};
use crate::state::trace;
use adrag_contract::{AttemptRow, RowStatus, RunView, StageId, StageRow, Store, StoreRow};
use leptos::prelude::*;

/// The trace side.
#[component]
pub fn Trace(
    /// The exchange the pane speaks of.
    exchange: Signal<Option<Exchange>>,
) -> impl IntoView {
    let rows = Memo::new(move |_| read(exchange, |view| view.rows.clone()).unwrap_or_default());
    let stores = Memo::new(move |_| read(exchange, |view| view.stores.clone()).unwrap_or_default());
    let attempts = Memo::new(move |_| read(exchange, |view| view.attempts.clone()).unwrap_or_default());
    let total = Memo::new(move |_| {
        read(exchange, |view| view.answer.as_ref().map(|answer| answer.took_ms)).flatten()
    });
    view! {
        <div class="pane-body trace" role="tabpanel" data-testid="trace-pane">
            {move || exchange.with(Option::is_none).then(|| view! {
                <div class="empty"><p>"Each question shows here what the eight stages did with it."</p></div>
            })}
            {move || attempts.get().into_iter().map(attempt).collect_view()}
            {move || (!rows.with(Vec::is_empty)).then(|| view! {
                <ol class="trace-rows">
                    {StageId::ALL.map(|stage| view! { <Row rows=rows stores=stores stage=stage /> }).collect_view()}
                </ol>
            })}
            {move || total.get().map(|took| view! { <p class="trace-total"><span>"In all"</span><span>{duration(took)}</span></p> })}
        </div>
    }
}

fn read<T>(exchange: Signal<Option<Exchange>>, what: impl FnOnce(&RunView) -> T) -> Option<T> {
    exchange.get().and_then(|exchange| exchange.read(what))
}

fn attempt(attempt: AttemptRow) -> impl IntoView {
    view! {
        <div class="attempt">
            <p><strong>"Pass "{attempt.attempt}</strong>": "{attempt.why}</p>
            <ul>{attempt.changes.into_iter().map(|change| view! { <li>{change}</li> }).collect_view()}</ul>
        </div>
    }
}

#[component]
fn Row(rows: Memo<Vec<StageRow>>, stores: Memo<Vec<StoreRow>>, stage: StageId) -> impl IntoView {
    let row = Memo::new(move |_| rows.with(|rows| rows.get(stage.index()).cloned()));
    let status =
        Signal::derive(move || row.with(|row| row.as_ref().map_or(RowStatus::Waiting, |row| row.status)));
    let said = move || row.with(|row| row.as_ref().map(trace::summary));
    let took = move || row.with(|row| row.as_ref().and_then(|row| row.took_ms).map(duration));
    let note = move || row.with(|row| row.as_ref().and_then(|row| row.note.clone()));
    let lines = move || {
        row.with(|row| {
            row.as_ref()
                .and_then(|row| row.detail.as_ref().map(trace::details))
        })
        .unwrap_or_default()
    };
    view! {
        <li class="trace-row" data-status=move || trace::status(status.get()) data-testid=format!("trace-{stage}")>
            <details>
                <summary>
                    <StageMark status=status />
                    <span class="trace-name">{stage.label()}</span>
                    <span class="trace-said">{said}</span>
                    <span class="trace-took">{took}</span>
                </summary>
                <dl class="trace-lines">
                    {move || lines().into_iter().map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
                </dl>
            </details>
            {move || note().map(|note| view! { <p class="trace-note">{problem::said(&note)}</p> })}
            {(stage == StageId::Retrieval).then(|| view! { <Stores stores=stores /> })}
        </li>
    }
}

#[component]
fn Stores(stores: Memo<Vec<StoreRow>>) -> impl IntoView {
    let most = move || {
        stores
            .with(|all| all.iter().map(|row| row.count).max().unwrap_or(0))
            .max(1)
    };
    view! {
        <ul class="stores">
            {move || stores.get().into_iter().map(|row| {
                let letter = match row.store {
                    Store::Vector => "V",
                    Store::Keyword => "K",
                    Store::Graph => "G",
                    Store::Web => "W",
                };
                view! {
                    <li>
                        <span class="store-letter found" aria-hidden="true">{letter}</span>
                        <span class="store-name">{row.store.as_str()}</span>
                        <span class="store-bar" aria-hidden="true">
                            <span style:width=format!("{:.0}%", row.count as f64 / most() as f64 * 100.0)></span>
                        </span>
                        <span class="store-count">{count(row.count)}</span>
                        <span class="store-took">{duration(row.took_ms)}</span>
                    </li>
                }
            }).collect_view()}
        </ul>
    }
}
