//! Settings, keys, engines and the report of `doctor`.

use super::Engine;
use adrag_contract::{
    AppError, ChunkCount, DoctorReport, EngineStatus, ErrorCode, KeyName, KeyStatus, LARGEST_FILE_BYTES,
    SaveKeyRequest, Settings, StoreCounts, VectorCount,
};
use std::sync::PoisonError;

impl Engine {
    /// The settings.
    pub async fn settings(&self) -> Settings {
        self.current_settings()
    }

    /// Replaces the settings. They hold for the next question and the next file.
    ///
    /// # Errors
    /// When a value makes no sense, or the catalogue cannot be written.
    pub async fn save_settings(&self, settings: Settings) -> Result<(), AppError> {
        check(&settings)?;
        self.ports.catalog.save_settings(&settings).await?;
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// Stores a key, or removes it when empty.
    ///
    /// # Errors
    /// When the keychain refuses.
    pub async fn save_key(&self, request: &SaveKeyRequest) -> Result<KeyStatus, AppError> {
        Ok(self.ports.keys.save(request.name, request.key.trim()).await?)
    }

    /// What may be known of the keys.
    ///
    /// # Errors
    /// When the keychain refuses.
    pub async fn list_keys(&self) -> Result<Vec<KeyStatus>, AppError> {
        let mut keys = Vec::new();
        for name in [KeyName::Openai, KeyName::Qdrant] {
            keys.push(self.ports.keys.status(name).await?);
        }
        Ok(keys)
    }

    /// Asks every engine whether it could answer now.
    pub async fn probe_engines(&self) -> Vec<EngineStatus> {
        self.ports.engines.probe(&self.current_settings()).await
    }

    /// What is there, what is wrong, what to do.
    pub async fn doctor(&self) -> DoctorReport {
        let mut problems = self.surroundings.problems.clone();
        let stores = self.counts(&mut problems).await;
        match self.waiting_anew().await {
            Ok(waiting) => problems.extend(waiting),
            // What is down was told of with the counts.
            Err(error) if problems.contains(&error) => {}
            Err(error) => problems.push(error),
        }
        DoctorReport {
            version: self.surroundings.version.clone(),
            data_dir: self.surroundings.data_dir.clone(),
            models: self.surroundings.models.clone(),
            stores,
            engines: self.probe_engines().await,
            repaired: self.repaired.clone(),
            problems,
        }
    }

    /// How much each store holds, and what is wrong with those that cannot say.
    pub async fn store_counts(&self) -> (StoreCounts, Vec<AppError>) {
        let mut problems = Vec::new();
        let counts = self.counts(&mut problems).await;
        (counts, problems)
    }

    async fn counts(&self, problems: &mut Vec<AppError>) -> StoreCounts {
        let mut counts = StoreCounts::default();
        let mut take = |error: crate::ports::PortError| problems.push(error.into());
        match self.ports.vectors.count().await {
            Ok(points) => counts.vector = VectorCount { points },
            Err(error) => take(error),
        }
        match self.ports.keywords.count().await {
            Ok(chunks) => counts.keyword = ChunkCount { chunks },
            Err(error) => take(error),
        }
        match self.ports.graph.count().await {
            Ok(graph) => counts.graph = graph,
            Err(error) => take(error),
        }
        match self.ports.catalog.count().await {
            Ok(catalogue) => counts.catalogue = catalogue,
            Err(error) => take(error),
        }
        counts
    }
}

fn check(settings: &Settings) -> Result<(), AppError> {
    let retrieval = &settings.retrieval;
    let wrong = [
        (
            retrieval.per_store == 0 || retrieval.per_store > 500,
            "hits per store must be 1 to 500",
        ),
        (
            retrieval.pool == 0 || retrieval.pool > 200,
            "the reranked pool must be 1 to 200",
        ),
        (
            retrieval.keep == 0 || retrieval.keep > 50,
            "kept passages must be 1 to 50",
        ),
        (
            retrieval.per_document == 0,
            "passages per document must be at least 1",
        ),
        (
            !(0.0..=1.0).contains(&retrieval.rerank_weight),
            "the reranker's weight must be 0 to 1",
        ),
        (
            !(0.0..=1.0).contains(&settings.answer.abstain_below),
            "the threshold of abstention must be 0 to 1",
        ),
        (
            !retrieval.rrf_k.is_finite() || retrieval.rrf_k < 0.0,
            "the fusion constant must not be negative",
        ),
        (
            !(retrieval.vector || retrieval.keyword || retrieval.graph),
            "at least one store must be searched",
        ),
        (
            settings.answer.passes == 0 || settings.answer.passes > 5,
            "passes must be 1 to 5",
        ),
        (
            settings.answer.quotes == 0 || settings.answer.quotes > 20,
            "quoted sentences must be 1 to 20",
        ),
        (
            settings.answer.context_tokens < 200,
            "the context must hold at least 200 tokens",
        ),
        (
            settings.chunking.max_tokens < 32 || settings.chunking.max_tokens > 2048,
            "chunks must be 32 to 2048 tokens",
        ),
        (
            !(1_024..=LARGEST_FILE_BYTES).contains(&settings.ingest.max_file_bytes),
            "the largest file must be 1 KB to 50 MB",
        ),
    ];
    match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, what)) => Err(AppError::new(ErrorCode::InvalidRequest, *what)),
        None => Ok(()),
    }
}
