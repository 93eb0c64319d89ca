//! Embedding anew: documents whose vectors another embedder made get vectors of this one, one after another in the
//! background. Words and entities serve them meanwhile; vectors of two embedders never stand in one index.

use super::files::{FLUSH_AFTER, FLUSH_DOCUMENTS, Ingested, state_changed};
use crate::engine::Ports;
use crate::ports::{Chunk, DocumentKey, HeldDocument, PortError, PortResult};
use crate::project::{Generation, embed, flush, write_vectors};
use crate::run::RunContext;
use adrag_contract::{DocumentInfo, DocumentReport, DocumentState, ErrorCode, Event};
use std::collections::HashMap;

/// Note of the catalogue: fingerprint of the embedder that made all vectors there are.
const EMBEDDED_BY: &str = "embedded_by";

/// Published generations whose vectors this embedder has not made, or not all of them. None without an embedder.
pub(crate) async fn without_vectors(ports: &Ports) -> PortResult<Vec<HeldDocument>> {
    if ports.embedder.is_none() {
        return Ok(Vec::new());
    }
    // In this order: what is published while we look has its vectors already.
    let published = ports.catalog.published().await?;
    let held: HashMap<DocumentKey, u64> = ports
        .vectors
        .held()
        .await?
        .into_iter()
        .map(|held| (held.key, held.chunks))
        .collect();
    Ok(published
        .into_iter()
        .filter(|document| document.chunks > 0 && held.get(&document.key) != Some(&document.chunks))
        .collect())
}

/// Whether the vectors that are missing were made by another embedder: then nothing is damaged, and they can wait.
pub(crate) async fn is_embedder_new(ports: &Ports) -> PortResult<bool> {
    let Some(embedder) = &ports.embedder else {
        return Ok(false);
    };
    let known = ports.catalog.note(EMBEDDED_BY).await?;
    Ok(known.as_deref() != Some(embedder.info().fingerprint.as_str()))
}

/// Notes that this embedder made all vectors, if it did. What is missing from now on was lost.
pub(crate) async fn note_if_complete(ports: &Ports) -> PortResult<()> {
    let Some(embedder) = &ports.embedder else {
        return Ok(());
    };
    if is_embedder_new(ports).await? && without_vectors(ports).await?.is_empty() {
        ports
            .catalog
            .set_note(EMBEDDED_BY, &embedder.info().fingerprint)
            .await?;
    }
    Ok(())
}

/// Gives each document its vectors. `turn` is taken for a few documents at a time, so that files added meanwhile do not
/// wait for all of them. A document that cannot be embedded stays as it is, with the reason in its report.
pub(crate) async fn embed_anew(
    run: &RunContext,
    ports: &Ports,
    turn: &tokio::sync::Mutex<()>,
    documents: Vec<(DocumentKey, DocumentInfo)>,
) -> Ingested {
    let mut reports = Vec::new();
    let mut left = documents.into_iter().peekable();
    let mut error = None;
    while left.peek().is_some() && error.is_none() {
        let _turn = tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                error = Some(PortError::cancelled());
                break;
            }
            turn = turn.lock() => turn,
        };
        let since = run.clock.elapsed();
        let mut written = Vec::new();
        let is_due = |written: &Vec<DocumentReport>| {
            run.pause.is_on()
                || written.len() >= FLUSH_DOCUMENTS
                || run.clock.elapsed().saturating_sub(since) >= FLUSH_AFTER
        };
        while error.is_none()
            && (written.is_empty() || !is_due(&written))
            && let Some((key, document)) = left.next()
        {
            match one(run, ports, &key, &document).await {
                Ok(Some(report)) => written.push(report),
                Ok(None) => {}
                Err(failed) => error = Some(failed),
            }
        }
        // What was finished before a stop is kept.
        match flush(ports).await {
            Ok(()) => reports.extend(written.into_iter().inspect(|report| {
                state_changed(
                    run,
                    &report.path,
                    report.id.as_ref(),
                    report.state,
                    report.reason.clone(),
                );
            })),
            Err(failed) => error = Some(failed),
        }
    }
    if error.is_none() {
        error = note_if_complete(ports).await.err();
    }
    Ingested { reports, error }
}

/// One document; nothing when it is gone or was replaced meanwhile. An `Err` ends the run: stopped, or a store failed.
async fn one(
    run: &RunContext,
    ports: &Ports,
    key: &DocumentKey,
    document: &DocumentInfo,
) -> PortResult<Option<DocumentReport>> {
    run.pass().await?;
    let Some(embedder) = &ports.embedder else {
        return Err(PortError::permanent(
            ErrorCode::ModelMissing,
            "the embedding model is missing",
        ));
    };
    let stored = ports.catalog.chunks(key).await?;
    let Some(first) = stored.first() else {
        return Ok(None);
    };
    let (collection, title) = (first.collection.clone(), first.title.clone());
    let chunks: Vec<Chunk> = stored.into_iter().map(|stored| stored.chunk).collect();
    let total = chunks.len() as u64;
    let report = |reason: Option<String>| DocumentReport {
        path: document.path.clone(),
        id: Some(key.document.clone()),
        state: DocumentState::Ready,
        reason,
        chunks: total,
        chars: document.chars,
    };
    state_changed(
        run,
        &document.path,
        Some(&key.document),
        DocumentState::Embedding,
        None,
    );
    let progress = |done: usize| {
        run.emit(Event::DocumentProgressed {
            path: document.path.clone(),
            done: done as u64,
            total,
            unit: "chunks".to_owned(),
        });
    };
    let vectors = match embed(embedder.as_ref(), &chunks, &run.cancel, &run.pause, progress).await {
        Ok(vectors) => vectors,
        Err(error) => {
            // It is searchable as before, and no window may show it at work for ever.
            state_changed(
                run,
                &document.path,
                Some(&key.document),
                DocumentState::Ready,
                document.reason.clone(),
            );
            if error.is_cancelled() {
                return Err(error);
            }
            return Ok(Some(report(Some(format!(
                "still searched by its words only: {error}"
            )))));
        }
    };
    let generation = Generation {
        key,
        collection: &collection,
        title: &title,
        chunks: &chunks,
    };
    ports.vectors.delete_generation(key).await?;
    write_vectors(ports, &generation, vectors).await?;
    Ok(Some(report(document.reason.clone())))
}
