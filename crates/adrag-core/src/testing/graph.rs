//! An entity graph in memory, and the promises every [`EntityGraph`] keeps.

mod conformance;

pub use conformance::{conformance, graph_chunk};

use crate::graph::EntityIndex;
use crate::ports::{
    DocumentKey, EntityGraph, GraphChunk, HeldDocument, PortError, PortResult, Scope, StoreHit,
};
use adrag_contract::{DocumentId, GraphCount};
use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::Mutex;

/// An [`EntityGraph`] that keeps nothing but the index.
#[derive(Debug, Default)]
pub struct FakeEntityGraph {
    index: Mutex<EntityIndex>,
    failures: Mutex<VecDeque<PortError>>,
}

impl FakeEntityGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next call fails with this; several wait in line.
    pub fn fail_next(&self, error: PortError) {
        self.failures.lock().unwrap().push_back(error);
    }

    fn with<T>(&self, job: impl FnOnce(&mut EntityIndex) -> T) -> PortResult<T> {
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(error);
        }
        Ok(job(&mut self.index.lock().unwrap()))
    }
}

#[async_trait]
impl EntityGraph for FakeEntityGraph {
    async fn add(&self, chunks: Vec<GraphChunk>) -> PortResult<()> {
        self.with(|index| chunks.iter().for_each(|chunk| index.add(chunk)))
    }

    async fn search(&self, entities: &[String], limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        self.with(|index| index.search(entities, limit, scope))
    }

    async fn known(&self, keys: &[String]) -> PortResult<Vec<String>> {
        self.with(|index| index.known(keys))
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        self.with(|index| {
            for chunk in index.chunks_of(document, keep) {
                index.remove(&chunk);
            }
        })
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.with(|index| {
            for chunk in index.chunks_of_generation(key) {
                index.remove(&chunk);
            }
        })
    }

    async fn clear(&self) -> PortResult<()> {
        self.with(|index| *index = EntityIndex::new())
    }

    async fn flush(&self) -> PortResult<()> {
        self.with(|_| ())
    }

    async fn count(&self) -> PortResult<GraphCount> {
        self.with(|index| index.count())
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        self.with(|index| index.held())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::ErrorCode;

    #[tokio::test]
    async fn the_fake_keeps_the_promises_of_the_port() {
        conformance(&FakeEntityGraph::new()).await;
    }

    #[tokio::test]
    async fn the_fake_fails_once_when_told_to() {
        let graph = FakeEntityGraph::new();
        graph.fail_next(PortError::permanent(ErrorCode::StoreFailed, "told to"));
        assert!(graph.count().await.is_err());
        assert!(graph.count().await.is_ok());
    }
}
