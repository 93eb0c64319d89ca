//! What the engine is made of and what it is asked.

use crate::answer::{Abstention, Fold};
use crate::ports::{
    Catalog, Clock, DocumentParser, Embedder, Engines, EntityGraph, FolderWatcher, KeyStore, KeywordIndex,
    Reranker, SupportModel, Tokenizer, VectorIndex, WatchList, WebSearch,
};
use adrag_contract::{AppError, CollectionName, DocumentState, ModelStatus, Store};
use std::sync::Arc;

/// Everything the engine needs of the world.
#[derive(Clone)]
pub struct Ports {
    /// Reads files.
    pub parser: Arc<dyn DocumentParser>,
    /// Counts tokens of the embedder's model.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Makes vectors; absent when the model is missing: then words and graph serve alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Orders the pool; absent when no model is there.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Checks sentences against passages; absent when no model is there.
    pub support: Option<Arc<dyn SupportModel>>,
    /// How evidence becomes the probability that the documents answer.
    pub abstention: Abstention,
    /// How the support of sentences becomes that of the answer.
    pub fold: Fold,
    /// Vectors.
    pub vectors: Arc<dyn VectorIndex>,
    /// Words.
    pub keywords: Arc<dyn KeywordIndex>,
    /// Entities.
    pub graph: Arc<dyn EntityGraph>,
    /// The authority.
    pub catalog: Arc<dyn Catalog>,
    /// Hints at changes of followed folders.
    pub watcher: Arc<dyn FolderWatcher>,
    /// The followed folders.
    pub watch_list: Arc<dyn WatchList>,
    /// Language models.
    pub engines: Arc<dyn Engines>,
    /// The web, where the person switched it on.
    pub web: Arc<dyn WebSearch>,
    /// Keys.
    pub keys: Arc<dyn KeyStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// What `doctor` cannot learn from the ports.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Version of the program.
    pub version: String,
    /// The data folder.
    pub data_dir: String,
    /// Local models and whether they can be used.
    pub models: Vec<ModelStatus>,
    /// What was found wrong while the ports were opened.
    pub problems: Vec<AppError>,
    /// What was mended while the ports were opened.
    pub repaired: Vec<String>,
    /// What lives as long as the engine: the lock on the data folder, a server of ours.
    pub kept: Vec<Arc<dyn std::any::Any + Send + Sync>>,
}

/// A search without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// The question.
    pub question: String,
    /// Stores asked; fused when more than one.
    pub stores: Vec<Store>,
    /// Whether the pool is reranked; as the settings say when absent.
    pub rerank: Option<bool>,
    /// Hits wanted.
    pub top: usize,
    /// The collection; all when absent.
    pub collection: Option<CollectionName>,
}

/// The result of reading a file without indexing it. Field names are a contract with scripts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ExtractReport {
    /// `ready`, `empty` or `failed`.
    pub state: DocumentState,
    /// Why, when it is not plainly ready.
    pub reason: Option<String>,
    /// Number of pages.
    pub pages: Option<u32>,
    /// Characters of text.
    pub chars: u64,
    /// The text that would be indexed.
    pub text: String,
}
