//! Notes, settings and the history of runs.

use super::error::Failure;
use adrag_contract::{ErrorCode, RunEvent, RunId, RunSummary, Settings};
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
        "INSERT INTO runs (id, question, started_at_ms, finished, events) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET question = excluded.question, started_at_ms = excluded.started_at_ms,
             finished = excluded.finished, events = excluded.events",
        params![
            summary.run.as_str(),
            summary.question,
            summary.started_at_ms,
            summary.finished,
            serde_json::to_string(events)?
        ],
    )?;
    Ok(())
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

pub(super) fn runs(tx: &Transaction<'_>, limit: usize) -> Result<Vec<RunSummary>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT id, question, started_at_ms, finished FROM runs
         ORDER BY started_at_ms DESC, number DESC LIMIT ?1",
    )?;
    let rows = statement.query_map([super::int(limit as u64)], |row| {
        Ok(RunSummary {
            run: RunId::new(row.get::<_, String>(0)?),
            question: row.get(1)?,
            started_at_ms: row.get(2)?,
            finished: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn clear_runs(tx: &Transaction<'_>) -> Result<(), Failure> {
    tx.execute("DELETE FROM runs", [])?;
    Ok(())
}
