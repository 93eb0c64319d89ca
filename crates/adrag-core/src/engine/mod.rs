//! The engine: what shell, command line and tests call. It owns the ports and the runs under way.

use crate::ports::{
    Catalog, Clock, DocumentParser, Embedder, Engines, EntityGraph, KeyStore, KeywordIndex, Reranker,
    Tokenizer, VectorIndex,
};
use adrag_contract::{
    AddFilesRequest, AppError, AskRequest, CollectionInfo, CollectionName, DoctorReport, DocumentId,
    DocumentInfo, DocumentReport, EngineStatus, KeyStatus, ModelStatus, PassageView, ReadPassageRequest,
    RunEvent, RunId, RunSummary, SaveKeyRequest, SearchReply, Settings, Store,
};
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
    /// Vectors.
    pub vectors: Arc<dyn VectorIndex>,
    /// Words.
    pub keywords: Arc<dyn KeywordIndex>,
    /// Entities.
    pub graph: Arc<dyn EntityGraph>,
    /// The authority.
    pub catalog: Arc<dyn Catalog>,
    /// Language models.
    pub engines: Arc<dyn Engines>,
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
    pub state: adrag_contract::DocumentState,
    /// Why, when it is not plainly ready.
    pub reason: Option<String>,
    /// Number of pages.
    pub pages: Option<u32>,
    /// Characters of text.
    pub chars: u64,
    /// The text that would be indexed.
    pub text: String,
}

/// The engine.
pub struct Engine {
    ports: Ports,
}

#[allow(unused_variables, clippy::unimplemented, missing_docs)]
impl Engine {
    /// Opens the engine and mends what an earlier end left half done.
    pub async fn open(ports: Ports, surroundings: Surroundings) -> Result<Arc<Self>, AppError> {
        Ok(Arc::new(Self { ports }))
    }
    /// Calls `listener` with every event of every run, in order, on the thread that made it; it must not block.
    pub fn on_event(&self, listener: impl Fn(&RunEvent) + Send + Sync + 'static) {
        unimplemented!()
    }
    /// Starts answering a question; needs a tokio runtime around it.
    pub async fn ask(self: &Arc<Self>, request: AskRequest) -> Result<RunId, AppError> {
        unimplemented!()
    }
    /// Starts ingesting files and folders. A second ingestion waits for the first.
    pub async fn add_files(self: &Arc<Self>, request: AddFilesRequest) -> Result<RunId, AppError> {
        unimplemented!()
    }
    /// Goes on with what an earlier end left unfinished; nothing when there is nothing.
    pub async fn resume(self: &Arc<Self>) -> Result<Option<RunId>, AppError> {
        unimplemented!()
    }
    /// Waits for a run's terminal event, which it returns; an error for an unknown run.
    pub async fn wait(&self, run: &RunId) -> Result<RunEvent, AppError> {
        unimplemented!()
    }
    /// Stops a run. False when it is not under way.
    pub fn cancel(&self, run: &RunId) -> bool {
        unimplemented!()
    }
    pub async fn run_snapshot(&self, run: &RunId) -> Result<Vec<RunEvent>, AppError> {
        unimplemented!()
    }
    pub async fn list_runs(&self) -> Result<Vec<RunSummary>, AppError> {
        unimplemented!()
    }
    pub async fn clear_runs(&self) -> Result<(), AppError> {
        unimplemented!()
    }
    pub async fn retry_document(self: &Arc<Self>, document: &DocumentId) -> Result<RunId, AppError> {
        unimplemented!()
    }
    pub async fn search(&self, request: SearchRequest) -> Result<SearchReply, AppError> {
        unimplemented!()
    }
    pub async fn extract(&self, path: &str) -> Result<ExtractReport, AppError> {
        unimplemented!()
    }
    pub async fn list_documents(
        &self,
        collection: Option<&CollectionName>,
    ) -> Result<Vec<DocumentInfo>, AppError> {
        unimplemented!()
    }
    pub async fn list_collections(&self) -> Result<Vec<CollectionInfo>, AppError> {
        unimplemented!()
    }
    /// Removes documents from every store; when it returns no search finds them.
    pub async fn delete_documents(&self, documents: &[DocumentId]) -> Result<(), AppError> {
        unimplemented!()
    }
    /// Removes all documents of a collection, or of all; how many there were.
    pub async fn clear_documents(&self, collection: Option<&CollectionName>) -> Result<u64, AppError> {
        unimplemented!()
    }
    pub async fn read_passage(&self, request: &ReadPassageRequest) -> Result<PassageView, AppError> {
        unimplemented!()
    }
    /// Path of the original file of a document.
    pub async fn document_path(&self, document: &DocumentId) -> Result<String, AppError> {
        unimplemented!()
    }
    pub async fn settings(&self) -> Settings {
        unimplemented!()
    }
    pub async fn save_settings(&self, settings: Settings) -> Result<(), AppError> {
        unimplemented!()
    }
    pub async fn save_key(&self, request: &SaveKeyRequest) -> Result<KeyStatus, AppError> {
        unimplemented!()
    }
    pub async fn list_keys(&self) -> Result<Vec<KeyStatus>, AppError> {
        unimplemented!()
    }
    pub async fn probe_engines(&self) -> Vec<EngineStatus> {
        unimplemented!()
    }
    pub async fn doctor(&self) -> DoctorReport {
        unimplemented!()
    }
    /// Ends all runs, flushes the stores and stops the engine's servers. Call it before the program ends.
    pub async fn close(&self) {}
}

/// Reports an ingestion's terminal event carries; empty for others.
pub fn reports_of(event: &RunEvent) -> &[DocumentReport] {
    use adrag_contract::{Event, RunOutcome};
    match &event.event {
        Event::RunFinished {
            outcome: RunOutcome::Ingested { documents },
        }
        | Event::RunCancelled { documents } => documents,
        _ => &[],
    }
}
