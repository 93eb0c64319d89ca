//! Searching without answering.

use super::{Engine, SearchRequest};
use crate::answer::{Pool, Search, Wanted, pool_of, rerank_pool, search_stores};
use crate::fuse::fuse;
use crate::ports::Scope;
use adrag_contract::{AppError, ErrorCode, Passage, RetrievalSettings, SearchHit, SearchReply};
use tokio_util::sync::CancellationToken;

/// Most hits of one search.
const MAX_TOP: usize = 200;

impl Engine {
    /// Passages for a question, best first.
    ///
    /// # Errors
    /// When the question is empty, no store is named, the collection does not exist, or no store answers.
    pub async fn search(&self, request: SearchRequest) -> Result<SearchReply, AppError> {
        let question = request.question.trim();
        if question.is_empty() {
            return Err(AppError::new(ErrorCode::InvalidRequest, "the question is empty"));
        }
        if request.stores.is_empty() {
            return Err(AppError::new(ErrorCode::InvalidRequest, "no store is chosen"));
        }
        if let Some(collection) = &request.collection {
            self.known_collection(collection).await?;
        }
        let began = self.ports.clock.elapsed();
        let settings = self.current_settings().retrieval;
        let cancel = CancellationToken::new();
        let top = request.top.min(MAX_TOP);
        let (question, filters) = crate::filter::parse(question);
        let question = question.as_str();
        let queries = [question.to_owned()];
        let scope = Scope::from(request.collection);
        let search = Search {
            queries: &queries,
            stores: &request.stores,
            limit: (settings.per_store as usize).max(top * 2),
            scope: &scope,
            filters: &filters,
        };
        let candidates = search_stores(&self.ports, &settings, &search, &cancel).await?;
        let fused = fuse(&candidates.lists, &settings);
        let pool = pool_of(self.ports.catalog.as_ref(), fused, Vec::new()).await?;
        let rerank = request
            .rerank
            .unwrap_or(settings.rerank && request.stores.len() > 1);
        let passages = if rerank {
            self.reranked(question, pool, &settings, top, &cancel).await?
        } else {
            pool.passages
        };
        let single = request.stores.len() == 1;
        let hits = passages
            .into_iter()
            .take(top)
            .map(|passage| hit(passage, single))
            .collect();
        let took = self.ports.clock.elapsed().saturating_sub(began).as_millis();
        Ok(SearchReply {
            hits,
            took_ms: u64::try_from(took).unwrap_or(u64::MAX),
        })
    }

    /// The pool in the reranker's order; in fused order, with a word in the log, where it cannot be had.
    async fn reranked(
        &self,
        question: &str,
        pool: Pool,
        settings: &RetrievalSettings,
        top: usize,
        cancel: &CancellationToken,
    ) -> Result<Vec<Passage>, AppError> {
        let Some(reranker) = &self.ports.reranker else {
            tracing::warn!("there is no model that could rerank: fused order");
            return Ok(pool.passages);
        };
        let wanted = Wanted {
            passages: top,
            per_document: usize::MAX,
        };
        let ordered = rerank_pool(
            reranker.as_ref(),
            question,
            &pool,
            settings,
            wanted,
            |_| {},
            cancel,
        );
        match ordered.await {
            Ok(passages) => Ok(passages),
            Err(error) if error.is_cancelled() => Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, "reranking failed: fused order");
                Ok(pool.passages)
            }
        }
    }
}

fn hit(passage: Passage, single: bool) -> SearchHit {
    let own = passage
        .found_by
        .first()
        .filter(|_| single)
        .map(|finding| finding.score);
    SearchHit {
        page: passage.page(),
        stores: passage.stores(),
        score: own.unwrap_or(passage.fused_score),
        document: passage.document,
        path: passage.path,
        span: passage.span,
        text: passage.text,
        rerank_score: passage.rerank_score,
    }
}
