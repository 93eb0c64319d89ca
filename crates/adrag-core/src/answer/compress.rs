//! Stage 6: the evidence that fits into the context budget, numbered as it will be cited.
//!
//! When the kept passages are too long together, they are pruned by sentence: every passage begins with its most
//! relevant sentence, and windows grow around what is there until the budget is used. A citation still shows the whole
//! passage; only what the model reads is shorter.

use super::Desk;
use super::types::{Context, Plan, RankedPassages};
use crate::ports::PortResult;
use crate::run::{StageEnd, run_stage_or};
use crate::sentence::units;
use adrag_contract::{Passage, StageDetail, StageId};
use std::ops::Range;

/// Tokens a passage's label and fence cost in a prompt.
const LABEL_TOKENS: u64 = 40;
/// What stands where sentences were left out, and its tokens.
const GAP: &str = " … ";
const GAP_TOKENS: u64 = 2;
/// Share of a chosen neighbour's relevance that a sentence takes on: what explains an answer stands beside it.
const NEIGHBOUR: f32 = 0.4;

pub(super) async fn compress(desk: Desk<'_>, plan: &Plan, ranked: RankedPassages) -> PortResult<Context> {
    let budget = u64::from(desk.settings.answer.context_tokens);
    let count = |text: &str| desk.ports.tokenizer.count(text) as u64;
    let whole = whole_passages(ranked.clone(), budget, &count);
    run_stage_or(
        desk.run,
        StageId::Compress,
        async {
            if ranked.kept.is_empty() {
                return Ok(StageEnd::Skipped(
                    Context::default(),
                    "there is no evidence to fit".to_owned(),
                ));
            }
            let tokens = |texts: &mut dyn Iterator<Item = &String>| {
                texts.map(|text| count(text) + LABEL_TOKENS).sum::<u64>()
            };
            let before = tokens(&mut ranked.kept.iter().map(|passage| &passage.text));
            let context = match &desk.ports.reranker {
                Some(reranker) if before > budget => {
                    let sentences = sentences_of(&ranked.kept);
                    let texts: Vec<String> = sentences
                        .iter()
                        .map(|sentence| sentence.text(&ranked.kept).to_owned())
                        .collect();
                    let scores = reranker.score(&plan.question, &texts, &desk.run.cancel).await?;
                    let costs: Vec<u64> = texts.iter().map(|text| count(text)).collect();
                    pruned(ranked.clone(), &sentences, &scores, &costs, budget)
                }
                _ => whole.clone(),
            };
            let chars = |texts: &mut dyn Iterator<Item = &String>| {
                texts.map(|text| text.chars().count() as u64).sum::<u64>()
            };
            let detail = StageDetail::Compress {
                chars_before: Some(chars(&mut ranked.kept.iter().map(|passage| &passage.text))),
                chars_after: Some(chars(&mut context.excerpts.iter())),
                tokens_before: before,
                tokens_after: tokens(&mut context.excerpts.iter()),
                passages: context.passages.len() as u64,
            };
            Ok(StageEnd::Done(context, detail))
        },
        |_| Some((whole.clone(), "whole passages, as many as fit".to_owned())),
    )
    .await
}

/// The first passages that fit, whole; the first one always.
fn whole_passages(ranked: RankedPassages, budget: u64, count: &impl Fn(&str) -> u64) -> Context {
    let mut context = Context::default();
    let mut used = 0;
    for passage in ranked.kept {
        let tokens = count(&passage.text) + LABEL_TOKENS;
        if context.passages.is_empty() || used + tokens <= budget {
            used += tokens;
            context.excerpts.push(passage.text.clone());
            context.passages.push(passage);
        } else {
            context.left_out.push(passage);
        }
    }
    context.left_out.extend(ranked.rest);
    context
}

/// A sentence of the kept passages.
struct Sentence {
    passage: usize,
    span: Range<usize>,
}

impl Sentence {
    fn text<'a>(&self, passages: &'a [Passage]) -> &'a str {
        &passages[self.passage].text[self.span.clone()]
    }
}

/// Sentences of all passages, in order; of a very long passage the first ones.
fn sentences_of(passages: &[Passage]) -> Vec<Sentence> {
    passages
        .iter()
        .enumerate()
        .flat_map(|(passage, of)| {
            units(&of.text)
                .into_iter()
                .map(move |span| Sentence { passage, span })
        })
        .collect()
}

fn pruned(
    ranked: RankedPassages,
    sentences: &[Sentence],
    scores: &[f32],
    costs: &[u64],
    budget: u64,
) -> Context {
    let score = |at: usize| scores.get(at).copied().unwrap_or_default();
    let mut chosen = vec![false; sentences.len()];
    let mut used = 0;
    for passage in 0..ranked.kept.len() {
        let best = (0..sentences.len())
            .filter(|at| sentences[*at].passage == passage)
            .max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)));
        let Some(best) = best else { continue };
        let cost = LABEL_TOKENS + costs[best];
        if used == 0 || used + cost <= budget {
            chosen[best] = true;
            used += cost;
        }
    }
    let begun: Vec<bool> = (0..ranked.kept.len())
        .map(|passage| (0..sentences.len()).any(|at| chosen[at] && sentences[at].passage == passage))
        .collect();
    let beside = |chosen: &[bool], at: usize, other: Option<usize>| {
        other
            .filter(|other| {
                chosen.get(*other) == Some(&true) && sentences[*other].passage == sentences[at].passage
            })
            .map_or(0.0, score)
    };
    loop {
        let value = |at: usize| {
            let neighbour = beside(&chosen, at, at.checked_sub(1)).max(beside(&chosen, at, Some(at + 1)));
            score(at) + NEIGHBOUR * neighbour
        };
        let next = (0..sentences.len())
            .filter(|at| !chosen[*at] && begun[sentences[*at].passage])
            .filter(|at| used + costs[*at] + GAP_TOKENS <= budget)
            .max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a)));
        let Some(next) = next else { break };
        used += costs[next] + GAP_TOKENS;
        chosen[next] = true;
    }
    let mut context = Context::default();
    for (number, passage) in ranked.kept.into_iter().enumerate() {
        if begun[number] {
            let picked = (0..sentences.len()).filter(|at| chosen[*at] && sentences[*at].passage == number);
            context.excerpts.push(excerpt(
                &passage.text,
                picked.map(|at| (at, sentences[at].span.clone())),
            ));
            context.passages.push(passage);
        } else {
            context.left_out.push(passage);
        }
    }
    context.left_out.extend(ranked.rest);
    context
}

/// The picked sentences (number and span, in order) with a mark where some are missing.
fn excerpt(text: &str, picked: impl Iterator<Item = (usize, Range<usize>)>) -> String {
    let mut excerpt = String::new();
    let mut before: Option<(usize, usize)> = None;
    for (at, span) in picked {
        match before {
            Some((last, end)) if last + 1 == at => excerpt.push_str(&text[end..span.start]),
            Some(_) => excerpt.push_str(GAP),
            None => {}
        }
        excerpt.push_str(&text[span.clone()]);
        before = Some((at, span.end));
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    /// Prunes by how often a sentence says "bin".
    fn prune(passages: &[&str], budget: u64) -> Context {
        let ranked = RankedPassages {
            kept: passages.iter().map(|text| Passage::of_text(text)).collect(),
            rest: vec![Passage::of_text("rest")],
        };
        let sentences = sentences_of(&ranked.kept);
        let texts: Vec<&str> = sentences.iter().map(|one| one.text(&ranked.kept)).collect();
        let scores: Vec<f32> = texts
            .iter()
            .map(|text| if text.contains("bin") { 0.9 } else { 0.1 })
            .collect();
        let costs: Vec<u64> = texts.iter().map(|text| words(text)).collect();
        pruned(ranked, &sentences, &scores, &costs, budget)
    }

    const KIT: &str = "The harbour was closed on Monday because of the ice that came overnight. \
                       Seal kit SK-131-A is kept in bin C-04 of the second warehouse building. \
                       It fits the pump of the newer series and costs a little more than before. \
                       The board met twice in March to talk about the results of the year before.";

    #[test]
    fn what_answers_is_kept_and_what_stands_beside_it_comes_next() {
        let context = prune(&[KIT], 40 + 14 + 17);
        assert_eq!(context.excerpts.len(), 1);
        let excerpt = &context.excerpts[0];
        assert!(excerpt.contains("bin C-04"), "{excerpt}");
        assert!(!excerpt.contains("board"), "{excerpt}");
        assert_eq!(context.passages[0].text, KIT, "the citation shows it whole");
    }

    #[test]
    fn a_gap_is_marked_and_neighbours_are_joined_as_they_stood() {
        let text = "One is here. Two is here. Three is here. Four is here.";
        let spans = crate::sentence::sentences(text);
        let pick = |at: &[usize]| excerpt(text, at.iter().map(|at| (*at, spans[*at].clone())));
        assert_eq!(pick(&[0, 1]), "One is here. Two is here.");
        assert_eq!(pick(&[0, 2]), "One is here. … Three is here.");
    }

    #[test]
    fn numbers_and_passages_stay_together_and_what_does_not_fit_is_left_out() {
        let context = prune(
            &[KIT, "Nothing of the kind is told about it in this long passage."],
            60,
        );
        assert_eq!(context.passages.len(), context.excerpts.len());
        assert_eq!(context.passages.len(), 1);
        assert_eq!(context.left_out.len(), 2, "the second and the rest");
    }
}
