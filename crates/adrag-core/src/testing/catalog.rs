//! A catalogue in memory, and the promises every [`Catalog`] keeps.

mod conformance;
mod fake_state;
mod kept;
mod made;
mod threads;
mod undo;

pub use conformance::{conformance, content, file};

use crate::ports::{
    Admission, Catalog, Content, DocumentKey, HeldDocument, NewDocument, PortError, PortResult, StoredChunk,
    Unfinished,
};
use adrag_contract::{
    CatalogueCount, ChunkId, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState,
    RunEvent, RunId, RunSummary, Settings, ThreadId, ThreadSummary,
};
use async_trait::async_trait;
use fake_state::State;
use std::collections::VecDeque;
use std::sync::Mutex;

/// A [`Catalog`] that forgets everything when it is dropped.
#[derive(Debug, Default)]
pub struct FakeCatalog {
    state: Mutex<State>,
    failures: Mutex<VecDeque<PortError>>,
}

impl FakeCatalog {
    /// An empty catalogue.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next call fails with this and changes nothing; several wait in line.
    pub fn fail_next(&self, error: PortError) {
        self.failures.lock().unwrap().push_back(error);
    }

    fn with<T>(&self, job: impl FnOnce(&mut State) -> PortResult<T>) -> PortResult<T> {
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(error);
        }
        job(&mut self.state.lock().unwrap())
    }
}

#[async_trait]
impl Catalog for FakeCatalog {
    async fn admit(&self, file: NewDocument, fingerprint: &str) -> PortResult<Admission> {
        self.with(|state| Ok(state.admit(&file, fingerprint)))
    }

    async fn advance(&self, key: &DocumentKey, to: DocumentState) -> PortResult<()> {
        self.with(|state| state.advance(key, to))
    }

    async fn store(&self, key: &DocumentKey, content: &Content) -> PortResult<()> {
        self.with(|state| state.store(key, content))
    }

    async fn publish(&self, key: &DocumentKey, remark: Option<&str>) -> PortResult<Vec<DocumentId>> {
        self.with(|state| state.publish(key, remark))
    }

    async fn fail(&self, key: &DocumentKey, reason: &str) -> PortResult<()> {
        self.with(|state| state.fail(key, reason))
    }

    async fn withdraw(&self, key: &DocumentKey) -> PortResult<()> {
        self.with(|state| {
            state.withdraw(key);
            Ok(())
        })
    }

    async fn unfinished(&self) -> PortResult<Vec<Unfinished>> {
        self.with(|state| Ok(state.unfinished()))
    }

    async fn requeue(&self, key: &DocumentKey) -> PortResult<()> {
        self.with(|state| state.requeue(key))
    }

    async fn mark_deleting(&self, documents: &[DocumentId]) -> PortResult<()> {
        self.with(|state| {
            state.mark_deleting(documents);
            Ok(())
        })
    }

    async fn restore(&self, documents: &[DocumentId]) -> PortResult<Vec<DocumentId>> {
        self.with(|state| Ok(state.restore(documents)))
    }

    async fn deleting(&self) -> PortResult<Vec<DocumentId>> {
        self.with(|state| Ok(state.deleting()))
    }

    async fn hidden(&self) -> PortResult<u64> {
        self.with(|state| Ok(state.hidden()))
    }

    async fn visible(&self, ids: &[ChunkId]) -> PortResult<Vec<ChunkId>> {
        self.with(|state| {
            let resolved = state.resolve(ids).into_iter();
            Ok(resolved.map(|stored| stored.chunk.id).collect())
        })
    }

    async fn remove(&self, documents: &[DocumentId]) -> PortResult<()> {
        self.with(|state| {
            state
                .documents
                .retain(|document| !documents.contains(&document.id));
            Ok(())
        })
    }

    async fn document(&self, id: &DocumentId) -> PortResult<Option<DocumentInfo>> {
        self.with(|state| Ok(state.find(id).map(|document| document.info())))
    }

    async fn documents(&self, collection: Option<&CollectionName>) -> PortResult<Vec<DocumentInfo>> {
        self.with(|state| Ok(state.list(collection)))
    }

    async fn collections(&self) -> PortResult<Vec<CollectionInfo>> {
        self.with(|state| Ok(state.collections()))
    }

    async fn resolve(&self, ids: &[ChunkId]) -> PortResult<Vec<StoredChunk>> {
        self.with(|state| Ok(state.resolve(ids)))
    }

    async fn chunks(&self, key: &DocumentKey) -> PortResult<Vec<StoredChunk>> {
        self.with(|state| Ok(state.chunks(key)))
    }

    async fn published(&self) -> PortResult<Vec<HeldDocument>> {
        self.with(|state| Ok(state.published()))
    }

    async fn text(&self, document: &DocumentId, start: u64, end: u64) -> PortResult<Option<(u64, String)>> {
        self.with(|state| Ok(state.text(document, start, end)))
    }

    async fn chunk_at(&self, document: &DocumentId, at: u64) -> PortResult<Option<ChunkId>> {
        self.with(|state| Ok(state.chunk_at(document, at)))
    }

    async fn count(&self) -> PortResult<CatalogueCount> {
        self.with(|state| Ok(state.count()))
    }

    async fn note(&self, name: &str) -> PortResult<Option<String>> {
        self.with(|state| Ok(state.notes.get(name).cloned()))
    }

    async fn set_note(&self, name: &str, value: &str) -> PortResult<()> {
        self.with(|state| {
            state.notes.insert(name.to_owned(), value.to_owned());
            Ok(())
        })
    }

    async fn settings(&self) -> PortResult<Settings> {
        self.with(|state| Ok(state.settings.clone().unwrap_or_default()))
    }

    async fn save_settings(&self, settings: &Settings) -> PortResult<()> {
        self.with(|state| {
            state.settings = Some(settings.clone());
            Ok(())
        })
    }

    async fn save_run(&self, summary: &RunSummary, events: &[RunEvent]) -> PortResult<()> {
        self.with(|state| {
            state.runs.retain(|(known, _)| known.run != summary.run);
            state.runs.push((summary.clone(), events.to_vec()));
            Ok(())
        })
    }

    async fn run_events(&self, run: &RunId) -> PortResult<Vec<RunEvent>> {
        self.with(|state| {
            let known = state.runs.iter().find(|(summary, _)| summary.run == *run);
            Ok(known.map(|(_, events)| events.clone()).unwrap_or_default())
        })
    }

    async fn runs(&self, limit: usize) -> PortResult<Vec<RunSummary>> {
        self.with(|state| {
            let mut runs: Vec<RunSummary> = state
                .runs
                .iter()
                .rev()
                .map(|(summary, _)| summary.clone())
                .collect();
            runs.sort_by_key(|summary| std::cmp::Reverse(summary.started_at_ms));
            runs.truncate(limit);
            Ok(runs)
        })
    }

    async fn threads(&self, find: &str, limit: usize) -> PortResult<Vec<ThreadSummary>> {
        self.with(|state| Ok(state.threads(&find.to_lowercase(), limit)))
    }

    async fn thread_runs(&self, thread: &ThreadId) -> PortResult<Vec<RunSummary>> {
        self.with(|state| {
            let mut runs: Vec<RunSummary> = state.runs.iter().map(|(summary, _)| summary.clone()).collect();
            runs.retain(|summary| summary.thread == *thread);
            runs.sort_by_key(|summary| summary.started_at_ms);
            Ok(runs)
        })
    }

    async fn rename_thread(&self, thread: &ThreadId, title: &str) -> PortResult<()> {
        self.with(|state| {
            state.titles.remove(thread);
            if !title.trim().is_empty() && state.runs.iter().any(|(summary, _)| summary.thread == *thread) {
                state.titles.insert(thread.clone(), title.to_owned());
            }
            Ok(())
        })
    }

    async fn delete_threads(&self, threads: &[ThreadId]) -> PortResult<()> {
        self.with(|state| {
            state
                .runs
                .retain(|(summary, _)| !threads.contains(&summary.thread));
            state.titles.retain(|thread, _| !threads.contains(thread));
            Ok(())
        })
    }

    async fn clear_runs(&self) -> PortResult<()> {
        self.with(|state| {
            state.titles.clear();
            state.runs.clear();
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::ErrorCode;

    #[tokio::test]
    async fn the_fake_keeps_the_promises_of_the_port() {
        conformance(&FakeCatalog::new()).await;
    }

    #[tokio::test]
    async fn the_fake_fails_once_when_told_to_and_changes_nothing() {
        let catalog = FakeCatalog::new();
        catalog.fail_next(PortError::permanent(ErrorCode::Disk, "told to"));
        assert!(catalog.set_note("a", "b").await.is_err());
        assert_eq!(catalog.note("a").await.unwrap(), None);
    }
}
