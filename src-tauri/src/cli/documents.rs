//! `adrag documents` and `adrag delete`.

use super::args::{DeleteArgs, DocumentsArgs};
use super::exit::{Ended, Exit, Stop};
use super::known_collection;
use super::output::Output;
use adrag_contract::{AppError, DocumentId, DocumentInfo, DocumentState, ErrorCode};
use adrag_core::Engine;
use serde_json::json;
use std::collections::HashSet;
use std::io::{self, BufRead, IsTerminal, Write};

/// Runs `adrag documents`.
pub async fn list(args: &DocumentsArgs, engine: &Engine, output: &Output) -> Ended {
    let collection = known_collection(engine, args.collection.as_deref()).await?;
    let documents = engine.list_documents(collection.as_ref()).await?;
    if output.json {
        output.json_line(&json!({ "documents": documents }))?;
        return Ok(Exit::Done);
    }
    for document in &documents {
        output.text(&describe(document))?;
    }
    let ready = documents
        .iter()
        .filter(|document| document.state == DocumentState::Ready)
        .count();
    output.note(&format!("{} documents, {ready} ready", documents.len()));
    Ok(Exit::Done)
}

fn describe(document: &DocumentInfo) -> String {
    let reason = document
        .reason
        .as_ref()
        .map(|reason| format!("  {reason}"))
        .unwrap_or_default();
    format!(
        "{}  {:<8}  {}  {}  ({} chunks){reason}",
        document.id,
        document.state.as_str(),
        document.collection,
        document.path,
        document.chunks
    )
}

/// Makes sure that the person wants many documents gone: `--yes`, or a yes on the terminal.
///
/// # Errors
/// When neither was given.
pub fn confirm(args: &DeleteArgs, output: &Output) -> Result<(), Stop> {
    if args.yes || !args.which.ids.is_empty() {
        return Ok(());
    }
    let what = match &args.which.collection {
        Some(collection) => format!("every document of the collection `{collection}`"),
        None => "every document of every collection".to_owned(),
    };
    if !io::stdin().is_terminal() || output.json {
        return Err(Stop::Usage(format!("this removes {what}; add `--yes` to do it")));
    }
    eprint!("Remove {what} from all stores? The files themselves stay. [y/N] ");
    io::stderr().flush()?;
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    if matches!(said.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(AppError::new(ErrorCode::Cancelled, "nothing was removed").into())
}

/// Runs `adrag delete`, after [`confirm`].
pub async fn delete(args: &DeleteArgs, engine: &Engine, output: &Output) -> Ended {
    if args.which.ids.is_empty() {
        let collection = known_collection(engine, args.which.collection.as_deref()).await?;
        let deleted = engine.clear_documents(collection.as_ref()).await?;
        return report(deleted, &[], output);
    }
    let known: HashSet<DocumentId> = engine
        .list_documents(None)
        .await?
        .into_iter()
        .map(|document| document.id)
        .collect();
    let mut wanted: Vec<DocumentId> = Vec::new();
    for id in &args.which.ids {
        let id = DocumentId::new(id.clone());
        if !wanted.contains(&id) {
            wanted.push(id);
        }
    }
    let (found, unknown): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|id| known.contains(id));
    engine.delete_documents(&found).await?;
    report(found.len() as u64, &unknown, output)
}

fn report(deleted: u64, unknown: &[DocumentId], output: &Output) -> Ended {
    if output.json {
        output.json_line(&json!({ "deleted": deleted, "unknown": unknown }))?;
    } else {
        output.text(&format!("{deleted} documents removed"))?;
    }
    for id in unknown {
        output.error(
            &AppError::new(ErrorCode::NotFound, format!("there is no document `{id}`"))
                .with_hint("`adrag documents` lists the ids"),
        );
    }
    Ok(match (unknown.is_empty(), deleted) {
        (true, _) => Exit::Done,
        (false, 0) => Exit::Failed,
        (false, _) => Exit::Partly,
    })
}
