//! Stage 4: one pool of distinct passages from all lists. Every store that found a passage is kept with it.

use super::Desk;
use super::types::{Candidates, Pool};
use crate::fuse::{Fused, fuse};
use crate::hostile::addresses_a_program;
use crate::ports::{PortResult, StoredChunk};
use crate::run::{StageEnd, run_stage};
use adrag_contract::{Passage, StageDetail, StageId};
use std::collections::{HashMap, HashSet};

/// Two chunks of one document whose spans share more than this of the shorter are one passage.
const SAME_SPAN: f64 = 0.6;

pub(super) async fn aggregate(desk: Desk<'_>, candidates: Candidates, earlier: Pool) -> PortResult<Pool> {
    run_stage(desk.run, StageId::Aggregate, async {
        if candidates.lists.is_empty() && earlier.passages.is_empty() {
            return Ok(StageEnd::Skipped(
                Pool::default(),
                "nothing was searched".to_owned(),
            ));
        }
        let before = candidates.lists.iter().map(|list| list.hits.len() as u64).sum();
        let fused = fuse(&candidates.lists, &desk.settings.retrieval);
        let mut pool = pool_of(desk.ports.catalog.as_ref(), fused, candidates.web).await?;
        let known: HashSet<_> = pool
            .passages
            .iter()
            .map(|passage| passage.chunk.clone())
            .collect();
        pool.passages.extend(
            earlier
                .passages
                .into_iter()
                .filter(|passage| !known.contains(&passage.chunk)),
        );
        let detail = StageDetail::Aggregate {
            before,
            after: pool.passages.len() as u64,
            stores: Passage::count_stores(&pool.passages),
        };
        Ok(StageEnd::Done(pool, detail))
    })
    .await
}

/// The passages of fused candidates, in fused order; those of unpublished or deleted documents left out, repeats
/// collapsed into the first.
pub(crate) async fn pool_of(
    catalog: &dyn crate::ports::Catalog,
    fused: Vec<Fused>,
    web: Vec<Passage>,
) -> PortResult<Pool> {
    let mut pages: HashMap<_, _> = web
        .into_iter()
        .map(|passage| (passage.chunk.clone(), passage))
        .collect();
    let ids: Vec<_> = fused
        .iter()
        .map(|candidate| candidate.chunk.clone())
        .filter(|id| !pages.contains_key(id))
        .collect();
    let mut stored: HashMap<_, _> = catalog
        .resolve(&ids)
        .await?
        .into_iter()
        .map(|stored| (stored.chunk.id.clone(), stored))
        .collect();
    let mut pool = Pool::default();
    let mut texts: HashMap<String, usize> = HashMap::new();
    for candidate in fused {
        let passage = match (stored.remove(&candidate.chunk), pages.remove(&candidate.chunk)) {
            (Some(stored), _) => passage(stored, candidate),
            (None, Some(page)) => Passage {
                found_by: candidate.found_by,
                fused_score: candidate.score,
                ..page
            },
            (None, None) => continue,
        };
        let normal = normal_form(&passage.text);
        let same = texts
            .get(&normal)
            .copied()
            .or_else(|| pool.passages.iter().position(|known| overlaps(known, &passage)));
        match same {
            Some(at) => join(&mut pool.passages[at], &passage),
            None => {
                texts.insert(normal, pool.passages.len());
                pool.passages.push(passage);
            }
        }
    }
    Ok(pool)
}

fn passage(stored: StoredChunk, candidate: Fused) -> Passage {
    let flagged = addresses_a_program(&stored.chunk.text)
        .or_else(|| addresses_a_program(&stored.title))
        .map(str::to_owned);
    Passage {
        chunk: stored.chunk.id,
        document: stored.key.document,
        title: stored.title,
        path: stored.path,
        pages: stored.chunk.pages,
        headings: stored.chunk.headings,
        span: (stored.chunk.start, stored.chunk.end),
        text: stored.chunk.text,
        found_by: candidate.found_by,
        fused_score: candidate.score,
        rerank_score: None,
        url: None,
        flagged,
    }
}

fn overlaps(a: &Passage, b: &Passage) -> bool {
    if a.document != b.document || a.url != b.url {
        return false;
    }
    let shared = a.span.1.min(b.span.1).saturating_sub(a.span.0.max(b.span.0));
    let shorter = (a.span.1 - a.span.0).min(b.span.1 - b.span.0);
    #[expect(clippy::cast_precision_loss, reason = "a share of two lengths")]
    let share = shared as f64 / shorter.max(1) as f64;
    share > SAME_SPAN
}

fn join(kept: &mut Passage, repeat: &Passage) {
    for finding in &repeat.found_by {
        if !kept.found_by.iter().any(|known| known.store == finding.store) {
            kept.found_by.push(*finding);
        }
    }
}

/// Text by which repeats are recognised: letters and digits in lower case.
fn normal_form(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
