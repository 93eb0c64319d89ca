//! The entity graph in memory: chunks on one side, the entities they name on the other.
//!
//! An [`EntityIndex`] takes and gives up chunks one by one and answers searches by personalised PageRank
//! (see [`rank`]). What it answers depends on the chunks it holds only, never on the order they came or went in. It
//! keeps no text, no spelling and no file: an adapter does, and fills the index when it opens.

mod rank;
#[cfg(test)]
mod tests;

pub use rank::{RESTART, TOLERANCE};

use crate::ports::{DocumentKey, GraphChunk, HeldDocument, Scope, StoreHit};
use adrag_contract::{ChunkId, CollectionName, DocumentId, GraphCount};
use petgraph::graphmap::UnGraphMap;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Number of a node; free numbers are used again.
type Slot = u32;

/// A node of the graph.
#[derive(Debug)]
enum Node {
    /// A chunk, with its home.
    Chunk(ChunkId, Arc<Home>),
    /// An entity, by key.
    Entity(Arc<str>),
}

/// The generation and collection that the chunks of a document share.
#[derive(Debug, PartialEq, Eq)]
struct Home {
    key: DocumentKey,
    collection: CollectionName,
}

/// Chunks and the entities they name, searchable.
#[derive(Debug, Default)]
pub struct EntityIndex {
    // Neighbours in one piece of memory each: taking an edge out of a node with very many is a short scan.
    graph: UnGraphMap<Slot, ()>,
    nodes: Vec<Option<Node>>,
    free: Vec<Slot>,
    chunks: HashMap<ChunkId, Slot>,
    entities: HashMap<Arc<str>, Slot>,
    documents: HashMap<DocumentId, BTreeMap<u64, BTreeSet<Slot>>>,
}

impl EntityIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chunk; one with the same id is replaced. A chunk without entities is held, but no search finds it.
    pub fn add(&mut self, chunk: &GraphChunk) {
        self.remove(&chunk.chunk);
        let home = self.home_of(chunk);
        let slot = self.take_slot(Node::Chunk(chunk.chunk.clone(), home));
        self.chunks.insert(chunk.chunk.clone(), slot);
        self.documents
            .entry(chunk.key.document.clone())
            .or_default()
            .entry(chunk.key.generation)
            .or_default()
            .insert(slot);
        for entity in &chunk.entities {
            let entity = self.entity_slot(&entity.key);
            self.graph.add_edge(slot, entity, ());
        }
    }

    /// Removes a chunk, and entities that no chunk names any more. False when it was not there.
    pub fn remove(&mut self, chunk: &ChunkId) -> bool {
        let Some(slot) = self.chunks.remove(chunk) else {
            return false;
        };
        let entities: Vec<Slot> = self.graph.neighbors(slot).collect();
        self.graph.remove_node(slot);
        for entity in entities {
            if self.degree(entity) == 0 {
                self.graph.remove_node(entity);
                if let Some(Node::Entity(key)) = self.give_back(entity) {
                    self.entities.remove(&key);
                }
            }
        }
        if let Some(Node::Chunk(_, home)) = self.give_back(slot) {
            self.leave(&home.key, slot);
        }
        true
    }

    /// Ids of a document's chunks, but for the generation to keep, in the order of the ids.
    pub fn chunks_of(&self, document: &DocumentId, keep: Option<u64>) -> Vec<ChunkId> {
        let Some(generations) = self.documents.get(document) else {
            return Vec::new();
        };
        let mut ids: Vec<ChunkId> = generations
            .iter()
            .filter(|(generation, _)| Some(**generation) != keep)
            .flat_map(|(_, slots)| slots)
            .filter_map(|slot| self.chunk(*slot).map(|(id, _)| id.clone()))
            .collect();
        ids.sort();
        ids
    }

    /// Ids of the chunks of one generation, in the order of the ids.
    pub fn chunks_of_generation(&self, key: &DocumentKey) -> Vec<ChunkId> {
        let slots = self
            .documents
            .get(&key.document)
            .and_then(|generations| generations.get(&key.generation));
        let mut ids: Vec<ChunkId> = slots
            .into_iter()
            .flatten()
            .filter_map(|slot| self.chunk(*slot).map(|(id, _)| id.clone()))
            .collect();
        ids.sort();
        ids
    }

    /// Which of these keys it knows, in the order asked.
    pub fn known(&self, keys: &[String]) -> Vec<String> {
        keys.iter()
            .filter(|key| self.entities.contains_key(key.as_str()))
            .cloned()
            .collect()
    }

    /// The chunks of a scope nearest to the entities, best first, at most `limit`; equal ones by id.
    ///
    /// Entities it does not know are ignored. An entity named by so many chunks that it tells none of them apart lends
    /// its weight to chunks found otherwise and finds none by itself: with the defaults that is one in more than
    /// `1 / TOLERANCE` chunks when asked for alone, fewer when asked for among others.
    pub fn search(&self, entities: &[String], limit: usize, scope: &Scope) -> Vec<StoreHit> {
        let seeds: BTreeSet<Slot> = entities
            .iter()
            .filter_map(|key| self.entities.get(key.as_str()).copied())
            .collect();
        let mut hits: Vec<StoreHit> = rank::walk(self, &seeds)
            .into_iter()
            .filter_map(|(slot, score)| {
                let (id, home) = self.chunk(slot)?;
                let inside = match scope {
                    Scope::Everything => true,
                    Scope::Collection(collection) => home.collection == *collection,
                };
                inside.then(|| StoreHit {
                    chunk: id.clone(),
                    score,
                })
            })
            .collect();
        let better =
            |a: &StoreHit, b: &StoreHit| b.score.total_cmp(&a.score).then_with(|| a.chunk.cmp(&b.chunk));
        if limit < hits.len() {
            hits.select_nth_unstable_by(limit, better);
            hits.truncate(limit);
        }
        hits.sort_unstable_by(better);
        hits
    }

    /// What it holds.
    pub fn count(&self) -> GraphCount {
        GraphCount {
            chunks: self.chunks.len() as u64,
            entities: self.entities.len() as u64,
            edges: self.graph.edge_count() as u64,
        }
    }

    /// Every generation held, with its count of chunks, by document and generation.
    pub fn held(&self) -> Vec<HeldDocument> {
        let mut held: Vec<HeldDocument> = self
            .documents
            .iter()
            .flat_map(|(document, generations)| {
                generations.iter().map(|(generation, slots)| HeldDocument {
                    key: DocumentKey {
                        document: document.clone(),
                        generation: *generation,
                    },
                    chunks: slots.len() as u64,
                })
            })
            .collect();
        held.sort_by(|a, b| a.key.cmp(&b.key));
        held
    }

    /// How many entities a chunk names or chunks name an entity.
    fn degree(&self, slot: Slot) -> usize {
        // The iterator runs over one slice, so its length is known without a walk.
        let neighbours = self.graph.neighbors(slot);
        match neighbours.size_hint() {
            (low, Some(high)) if low == high => low,
            _ => neighbours.count(),
        }
    }

    fn chunk(&self, slot: Slot) -> Option<(&ChunkId, &Arc<Home>)> {
        match self.nodes.get(slot as usize)?.as_ref()? {
            Node::Chunk(id, home) => Some((id, home)),
            Node::Entity(_) => None,
        }
    }

    /// The home of a chunk: shared with another chunk of the same generation, if one is there.
    fn home_of(&self, chunk: &GraphChunk) -> Arc<Home> {
        let home = Home {
            key: chunk.key.clone(),
            collection: chunk.collection.clone(),
        };
        self.documents
            .get(&chunk.key.document)
            .and_then(|generations| generations.get(&chunk.key.generation)?.first())
            .and_then(|slot| self.chunk(*slot))
            .filter(|(_, known)| ***known == home)
            .map_or_else(|| Arc::new(home), |(_, known)| Arc::clone(known))
    }

    fn leave(&mut self, key: &DocumentKey, slot: Slot) {
        let Some(generations) = self.documents.get_mut(&key.document) else {
            return;
        };
        if let Some(slots) = generations.get_mut(&key.generation) {
            slots.remove(&slot);
            if slots.is_empty() {
                generations.remove(&key.generation);
            }
        }
        if generations.is_empty() {
            self.documents.remove(&key.document);
        }
    }

    fn entity_slot(&mut self, key: &str) -> Slot {
        if let Some(slot) = self.entities.get(key) {
            return *slot;
        }
        let key: Arc<str> = Arc::from(key);
        let slot = self.take_slot(Node::Entity(Arc::clone(&key)));
        self.entities.insert(key, slot);
        slot
    }

    fn take_slot(&mut self, node: Node) -> Slot {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.nodes.push(None);
                // Four thousand million nodes do not fit into memory.
                (self.nodes.len() - 1) as Slot
            }
        };
        self.nodes[slot as usize] = Some(node);
        self.graph.add_node(slot);
        slot
    }

    fn give_back(&mut self, slot: Slot) -> Option<Node> {
        self.free.push(slot);
        self.nodes.get_mut(slot as usize)?.take()
    }
}
