//! The catalogue in SQLite: the authority, so the most trusted store.
//!
//! One connection writes, one only reads, so a search never waits behind the storing of a long document (the file is in
//! WAL mode). Each method of the port is one transaction, durable when it returns (`synchronous=FULL`), done on a
//! blocking thread; a dropped future lets its transaction finish. Nothing here knows of vectors, words or graph.
//! Start at [`SqliteCatalog`].

mod admission;
mod error;
mod lifecycle;
mod reading;
mod records;
mod schema;
mod text;
mod threads;
mod watch;

use adrag_contract::{
    CatalogueCount, ChunkId, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState,
    ErrorCode, RunEvent, RunId, RunSummary, Settings, ThreadId, ThreadSummary,
};
use adrag_core::ports::{
    Admission, Catalog, Content, DocumentKey, HeldDocument, NewDocument, PortError, PortResult, StoredChunk,
    Unfinished,
};
use async_trait::async_trait;
use error::Failure;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The catalogue in one SQLite file.
pub struct SqliteCatalog {
    open: Arc<Open>,
}

// The reader is dropped first: the last connection to close folds the write-ahead log back, and only a writer can.
struct Open {
    reader: Mutex<Connection>,
    writer: Mutex<Connection>,
    file: PathBuf,
}

impl SqliteCatalog {
    /// Opens the catalogue, makes it when it is absent, and migrates older data after a backup beside it.
    ///
    /// # Errors
    /// `StoreFailed` for a damaged file or one of a newer version, neither of which is touched; `Disk` when the folder
    /// may not be written.
    pub fn open(file: &Path) -> PortResult<Self> {
        let (writer, reader) = schema::open(file, schema::MIGRATIONS)?;
        Ok(Self {
            open: Arc::new(Open {
                reader: Mutex::new(reader),
                writer: Mutex::new(writer),
                file: file.to_owned(),
            }),
        })
    }

    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> PortResult<T> {
        let open = Arc::clone(&self.open);
        self.blocking(move || transact(&open.writer, TransactionBehavior::Immediate, job))
            .await
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> PortResult<T> {
        let open = Arc::clone(&self.open);
        self.blocking(move || transact(&open.reader, TransactionBehavior::Deferred, job))
            .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> PortResult<T> {
        match tokio::task::spawn_blocking(job).await {
            Ok(done) => done.map_err(|failure| failure.into_port(&self.open.file)),
            Err(error) => Err(PortError::permanent(
                ErrorCode::Internal,
                format!("a catalogue task ended early: {error}"),
            )),
        }
    }
}

fn transact<T>(
    connection: &Mutex<Connection>,
    behavior: TransactionBehavior,
    job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // A panic in a job rolls its transaction back as it unwinds, so the connection behind a poisoned lock is sound.
    let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
    let transaction = connection.transaction_with_behavior(behavior)?;
    let done = job(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// SQLite's integers are signed; sizes beyond it do not occur.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

#[async_trait]
impl Catalog for SqliteCatalog {
    async fn admit(&self, file: NewDocument, fingerprint: &str) -> PortResult<Admission> {
        let fingerprint = fingerprint.to_owned();
        self.write(move |tx| admission::admit(tx, &file, &fingerprint))
            .await
    }

    async fn advance(&self, key: &DocumentKey, state: DocumentState) -> PortResult<()> {
        let key = key.clone();
        self.write(move |tx| lifecycle::advance(tx, &key, state)).await
    }

    async fn store(&self, key: &DocumentKey, content: &Content) -> PortResult<()> {
        let (key, content) = (key.clone(), content.clone());
        self.write(move |tx| lifecycle::store(tx, &key, &content)).await
    }

    async fn publish(&self, key: &DocumentKey, remark: Option<&str>) -> PortResult<Vec<DocumentId>> {
        let (key, remark) = (key.clone(), remark.map(str::to_owned));
        self.write(move |tx| lifecycle::publish(tx, &key, remark.as_deref()))
            .await
    }

    async fn fail(&self, key: &DocumentKey, reason: &str) -> PortResult<()> {
        let (key, reason) = (key.clone(), reason.to_owned());
        self.write(move |tx| lifecycle::fail(tx, &key, &reason)).await
    }

    async fn withdraw(&self, key: &DocumentKey) -> PortResult<()> {
        let key = key.clone();
        self.write(move |tx| lifecycle::withdraw(tx, &key)).await
    }

    async fn unfinished(&self) -> PortResult<Vec<Unfinished>> {
        self.read(reading::unfinished).await
    }

    async fn requeue(&self, key: &DocumentKey) -> PortResult<()> {
        let key = key.clone();
        self.write(move |tx| lifecycle::requeue(tx, &key)).await
    }

    async fn mark_deleting(&self, documents: &[DocumentId]) -> PortResult<()> {
        let documents = documents.to_vec();
        self.write(move |tx| lifecycle::mark_deleting(tx, &documents))
            .await
    }

    async fn restore(&self, documents: &[DocumentId]) -> PortResult<Vec<DocumentId>> {
        let documents = documents.to_vec();
        self.write(move |tx| lifecycle::restore(tx, &documents)).await
    }

    async fn deleting(&self) -> PortResult<Vec<DocumentId>> {
        self.read(reading::deleting).await
    }

    async fn hidden(&self) -> PortResult<u64> {
        self.read(reading::hidden).await
    }

    async fn visible(&self, ids: &[ChunkId]) -> PortResult<Vec<ChunkId>> {
        let ids = ids.to_vec();
        self.read(move |tx| reading::visible(tx, &ids)).await
    }

    async fn remove(&self, documents: &[DocumentId]) -> PortResult<()> {
        let documents = documents.to_vec();
        self.write(move |tx| lifecycle::remove(tx, &documents)).await
    }

    async fn document(&self, id: &DocumentId) -> PortResult<Option<DocumentInfo>> {
        let id = id.clone();
        self.read(move |tx| reading::document(tx, &id)).await
    }

    async fn documents(&self, collection: Option<&CollectionName>) -> PortResult<Vec<DocumentInfo>> {
        let collection = collection.cloned();
        self.read(move |tx| reading::documents(tx, collection.as_ref()))
            .await
    }

    async fn collections(&self) -> PortResult<Vec<CollectionInfo>> {
        self.read(reading::collections).await
    }

    async fn resolve(&self, ids: &[ChunkId]) -> PortResult<Vec<StoredChunk>> {
        let ids = ids.to_vec();
        self.read(move |tx| reading::resolve(tx, &ids)).await
    }

    async fn chunks(&self, key: &DocumentKey) -> PortResult<Vec<StoredChunk>> {
        let key = key.clone();
        self.read(move |tx| reading::chunks(tx, &key)).await
    }

    async fn published(&self) -> PortResult<Vec<HeldDocument>> {
        self.read(reading::published).await
    }

    async fn text(&self, document: &DocumentId, start: u64, end: u64) -> PortResult<Option<(u64, String)>> {
        let document = document.clone();
        self.read(move |tx| reading::text(tx, &document, start, end))
            .await
    }

    async fn chunk_at(&self, document: &DocumentId, at: u64) -> PortResult<Option<ChunkId>> {
        let document = document.clone();
        self.read(move |tx| reading::chunk_at(tx, &document, at)).await
    }

    async fn count(&self) -> PortResult<CatalogueCount> {
        self.read(reading::count).await
    }

    async fn note(&self, name: &str) -> PortResult<Option<String>> {
        let name = name.to_owned();
        self.read(move |tx| records::note(tx, &name)).await
    }

    async fn set_note(&self, name: &str, value: &str) -> PortResult<()> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.write(move |tx| records::set_note(tx, &name, &value)).await
    }

    async fn settings(&self) -> PortResult<Settings> {
        self.read(records::settings).await
    }

    async fn save_settings(&self, settings: &Settings) -> PortResult<()> {
        let settings = settings.clone();
        self.write(move |tx| records::save_settings(tx, &settings)).await
    }

    async fn save_run(&self, summary: &RunSummary, events: &[RunEvent]) -> PortResult<()> {
        let (summary, events) = (summary.clone(), events.to_vec());
        self.write(move |tx| records::save_run(tx, &summary, &events))
            .await
    }

    async fn run_events(&self, run: &RunId) -> PortResult<Vec<RunEvent>> {
        let run = run.clone();
        self.read(move |tx| records::run_events(tx, &run)).await
    }

    async fn runs(&self, limit: usize) -> PortResult<Vec<RunSummary>> {
        self.read(move |tx| threads::runs(tx, limit)).await
    }

    async fn threads(&self, find: &str, limit: usize) -> PortResult<Vec<ThreadSummary>> {
        let find = find.to_owned();
        self.read(move |tx| threads::threads(tx, &find, limit)).await
    }

    async fn thread_runs(&self, thread: &ThreadId) -> PortResult<Vec<RunSummary>> {
        let thread = thread.clone();
        self.read(move |tx| threads::thread_runs(tx, &thread)).await
    }

    async fn rename_thread(&self, thread: &ThreadId, title: &str) -> PortResult<()> {
        let (thread, title) = (thread.clone(), title.to_owned());
        self.write(move |tx| threads::rename_thread(tx, &thread, &title))
            .await
    }

    async fn delete_threads(&self, threads: &[ThreadId]) -> PortResult<()> {
        let gone = threads.to_vec();
        self.write(move |tx| threads::delete_threads(tx, &gone)).await
    }

    async fn clear_runs(&self) -> PortResult<()> {
        self.write(records::clear_runs).await
    }
}
