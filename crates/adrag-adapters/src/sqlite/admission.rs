//! Admitting a file: which document it is, and whether anything needs doing.

use super::error::Failure;
use super::{int, lifecycle, reading, unsigned};
use adrag_contract::DocumentId;
use adrag_core::ports::{Admission, DocumentKey, NewDocument};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use uuid::Uuid;

/// A document that the file is.
struct Known {
    number: i64,
    id: DocumentId,
    path: String,
    published: Option<i64>,
    last_generation: i64,
    deleting: bool,
}

const KNOWN: &str = "SELECT number, id, path, published, last_generation, state = 'deleting' FROM documents";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    Ok(Known {
        number: row.get(0)?,
        id: DocumentId::new(row.get::<_, String>(1)?),
        path: row.get(2)?,
        published: row.get(3)?,
        last_generation: row.get(4)?,
        deleting: row.get(5)?,
    })
}

pub(super) fn admit(
    tx: &Transaction<'_>,
    file: &NewDocument,
    fingerprint: &str,
) -> Result<Admission, Failure> {
    let Some(document) = recognise(tx, file)? else {
        return begin(tx, file, fingerprint);
    };
    let takes_over = (document.path != file.path).then(|| document.path.clone());
    if let Some((number, generation)) = same_published(tx, &document, file, fingerprint)? {
        lifecycle::stay(tx, document.number, number, file)?;
        return Ok(Admission {
            key: DocumentKey {
                document: document.id.clone(),
                generation: unsigned(generation),
            },
            unchanged: reading::document(tx, &document.id)?,
            takes_over,
        });
    }
    // What a document in `Deleting` had published is half gone from the projections: it begins anew.
    let published = document.published.filter(|_| !document.deleting);
    let generation = document.last_generation + 1;
    tx.execute(
        "DELETE FROM generations WHERE document = ?1 AND number IS NOT ?2",
        params![document.number, published],
    )?;
    let pending = insert_generation(tx, document.number, generation, file, fingerprint)?;
    tx.execute(
        "UPDATE documents SET path = ?2, sha256 = ?3, state = 'queued', published = ?4, pending = ?5,
             last_generation = ?6, updated_at_ms = ?7, reason = CASE WHEN ?4 IS NULL THEN NULL ELSE reason END
         WHERE number = ?1",
        params![
            document.number,
            file.path,
            file.sha256,
            published,
            pending,
            generation,
            file.at_ms
        ],
    )?;
    Ok(Admission {
        key: DocumentKey {
            document: document.id,
            generation: unsigned(generation),
        },
        unchanged: None,
        takes_over,
    })
}

/// The document of the same path, else the one with the same bytes. One in `Deleting` is met by its path only: its
/// bytes elsewhere are a new document.
fn recognise(tx: &Transaction<'_>, file: &NewDocument) -> Result<Option<Known>, Failure> {
    let by_path = tx
        .query_row(
            &format!("{KNOWN} WHERE collection = ?1 AND path = ?2"),
            [file.collection.as_str(), &file.path],
            known,
        )
        .optional()?;
    if by_path.is_some() || file.sha256.is_empty() {
        return Ok(by_path);
    }
    Ok(tx
        .query_row(
            &format!(
                "{KNOWN} WHERE collection = ?1 AND sha256 = ?2 AND state <> 'deleting' ORDER BY number LIMIT 1"
            ),
            [file.collection.as_str(), &file.sha256],
            known,
        )
        .optional()?)
}

/// The published generation, when it was made of the same bytes by the same means.
fn same_published(
    tx: &Transaction<'_>,
    document: &Known,
    file: &NewDocument,
    fingerprint: &str,
) -> Result<Option<(i64, i64)>, Failure> {
    if file.sha256.is_empty() || document.deleting {
        return Ok(None);
    }
    Ok(tx
        .query_row(
            "SELECT number, generation FROM generations WHERE number = ?1 AND sha256 = ?2 AND fingerprint = ?3",
            params![document.published, file.sha256, fingerprint],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?)
}

fn begin(tx: &Transaction<'_>, file: &NewDocument, fingerprint: &str) -> Result<Admission, Failure> {
    let id = free_id(tx, file)?;
    tx.execute(
        "INSERT INTO documents (id, collection, path, sha256, state, last_generation, updated_at_ms)
         VALUES (?1, ?2, ?3, ?4, 'queued', 1, ?5)",
        params![
            id.as_str(),
            file.collection.as_str(),
            file.path,
            file.sha256,
            file.at_ms
        ],
    )?;
    let number = tx.last_insert_rowid();
    let pending = insert_generation(tx, number, 1, file, fingerprint)?;
    tx.execute(
        "UPDATE documents SET pending = ?2 WHERE number = ?1",
        [number, pending],
    )?;
    Ok(Admission {
        key: DocumentKey {
            document: id,
            generation: 1,
        },
        unchanged: None,
        takes_over: None,
    })
}

/// Derived from collection and path. A document that moved keeps the id of its first path, so a new file there needs
/// another one: the derivation goes on with a count.
fn free_id(tx: &Transaction<'_>, file: &NewDocument) -> Result<DocumentId, Failure> {
    let name = format!("{}\0{}", file.collection, file.path);
    let mut id = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes());
    let mut count = 1_u64;
    loop {
        let text = id.to_string();
        let taken: bool = tx.query_row(
            "SELECT EXISTS (SELECT 1 FROM documents WHERE id = ?1)",
            [&text],
            |row| row.get(0),
        )?;
        if !taken {
            return Ok(DocumentId::new(text));
        }
        count += 1;
        id = Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{name}\0{count}").as_bytes());
    }
}

fn insert_generation(
    tx: &Transaction<'_>,
    document: i64,
    generation: i64,
    file: &NewDocument,
    fingerprint: &str,
) -> Result<i64, Failure> {
    tx.execute(
        "INSERT INTO generations (document, generation, path, title, kind, bytes, sha256, fingerprint, at_ms,
             chars, length, chunks)
         VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, 0, 0, 0)",
        params![
            document,
            generation,
            file.path,
            file.title,
            int(file.bytes),
            file.sha256,
            fingerprint,
            file.at_ms
        ],
    )?;
    Ok(tx.last_insert_rowid())
}
