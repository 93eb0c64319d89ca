//! One document on its way in: text, chunks, vectors, projections.

use super::files::state_changed;
use super::reuse::known_vectors;
use crate::chunk::chunk;
use crate::engine::Ports;
use crate::ports::{
    Admission, Chunk, Content, DocumentKey, Embedder, ParsedDocument, PortError, PortResult, SourceFile,
};
use crate::project::{Generation, embed, undo, write_entities, write_vectors, write_words};
use crate::run::RunContext;
use adrag_contract::{CollectionName, DocumentId, DocumentState, ErrorCode, Event, Settings};
use std::collections::HashMap;

/// Where the documents of a run go, and how they are cut.
pub(super) struct Target<'a> {
    pub settings: &'a Settings,
    pub fingerprint: &'a str,
    pub collection: &'a CollectionName,
    /// The documents of the files, where they are documents already.
    pub known: Option<&'a HashMap<String, DocumentId>>,
}

/// A document that is cut and kept in the catalogue, not searchable yet.
pub(super) struct Prepared {
    pub key: DocumentKey,
    pub path: String,
    collection: CollectionName,
    content: Content,
    chars: u64,
    reason: Option<String>,
}

/// A document that is written to all projections, not published yet.
pub(super) struct Built {
    pub key: DocumentKey,
    pub path: String,
    pub state: DocumentState,
    pub reason: Option<String>,
    pub chunks: u64,
    pub chars: u64,
}

/// Extracts and cuts a file and keeps the result in the catalogue.
pub(super) async fn prepare(
    run: &RunContext,
    ports: &Ports,
    target: &Target<'_>,
    file: &SourceFile,
    given: &str,
    admission: Admission,
) -> Result<Prepared, (DocumentKey, PortError)> {
    let key = admission.key.clone();
    let work = async {
        advance(run, ports, &key, given, DocumentState::Parsing).await?;
        let parsed = tokio::select! {
            biased;
            () = run.cancel.cancelled() => Err(PortError::cancelled()),
            parsed = ports.parser.parse(file, &run.cancel) => parsed,
        }?;
        advance(run, ports, &key, given, DocumentState::Chunking).await?;
        let title = title_of(&parsed, file);
        let chars = parsed.text.chars().count() as u64;
        let reason = remark(&parsed, admission.takes_over.as_deref());
        let content = cut(ports, target, &key, parsed, title).await?;
        ports.catalog.store(&key, &content).await?;
        Ok((content, chars, reason))
    };
    match work.await {
        Ok((content, chars, reason)) => Ok(Prepared {
            key,
            path: given.to_owned(),
            collection: target.collection.clone(),
            content,
            chars,
            reason,
        }),
        Err(error) => Err((key, error)),
    }
}

/// Cutting a long document takes a while: it must not hold up the runtime.
async fn cut(
    ports: &Ports,
    target: &Target<'_>,
    key: &DocumentKey,
    parsed: ParsedDocument,
    title: String,
) -> PortResult<Content> {
    let limit = ports
        .embedder
        .as_ref()
        .map_or(usize::MAX, |embedder| embedder.info().max_tokens);
    let (tokenizer, chunking) = (ports.tokenizer.clone(), target.settings.chunking.clone());
    let (key, fingerprint) = (key.clone(), target.fingerprint.to_owned());
    let work = tokio::task::spawn_blocking(move || {
        let chunks = chunk(&parsed, &title, &key, &chunking, limit, tokenizer.as_ref());
        Content {
            title,
            kind: parsed.kind,
            text: parsed.text,
            pages: parsed.pages,
            chunks,
            fingerprint,
        }
    });
    work.await.map_err(|error| {
        PortError::permanent(
            ErrorCode::Internal,
            format!("cutting the text into chunks failed: {error}"),
        )
    })
}

/// Embeds a document and writes it to all projections.
pub(super) async fn embed_and_write(
    run: &RunContext,
    ports: &Ports,
    document: Box<Prepared>,
) -> Result<Built, (Box<Prepared>, PortError)> {
    match build(run, ports, &document).await {
        Ok(state) => Ok(Built {
            key: document.key,
            path: document.path,
            state,
            reason: match (state, document.reason) {
                (DocumentState::Empty, None) => Some("holds no text".to_owned()),
                (_, reason) => reason,
            },
            chunks: document.content.chunks.len() as u64,
            chars: document.chars,
        }),
        Err(error) => Err((document, error)),
    }
}

async fn build(run: &RunContext, ports: &Ports, document: &Prepared) -> PortResult<DocumentState> {
    if document.content.chunks.is_empty() {
        return Ok(DocumentState::Empty);
    }
    advance(
        run,
        ports,
        &document.key,
        &document.path,
        DocumentState::Embedding,
    )
    .await?;
    let total = document.content.chunks.len() as u64;
    let vectors = match &ports.embedder {
        Some(embedder) => {
            let progress = |done: usize| {
                run.emit(Event::DocumentProgressed {
                    path: document.path.clone(),
                    done: done as u64,
                    total,
                    unit: "chunks".to_owned(),
                });
            };
            vectors_of(run, ports, embedder.as_ref(), document, progress).await?
        }
        None => Vec::new(),
    };
    advance(run, ports, &document.key, &document.path, DocumentState::Indexing).await?;
    let generation = Generation {
        key: &document.key,
        collection: &document.collection,
        title: &document.content.title,
        chunks: &document.content.chunks,
    };
    // What an earlier try left of this generation is removed first: writing is idempotent.
    undo(ports, &document.key).await?;
    tokio::try_join!(
        write_vectors(ports, &generation, vectors),
        write_words(ports, &generation),
        write_entities(ports, &generation),
    )?;
    Ok(DocumentState::Ready)
}

/// A vector a chunk: known ones kept, the others made.
async fn vectors_of(
    run: &RunContext,
    ports: &Ports,
    embedder: &dyn Embedder,
    document: &Prepared,
    progress: impl Fn(usize),
) -> PortResult<Vec<Vec<f32>>> {
    let chunks = &document.content.chunks;
    let known = known_vectors(ports, &document.key, chunks).await;
    let kept = known.iter().flatten().count();
    if kept > 0 {
        progress(kept);
    }
    let new: Vec<Chunk> = chunks
        .iter()
        .zip(&known)
        .filter(|(_, known)| known.is_none())
        .map(|(chunk, _)| chunk.clone())
        .collect();
    let made = embed(embedder, &new, &run.cancel, &run.pause, |done| {
        progress(kept + done)
    })
    .await?;
    // There is one made for each that was not known.
    let mut made = made.into_iter();
    Ok(known
        .into_iter()
        .filter_map(|known| known.or_else(|| made.next()))
        .collect())
}

async fn advance(
    run: &RunContext,
    ports: &Ports,
    key: &DocumentKey,
    path: &str,
    state: DocumentState,
) -> PortResult<()> {
    run.pass().await?;
    ports.catalog.advance(key, state).await?;
    state_changed(run, path, Some(&key.document), state, None);
    Ok(())
}

fn title_of(parsed: &ParsedDocument, file: &SourceFile) -> String {
    let title = parsed.title.as_deref().map(str::trim).unwrap_or_default();
    if title.is_empty() {
        file.name.clone()
    } else {
        title.chars().take(200).collect()
    }
}

fn remark(parsed: &ParsedDocument, takes_over: Option<&str>) -> Option<String> {
    let taken = takes_over.map(|path| format!("same content as `{path}`, which it replaces"));
    let remarks: Vec<String> = parsed.remarks.iter().cloned().chain(taken).collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
