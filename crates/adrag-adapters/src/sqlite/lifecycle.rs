//! A document's life after it was admitted, until it is forgotten.

use super::error::{Failure, not_under_way};
use super::{int, text};
use adrag_contract::{DocumentId, DocumentState, ErrorCode};
use adrag_core::ports::{Content, DocumentKey, NewDocument, PortError};
use rusqlite::{OptionalExtension, Transaction, params};

/// A generation under way, by row numbers.
struct UnderWay {
    document: i64,
    generation: i64,
    published: Option<i64>,
}

fn find(tx: &Transaction<'_>, key: &DocumentKey) -> Result<Option<UnderWay>, Failure> {
    Ok(tx
        .prepare_cached(
            "SELECT d.number, g.number, d.published FROM documents d JOIN generations g ON g.number = d.pending
             WHERE d.id = ?1 AND g.generation = ?2",
        )?
        .query_row(params![key.document.as_str(), int(key.generation)], |row| {
            Ok(UnderWay {
                document: row.get(0)?,
                generation: row.get(1)?,
                published: row.get(2)?,
            })
        })
        .optional()?)
}

fn under_way(tx: &Transaction<'_>, key: &DocumentKey) -> Result<UnderWay, Failure> {
    find(tx, key)?.ok_or_else(|| not_under_way(key))
}

pub(super) fn advance(tx: &Transaction<'_>, key: &DocumentKey, state: DocumentState) -> Result<(), Failure> {
    if state.is_final() || state == DocumentState::Deleting {
        return Err(PortError::rejected(
            ErrorCode::InvalidRequest,
            format!("a document is not advanced to `{}`", state.as_str()),
        )
        .into());
    }
    let row = under_way(tx, key)?;
    tx.execute(
        "UPDATE documents SET state = ?2 WHERE number = ?1",
        params![row.document, state.as_str()],
    )?;
    Ok(())
}

pub(super) fn store(tx: &Transaction<'_>, key: &DocumentKey, content: &Content) -> Result<(), Failure> {
    let row = under_way(tx, key)?;
    forget_content(tx, row.generation)?;
    text::keep(tx, row.generation, &content.text)?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO chunks (id, generation, ordinal, start, end, first_page, last_page, headings, kind, header, tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for chunk in &content.chunks {
        let span = usize::try_from(chunk.start)
            .ok()
            .zip(usize::try_from(chunk.end).ok());
        // Only the span is kept, so a chunk that is not its span would come back as something else.
        if span.and_then(|(start, end)| content.text.get(start..end)) != Some(chunk.text.as_str()) {
            return Err(PortError::rejected(
                ErrorCode::Internal,
                format!(
                    "chunk {} of document `{}` is not the text of its span",
                    chunk.ordinal, key.document
                ),
            )
            .into());
        }
        insert.execute(params![
            chunk.id.as_str(),
            row.generation,
            chunk.ordinal,
            int(chunk.start),
            int(chunk.end),
            chunk.pages.map(|pages| pages.first),
            chunk.pages.map(|pages| pages.last),
            serde_json::to_string(&chunk.headings)?,
            serde_json::to_string(&chunk.kind)?,
            chunk.header,
            chunk.tokens
        ])?;
    }
    tx.execute(
        "UPDATE generations SET title = ?2, kind = ?3, fingerprint = ?4, pages = ?5, chars = ?6, length = ?7, chunks = ?8
         WHERE number = ?1",
        params![
            row.generation,
            content.title,
            content.kind,
            content.fingerprint,
            content.pages,
            int(content.text.chars().count() as u64),
            int(content.text.len() as u64),
            int(content.chunks.len() as u64)
        ],
    )?;
    Ok(())
}

pub(super) fn publish(
    tx: &Transaction<'_>,
    key: &DocumentKey,
    remark: Option<&str>,
) -> Result<Vec<DocumentId>, Failure> {
    let row = under_way(tx, key)?;
    tx.execute(
        "DELETE FROM generations WHERE document = ?1 AND number <> ?2",
        [row.document, row.generation],
    )?;
    tx.execute(
        "UPDATE documents SET published = ?2, pending = NULL, reason = ?3 WHERE number = ?1",
        params![row.document, row.generation, remark],
    )?;
    settle(tx, row.document, row.generation)?;
    let copies: Vec<DocumentId> = tx
        .prepare_cached(
            "SELECT other.id FROM documents own
             JOIN documents other ON other.collection = own.collection AND other.sha256 = own.sha256
             WHERE own.number = ?1 AND own.sha256 <> '' AND other.number <> own.number AND other.state <> 'deleting'
             ORDER BY other.number",
        )?
        .query_map([row.document], |copy| Ok(DocumentId::new(copy.get::<_, String>(0)?)))?
        .collect::<Result<_, _>>()?;
    mark_deleting(tx, &copies)?;
    Ok(copies)
}

/// The state that what is published speaks for.
fn settle(tx: &Transaction<'_>, document: i64, published: i64) -> Result<(), Failure> {
    tx.execute(
        "UPDATE documents SET state = (SELECT CASE WHEN chunks > 0 THEN 'ready' ELSE 'empty' END
             FROM generations WHERE number = ?2) WHERE number = ?1",
        [document, published],
    )?;
    Ok(())
}

/// Ends whatever is under way in favour of the published generation, whose bytes and time are the document's again.
fn fall_back(tx: &Transaction<'_>, document: i64, published: i64) -> Result<(), Failure> {
    tx.execute(
        "DELETE FROM generations WHERE document = ?1 AND number <> ?2",
        [document, published],
    )?;
    tx.execute(
        "UPDATE documents SET pending = NULL, (sha256, updated_at_ms) =
             (SELECT sha256, at_ms FROM generations WHERE number = ?2) WHERE number = ?1",
        [document, published],
    )?;
    settle(tx, document, published)
}

/// The file is what is published already: only where it is and when it was seen is written.
pub(super) fn stay(
    tx: &Transaction<'_>,
    document: i64,
    published: i64,
    file: &NewDocument,
) -> Result<(), Failure> {
    tx.execute(
        "UPDATE generations SET path = ?2, at_ms = ?3 WHERE number = ?1",
        params![published, file.path, file.at_ms],
    )?;
    tx.execute(
        "UPDATE documents SET path = ?2 WHERE number = ?1",
        params![document, file.path],
    )?;
    fall_back(tx, document, published)
}

pub(super) fn fail(tx: &Transaction<'_>, key: &DocumentKey, reason: &str) -> Result<(), Failure> {
    let row = under_way(tx, key)?;
    if let Some(published) = row.published {
        fall_back(tx, row.document, published)?;
        tx.execute(
            "UPDATE generations SET path = (SELECT path FROM documents WHERE number = ?1) WHERE number = ?2",
            [row.document, published],
        )?;
    } else {
        forget_content(tx, row.generation)?;
        tx.execute(
            "UPDATE documents SET pending = NULL, state = 'failed' WHERE number = ?1",
            [row.document],
        )?;
    }
    tx.execute(
        "UPDATE documents SET reason = ?2 WHERE number = ?1",
        params![row.document, reason],
    )?;
    Ok(())
}

pub(super) fn withdraw(tx: &Transaction<'_>, key: &DocumentKey) -> Result<(), Failure> {
    let Some(row) = find(tx, key)? else {
        // Superseded or marked for deletion meanwhile: it is not under way, which is what was asked for.
        return Ok(());
    };
    let Some(published) = row.published else {
        tx.execute("DELETE FROM documents WHERE number = ?1", [row.document])?;
        return Ok(());
    };
    fall_back(tx, row.document, published)?;
    // Another document may have been admitted at the old path meanwhile; then this one stays where it moved to.
    tx.execute(
        "UPDATE documents SET path = (SELECT path FROM generations WHERE number = ?2) WHERE number = ?1
             AND NOT EXISTS (SELECT 1 FROM generations g JOIN documents other ON other.path = g.path
                 AND other.collection = documents.collection WHERE g.number = ?2 AND other.number <> ?1)",
        [row.document, published],
    )?;
    Ok(())
}

pub(super) fn requeue(tx: &Transaction<'_>, key: &DocumentKey) -> Result<(), Failure> {
    let row = under_way(tx, key)?;
    forget_content(tx, row.generation)?;
    tx.execute(
        "UPDATE documents SET state = 'queued' WHERE number = ?1",
        [row.document],
    )?;
    Ok(())
}

pub(super) fn mark_deleting(tx: &Transaction<'_>, documents: &[DocumentId]) -> Result<(), Failure> {
    let mut update =
        tx.prepare_cached("UPDATE documents SET state = 'deleting', pending = NULL WHERE id = ?1")?;
    for id in documents {
        update.execute([id.as_str()])?;
    }
    Ok(())
}

pub(super) fn restore(tx: &Transaction<'_>, documents: &[DocumentId]) -> Result<Vec<DocumentId>, Failure> {
    let mut restored = Vec::new();
    for id in documents {
        let waiting: Option<(i64, Option<i64>)> = tx
            .prepare_cached("SELECT number, published FROM documents WHERE id = ?1 AND state = 'deleting'")?
            .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match waiting {
            None => continue,
            Some((document, Some(published))) => fall_back(tx, document, published)?,
            Some((document, None)) => {
                let generations: Vec<i64> = tx
                    .prepare_cached("SELECT number FROM generations WHERE document = ?1")?
                    .query_map([document], |row| row.get(0))?
                    .collect::<Result<_, _>>()?;
                for generation in generations {
                    forget_content(tx, generation)?;
                }
                tx.execute(
                    "UPDATE documents SET state = 'failed',
                         reason = coalesce(reason, 'it was deleted before it was finished') WHERE number = ?1",
                    [document],
                )?;
            }
        }
        restored.push(id.clone());
    }
    Ok(restored)
}

pub(super) fn remove(tx: &Transaction<'_>, documents: &[DocumentId]) -> Result<(), Failure> {
    let mut delete = tx.prepare_cached("DELETE FROM documents WHERE id = ?1")?;
    for id in documents {
        delete.execute([id.as_str()])?;
    }
    Ok(())
}

fn forget_content(tx: &Transaction<'_>, generation: i64) -> Result<(), Failure> {
    tx.execute("DELETE FROM segments WHERE generation = ?1", [generation])?;
    tx.execute("DELETE FROM chunks WHERE generation = ?1", [generation])?;
    tx.execute(
        "UPDATE generations SET pages = NULL, chars = 0, length = 0, chunks = 0 WHERE number = ?1",
        [generation],
    )?;
    Ok(())
}
