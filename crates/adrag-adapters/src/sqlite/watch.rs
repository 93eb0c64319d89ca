//! The followed folders and what is known of their files.

use super::error::Failure;
use super::{SqliteCatalog, int, unsigned};
use adrag_contract::{CollectionName, DocumentId};
use adrag_core::ports::{FileStamp, Followed, KnownFile, PortResult, WatchList};
use async_trait::async_trait;
use rusqlite::{OptionalExtension, Transaction, params};

#[async_trait]
impl WatchList for SqliteCatalog {
    async fn followed(&self) -> PortResult<Vec<(Followed, u64)>> {
        self.read(followed).await
    }

    async fn add(&self, folder: &Followed) -> PortResult<()> {
        let folder = folder.clone();
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO watched_folders (collection, path) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [folder.collection.as_str(), &folder.path],
            )?;
            Ok(())
        })
        .await
    }

    async fn remove(&self, folder: &Followed) -> PortResult<bool> {
        let folder = folder.clone();
        self.write(move |tx| {
            let removed = tx.execute(
                "DELETE FROM watched_folders WHERE collection = ?1 AND path = ?2",
                [folder.collection.as_str(), &folder.path],
            )?;
            Ok(removed > 0)
        })
        .await
    }

    async fn known(&self, folder: &Followed) -> PortResult<(Option<u64>, Vec<KnownFile>)> {
        let folder = folder.clone();
        self.read(move |tx| known(tx, &folder)).await
    }

    async fn note(
        &self,
        folder: &Followed,
        disk: Option<u64>,
        seen: &[KnownFile],
        gone: &[String],
    ) -> PortResult<()> {
        let (folder, seen, gone) = (folder.clone(), seen.to_vec(), gone.to_vec());
        self.write(move |tx| note(tx, &folder, disk, &seen, &gone)).await
    }
}

fn followed(tx: &Transaction<'_>) -> Result<Vec<(Followed, u64)>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT collection, path, (SELECT count(*) FROM watched_files WHERE folder = number)
         FROM watched_folders ORDER BY collection, path",
    )?;
    let rows = statement.query_map([], |row| {
        let folder = Followed {
            collection: CollectionName::new(row.get::<_, String>(0)?),
            path: row.get(1)?,
        };
        Ok((folder, unsigned(row.get(2)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Row number and disk of a folder. The number of a disk uses all 64 bits, so its bits are kept, not its value.
fn find(tx: &Transaction<'_>, folder: &Followed) -> Result<Option<(i64, Option<u64>)>, Failure> {
    Ok(tx
        .prepare_cached("SELECT number, disk FROM watched_folders WHERE collection = ?1 AND path = ?2")?
        .query_row([folder.collection.as_str(), &folder.path], |row| {
            let disk: Option<i64> = row.get(1)?;
            Ok((row.get(0)?, disk.map(i64::cast_unsigned)))
        })
        .optional()?)
}

fn known(tx: &Transaction<'_>, folder: &Followed) -> Result<(Option<u64>, Vec<KnownFile>), Failure> {
    let Some((number, disk)) = find(tx, folder)? else {
        return Ok((None, Vec::new()));
    };
    let mut statement = tx.prepare_cached(
        "SELECT path, bytes, modified_ns, document FROM watched_files WHERE folder = ?1 ORDER BY path",
    )?;
    let rows = statement.query_map([number], |row| {
        Ok(KnownFile {
            path: row.get(0)?,
            stamp: FileStamp {
                bytes: unsigned(row.get(1)?),
                modified_ns: row.get(2)?,
            },
            document: row.get::<_, Option<String>>(3)?.map(DocumentId::new),
        })
    })?;
    Ok((disk, rows.collect::<Result<_, _>>()?))
}

fn note(
    tx: &Transaction<'_>,
    folder: &Followed,
    disk: Option<u64>,
    seen: &[KnownFile],
    gone: &[String],
) -> Result<(), Failure> {
    let Some((number, _)) = find(tx, folder)? else {
        return Ok(());
    };
    tx.execute(
        "UPDATE watched_folders SET disk = ?2 WHERE number = ?1",
        params![number, disk.map(u64::cast_signed)],
    )?;
    let mut forget = tx.prepare_cached("DELETE FROM watched_files WHERE folder = ?1 AND path = ?2")?;
    for path in gone {
        forget.execute(params![number, path])?;
    }
    let mut keep = tx.prepare_cached(
        "INSERT INTO watched_files (folder, path, bytes, modified_ns, document) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (folder, path) DO UPDATE SET bytes = excluded.bytes, modified_ns = excluded.modified_ns,
             document = excluded.document",
    )?;
    for file in seen {
        keep.execute(params![
            number,
            file.path,
            int(file.stamp.bytes),
            file.stamp.modified_ns,
            file.document.as_ref().map(DocumentId::as_str)
        ])?;
    }
    Ok(())
}
