//! The trees of the graph's folder.
//!
//! `chunks` maps a chunk's id to its record (generation, collection, entities with their spelling), `documents` a
//! generation to its counts of chunks and edges, `totals` holds the sums and the version of this layout. All three change
//! in one transaction; when they disagree at the next start, something was lost.

use super::failed;
use adrag_contract::{ChunkId, ErrorCode};
use adrag_core::graph::EntityIndex;
use adrag_core::ports::{DocumentKey, GraphChunk, PortError, PortResult};
use serde::{Deserialize, Serialize};
use sled::transaction::{ConflictableTransactionError, TransactionError, TransactionalTree};
use sled::{Db, Transactional, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Version of the layout: another one is rebuilt, not migrated.
const LAYOUT: u32 = 1;

/// sled's page cache, bytes.
const CACHE: u64 = 16 * 1024 * 1024;

/// Longest wait for a lock.
const LOCK_WAIT: Duration = Duration::from_secs(2);

const TOTALS: &[u8] = b"totals";

/// Chunks and edges of a generation or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    chunks: u64,
    edges: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Totals {
    layout: u32,
    all: Tally,
}

/// Why a folder cannot be used as it is.
pub(super) enum Unusable {
    /// It can be once something outside changes.
    Port(PortError),
    /// It never can.
    Damaged(String),
}

pub(super) struct Disk {
    folder: PathBuf,
    db: Db,
    chunks: Tree,
    documents: Tree,
    totals: Tree,
}

/// Opens the folder and reads all of it into an index.
///
/// sled lets go of its lock a moment after it is closed, so a lock is waited for as long as that may take.
pub(super) fn open(folder: &Path) -> Result<(Disk, EntityIndex), Unusable> {
    let begun = Instant::now();
    loop {
        match open_once(folder) {
            Err(Unusable::Port(error))
                if error.error.code == ErrorCode::DataFolderInUse && begun.elapsed() < LOCK_WAIT =>
            {
                std::thread::sleep(Duration::from_millis(25));
            }
            done => return done,
        }
    }
}

fn open_once(folder: &Path) -> Result<(Disk, EntityIndex), Unusable> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Unusable::Port(disk_error(folder, &error.to_string())))?;
    catch_unwind(AssertUnwindSafe(|| {
        let db = sled::Config::new()
            .path(folder)
            .cache_capacity(CACHE)
            .mode(sled::Mode::LowSpace)
            .open()
            .map_err(|error| classify(folder, &error))?;
        let tree = |name: &str| db.open_tree(name).map_err(|error| classify(folder, &error));
        let disk = Disk {
            chunks: tree("chunks")?,
            documents: tree("documents")?,
            totals: tree("totals")?,
            db: db.clone(),
            folder: folder.to_owned(),
        };
        let index = load(&disk)?;
        Ok((disk, index))
    }))
    .unwrap_or_else(|_| Err(Unusable::Damaged("it cannot be read".to_owned())))
}

fn classify(folder: &Path, error: &sled::Error) -> Unusable {
    match error {
        sled::Error::Io(io) if io.to_string().contains("could not acquire lock") => Unusable::Port(
            PortError::permanent(
                ErrorCode::DataFolderInUse,
                format!("another adRAG uses the entity graph `{}`", folder.display()),
            )
            .with_hint("close the other adRAG, or choose another data folder"),
        ),
        sled::Error::Io(io)
            if matches!(
                io.kind(),
                std::io::ErrorKind::PermissionDenied
                    | std::io::ErrorKind::StorageFull
                    | std::io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Unusable::Port(disk_error(folder, &io.to_string()))
        }
        other => Unusable::Damaged(other.to_string()),
    }
}

fn disk_error(folder: &Path, why: &str) -> PortError {
    PortError::permanent(
        ErrorCode::Disk,
        format!("the entity graph `{}` cannot be written: {why}", folder.display()),
    )
    .with_hint("check the permissions of the data folder and the space left on its disk")
}

fn load(disk: &Disk) -> Result<EntityIndex, Unusable> {
    let doubt = |why: &str| Unusable::Damaged(why.to_owned());
    let mut index = EntityIndex::new();
    let mut counted: BTreeMap<Vec<u8>, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for entry in disk.chunks.iter() {
        let (id, record) = entry.map_err(|error| Unusable::Damaged(error.to_string()))?;
        let chunk: GraphChunk =
            serde_json::from_slice(&record).map_err(|_| doubt("a chunk's record cannot be read"))?;
        if chunk.chunk.as_str().as_bytes() != id.as_ref() {
            return Err(doubt("a chunk's record is another chunk's"));
        }
        count(&mut counted, &chunk);
        all.chunks += 1;
        all.edges += edges(&chunk);
        index.add(&chunk);
    }
    let mut registered = 0;
    for entry in disk.documents.iter() {
        let (key, tally) = entry.map_err(|error| Unusable::Damaged(error.to_string()))?;
        let tally: Tally = serde_json::from_slice(&tally).map_err(|_| doubt("a count cannot be read"))?;
        if counted.get(key.as_ref()) != Some(&tally) {
            return Err(doubt("chunks of a document are missing"));
        }
        registered += 1;
    }
    if registered != counted.len() {
        return Err(doubt("chunks belong to no document"));
    }
    let totals = disk
        .totals
        .get(TOTALS)
        .map_err(|error| Unusable::Damaged(error.to_string()))?;
    match totals {
        None if all == Tally::default() => Ok(index),
        Some(totals) => match serde_json::from_slice::<Totals>(&totals) {
            Ok(totals) if totals.layout != LAYOUT => Err(doubt("it has the layout of another version")),
            Ok(totals) if totals.all == all => Ok(index),
            _ => Err(doubt("its counts do not add up")),
        },
        None => Err(doubt("its counts are missing")),
    }
}

/// Entities of a chunk, each counted once.
fn edges(chunk: &GraphChunk) -> u64 {
    chunk
        .entities
        .iter()
        .map(|entity| entity.key.as_str())
        .collect::<BTreeSet<_>>()
        .len() as u64
}

fn count(tallies: &mut BTreeMap<Vec<u8>, Tally>, chunk: &GraphChunk) {
    let tally = tallies.entry(document_key(&chunk.key)).or_default();
    tally.chunks += 1;
    tally.edges += edges(chunk);
}

/// Document, a zero byte, generation.
fn document_key(key: &DocumentKey) -> Vec<u8> {
    let mut bytes = key.document.as_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(&key.generation.to_be_bytes());
    bytes
}

type Aborted = ConflictableTransactionError<String>;

impl Disk {
    /// Removes chunks, then puts others (the last of the same id counts), with all counts, in one transaction.
    pub(super) fn change(&self, remove: &[ChunkId], put: &[GraphChunk]) -> PortResult<()> {
        let latest: BTreeMap<&str, &GraphChunk> =
            put.iter().map(|chunk| (chunk.chunk.as_str(), chunk)).collect();
        let mut records = Vec::with_capacity(latest.len());
        for chunk in latest.values() {
            let record = serde_json::to_vec(chunk).map_err(|error| failed(&error.to_string()))?;
            records.push((*chunk, record));
        }
        if remove.is_empty() && records.is_empty() {
            return Ok(());
        }
        (&self.chunks, &self.documents, &self.totals)
            .transaction(|(chunks, documents, totals)| {
                let mut gone = BTreeMap::new();
                let mut come = BTreeMap::new();
                for id in remove {
                    if let Some(old) = chunks.remove(id.as_str().as_bytes())? {
                        count(&mut gone, &record(&old)?);
                    }
                }
                for (chunk, record_of_chunk) in &records {
                    let id = chunk.chunk.as_str().as_bytes();
                    if let Some(old) = chunks.insert(id, record_of_chunk.as_slice())? {
                        count(&mut gone, &record(&old)?);
                    }
                    count(&mut come, chunk);
                }
                settle(documents, totals, &gone, &come)
            })
            .map_err(|error| match error {
                TransactionError::Abort(why) => failed(&why),
                TransactionError::Storage(error) => self.storage_error(&error),
            })
    }

    pub(super) fn clear(&self) -> PortResult<()> {
        // A stop between these leaves counts that do not add up: the next start begins anew, which is what was wanted.
        self.chunks
            .clear()
            .and_then(|()| self.documents.clear())
            .and_then(|()| self.totals.clear())
            .map_err(|error| self.storage_error(&error))
    }

    pub(super) fn flush(&self) -> PortResult<()> {
        self.db
            .flush()
            .map(|_| ())
            .map_err(|error| self.storage_error(&error))
    }

    fn storage_error(&self, error: &sled::Error) -> PortError {
        match error {
            sled::Error::Io(io) => disk_error(&self.folder, &io.to_string()),
            other => failed(&other.to_string()),
        }
    }
}

fn record(bytes: &[u8]) -> Result<GraphChunk, Aborted> {
    serde_json::from_slice(bytes).map_err(|error| Aborted::Abort(error.to_string()))
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Aborted> {
    serde_json::to_vec(value).map_err(|error| Aborted::Abort(error.to_string()))
}

/// Brings the counts of the generations touched, and the sums, in line with the records.
fn settle(
    documents: &TransactionalTree,
    totals: &TransactionalTree,
    gone: &BTreeMap<Vec<u8>, Tally>,
    come: &BTreeMap<Vec<u8>, Tally>,
) -> Result<(), Aborted> {
    let touched: BTreeSet<&Vec<u8>> = gone.keys().chain(come.keys()).collect();
    let mut totals_now = match totals.get(TOTALS)? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| Aborted::Abort(error.to_string()))?,
        None => Totals {
            layout: LAYOUT,
            all: Tally::default(),
        },
    };
    for key in touched {
        let mut tally = match documents.get(key)? {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| Aborted::Abort(error.to_string()))?
            }
            None => Tally::default(),
        };
        for part in [&mut tally, &mut totals_now.all] {
            adjust(part, gone.get(key).copied(), come.get(key).copied())?;
        }
        if tally == Tally::default() {
            documents.remove(key.as_slice())?;
        } else {
            documents.insert(key.as_slice(), json(&tally)?)?;
        }
    }
    totals.insert(TOTALS, json(&totals_now)?)?;
    Ok(())
}

fn adjust(tally: &mut Tally, gone: Option<Tally>, come: Option<Tally>) -> Result<(), Aborted> {
    let (gone, come) = (gone.unwrap_or_default(), come.unwrap_or_default());
    let less = |have: u64, come: u64, gone: u64| {
        (have + come)
            .checked_sub(gone)
            .ok_or_else(|| Aborted::Abort("counts do not add up".to_owned()))
    };
    tally.chunks = less(tally.chunks, come.chunks, gone.chunks)?;
    tally.edges = less(tally.edges, come.edges, gone.edges)?;
    Ok(())
}
