//! What the catalogue tells: documents, collections, chunks, text and counts.

use super::error::Failure;
use super::{int, text as segments, unsigned};
use adrag_contract::{
    CatalogueCount, ChunkId, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState,
    PageRange,
};
use adrag_core::ports::{Chunk, DocumentKey, HeldDocument, StoredChunk, Unfinished};
use rusqlite::{OptionalExtension, Row, Transaction, params};

// What a document shows is its published generation; title and kind of the latest one while there is none.
const INFO: &str = "SELECT d.id, d.collection, d.path, g.title, g.kind, d.state, d.reason, g.bytes,
        d.published IS NOT NULL, g.chars, g.pages, g.chunks, d.updated_at_ms
    FROM documents d JOIN generations g ON g.number = coalesce(d.published, d.pending,
        (SELECT max(number) FROM generations WHERE document = d.number))";

fn info(row: &Row<'_>) -> Result<DocumentInfo, Failure> {
    let state = state(&row.get::<_, String>(5)?)?;
    let published: bool = row.get(8)?;
    Ok(DocumentInfo {
        id: DocumentId::new(row.get::<_, String>(0)?),
        collection: CollectionName::new(row.get::<_, String>(1)?),
        path: row.get(2)?,
        title: row.get(3)?,
        kind: row.get(4)?,
        state,
        // What is known of an earlier try says nothing about the one under way.
        reason: if state.is_final() { row.get(6)? } else { None },
        bytes: unsigned(row.get(7)?),
        chars: if published { unsigned(row.get(9)?) } else { 0 },
        pages: if published { row.get(10)? } else { None },
        chunks: if published { unsigned(row.get(11)?) } else { 0 },
        updated_at_ms: row.get(12)?,
    })
}

fn state(name: &str) -> Result<DocumentState, Failure> {
    use DocumentState::{Chunking, Deleting, Embedding, Empty, Failed, Indexing, Parsing, Queued, Ready};
    [
        Queued, Parsing, Chunking, Embedding, Indexing, Ready, Empty, Failed, Deleting,
    ]
    .into_iter()
    .find(|state| state.as_str() == name)
    .ok_or_else(|| Failure::Stored(format!("unknown document state `{name}`")))
}

/// Collects rows whose reading can fail for reasons of ours.
fn collect<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

pub(super) fn document(tx: &Transaction<'_>, id: &DocumentId) -> Result<Option<DocumentInfo>, Failure> {
    let mut statement = tx.prepare_cached(&format!("{INFO} WHERE d.id = ?1"))?;
    Ok(collect(statement.query([id.as_str()])?, info)?.pop())
}

pub(super) fn documents(
    tx: &Transaction<'_>,
    collection: Option<&CollectionName>,
) -> Result<Vec<DocumentInfo>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "{INFO} WHERE (?1 IS NULL OR d.collection = ?1) AND d.state <> 'deleting'"
    ))?;
    let rows = statement.query([collection.map(CollectionName::as_str)])?;
    let mut all = collect(rows, info)?;
    all.sort_by_cached_key(|document| {
        (
            document.title.to_lowercase(),
            document.path.clone(),
            document.id.clone(),
        )
    });
    Ok(all)
}

pub(super) fn collections(tx: &Transaction<'_>) -> Result<Vec<CollectionInfo>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT d.collection, count(*), count(g.number), coalesce(sum(g.chunks), 0) FROM documents d
         LEFT JOIN generations g ON g.number = d.published AND g.chunks > 0
         WHERE d.state <> 'deleting' GROUP BY d.collection ORDER BY d.collection",
    )?;
    collect(statement.query([])?, |row| {
        Ok(CollectionInfo {
            name: CollectionName::new(row.get::<_, String>(0)?),
            documents: unsigned(row.get(1)?),
            ready: unsigned(row.get(2)?),
            chunks: unsigned(row.get(3)?),
        })
    })
}

pub(super) fn count(tx: &Transaction<'_>) -> Result<CatalogueCount, Failure> {
    Ok(tx.query_row(
        "SELECT count(*), count(g.number), coalesce(sum(g.chunks), 0) FROM documents d
         LEFT JOIN generations g ON g.number = d.published AND g.chunks > 0 AND d.state <> 'deleting'",
        [],
        |row| {
            Ok(CatalogueCount {
                documents: unsigned(row.get(0)?),
                ready: unsigned(row.get(1)?),
                chunks: unsigned(row.get(2)?),
            })
        },
    )?)
}

pub(super) fn unfinished(tx: &Transaction<'_>) -> Result<Vec<Unfinished>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT d.id, g.generation, d.collection, d.path, d.state FROM documents d
         JOIN generations g ON g.number = d.pending
         WHERE d.state IN ('queued', 'parsing', 'chunking', 'embedding', 'indexing') ORDER BY g.number",
    )?;
    collect(statement.query([])?, |row| {
        Ok(Unfinished {
            key: key(row, 0)?,
            collection: CollectionName::new(row.get::<_, String>(2)?),
            path: row.get(3)?,
            state: state(&row.get::<_, String>(4)?)?,
        })
    })
}

pub(super) fn deleting(tx: &Transaction<'_>) -> Result<Vec<DocumentId>, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT id FROM documents WHERE state = 'deleting' ORDER BY number")?;
    collect(statement.query([])?, |row| {
        Ok(DocumentId::new(row.get::<_, String>(0)?))
    })
}

pub(super) fn hidden(tx: &Transaction<'_>) -> Result<u64, Failure> {
    let chunks: i64 = tx
        .prepare_cached(
            "SELECT coalesce(sum(g.chunks), 0) FROM documents d JOIN generations g ON g.number = d.published
             WHERE d.state = 'deleting'",
        )?
        .query_row([], |row| row.get(0))?;
    Ok(unsigned(chunks))
}

pub(super) fn visible(tx: &Transaction<'_>, ids: &[ChunkId]) -> Result<Vec<ChunkId>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM chunks c JOIN documents d ON d.published = c.generation
             WHERE c.id = ?1 AND d.state <> 'deleting')",
    )?;
    let mut visible = Vec::with_capacity(ids.len());
    for id in ids {
        if statement.query_row([id.as_str()], |row| row.get::<_, bool>(0))? {
            visible.push(id.clone());
        }
    }
    Ok(visible)
}

/// A generation without chunks is left out: no projection holds anything of it.
pub(super) fn published(tx: &Transaction<'_>) -> Result<Vec<HeldDocument>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT d.id, g.generation, g.chunks FROM documents d JOIN generations g ON g.number = d.published
         WHERE d.state <> 'deleting' AND g.chunks > 0 ORDER BY d.number",
    )?;
    collect(statement.query([])?, |row| {
        Ok(HeldDocument {
            key: key(row, 0)?,
            chunks: unsigned(row.get(2)?),
        })
    })
}

pub(super) fn text(
    tx: &Transaction<'_>,
    document: &DocumentId,
    start: u64,
    end: u64,
) -> Result<Option<(u64, String)>, Failure> {
    let published: Option<(i64, i64)> = tx
        .query_row(
            "SELECT g.number, g.length FROM documents d JOIN generations g ON g.number = d.published
             WHERE d.id = ?1 AND d.state <> 'deleting'",
            [document.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    match published {
        Some((generation, length)) => segments::cut(tx, generation, unsigned(length), start, end).map(Some),
        None => Ok(None),
    }
}

// Columns of a chunk with its document, in the order `stored_chunk` reads them.
const CHUNK: &str = "SELECT d.id, g.generation, d.collection, g.title, d.path, g.number, g.length,
        c.id, c.ordinal, c.start, c.end, c.first_page, c.last_page, c.headings, c.kind, c.header, c.tokens
    FROM chunks c JOIN generations g ON g.number = c.generation JOIN documents d ON d.number = g.document";

pub(super) fn resolve(tx: &Transaction<'_>, ids: &[ChunkId]) -> Result<Vec<StoredChunk>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "{CHUNK} WHERE c.id = ?1 AND d.published = g.number AND d.state <> 'deleting'"
    ))?;
    let mut resolved = Vec::with_capacity(ids.len());
    for id in ids {
        let found = collect(statement.query([id.as_str()])?, |row| {
            let (generation, length) = (row.get(5)?, unsigned(row.get(6)?));
            let mut stored = stored_chunk(row)?;
            let (start, text) = segments::cut(tx, generation, length, stored.chunk.start, stored.chunk.end)?;
            whole_span(&stored, start, &text)?;
            stored.chunk.text = text;
            Ok(stored)
        })?;
        resolved.extend(found);
    }
    Ok(resolved)
}

pub(super) fn chunks(tx: &Transaction<'_>, key: &DocumentKey) -> Result<Vec<StoredChunk>, Failure> {
    let generation: Option<(i64, i64)> = tx
        .query_row(
            "SELECT g.number, g.length FROM generations g JOIN documents d ON d.number = g.document
             WHERE d.id = ?1 AND g.generation = ?2",
            params![key.document.as_str(), int(key.generation)],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((generation, length)) = generation else {
        return Ok(Vec::new());
    };
    let (_, whole) = segments::cut(tx, generation, unsigned(length), 0, u64::MAX)?;
    let mut statement = tx.prepare_cached(&format!("{CHUNK} WHERE c.generation = ?1 ORDER BY c.ordinal"))?;
    collect(statement.query([generation])?, |row| {
        let mut stored = stored_chunk(row)?;
        let span = usize::try_from(stored.chunk.start)
            .ok()
            .zip(usize::try_from(stored.chunk.end).ok());
        let text = span
            .and_then(|(start, end)| whole.get(start..end))
            .unwrap_or_default();
        whole_span(&stored, stored.chunk.start, text)?;
        stored.chunk.text = text.to_owned();
        Ok(stored)
    })
}

pub(super) fn chunk_at(
    tx: &Transaction<'_>,
    document: &DocumentId,
    at: u64,
) -> Result<Option<ChunkId>, Failure> {
    let id: Option<String> = tx
        .prepare_cached(
            "SELECT c.id FROM chunks c JOIN documents d ON d.published = c.generation
             WHERE d.id = ?1 AND d.state <> 'deleting' AND c.start <= ?2 ORDER BY c.ordinal DESC LIMIT 1",
        )?
        .query_row(params![document.as_str(), int(at)], |row| row.get(0))
        .optional()?;
    Ok(id.map(ChunkId::new))
}

/// A span that does not fit its text means the file was tampered with or damaged; nobody may cite that.
fn whole_span(stored: &StoredChunk, start: u64, text: &str) -> Result<(), Failure> {
    if start == stored.chunk.start && start + text.len() as u64 == stored.chunk.end {
        return Ok(());
    }
    Err(Failure::Stored(format!(
        "chunk `{}` does not fit the text of its document",
        stored.chunk.id
    )))
}

fn stored_chunk(row: &Row<'_>) -> Result<StoredChunk, Failure> {
    let pages: (Option<u32>, Option<u32>) = (row.get(11)?, row.get(12)?);
    Ok(StoredChunk {
        key: key(row, 0)?,
        collection: CollectionName::new(row.get::<_, String>(2)?),
        title: row.get(3)?,
        path: row.get(4)?,
        chunk: Chunk {
            id: ChunkId::new(row.get::<_, String>(7)?),
            ordinal: row.get(8)?,
            start: unsigned(row.get(9)?),
            end: unsigned(row.get(10)?),
            pages: pages
                .0
                .zip(pages.1)
                .map(|(first, last)| PageRange { first, last }),
            headings: serde_json::from_str(&row.get::<_, String>(13)?)?,
            kind: serde_json::from_str(&row.get::<_, String>(14)?)?,
            text: String::new(),
            header: row.get(15)?,
            tokens: row.get(16)?,
        },
    })
}

fn key(row: &Row<'_>, at: usize) -> Result<DocumentKey, Failure> {
    Ok(DocumentKey {
        document: DocumentId::new(row.get::<_, String>(at)?),
        generation: unsigned(row.get(at + 1)?),
    })
}
