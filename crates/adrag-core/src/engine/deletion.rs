//! Deletions that can be undone: the documents leave every search at once, the stores a minute later.
//!
//! Until then they stand in the catalogue as `Deleting`, and whatever end the program takes, the next start finishes
//! the deletion. Removing without a way back is in [`library`](super::library).

use super::Engine;
use crate::project::clean_deleted;
use adrag_contract::{AppError, CollectionName, Deletion, DeletionId, DocumentId, DocumentInfo, ErrorCode};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a deletion can be undone.
pub const UNDO_FOR: Duration = Duration::from_secs(60);

/// Deletions whose documents still stand in the stores.
#[derive(Default)]
pub(super) struct Deletions(Mutex<HashMap<DeletionId, Waiting>>);

struct Waiting {
    documents: Vec<DocumentId>,
    /// Those that were being read; undoing reads them anew.
    unfinished: Vec<DocumentInfo>,
}

impl Deletions {
    fn table(&self) -> MutexGuard<'_, HashMap<DeletionId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever takes a deletion decides what becomes of it: undoing or cleaning, never both.
    fn take(&self, id: &DeletionId) -> Option<Waiting> {
        self.table().remove(id)
    }

    fn put(&self, id: DeletionId, waiting: Waiting) {
        self.table().insert(id, waiting);
    }
}

impl Engine {
    /// Hides documents from every search and cleans the stores of them once the deletion cannot be undone any more.
    ///
    /// # Errors
    /// When one of them is unknown (then none is deleted), or the catalogue cannot be written.
    pub async fn discard_documents(self: &Arc<Self>, documents: &[DocumentId]) -> Result<Deletion, AppError> {
        let mut found = Vec::new();
        for document in documents {
            found.push(self.known_document(document).await?);
        }
        self.discard(found).await
    }

    /// Hides all documents of a collection, or of all, in the same way.
    ///
    /// # Errors
    /// When the collection does not exist, or the catalogue cannot be written.
    pub async fn discard_collection(
        self: &Arc<Self>,
        collection: Option<&CollectionName>,
    ) -> Result<Deletion, AppError> {
        let found = self.list_documents(collection).await?;
        self.discard(found).await
    }

    /// Brings the documents of a deletion back as they were; how many came back. One that was added again meanwhile stays
    /// the new one.
    ///
    /// # Errors
    /// When it is too late, or the catalogue cannot be written.
    pub async fn undo_delete(self: &Arc<Self>, id: &DeletionId) -> Result<u64, AppError> {
        let waiting = self.deletions.take(id).ok_or_else(|| {
            AppError::new(ErrorCode::NotFound, "this deletion cannot be undone any more")
                .with_hint("add the files again: the files themselves were not touched")
        })?;
        let restored: HashSet<DocumentId> = match self.ports.catalog.restore(&waiting.documents).await {
            Ok(restored) => restored.into_iter().collect(),
            Err(error) => {
                self.deletions.put(id.clone(), waiting);
                return Err(error.into());
            }
        };
        let (back, unfinished): (Vec<DocumentInfo>, Vec<DocumentInfo>) = waiting
            .unfinished
            .into_iter()
            .partition(|document| restored.contains(&document.id));
        self.start_by_collection(
            back.into_iter()
                .map(|document| (document.collection, document.path)),
        );
        let documents: Vec<DocumentId> = waiting
            .documents
            .into_iter()
            .filter(|document| !restored.contains(document))
            .collect();
        if !documents.is_empty() {
            // Their old text is still cleaned from the stores in time.
            self.deletions.put(
                id.clone(),
                Waiting {
                    documents,
                    unfinished,
                },
            );
        }
        Ok(restored.len() as u64)
    }

    async fn discard(self: &Arc<Self>, found: Vec<DocumentInfo>) -> Result<Deletion, AppError> {
        let documents: Vec<DocumentId> = found.iter().map(|document| document.id.clone()).collect();
        self.ports.catalog.mark_deleting(&documents).await?;
        // Ids come from the clock alone; one of its run ids serves, for no run will have it.
        let id = DeletionId::new(self.ports.clock.new_run_id().as_str());
        let deletion = Deletion {
            id: id.clone(),
            documents: documents.len() as u64,
            undo_for_ms: u64::try_from(UNDO_FOR.as_millis()).unwrap_or(u64::MAX),
        };
        let unfinished = found
            .into_iter()
            .filter(|document| !document.state.is_final())
            .collect();
        self.deletions.put(
            id.clone(),
            Waiting {
                documents,
                unfinished,
            },
        );
        let (engine, closing) = (Arc::downgrade(self), self.closing.clone());
        let waited = self.ports.clock.sleep(UNDO_FOR);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = closing.cancelled() => return,
                () = waited => {}
            }
            if let Some(engine) = engine.upgrade() {
                engine.clean(&id).await;
            }
        });
        Ok(deletion)
    }

    async fn clean(&self, id: &DeletionId) {
        // An ingestion under way writes the same projections: the cleaning takes its turn.
        let _turn = self.ingesting.lock().await;
        if self.closing.is_cancelled() {
            return;
        }
        let Some(waiting) = self.deletions.take(id) else {
            return;
        };
        if let Err(error) = clean_deleted(&self.ports, &waiting.documents).await {
            tracing::error!(%error, "a deletion could not be finished; the next start does");
        }
    }
}
