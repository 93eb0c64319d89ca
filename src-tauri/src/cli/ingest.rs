//! `adrag ingest`: adds files and folders.

use super::args::IngestArgs;
use super::exit::{Ended, Exit, Stop};
use super::interrupt::{self, Interrupt};
use super::output::Output;
use super::run::follow;
use crate::events::subscribe;
use adrag_contract::{
    AddFilesRequest, AppError, DocumentReport, DocumentState, ErrorCode, Event, RunEvent, RunView,
};
use adrag_core::Engine;
use adrag_core::engine::reports_of;
use serde_json::json;
use std::sync::Arc;

/// Runs the command. What an earlier end left unfinished is done first; its events are not part of the output.
pub async fn ingest(
    args: &IngestArgs,
    engine: &Arc<Engine>,
    output: &Output,
    interrupt: &Interrupt,
) -> Ended {
    let mut events = subscribe(engine);
    if let Some(run) = engine.resume().await? {
        let mut view = RunView::default();
        let ended = follow(engine, &run, &mut events, interrupt, |event| {
            show(output, &mut view, event, "unfinished before: ");
            Ok(())
        });
        if matches!(ended.await?.event, Event::RunCancelled { .. }) {
            return Err(interrupt::stopped().into());
        }
    }
    let (paths, unreadable) = readable_names(args);
    if paths.is_empty() {
        return report(&unreadable, None, output);
    }
    let request = AddFilesRequest {
        paths,
        collection: args.collection.as_str().into(),
    };
    let run = engine.add_files(request).await?;
    let mut view = RunView::default();
    let last = follow(engine, &run, &mut events, interrupt, |event| {
        show(output, &mut view, event, "");
        if output.json {
            output.json_line(event)
        } else {
            Ok(())
        }
    })
    .await?;
    let reports = [reports_of(&last), &unreadable].concat();
    let error = match last.event {
        Event::RunFailed { error, .. } => Some(error),
        Event::RunCancelled { .. } => Some(interrupt::stopped()),
        _ => None,
    };
    report(&reports, error, output)
}

/// The paths as the engine takes them, and a report for each whose name cannot be written down.
fn readable_names(args: &IngestArgs) -> (Vec<String>, Vec<DocumentReport>) {
    let mut paths = Vec::new();
    let mut reports = Vec::new();
    for path in &args.paths {
        match super::absolute(path) {
            Some(path) => paths.push(path),
            None => reports.push(DocumentReport {
                path: path.to_string_lossy().into_owned(),
                id: None,
                state: DocumentState::Failed,
                reason: Some("the name is not Unicode; rename the file and add it again".to_owned()),
                chunks: 0,
                chars: 0,
            }),
        }
    }
    (paths, reports)
}

fn show(output: &Output, view: &mut RunView, event: &RunEvent, before: &str) {
    if view.apply(event).is_err() {
        tracing::warn!(seq = event.seq, "an event of the run is missing");
        return;
    }
    output.progress(&format!("{before}{}", progress_line(view)));
}

/// `3 of 10 documents · embedding report.pdf 12/40 chunks`.
fn progress_line(view: &RunView) -> String {
    let total = match &view.kind {
        Some(adrag_contract::RunKind::Ingest { files, .. }) => *files,
        _ => view.documents.len() as u64,
    };
    let done = view.documents.iter().filter(|row| row.state.is_final()).count();
    let mut line = format!("{done} of {total} documents");
    let busy = view
        .documents
        .iter()
        .rev()
        .find(|row| !row.state.is_final() && row.state != DocumentState::Queued);
    if let Some(row) = busy {
        let name = row.path.rsplit(['/', '\\']).next().unwrap_or(&row.path);
        line.push_str(&format!(" · {} {name}", row.state.as_str()));
        if let Some(progress) = &row.progress {
            line.push_str(&format!(
                " {}/{} {}",
                progress.done, progress.total, progress.unit
            ));
        }
    }
    line
}

fn report(reports: &[DocumentReport], error: Option<AppError>, output: &Output) -> Ended {
    let error = error.or_else(|| {
        reports.is_empty().then(|| {
            AppError::new(
                ErrorCode::NotFound,
                "there is no file to add under the given paths",
            )
            .with_hint("name files, or a folder that holds documents of a supported kind")
        })
    });
    if output.json {
        let mut line = json!({ "documents": reports });
        if let Some(error) = &error {
            line["error"] = json!(error);
        }
        output.json_line(&line)?;
    } else {
        print(reports, output)?;
    }
    if let Some(error) = &error {
        output.error(error);
    }
    Ok(exit_of(reports, error.is_some()))
}

fn print(reports: &[DocumentReport], output: &Output) -> Result<(), Stop> {
    for report in reports {
        let mut line = format!("{:<6}  {}", report.state.as_str(), report.path);
        if report.state == DocumentState::Ready {
            line.push_str(&format!("  ({} chunks)", report.chunks));
        }
        if let Some(reason) = &report.reason {
            line.push_str(&format!("  {reason}"));
        }
        output.text(&line)?;
    }
    let ready = reports
        .iter()
        .filter(|report| report.state == DocumentState::Ready)
        .count();
    output.note(&format!("{ready} of {} documents ready", reports.len()));
    Ok(())
}

/// A run that failed or was stopped is failed, whatever it had finished; an empty document is no failure.
fn exit_of(reports: &[DocumentReport], broken: bool) -> Exit {
    let failed = reports
        .iter()
        .filter(|report| report.state == DocumentState::Failed)
        .count();
    match (broken, failed) {
        (true, _) => Exit::Failed,
        (false, 0) => Exit::Done,
        (false, failed) if failed == reports.len() => Exit::Failed,
        _ => Exit::Partly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(state: DocumentState) -> DocumentReport {
        DocumentReport {
            path: "p".to_owned(),
            id: None,
            state,
            reason: None,
            chunks: 0,
            chars: 0,
        }
    }

    #[test]
    fn the_exit_code_says_how_much_was_done() {
        use DocumentState::{Empty, Failed, Ready};
        for (states, broken, exit) in [
            (vec![Ready, Ready], false, Exit::Done),
            (vec![Ready, Empty], false, Exit::Done),
            (vec![Ready, Failed], false, Exit::Partly),
            (vec![Empty, Failed], false, Exit::Partly),
            (vec![Failed, Failed], false, Exit::Failed),
            (vec![Ready], true, Exit::Failed),
            (vec![], true, Exit::Failed),
        ] {
            let reports: Vec<_> = states.iter().map(|state| report(*state)).collect();
            assert_eq!(exit_of(&reports, broken), exit, "{states:?} {broken}");
        }
    }
}
