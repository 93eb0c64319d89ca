//! The demo's conversations.

use super::{Stage, gone, read, write};
use adrag_contract::{AppError, ErrorCode, RenameThreadRequest, RunSummary, ThreadId, ThreadSummary};
use serde_json::Value;

/// Answers a command about threads.
pub(super) fn answer(stage: &mut Stage, name: &str, request: Value) -> Result<Value, AppError> {
    match name {
        "list_runs" => write(&stage.summaries),
        "list_threads" => {
            let find: String = read(request)?;
            write(&listed(stage, &find.to_lowercase()))
        }
        "thread_runs" => {
            let thread: ThreadId = read(request)?;
            let mut runs: Vec<&RunSummary> = stage
                .summaries
                .iter()
                .filter(|run| run.thread == thread)
                .collect();
            if runs.is_empty() {
                return Err(gone("this conversation"));
            }
            runs.reverse();
            write(&runs)
        }
        "rename_thread" => {
            let request: RenameThreadRequest = read(request)?;
            stage.titles.insert(
                request.thread.as_str().to_owned(),
                request.title.trim().to_owned(),
            );
            Ok(Value::Null)
        }
        "delete_threads" => {
            let threads: Vec<ThreadId> = read(request)?;
            stage.summaries.retain(|run| !threads.contains(&run.thread));
            Ok(Value::Null)
        }
        "clear_runs" => {
            stage.summaries.clear();
            Ok(Value::Null)
        }
        _ => Err(AppError::new(
            ErrorCode::InvalidRequest,
            "the demo writes no files",
        )),
    }
}

/// The threads, the latest first; the demo's summaries are in that order.
fn listed(stage: &Stage, find: &str) -> Vec<ThreadSummary> {
    let mut threads: Vec<ThreadSummary> = Vec::new();
    for run in &stage.summaries {
        match threads.iter_mut().find(|thread| thread.thread == run.thread) {
            Some(thread) => {
                thread.questions += u64::from(run.replaces.is_none());
                thread.title.clone_from(&run.question);
                thread.started_at_ms = run.started_at_ms;
            }
            None => threads.push(ThreadSummary {
                thread: run.thread.clone(),
                title: run.question.clone(),
                questions: 1,
                started_at_ms: run.started_at_ms,
                updated_at_ms: run.started_at_ms,
            }),
        }
    }
    for thread in &mut threads {
        if let Some(title) = stage
            .titles
            .get(thread.thread.as_str())
            .filter(|title| !title.is_empty())
        {
            thread.title.clone_from(title);
        }
    }
    threads.retain(|thread| thread.title.to_lowercase().contains(find));
    threads
}
