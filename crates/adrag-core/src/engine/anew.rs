//! Embedding the library anew after a change of the embedder, reading it anew after one of the readers, as runs of their own that can be paused and stopped.

use super::Engine;
use crate::ingest::{embed_anew, note_reread, reread, to_reread, without_vectors};
use crate::ports::DocumentKey;
use adrag_contract::{AppError, CollectionName, DocumentId, DocumentInfo, ErrorCode, RunId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Engine {
    /// Gives the documents vectors that have none of this embedder: one run a collection, of which the last is returned;
    /// nothing when there are none, or when it is under way already. Stopped half way it goes on at the next call.
    ///
    /// # Errors
    /// When the catalogue or the vector index cannot be read.
    pub async fn embed_anew(self: &Arc<Self>) -> Result<Option<RunId>, AppError> {
        if self.embedding_anew.load(Ordering::SeqCst) > 0 {
            return Ok(None);
        }
        let lacking = without_vectors(&self.ports).await?;
        if lacking.is_empty() {
            return Ok(None);
        }
        let mut known: HashMap<DocumentId, DocumentInfo> = self
            .ports
            .catalog
            .documents(None)
            .await?
            .into_iter()
            .map(|document| (document.id.clone(), document))
            .collect();
        let mut by_collection: BTreeMap<CollectionName, Vec<(DocumentKey, DocumentInfo)>> = BTreeMap::new();
        for held in lacking {
            if let Some(document) = known.remove(&held.key.document) {
                by_collection
                    .entry(document.collection.clone())
                    .or_default()
                    .push((held.key, document));
            }
        }
        let mut last = None;
        for (collection, documents) in by_collection {
            let context = self.begin_ingestion(documents.len() as u64, collection);
            last = Some(context.run.clone());
            self.embedding_anew.fetch_add(1, Ordering::SeqCst);
            let engine = self.clone();
            self.carry_out(context, move |context| {
                Box::pin(async move {
                    let done = embed_anew(context, &engine.ports, &engine.ingesting, documents).await;
                    engine.embedding_anew.fetch_sub(1, Ordering::SeqCst);
                    done.into_event()
                })
            });
        }
        Ok(last)
    }

    /// Reads the documents again that were read by an earlier version of the readers: one run a collection, of which the
    /// last is returned; nothing when there are none, or when it is under way already.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub async fn reread(self: &Arc<Self>) -> Result<Option<RunId>, AppError> {
        if self.rereading.load(Ordering::SeqCst) > 0 {
            return Ok(None);
        }
        let mut by_collection: BTreeMap<CollectionName, Vec<DocumentInfo>> = BTreeMap::new();
        for document in to_reread(&self.ports).await? {
            by_collection
                .entry(document.collection.clone())
                .or_default()
                .push(document);
        }
        self.rereading.store(by_collection.len(), Ordering::SeqCst);
        let complete = Arc::new(AtomicBool::new(true));
        let mut last = None;
        for (collection, documents) in by_collection {
            let context = self.begin_ingestion(documents.len() as u64, collection.clone());
            last = Some(context.run.clone());
            let (engine, complete, settings) = (self.clone(), complete.clone(), self.current_settings());
            self.carry_out(context, move |context| {
                Box::pin(async move {
                    let (ports, turn) = (&engine.ports, &engine.ingesting);
                    let mut done = reread(context, ports, &settings, turn, collection, documents).await;
                    if done.error.is_some() {
                        complete.store(false, Ordering::SeqCst);
                    }
                    let is_last = engine.rereading.fetch_sub(1, Ordering::SeqCst) == 1;
                    if is_last && complete.load(Ordering::SeqCst) {
                        done.error = note_reread(ports).await.err();
                    }
                    done.into_event()
                })
            });
        }
        Ok(last)
    }

    /// How many documents wait to be read or embedded anew, as sentences for `doctor`.
    pub(super) async fn waiting_anew(&self) -> Result<Vec<AppError>, AppError> {
        let told = |error: AppError| {
            error.with_hint("it goes on while the window is open, and before the next `adrag ingest`")
        };
        let mut waiting = Vec::new();
        let unread = to_reread(&self.ports).await?.len();
        if unread > 0 {
            let what = format!(
                "{unread} documents are to be looked at again: an earlier version of the readers read them"
            );
            waiting.push(told(AppError::new(ErrorCode::UnreadableFile, what)));
        }
        let without = without_vectors(&self.ports).await?.len();
        if without > 0 {
            let what = format!(
                "{without} documents have no vectors of this embedding model yet: they are searched by their words and names"
            );
            waiting.push(told(AppError::new(ErrorCode::ModelMissing, what)));
        }
        Ok(waiting)
    }
}
