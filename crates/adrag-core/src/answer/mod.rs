//! Answering: eight stages from question to checked answer, one module a stage.
//!
//! [`answer`] reads like the table of stages. Data changes its type from one to the next, so none can be skipped by
//! accident: `Question -> Plan -> Candidates -> Pool -> RankedPassages -> Context -> Draft -> Review -> Answer`.

mod abstain;
mod aggregate;
mod arithmetic;
mod compress;
mod decompose;
mod external;
mod json;
mod plan;
mod prompt;
mod quotes;
mod reason;
mod reflect;
mod rerank;
mod retrieve;
mod scorer;
mod sieve;
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
pub use types::{ALSO_THE_WEB, Candidates, Context, Draft, Plan, Pool, Question, RankedPassages, Review};

use crate::engine::Ports;
use crate::ports::{ChatModel, PortError, PortResult};
use crate::run::RunContext;
use adrag_contract::{Answer, EngineId, ErrorCode, Event, Settings, Spent, StageId};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    let may_escalate = question.may_search_web && desk.settings.web.escalate;
    let mut asked = HashSet::new();
    let mut plan = plan::plan(desk, question).await?;
    let mut pass = answer_once(desk, question, &plan, Pool::default(), &mut asked)
        .await?
        .ok_or_else(|| PortError::permanent(ErrorCode::Internal, "the first pass repeats another"))?;
    while desk.run.attempt() < desk.settings.answer.passes
        && let Some(next) = plan.after(&pass.review, may_escalate, desk.model.is_some())
    {
        desk.run.emit(Event::Retried {
            attempt: desk.run.attempt() + 1,
            why: pass.review.issues.join("; "),
            changes: next.changes_from(&plan),
        });
        plan = next;
        match answer_once(desk, question, &plan, pass.pool.clone(), &mut asked).await {
            Ok(Some(better)) => pass = better,
            Ok(None) => break,
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

/// One pass over the stages; nothing when it came to the very prompt of an earlier one, which is never sent twice.
async fn answer_once(
    desk: Desk<'_>,
    question: &Question,
    plan: &Plan,
    earlier: Pool,
    asked: &mut HashSet<u64>,
) -> PortResult<Option<Pass>> {
    let candidates = retrieve::retrieve(desk, question, plan).await?;
    let candidates = external::external_tools(desk, question, plan, candidates).await?;
    let pool = aggregate::aggregate(desk, candidates, earlier).await?;
    let ranked = rerank::rerank(desk, plan, &pool).await?;
    let context = compress::compress(desk, plan, ranked).await?;
    if !asked.insert(fingerprint(plan, &context)) {
        for stage in [StageId::Reason, StageId::Reflect] {
            desk.run.emit(Event::StageSkipped {
                stage,
                reason: "nothing new was found: the answer before stands".to_owned(),
            });
        }
        return Ok(None);
    }
    let draft = reason::reason(desk, plan, &context).await?;
    let review = reflect::reflect(desk, plan, &context, &draft).await?;
    Ok(Some(Pass {
        pool,
        context,
        draft,
        review,
    }))
}

/// Everything that decides what the model reads, but the temperature.
fn fingerprint(plan: &Plan, context: &Context) -> u64 {
    let mut hasher = DefaultHasher::new();
    plan.question.hash(&mut hasher);
    plan.critique.hash(&mut hasher);
    for (passage, excerpt) in context.passages.iter().zip(&context.excerpts) {
        passage.chunk.hash(&mut hasher);
        excerpt.hash(&mut hasher);
    }
    hasher.finish()
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
        spent: Spent {
            passes: desk.run.attempt(),
            ..desk.run.budget.spent()
        },
    }
}
