//! The entity graph in sled: chunk records on disk, the graph itself in memory.
//!
//! sled is fast to write and not to be trusted: a projection, rebuilt on any doubt. It is opened behind a guard against
//! panics, everything in it is counted against its own registry, and a folder that does not add up is set aside as
//! `*.damaged-<milliseconds>` and begun anew, with a note for the caller. Searching is core's
//! [`EntityIndex`](adrag_core::graph::EntityIndex); nothing here ranks. Start at [`SledEntityGraph`].

mod disk;

use adrag_contract::{ChunkId, DocumentId, ErrorCode, GraphCount};
use adrag_core::graph::EntityIndex;
use adrag_core::ports::{
    DocumentKey, EntityGraph, GraphChunk, HeldDocument, PortError, PortResult, Scope, StoreHit,
};
use async_trait::async_trait;
use disk::{Disk, Unusable};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The entity graph in one sled folder.
pub struct SledEntityGraph {
    open: Arc<Open>,
}

struct Open {
    // Held while disk and memory change together; a search only waits for the latter.
    disk: Mutex<Disk>,
    index: RwLock<EntityIndex>,
}

impl SledEntityGraph {
    /// Opens the graph, makes it when it is absent. A damaged one is set aside and begun anew; the note then says so, and
    /// the caller has to rebuild it from the catalogue.
    ///
    /// # Errors
    /// `DataFolderInUse` when another process has it open; `Disk` when the folder may not be written.
    pub fn open(folder: &Path) -> PortResult<(Self, Option<String>)> {
        match disk::open(folder) {
            Ok((disk, index)) => Ok((Self::of(disk, index), None)),
            Err(Unusable::Port(error)) => Err(error),
            Err(Unusable::Damaged(why)) => {
                let aside = set_aside(folder)?;
                let note = format!("the entity graph was damaged ({why}) and set aside as `{aside}`");
                match disk::open(folder) {
                    Ok((disk, index)) => Ok((Self::of(disk, index), Some(note))),
                    Err(Unusable::Port(error)) => Err(error),
                    Err(Unusable::Damaged(why)) => Err(failed(&why)),
                }
            }
        }
    }

    fn of(disk: Disk, index: EntityIndex) -> Self {
        Self {
            open: Arc::new(Open {
                disk: Mutex::new(disk),
                index: RwLock::new(index),
            }),
        }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Open) -> PortResult<T> + Send + 'static,
    ) -> PortResult<T> {
        let open = Arc::clone(&self.open);
        match tokio::task::spawn_blocking(move || job(&open)).await {
            Ok(done) => done,
            // sled panics on some damage instead of reporting it.
            Err(error) => Err(failed(&error.to_string())),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&EntityIndex) -> T + Send + 'static,
    ) -> PortResult<T> {
        self.blocking(move |open| Ok(job(&open.index.read().unwrap_or_else(PoisonError::into_inner))))
            .await
    }

    /// Removes the chunks that `choose` names: on disk first, so that memory never knows less than disk.
    async fn remove(
        &self,
        choose: impl FnOnce(&EntityIndex) -> Vec<ChunkId> + Send + 'static,
    ) -> PortResult<()> {
        self.blocking(move |open| {
            let disk = open.disk.lock().unwrap_or_else(PoisonError::into_inner);
            let chunks = choose(&open.index.read().unwrap_or_else(PoisonError::into_inner));
            disk.change(&chunks, &[])?;
            let mut index = open.index.write().unwrap_or_else(PoisonError::into_inner);
            for chunk in &chunks {
                index.remove(chunk);
            }
            Ok(())
        })
        .await
    }
}

fn failed(why: &str) -> PortError {
    PortError::permanent(ErrorCode::StoreFailed, format!("the entity graph failed ({why})"))
        .with_hint("restart adRAG: it rebuilds the graph from the catalogue")
}

fn set_aside(folder: &Path) -> PortResult<String> {
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_millis());
    let mut name = folder.as_os_str().to_owned();
    name.push(format!(".damaged-{millis}"));
    std::fs::rename(folder, &name).map_err(|error| {
        PortError::permanent(
            ErrorCode::Disk,
            format!(
                "the damaged entity graph `{}` cannot be set aside: {error}",
                folder.display()
            ),
        )
        .with_hint("move the folder away by hand, then start adRAG again")
    })?;
    Ok(name.to_string_lossy().into_owned())
}

#[async_trait]
impl EntityGraph for SledEntityGraph {
    async fn add(&self, chunks: Vec<GraphChunk>) -> PortResult<()> {
        self.blocking(move |open| {
            let disk = open.disk.lock().unwrap_or_else(PoisonError::into_inner);
            disk.change(&[], &chunks)?;
            let mut index = open.index.write().unwrap_or_else(PoisonError::into_inner);
            for chunk in &chunks {
                index.add(chunk);
            }
            Ok(())
        })
        .await
    }

    async fn search(&self, entities: &[String], limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        let (entities, scope) = (entities.to_vec(), scope.clone());
        self.read(move |index| index.search(&entities, limit, &scope))
            .await
    }

    async fn known(&self, keys: &[String]) -> PortResult<Vec<String>> {
        let keys = keys.to_vec();
        self.read(move |index| index.known(&keys)).await
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        let document = document.clone();
        self.remove(move |index| index.chunks_of(&document, keep)).await
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        let key = key.clone();
        self.remove(move |index| index.chunks_of_generation(&key)).await
    }

    async fn clear(&self) -> PortResult<()> {
        self.blocking(|open| {
            let disk = open.disk.lock().unwrap_or_else(PoisonError::into_inner);
            disk.clear()?;
            *open.index.write().unwrap_or_else(PoisonError::into_inner) = EntityIndex::new();
            Ok(())
        })
        .await
    }

    async fn flush(&self) -> PortResult<()> {
        self.blocking(|open| open.disk.lock().unwrap_or_else(PoisonError::into_inner).flush())
            .await
    }

    async fn count(&self) -> PortResult<GraphCount> {
        self.read(EntityIndex::count).await
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        self.read(EntityIndex::held).await
    }
}
