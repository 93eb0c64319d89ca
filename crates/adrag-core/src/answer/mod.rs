//! Answering: eight stages from question to checked answer, one module a stage.
//!
//! [`answer`] reads like the table of stages. Data changes its type from one to the next, so none can be skipped by
//! accident: `Question -> Plan -> Candidates -> Pool -> RankedPassages -> Context -> Draft -> Review -> Answer`.

mod abstain;
mod aggregate;
mod arithmetic;
mod compress;
mod json;
mod plan;
mod prompt;
mod quotes;
mod reason;
mod reflect;
mod rerank;
mod retrieve;
mod scorer;
mod support;
mod types;

pub use abstain::{Abstention, Evidence};
pub(crate) use aggregate::pool_of;
pub use plan::standalone;
pub(crate) use reflect::check_answer;
pub use rerank::{Wanted, rerank_pool};
pub use retrieve::{Search, search_stores};
pub use scorer::SentenceReranker;
pub use support::Fold;
pub(crate) use support::check_support;
pub use types::{Candidates, Context, Draft, Plan, Pool, Question, RankedPassages, Review};

use crate::engine::Ports;
use crate::ports::{ChatModel, PortResult};
use crate::run::{RunContext, StageEnd, run_stage};
use adrag_contract::{Answer, EngineId, Event, Settings, StageId};
use std::sync::Arc;

/// What answering works with.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The run.
    pub run: &'a RunContext,
    /// The world.
    pub ports: &'a Ports,
    /// The settings as they were when the question was asked.
    pub settings: &'a Settings,
    /// The language model; absent for `quotes`.
    pub model: Option<&'a Arc<dyn ChatModel>>,
}

/// Answers a question. A pass whose answer does not stand is followed by another that searches for more, until the
/// passes of the settings are spent. When a later pass fails, the answer of the one before is the result.
pub async fn answer(desk: Desk<'_>, question: &Question) -> PortResult<Answer> {
    let began = desk.run.clock.elapsed();
    let mut plan = plan::plan(desk, question).await?;
    let mut pass = answer_once(desk, question, &plan, Pool::default()).await?;
    while desk.run.attempt() < desk.settings.answer.passes
        && let Some(next) = plan.after(&pass.review)
    {
        desk.run.emit(Event::Retried {
            attempt: desk.run.attempt() + 1,
            why: pass.review.issues.join("; "),
            changes: next.changes_from(&plan),
        });
        plan = next;
        match answer_once(desk, question, &plan, pass.pool.clone()).await {
            Ok(better) => pass = better,
            Err(error) if error.is_cancelled() => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "a later pass failed; the answer of the one before stands");
                break;
            }
        }
    }
    Ok(finish(desk, pass, began))
}

/// What one pass over the stages came to.
struct Pass {
    pool: Pool,
    context: Context,
    draft: Draft,
    review: Review,
}

async fn answer_once(desk: Desk<'_>, question: &Question, plan: &Plan, earlier: Pool) -> PortResult<Pass> {
    let candidates = retrieve::retrieve(desk, question, plan).await?;
    let candidates = external_tools(desk, candidates).await?;
    let pool = aggregate::aggregate(desk, candidates, earlier).await?;
    let ranked = rerank::rerank(desk, plan, &pool).await?;
    let context = compress::compress(desk, plan, ranked).await?;
    let draft = reason::reason(desk, plan, &context).await?;
    let review = reflect::reflect(desk, plan, &context, &draft).await?;
    Ok(Pass {
        pool,
        context,
        draft,
        review,
    })
}

/// Searches beyond the person's documents. No provider is built in: the stage says so instead of doing nothing.
async fn external_tools(desk: Desk<'_>, candidates: Candidates) -> PortResult<Candidates> {
    run_stage(desk.run, StageId::ExternalTools, async {
        Ok(StageEnd::Skipped(
            candidates,
            "web search is switched off".to_owned(),
        ))
    })
    .await
}

fn finish(desk: Desk<'_>, pass: Pass, began: std::time::Duration) -> Answer {
    let Pass {
        context,
        draft,
        review,
        ..
    } = pass;
    let cited: std::collections::HashSet<_> =
        draft.citations.iter().map(|citation| &citation.chunk).collect();
    let uncited = context
        .passages
        .iter()
        .chain(&context.left_out)
        .filter(|passage| !cited.contains(&passage.chunk))
        .cloned()
        .collect();
    Answer {
        uncited,
        abstained: draft.abstained,
        direct: draft.direct,
        answerable: draft.answerable,
        citations: draft.citations,
        text: draft.text,
        claims: review.claims,
        grounding: review.grounding,
        confidence: review.confidence,
        engine: desk.model.map_or(EngineId::Quotes, |model| model.engine()),
        model: desk.model.map(|model| model.model()),
        broken_off: None,
        took_ms: desk.run.ms_since(began),
    }
}
