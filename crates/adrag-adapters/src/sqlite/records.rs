//! Notes, settings and the history of runs.

use super::error::Failure;
use super::threads::folded;
use adrag_contract::{ErrorCode, Event, RunEvent, RunId, RunSummary, Settings};
use adrag_core::ports::PortError;
use rusqlite::{OptionalExtension, Transaction, params};

pub(super) fn note(tx: &Transaction<'_>, name: &str) -> Result<Option<String>, Failure> {
    Ok(tx
        .query_row("SELECT value FROM notes WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()?)
}

pub(super) fn set_note(tx: &Transaction<'_>, name: &str, value: &str) -> Result<(), Failure> {
    tx.execute(
        "INSERT INTO notes (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [name, value],
    )?;
    Ok(())
}

pub(super) fn settings(tx: &Transaction<'_>) -> Result<Settings, Failure> {
    let stored: Option<String> = tx
        .query_row("SELECT json FROM settings WHERE only = 1", [], |row| row.get(0))
        .optional()?;
    let Some(json) = stored else {
        return Ok(Settings::default());
    };
    serde_json::from_str(&json).map_err(|error| {
        PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the stored settings cannot be read ({error})"),
        )
        .with_hint("save the settings again: that replaces them")
        .into()
    })
}

pub(super) fn save_settings(tx: &Transaction<'_>, settings: &Settings) -> Result<(), Failure> {
    tx.execute(
        "INSERT INTO settings (only, json) VALUES (1, ?1) ON CONFLICT (only) DO UPDATE SET json = excluded.json",
        [serde_json::to_string(settings)?],
    )?;
    Ok(())
}

pub(super) fn save_run(
    tx: &Transaction<'_>,
    summary: &RunSummary,
    events: &[RunEvent],
) -> Result<(), Failure> {
    tx.execute(
        "INSERT INTO runs (id, question, started_at_ms, finished, events, thread, replaces, folded)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (id) DO UPDATE SET question = excluded.question, started_at_ms = excluded.started_at_ms,
             finished = excluded.finished, events = excluded.events, thread = excluded.thread,
             replaces = excluded.replaces, folded = excluded.folded",
        params![
            summary.run.as_str(),
            summary.question,
            summary.started_at_ms,
            summary.finished,
            serde_json::to_string(events)?,
            summary.thread.as_str(),
            summary.replaces.as_ref().map(RunId::as_str),
            folded(&format!("{}\n{}", summary.question, answer_of(events))),
        ],
    )?;
    Ok(())
}

/// The words of an answer, as far as they came.
fn answer_of(events: &[RunEvent]) -> String {
    let mut answer = String::new();
    for event in events {
        match &event.event {
            Event::AnswerDelta { text } => answer.push_str(text),
            Event::Retried { .. } => answer.clear(),
            _ => {}
        }
    }
    answer
}

pub(super) fn run_events(tx: &Transaction<'_>, run: &RunId) -> Result<Vec<RunEvent>, Failure> {
    let events: Option<String> = tx
        .query_row("SELECT events FROM runs WHERE id = ?1", [run.as_str()], |row| {
            row.get(0)
        })
        .optional()?;
    match events {
        Some(json) => Ok(serde_json::from_str(&json)?),
        None => Ok(Vec::new()),
    }
}

pub(super) fn clear_runs(tx: &Transaction<'_>) -> Result<(), Failure> {
    tx.execute_batch("DELETE FROM runs; DELETE FROM thread_titles;")?;
    Ok(())
}
