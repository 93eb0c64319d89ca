//! Stage 6: the passages that fit into the context budget, numbered as they will be cited.

use super::Desk;
use super::types::{Context, Plan, RankedPassages};
use crate::ports::PortResult;
use crate::run::{StageEnd, run_stage};
use adrag_contract::{StageDetail, StageId};

/// Tokens a passage's label and fence cost in a prompt.
const LABEL_TOKENS: u64 = 40;

pub(super) async fn compress(desk: Desk<'_>, plan: &Plan, ranked: RankedPassages) -> PortResult<Context> {
    run_stage(desk.run, StageId::Compress, async {
        if !plan.retrieve || ranked.kept.is_empty() {
            return Ok(StageEnd::Skipped(
                Context::default(),
                "there is no evidence to fit".to_owned(),
            ));
        }
        let budget = u64::from(desk.settings.answer.context_tokens);
        let mut context = Context {
            left_out: ranked.rest,
            ..Context::default()
        };
        let (mut before, mut after) = (0, 0);
        let mut over = Vec::new();
        for passage in ranked.kept {
            let tokens = desk.ports.tokenizer.count(&passage.text) as u64 + LABEL_TOKENS;
            before += tokens;
            if context.passages.is_empty() || after + tokens <= budget {
                after += tokens;
                context.passages.push(passage);
            } else {
                over.push(passage);
            }
        }
        context.left_out.splice(0..0, over);
        let detail = StageDetail::Compress {
            tokens_before: before,
            tokens_after: after,
            passages: context.passages.len() as u64,
        };
        Ok(StageEnd::Done(context, detail))
    })
    .await
}
