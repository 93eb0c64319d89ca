//! Reading anew: after a change of the readers or of the rules of cutting, every document is looked at again in the
//! background. The old text serves until the new is published; what is already of the new rules costs a look.

use super::files::{IngestRequest, Ingested, ingest_of};
use crate::chunk::CHUNKER_VERSION;
use crate::engine::Ports;
use crate::ports::{PortError, PortResult, Presence};
use crate::run::RunContext;
use adrag_contract::{CollectionName, DocumentId, DocumentInfo, DocumentState, Settings};
use std::collections::HashMap;

/// Note of the catalogue: readers and rules that all documents were read by.
const READ_BY: &str = "read_by";
/// Files read before others get their turn.
const AT_ONCE: usize = 16;

/// What a program of this version reads and cuts by; the person's own sizes are for files added from then on.
fn rules(ports: &Ports) -> String {
    format!("{}|{CHUNKER_VERSION}", ports.parser.fingerprint())
}

/// The documents to look at again: all with a text, unless they were read by these rules.
pub(crate) async fn to_reread(ports: &Ports) -> PortResult<Vec<DocumentInfo>> {
    if ports.catalog.note(READ_BY).await?.as_deref() == Some(rules(ports).as_str()) {
        return Ok(Vec::new());
    }
    let mut documents = ports.catalog.documents(None).await?;
    documents.retain(|document| matches!(document.state, DocumentState::Ready | DocumentState::Empty));
    Ok(documents)
}

/// A library without documents has nothing that was read by other rules.
pub(crate) async fn note_rules_if_empty(ports: &Ports) -> PortResult<()> {
    if ports.catalog.count().await?.documents == 0 {
        note_reread(ports).await?;
    }
    Ok(())
}

/// Notes that nothing is left to look at.
pub(crate) async fn note_reread(ports: &Ports) -> PortResult<()> {
    ports.catalog.set_note(READ_BY, &rules(ports)).await
}

/// Reads the documents of a collection again. A file that is not there leaves its document as it is.
pub(crate) async fn reread(
    run: &RunContext,
    ports: &Ports,
    settings: &Settings,
    turn: &tokio::sync::Mutex<()>,
    collection: CollectionName,
    documents: Vec<DocumentInfo>,
) -> Ingested {
    let mut reports = Vec::new();
    for part in documents.chunks(AT_ONCE) {
        let _turn = tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                return Ingested { reports, error: Some(PortError::cancelled()) };
            }
            turn = turn.lock() => turn,
        };
        let known: HashMap<String, DocumentId> = part
            .iter()
            .map(|document| (document.path.clone(), document.id.clone()))
            .collect();
        let files = match present(ports, part).await {
            Ok(files) => files,
            Err(error) => {
                return Ingested {
                    reports,
                    error: Some(error),
                };
            }
        };
        let request = IngestRequest {
            files,
            collection: collection.clone(),
        };
        let done = ingest_of(run, ports, settings, request, Some(&known)).await;
        reports.extend(done.reports);
        if done.error.is_some() {
            return Ingested {
                reports,
                error: done.error,
            };
        }
    }
    Ingested { reports, error: None }
}

async fn present(ports: &Ports, documents: &[DocumentInfo]) -> PortResult<Vec<String>> {
    let paths: Vec<String> = documents.iter().map(|document| document.path.clone()).collect();
    let stands = ports.parser.look(&paths).await?;
    Ok(paths
        .into_iter()
        .zip(stands)
        .filter_map(|(path, stands)| matches!(stands, Presence::File(_)).then_some(path))
        .collect())
}
