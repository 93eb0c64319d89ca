//! Stage 2: the stores, concurrently, each with its own time limit. One that is down degrades the run; it ends only when
//! none answers.

use super::Desk;
use super::sieve::Sieve;
use super::types::{Candidates, Plan, Question};
use crate::engine::Ports;
use crate::entity::entities_of_question;
use crate::filter::Filters;
use crate::fuse::RankedList;
use crate::ports::{EmbedRole, PortError, PortResult, Scope, StoreHit};
use crate::run::{StageEnd, run_stage};
use adrag_contract::{
    AppError, ChunkId, ErrorCode, Event, QuestionKind, RetrievalSettings, StageDetail, StageId, Store,
};
use futures::future::join_all;
use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Most hits asked for beyond the limit.
const MOST_HIDDEN: usize = 2_000;
/// So many times more hits are asked for when filters may shut some out.
const WIDER: usize = 8;

/// What is searched for, and where.
pub struct Search<'a> {
    /// The queries; each gives one list a store.
    pub queries: &'a [String],
    /// The stores asked.
    pub stores: &'a [Store],
    /// Hits asked of each store for each query.
    pub limit: usize,
    /// Which documents may be seen.
    pub scope: &'a Scope,
    /// What passages must and must not be.
    pub filters: &'a Filters,
}

/// What the stores said.
pub(super) struct Found {
    pub candidates: Candidates,
    pub counts: Vec<(Store, u64, u64)>,
    pub failures: Vec<(Store, PortError)>,
    /// Hits that the filters shut out.
    pub left_out: u64,
}

pub(super) async fn retrieve(desk: Desk<'_>, question: &Question, plan: &Plan) -> PortResult<Candidates> {
    let Desk {
        run, ports, settings, ..
    } = desk;
    run_stage(run, StageId::Retrieval, async {
        if !plan.retrieve {
            return Ok(StageEnd::Skipped(
                Candidates::default(),
                "the question needs no documents".to_owned(),
            ));
        }
        let stores = stores_in_use(&settings.retrieval);
        let search = Search {
            queries: &plan.queries,
            stores: &stores,
            limit: width(settings.retrieval.per_store, plan.kind),
            scope: &question.scope,
            filters: &question.filters,
        };
        let found = ask_stores(ports, &settings.retrieval, &search, &run.cancel).await?;
        for (store, count, took_ms) in &found.counts {
            run.emit(Event::PassagesFound {
                store: *store,
                count: *count,
                took_ms: *took_ms,
            });
        }
        for (store, error) in &found.failures {
            run.emit(Event::StageFailed {
                stage: StageId::Retrieval,
                error: error.error.clone(),
                degraded_to: Some(format!("the search went on without the {store} store")),
            });
        }
        let count = |wanted: Store| {
            found
                .counts
                .iter()
                .find(|(store, ..)| *store == wanted)
                .map_or(0, |count| count.1)
        };
        if found.left_out > 0 && found.counts.iter().all(|(_, count, _)| *count == 0) {
            run.emit(Event::StageFailed {
                stage: StageId::Retrieval,
                error: AppError::new(
                    ErrorCode::NotFound,
                    format!("no passage passes {}", question.filters.written.join(" ")),
                )
                .with_hint("leave a filter out and ask again"),
                degraded_to: Some("nothing is left to answer from".to_owned()),
            });
        }
        let detail = StageDetail::Retrieval {
            vector: count(Store::Vector),
            keyword: count(Store::Keyword),
            graph: count(Store::Graph),
            down: found.candidates.down.clone(),
            filters: question.filters.written.clone(),
            left_out: found.left_out,
        };
        Ok(StageEnd::Done(found.candidates, detail))
    })
    .await
}

/// Hits asked of each store: a question that weighs or compares needs more of them than one that asks for a fact.
fn width(per_store: u32, kind: QuestionKind) -> usize {
    let per_store = per_store as usize;
    match kind {
        QuestionKind::Factual | QuestionKind::Conversational => per_store,
        QuestionKind::Analytical => per_store + per_store / 2,
    }
}

/// The stores that the settings switch on.
pub(crate) fn stores_in_use(settings: &RetrievalSettings) -> Vec<Store> {
    [
        (settings.vector, Store::Vector),
        (settings.keyword, Store::Keyword),
        (settings.graph, Store::Graph),
    ]
    .into_iter()
    .filter_map(|(on, store)| on.then_some(store))
    .collect()
}

/// Asks the stores and returns their lists. A store that fails is left out; when all fail, its error is the result.
pub async fn search_stores(
    ports: &Ports,
    settings: &RetrievalSettings,
    search: &Search<'_>,
    cancel: &CancellationToken,
) -> PortResult<Candidates> {
    Ok(ask_stores(ports, settings, search, cancel).await?.candidates)
}

async fn ask_stores(
    ports: &Ports,
    settings: &RetrievalSettings,
    search: &Search<'_>,
    cancel: &CancellationToken,
) -> PortResult<Found> {
    let limit = Duration::from_millis(settings.store_timeout_ms);
    let hidden = usize::try_from(ports.catalog.hidden().await?).unwrap_or(usize::MAX);
    let answers = join_all(search.stores.iter().map(|store| async move {
        let began = ports.clock.elapsed();
        let lists = within(
            limit,
            *store,
            ask_past_hidden(ports, *store, search, hidden, cancel),
        )
        .await;
        let took = ports.clock.elapsed().saturating_sub(began).as_millis();
        (*store, lists, u64::try_from(took).unwrap_or(u64::MAX))
    }))
    .await;
    let mut found = Found {
        candidates: Candidates::default(),
        counts: Vec::new(),
        failures: Vec::new(),
        left_out: 0,
    };
    let mut sieve = Sieve::new(ports, search.filters);
    for (store, lists, took_ms) in answers {
        match lists {
            Ok(mut lists) => {
                for hits in &mut lists {
                    found.left_out += sieve.pass(hits).await?;
                    hits.truncate(search.limit);
                }
                let count = lists.iter().map(|hits| hits.len() as u64).sum();
                found.counts.push((store, count, took_ms));
                found
                    .candidates
                    .lists
                    .extend(lists.into_iter().map(|hits| RankedList {
                        store,
                        weight: settings.weights.of(store),
                        hits,
                    }));
            }
            Err(error) if error.is_cancelled() => return Err(error),
            Err(error) => {
                found.candidates.down.push(store);
                found.failures.push((store, error));
            }
        }
    }
    if found.counts.is_empty()
        && let Some((_, error)) = found.failures.first()
    {
        return Err(error.clone());
    }
    Ok(found)
}

async fn within<T>(
    limit: Duration,
    store: Store,
    work: impl Future<Output = PortResult<T>>,
) -> PortResult<T> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(PortError::transient(
            ErrorCode::Timeout,
            format!(
                "the {store} store did not answer within {} s",
                limit.as_secs_f32()
            ),
        ))
    })
}

/// Documents that wait for their deletion stand in the stores for a while yet: so many more hits are asked for, and theirs
/// are left out, that they crowd no other document out.
async fn ask_past_hidden(
    ports: &Ports,
    store: Store,
    search: &Search<'_>,
    hidden: usize,
    cancel: &CancellationToken,
) -> PortResult<Vec<Vec<StoreHit>>> {
    // Filters are applied to what was found: so much more is asked for.
    let limit = if search.filters.shuts_out() {
        search.limit * WIDER
    } else {
        search.limit
    };
    let wider = Search {
        limit: limit + hidden.min(MOST_HIDDEN),
        ..*search
    };
    if hidden == 0 {
        return ask_store(ports, store, &wider, cancel).await;
    }
    let mut lists = ask_store(ports, store, &wider, cancel).await?;
    for hits in &mut lists {
        let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk.clone()).collect();
        let visible: HashSet<ChunkId> = ports.catalog.visible(&ids).await?.into_iter().collect();
        hits.retain(|hit| visible.contains(&hit.chunk));
        hits.truncate(limit);
    }
    Ok(lists)
}

async fn ask_store(
    ports: &Ports,
    store: Store,
    search: &Search<'_>,
    cancel: &CancellationToken,
) -> PortResult<Vec<Vec<StoreHit>>> {
    match store {
        Store::Vector => {
            let embedder = ports.embedder.as_ref().ok_or_else(|| {
                PortError::permanent(ErrorCode::ModelMissing, "the embedding model is missing")
                    .with_hint("run `cargo xtask setup`, or see `adrag doctor`")
            })?;
            let vectors = embedder
                .embed(search.queries.to_vec(), EmbedRole::Query, cancel)
                .await?;
            let searches = vectors
                .into_iter()
                .map(|vector| ports.vectors.search(vector, search.limit, search.scope));
            join_all(searches).await.into_iter().collect()
        }
        Store::Keyword => {
            let searches = search
                .queries
                .iter()
                .map(|query| ports.keywords.search(query, search.limit, search.scope));
            join_all(searches).await.into_iter().collect()
        }
        Store::Graph => {
            let mut lists = Vec::with_capacity(search.queries.len());
            for query in search.queries {
                let keys: Vec<String> = entities_of_question(query)
                    .into_iter()
                    .map(|entity| entity.key)
                    .collect();
                let known = ports.graph.known(&keys).await?;
                lists.push(ports.graph.search(&known, search.limit, search.scope).await?);
            }
            Ok(lists)
        }
        Store::Web => Err(PortError::rejected(
            ErrorCode::InvalidRequest,
            "the web is not one of the document stores",
        )),
    }
}
