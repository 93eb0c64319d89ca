//! Stage 5: the pool by relevance. The reranker's probability is blended with the fused score, so that an exact hit it
//! does not understand is not buried.

use super::Desk;
use super::types::{Plan, Pool, RankedPassages};
use crate::ports::{PortError, PortResult, Reranker};
use crate::run::{StageEnd, run_stage_or};
use adrag_contract::{DocumentId, ErrorCode, Event, Passage, RetrievalSettings, StageDetail, StageId};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Passages read between two looks at whether the rest can still matter.
const STEP: usize = 6;

/// How many passages are wanted, and how many of one document.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Passages.
    pub passages: usize,
    /// Most of one document among them.
    pub per_document: usize,
}

pub(super) async fn rerank(desk: Desk<'_>, plan: &Plan, pool: &Pool) -> PortResult<RankedPassages> {
    let settings = &desk.settings.retrieval;
    let wanted = Wanted {
        passages: settings.keep as usize,
        per_document: settings.per_document as usize,
    };
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
            if !settings.rerank {
                return Ok(StageEnd::Skipped(
                    keep(pool.passages.clone(), settings),
                    "reranking is off: fused order".to_owned(),
                ));
            }
            let reranker = desk.ports.reranker.as_ref().ok_or_else(|| {
                PortError::permanent(ErrorCode::ModelMissing, "there is no model that could rerank")
                    .with_hint("run `cargo xtask setup`, or see `adrag doctor`")
            })?;
            let total = pool.passages.len().min(settings.pool as usize);
            let progress = |done: usize| {
                desk.run.emit(Event::StageProgressed {
                    stage: StageId::Rerank,
                    done: done as u64,
                    total: total as u64,
                    unit: "passages".to_owned(),
                });
            };
            let ordered = rerank_pool(
                reranker.as_ref(),
                &plan.question,
                pool,
                settings,
                wanted,
                progress,
                &desk.run.cancel,
            )
            .await?;
            let scores = || ordered.iter().filter_map(|passage| passage.rerank_score);
            let (scored, best) = (scores().count() as u64, scores().reduce(f32::max));
            let kept = keep(ordered, settings);
            let detail = StageDetail::Rerank {
                by: reranker.name(),
                scored,
                kept: kept.kept.len() as u64,
                best,
                scores: kept
                    .kept
                    .iter()
                    .map(|passage| passage.rerank_score.unwrap_or_default())
                    .collect(),
                stores: Passage::count_stores(&kept.kept),
            };
            Ok(StageEnd::Done(kept, detail))
        },
        |_| Some((keep(pool.passages.clone(), settings), "fused order".to_owned())),
    )
    .await
}

/// The pool in blended order: `(1 - w) * fused / best fused + w * probability`; what was not read after it.
///
/// Passages are read in fused order. Reading stops when no other could come among the wanted ones even with
/// probability 1.
///
/// # Errors
/// When the reranker fails or gives another number of scores than passages.
pub async fn rerank_pool(
    reranker: &dyn Reranker,
    question: &str,
    pool: &Pool,
    settings: &RetrievalSettings,
    wanted: Wanted,
    mut progress: impl FnMut(usize),
    cancel: &CancellationToken,
) -> PortResult<Vec<Passage>> {
    let total = pool.passages.len().min(settings.pool as usize);
    let weight = settings.rerank_weight.clamp(0.0, 1.0);
    let top = pool
        .passages
        .iter()
        .map(|passage| passage.fused_score)
        .fold(f32::MIN_POSITIVE, f32::max);
    let blend = |passage: &Passage, probability: f32| {
        (1.0 - weight) * passage.fused_score / top + weight * probability
    };
    let mut read: Vec<(f32, Passage)> = Vec::with_capacity(total);
    let mut rest = &pool.passages[..total];
    progress(0);
    while !rest.is_empty() {
        let (step, later) = rest.split_at(STEP.min(rest.len()));
        let texts: Vec<String> = step.iter().map(|passage| passage.text.clone()).collect();
        let scores = reranker.score(question, &texts, cancel).await?;
        if scores.len() != step.len() {
            return Err(PortError::permanent(
                ErrorCode::BadReply,
                format!(
                    "the reranker returned {} scores for {} passages",
                    scores.len(),
                    step.len()
                ),
            ));
        }
        read.extend(step.iter().zip(scores).map(|(passage, score)| {
            let read = Passage {
                rerank_score: Some(score),
                ..passage.clone()
            };
            (blend(passage, score), read)
        }));
        // A stable sort: of equals the one fused higher stays ahead.
        read.sort_by(|a, b| b.0.total_cmp(&a.0));
        rest = later;
        progress(read.len());
        let possible = rest
            .iter()
            .map(|passage| blend(passage, 1.0))
            .fold(f32::MIN, f32::max);
        if last_wanted(&read, wanted).is_some_and(|last| possible < last) {
            break;
        }
    }
    let unread = rest.iter().chain(&pool.passages[total..]).cloned();
    Ok(read
        .into_iter()
        .map(|(_, passage)| passage)
        .chain(unread)
        .collect())
}

/// Blended score of the last passage that would be kept now; `None` while there are too few.
fn last_wanted(read: &[(f32, Passage)], wanted: Wanted) -> Option<f32> {
    let mut of_document: HashMap<&DocumentId, usize> = HashMap::new();
    read.iter()
        .filter(|(_, passage)| {
            let count = of_document.entry(&passage.document).or_default();
            *count += 1;
            *count <= wanted.per_document
        })
        .nth(wanted.passages.checked_sub(1)?)
        .map(|(blended, _)| *blended)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use async_trait::async_trait;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Gives a passage the probability that its text spells.
    #[derive(Default)]
    struct Spelled {
        read: AtomicUsize,
    }

    #[async_trait]
    impl Reranker for Spelled {
        fn name(&self) -> String {
            "spelled".to_owned()
        }

        async fn score(&self, _: &str, passages: &[String], _: &CancellationToken) -> PortResult<Vec<f32>> {
            self.read.fetch_add(passages.len(), Ordering::SeqCst);
            Ok(passages.iter().map(|text| text.parse().unwrap()).collect())
        }
    }

    fn pool(passages: &[(&str, f32)]) -> Pool {
        Pool {
            passages: passages
                .iter()
                .enumerate()
                .map(|(at, (text, fused))| Passage {
                    document: DocumentId::new(at.to_string()),
                    fused_score: *fused,
                    ..Passage::of_text(text)
                })
                .collect(),
        }
    }

    async fn order(pool: &Pool, weight: f32, wanted: usize) -> (Vec<String>, usize) {
        let reranker = Spelled::default();
        let settings = RetrievalSettings {
            rerank_weight: weight,
            ..RetrievalSettings::default()
        };
        let wanted = Wanted {
            passages: wanted,
            per_document: 1,
        };
        let cancel = CancellationToken::new();
        let ordered = rerank_pool(&reranker, "q", pool, &settings, wanted, |_| {}, &cancel)
            .await
            .unwrap();
        let texts = ordered.into_iter().map(|passage| passage.text).collect();
        (texts, reranker.read.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn an_exact_hit_that_the_reranker_does_not_understand_is_not_buried() {
        let pool = pool(&[("0.1", 0.033), ("0.6", 0.016), ("0.9", 0.012)]);
        assert_eq!(order(&pool, 0.5, 3).await.0, ["0.9", "0.1", "0.6"]);
        assert_eq!(order(&pool, 0.3, 3).await.0, ["0.1", "0.9", "0.6"]);
        assert_eq!(order(&pool, 0.0, 3).await.0, ["0.1", "0.6", "0.9"]);
    }

    #[tokio::test]
    async fn reading_stops_when_the_rest_cannot_matter_and_changes_nothing() {
        let mut passages = vec![("0.9", 0.03); 6];
        passages.extend([("1.0", 0.001); 20]);
        let pool = pool(&passages);
        let (texts, read) = order(&pool, 0.3, 5).await;
        assert_eq!(read, 6, "the first step settles it");
        assert_eq!(texts.len(), pool.passages.len(), "nothing is lost");
        let (_, read) = order(&pool, 1.0, 5).await;
        assert_eq!(read, 26, "where only the reranker counts, everything is read");
    }
}
