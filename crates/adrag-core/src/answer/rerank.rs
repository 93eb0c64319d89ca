//! Stage 5: the pool by relevance. The reranker's order is blended with the fused one, so that an exact hit it does not
//! understand is not buried.

use super::Desk;
use super::types::{Plan, Pool, RankedPassages};
use crate::ports::{PortResult, Reranker};
use crate::run::{RunContext, StageEnd, run_stage_or};
use adrag_contract::{DocumentId, Event, Passage, RetrievalSettings, StageDetail, StageId};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Constant of the rank blend, as in reciprocal rank fusion.
const BLEND_K: f32 = 60.0;

pub(super) async fn rerank(desk: Desk<'_>, plan: &Plan, pool: &Pool) -> PortResult<RankedPassages> {
    let settings = &desk.settings.retrieval;
    run_stage_or(
        desk.run,
        StageId::Rerank,
        async {
            if pool.passages.is_empty() {
                return Ok(StageEnd::Skipped(
                    RankedPassages::default(),
                    "there is nothing to order".to_owned(),
                ));
            }
            let Some(reranker) = desk.ports.reranker.as_ref().filter(|_| settings.rerank) else {
                let kept = keep(pool.passages.clone(), settings);
                return Ok(StageEnd::Skipped(
                    kept,
                    "reranking is off: fused order".to_owned(),
                ));
            };
            progress(desk.run, 0, pool, settings);
            let ordered = rerank_pool(
                reranker.as_ref(),
                &plan.question,
                pool,
                settings,
                &desk.run.cancel,
            )
            .await?;
            progress(desk.run, settings.pool as usize, pool, settings);
            let best = ordered
                .iter()
                .filter_map(|passage| passage.rerank_score)
                .reduce(f32::max);
            let kept = keep(ordered, settings);
            let detail = StageDetail::Rerank {
                by: reranker.name(),
                scored: pool.passages.len().min(settings.pool as usize) as u64,
                kept: kept.kept.len() as u64,
                best,
            };
            Ok(StageEnd::Done(kept, detail))
        },
        |_| Some((keep(pool.passages.clone(), settings), "fused order".to_owned())),
    )
    .await
}

fn progress(run: &RunContext, done: usize, pool: &Pool, settings: &RetrievalSettings) {
    let total = pool.passages.len().min(settings.pool as usize);
    run.emit(Event::StageProgressed {
        stage: StageId::Rerank,
        done: done.min(total) as u64,
        total: total as u64,
        unit: "passages".to_owned(),
    });
}

/// The pool in blended order: `(1 - w) / (k + fused rank) + w / (k + reranker's rank)`, the tail that was not scored
/// after it. Scored passages carry their score.
pub async fn rerank_pool(
    reranker: &dyn Reranker,
    question: &str,
    pool: &Pool,
    settings: &RetrievalSettings,
    cancel: &CancellationToken,
) -> PortResult<Vec<Passage>> {
    let scored = pool.passages.len().min(settings.pool as usize);
    let texts: Vec<String> = pool.passages[..scored]
        .iter()
        .map(|passage| passage.text.clone())
        .collect();
    let scores = reranker.score(question, &texts, cancel).await?;
    if scores.len() != scored {
        return Err(crate::ports::PortError::permanent(
            adrag_contract::ErrorCode::BadReply,
            format!(
                "the reranker returned {} scores for {scored} passages",
                scores.len()
            ),
        ));
    }
    let mut order: Vec<usize> = (0..scored).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let mut blended = vec![0.0_f32; scored];
    for (rank, at) in order.iter().enumerate() {
        let weight = settings.rerank_weight.clamp(0.0, 1.0);
        blended[*at] = weight * reciprocal(rank) + (1.0 - weight) * reciprocal(*at);
    }
    order.sort_by(|a, b| blended[*b].total_cmp(&blended[*a]).then(a.cmp(b)));
    let mut ordered: Vec<Passage> = order
        .into_iter()
        .map(|at| Passage {
            rerank_score: Some(scores[at]),
            ..pool.passages[at].clone()
        })
        .collect();
    ordered.extend_from_slice(&pool.passages[scored..]);
    Ok(ordered)
}

fn reciprocal(rank: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a rank is far below 2^23")]
    let rank = (rank + 1) as f32;
    1.0 / (BLEND_K + rank)
}

/// Keeps the first passages, not too many of one document; the rest in order.
fn keep(ordered: Vec<Passage>, settings: &RetrievalSettings) -> RankedPassages {
    let mut ranked = RankedPassages::default();
    let mut of_document: HashMap<DocumentId, u32> = HashMap::new();
    for passage in ordered {
        let count = of_document.entry(passage.document.clone()).or_default();
        if ranked.kept.len() < settings.keep as usize && *count < settings.per_document {
            *count += 1;
            ranked.kept.push(passage);
        } else {
            ranked.rest.push(passage);
        }
    }
    ranked.rest.truncate(settings.pool as usize);
    ranked
}
