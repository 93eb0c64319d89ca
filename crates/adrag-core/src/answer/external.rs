//! Stage 3: the web, where the person allowed it. What is searched for are the person's own words, never those of a document or
//! of a model; what comes back is evidence like any other, with its address.

use super::abstain::subject_words;
use super::types::{Candidates, Plan, Question};
use super::{Desk, plan::standalone};
use crate::fuse::RankedList;
use crate::hostile::addresses_a_program;
use crate::ports::{PortResult, StoreHit, WebHit};
use crate::run::{StageEnd, run_stage};
use crate::sentence::windows;
use adrag_contract::{AppError, ChunkId, DocumentId, ErrorCode, Event, Passage, StageDetail, StageId, Store};
use futures::future::join_all;
use std::collections::HashSet;
use std::time::Duration;

/// Most characters of a query.
const MAX_QUERY_CHARS: usize = 300;
/// Pages that are opened; of the others the excerpt of the provider serves.
const PAGES_READ: usize = 3;
/// Sentences of the part of a page that is taken.
const PART_SENTENCES: usize = 6;
/// Most characters of such a part.
const MAX_PART_CHARS: usize = 1_500;

pub(super) async fn external_tools(
    desk: Desk<'_>,
    question: &Question,
    plan: &Plan,
    candidates: Candidates,
) -> PortResult<Candidates> {
    run_stage(desk.run, StageId::ExternalTools, async {
        if !question.may_search_web || !plan.use_web {
            let reason = if !desk.settings.web.enabled {
                "web search is switched off"
            } else if !question.may_search_web {
                "web search is switched off for this question"
            } else {
                "the documents are asked first"
            };
            return Ok(StageEnd::Skipped(candidates, reason.to_owned()));
        }
        let began = desk.run.clock.elapsed();
        let query: String = standalone(&question.text, &question.history)
            .chars()
            .take(MAX_QUERY_CHARS)
            .collect();
        let results = desk
            .ports
            .web
            .search(&desk.settings.web, &query, &desk.run.cancel)
            .await;
        desk.run.check()?;
        for (provider, fault) in &results.faults {
            desk.run.emit(Event::StageFailed {
                stage: StageId::ExternalTools,
                error: AppError::new(ErrorCode::Unreachable, format!("{provider}: {fault}")),
                degraded_to: Some(format!("the search went on without {provider}")),
            });
        }
        let passages = read_pages(desk, &query, &results.hits).await;
        desk.run.check()?;
        let count = passages.len() as u64;
        desk.run.emit(Event::PassagesFound {
            store: Store::Web,
            count,
            took_ms: desk.run.ms_since(began),
        });
        let detail = StageDetail::ExternalTools {
            web: count,
            queries: vec![query],
            faults: results
                .faults
                .iter()
                .map(|(provider, fault)| format!("{provider}: {fault}"))
                .collect(),
        };
        let weight = desk.settings.retrieval.weights.of(Store::Web);
        Ok(StageEnd::Done(with_web(candidates, passages, weight), detail))
    })
    .await
}

fn with_web(mut candidates: Candidates, passages: Vec<Passage>, weight: f32) -> Candidates {
    candidates.lists.push(RankedList {
        store: Store::Web,
        weight,
        hits: passages
            .iter()
            .enumerate()
            .map(|(at, passage)| StoreHit {
                chunk: passage.chunk.clone(),
                // A provider gives an order and no scores.
                #[expect(clippy::cast_precision_loss, reason = "a handful of pages")]
                score: 1.0 / (at + 1) as f32,
            })
            .collect(),
    });
    candidates.web = passages;
    candidates
}

/// The hits as passages; the first pages are opened at the same time, each for as long as a provider may take.
async fn read_pages(desk: Desk<'_>, query: &str, hits: &[WebHit]) -> Vec<Passage> {
    let limit = Duration::from_millis(desk.settings.web.timeout_ms);
    let words = subject_words(query);
    let parts = join_all(hits.iter().take(PAGES_READ).map(|hit| async {
        let page = desk.ports.web.read(&hit.url, &desk.run.cancel);
        match tokio::time::timeout(limit, page).await {
            Ok(Ok(text)) => best_part(&text, &words),
            Ok(Err(error)) => {
                tracing::info!(url = %hit.url, %error, "the page was not read; its excerpt serves");
                None
            }
            Err(_) => None,
        }
    }))
    .await;
    let mut parts = parts.into_iter();
    hits.iter()
        .map(|hit| passage(hit, parts.next().flatten()))
        .filter(|passage| !passage.text.trim().is_empty())
        .collect()
}

/// The part of a page that holds most of the query's words.
fn best_part(text: &str, words: &[String]) -> Option<String> {
    let held = |part: &str| {
        let of_part: HashSet<String> = subject_words(part).into_iter().collect();
        words.iter().filter(|word| of_part.contains(*word)).count()
    };
    // The first of equals: pages begin with what they are about.
    let (best, _) = windows(text, PART_SENTENCES)
        .into_iter()
        .map(|span| &text[span])
        .map(|part| (part, held(part)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    Some(best.chars().take(MAX_PART_CHARS).collect())
}

fn passage(hit: &WebHit, part: Option<String>) -> Passage {
    let text = match part {
        Some(part) if part.contains(hit.snippet.trim()) || hit.snippet.trim().is_empty() => part,
        Some(part) => format!("{}\n\n{part}", hit.snippet.trim()),
        None => hit.snippet.trim().to_owned(),
    };
    Passage {
        chunk: ChunkId::new(format!("web:{}", hit.url)),
        document: DocumentId::new(String::new()),
        title: hit.title.clone(),
        path: hit.url.clone(),
        url: Some(hit.url.clone()),
        flagged: addresses_a_program(&text)
            .or_else(|| addresses_a_program(&hit.title))
            .map(str::to_owned),
        ..Passage::of_text(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::best_part;

    #[test]
    fn the_part_about_the_question_is_taken() {
        let filler = "Nothing of interest stands here at all. ".repeat(20);
        let text = format!("{filler}The HX-40 pump takes the seal kit SK-131-A. {filler}");
        let words = ["hx-40".to_owned(), "seal".to_owned()];
        assert!(best_part(&text, &words).unwrap().contains("SK-131-A"));
        assert_eq!(best_part("", &words), None);
    }
}
