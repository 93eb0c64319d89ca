//! Threads: runs that belong together, and the names they were given.

use super::error::Failure;
use adrag_contract::{RunId, RunSummary, ThreadId, ThreadSummary};
use rusqlite::{Row, Transaction, params};

const SUMMARY: &str = "id, thread, replaces, question, started_at_ms, finished";

/// What a search looks into, in one case.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase()
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        run: RunId::new(row.get::<_, String>(0)?),
        thread: ThreadId::new(row.get::<_, String>(1)?),
        replaces: row.get::<_, Option<String>>(2)?.map(RunId::new),
        question: row.get(3)?,
        started_at_ms: row.get(4)?,
        finished: row.get(5)?,
    })
}

/// The latest runs.
pub(super) fn runs(tx: &Transaction<'_>, limit: usize) -> Result<Vec<RunSummary>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs ORDER BY started_at_ms DESC, number DESC LIMIT ?1"
    ))?;
    let rows = statement.query_map([super::int(limit as u64)], summary)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn thread_runs(tx: &Transaction<'_>, thread: &ThreadId) -> Result<Vec<RunSummary>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs WHERE thread = ?1 ORDER BY started_at_ms, number"
    ))?;
    let rows = statement.query_map([thread.as_str()], summary)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn threads(tx: &Transaction<'_>, find: &str, limit: usize) -> Result<Vec<ThreadSummary>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT r.thread,
                COALESCE(t.title, (SELECT f.question FROM runs f WHERE f.thread = r.thread
                                   ORDER BY f.started_at_ms, f.number LIMIT 1)),
                COUNT(*) - COUNT(r.replaces), MIN(r.started_at_ms), MAX(r.started_at_ms)
         FROM runs r LEFT JOIN thread_titles t ON t.thread = r.thread
         WHERE ?1 = '' OR r.thread IN (SELECT thread FROM runs WHERE folded LIKE ?1 ESCAPE '\\')
                       OR t.folded LIKE ?1 ESCAPE '\\'
         GROUP BY r.thread ORDER BY MAX(r.started_at_ms) DESC, MAX(r.number) DESC LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![pattern(find), limit], |row| {
        Ok(ThreadSummary {
            thread: ThreadId::new(row.get::<_, String>(0)?),
            title: row.get(1)?,
            questions: row.get::<_, i64>(2)?.unsigned_abs(),
            started_at_ms: row.get(3)?,
            updated_at_ms: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The person's words between two anythings; what LIKE would read as its own is escaped.
fn pattern(find: &str) -> String {
    if find.is_empty() {
        return String::new();
    }
    let mut pattern = String::from("%");
    for c in folded(find).chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

pub(super) fn rename_thread(tx: &Transaction<'_>, thread: &ThreadId, title: &str) -> Result<(), Failure> {
    if title.trim().is_empty() {
        tx.execute("DELETE FROM thread_titles WHERE thread = ?1", [thread.as_str()])?;
        return Ok(());
    }
    tx.execute(
        "INSERT INTO thread_titles (thread, title, folded)
         SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM runs WHERE thread = ?1)
         ON CONFLICT (thread) DO UPDATE SET title = excluded.title, folded = excluded.folded",
        params![thread.as_str(), title, folded(title)],
    )?;
    Ok(())
}

pub(super) fn delete_threads(tx: &Transaction<'_>, threads: &[ThreadId]) -> Result<(), Failure> {
    for thread in threads {
        tx.execute("DELETE FROM runs WHERE thread = ?1", [thread.as_str()])?;
        tx.execute("DELETE FROM thread_titles WHERE thread = ?1", [thread.as_str()])?;
    }
    Ok(())
}
