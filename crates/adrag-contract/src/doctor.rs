//! The report of `adrag doctor`: what is there, what is wrong, what to do.

use crate::{AppError, EngineStatus};
use serde::{Deserialize, Serialize};

/// Everything `doctor` looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// Version of the program.
    pub version: String,
    /// The data folder.
    pub data_dir: String,
    /// Local models.
    pub models: Vec<ModelStatus>,
    /// Counts per store.
    pub stores: StoreCounts,
    /// Engines.
    pub engines: Vec<EngineStatus>,
    /// What start-up had to mend: one line each.
    pub repaired: Vec<String>,
    /// What is wrong now, with what to do.
    pub problems: Vec<AppError>,
}

/// A local model file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelStatus {
    /// Its role: `runtime`, `embedder`, `reranker`.
    pub role: String,
    /// Its name.
    pub name: String,
    /// Where it is or should be.
    pub path: String,
    /// Whether it can be used.
    pub usable: bool,
}

/// How much each store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreCounts {
    /// Vectors.
    pub vector: VectorCount,
    /// Words.
    pub keyword: ChunkCount,
    /// Graph.
    pub graph: GraphCount,
    /// The authority.
    pub catalogue: CatalogueCount,
}

/// Contents of the vector index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorCount {
    /// Points, one a chunk.
    pub points: u64,
}

/// Contents of the keyword index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkCount {
    /// Chunks.
    pub chunks: u64,
}

/// Contents of the entity graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphCount {
    /// Chunks.
    pub chunks: u64,
    /// Entities.
    pub entities: u64,
    /// Edges between the two.
    pub edges: u64,
}

/// Contents of the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueCount {
    /// Documents in any state.
    pub documents: u64,
    /// Documents that can be searched.
    pub ready: u64,
    /// Chunks of the ready documents.
    pub chunks: u64,
}
