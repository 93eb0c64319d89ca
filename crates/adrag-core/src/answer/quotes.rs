//! The `quotes` engine: an answer made of verbatim sentences, each with its citation, without a language model.

use super::Desk;
use super::abstain::subject_words;
use super::scorer::SentenceReranker;
use super::types::{Context, Plan};
use crate::cite::escape;
use crate::ports::{PortResult, Reranker};
use crate::sentence::{sentences, units};
use adrag_contract::{Event, StageId};
use std::collections::HashSet;

/// Weight of nearness against that of the question's words.
const NEARNESS: f32 = 0.55;
/// A sentence must come this near to the best to be quoted.
const NEAR_THE_BEST: f32 = 0.62;
/// What the first, second, ... passage adds: the order of the passages is evidence too.
const RANK_BONUS: f32 = 0.12;
/// Most characters of one quoted sentence.
const MAX_QUOTE_CHARS: usize = 600;

struct Unit {
    passage: usize,
    start: usize,
    text: String,
    near: f32,
    words: HashSet<String>,
}

/// The text of the answer with its markers; `None` when the passages hold no sentence.
pub(super) async fn quote(desk: Desk<'_>, plan: &Plan, context: &Context) -> PortResult<Option<String>> {
    let asked = subject_words(&plan.question);
    let mut units: Vec<Unit> = Vec::new();
    for (at, passage) in context.passages.iter().enumerate() {
        for span in units_of(&passage.text) {
            let text = passage.text[span.0..span.1].to_owned();
            let held: HashSet<String> = subject_words(&text).into_iter().collect();
            units.push(Unit {
                passage: at,
                start: span.0,
                near: 0.0,
                words: asked
                    .iter()
                    .filter(|word| held.contains(*word))
                    .cloned()
                    .collect(),
                text,
            });
        }
    }
    let texts: Vec<String> = units.iter().map(|unit| unit.text.clone()).collect();
    match nearness(desk, &plan.question, &texts).await {
        Ok(nearness) => {
            for (unit, near) in units.iter_mut().zip(nearness) {
                unit.near = near;
            }
        }
        Err(error) if error.is_cancelled() => return Err(error),
        Err(error) => desk.run.emit(Event::StageFailed {
            stage: StageId::Reason,
            error: error.error,
            degraded_to: Some("sentences are chosen by the words they share with the question".to_owned()),
        }),
    }
    let mut chosen = choose(&units, &asked, desk.settings.answer.quotes as usize);
    chosen.sort_by_key(|at| (units[*at].passage, units[*at].start));
    let quotes: Vec<String> = chosen
        .into_iter()
        .map(|at| cited(&units[at].text, units[at].passage + 1))
        .collect();
    Ok((!quotes.is_empty()).then(|| quotes.join("\n\n")))
}

/// How near each text is to the question, 0 to 1: by the embedder, which was taught paraphrases of single sentences; by
/// the reranker where there is none.
async fn nearness(desk: Desk<'_>, question: &str, texts: &[String]) -> PortResult<Vec<f32>> {
    let cancel = &desk.run.cancel;
    match (&desk.ports.embedder, &desk.ports.reranker) {
        (Some(embedder), _) => {
            let by_meaning = SentenceReranker::new(embedder.clone());
            by_meaning.score(question, texts, cancel).await
        }
        (None, Some(reranker)) => reranker.score(question, texts, cancel).await,
        (None, None) => Ok(vec![0.0; texts.len()]),
    }
}

/// Every sentence with its citation; a bare heading before them says nothing by itself.
fn cited(text: &str, n: usize) -> String {
    let mut spans = sentences(text);
    if spans.len() > 1 && is_heading(&text[spans[0].clone()]) && !is_heading(&text[spans[1].clone()]) {
        spans.remove(0);
    }
    spans
        .into_iter()
        .map(|span| format!("{} [{n}]", escape(&text[span])))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A few words without an end, a number or a colon.
fn is_heading(text: &str) -> bool {
    const MAX_CHARS: usize = 60;
    let text = text.trim();
    text.chars().count() <= MAX_CHARS
        && !text.ends_with([
            '.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{2026}', ';', '"',
        ])
        && !text.contains(':')
        && !text.chars().any(|c| c.is_ascii_digit())
}

fn units_of(text: &str) -> Vec<(usize, usize)> {
    units(text)
        .into_iter()
        .filter_map(|span| {
            let unit = &text[span.clone()];
            let start = span.start
                + (unit.len()
                    - unit
                        .trim_start_matches(['#', '>', '*', '-', '|', ' ', '\t'])
                        .len());
            let end = text[start..span.end]
                .char_indices()
                .nth(MAX_QUOTE_CHARS)
                .map_or(span.end, |(at, _)| start + at);
            (text[start..end].chars().filter(|c| c.is_alphanumeric()).count() >= 3).then_some((start, end))
        })
        .collect()
}

/// Greedily the sentences that add most: near to the question, holding its words, best those no earlier one held.
fn choose(units: &[Unit], asked: &[String], most: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut held: HashSet<&String> = HashSet::new();
    let mut best = 0.0_f32;
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let value = |unit: &Unit, held: &HashSet<&String>| {
        let new = unit.words.iter().filter(|word| !held.contains(word)).count() as f32;
        let old = unit.words.len() as f32 - new;
        let share = (new + 0.5 * old) / asked.len().max(1) as f32;
        NEARNESS * unit.near + (1.0 - NEARNESS) * share + RANK_BONUS / (1 + unit.passage) as f32
    };
    while chosen.len() < most {
        let next = (0..units.len())
            .filter(|at| {
                !chosen
                    .iter()
                    .any(|taken| *taken == *at || units[*taken].text == units[*at].text)
            })
            .max_by(|a, b| {
                value(&units[*a], &held)
                    .total_cmp(&value(&units[*b], &held))
                    .then(b.cmp(a))
            });
        let Some(next) = next else { break };
        let worth = value(&units[next], &held);
        best = best.max(worth);
        if worth < best * NEAR_THE_BEST {
            break;
        }
        held.extend(&units[next].words);
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::cited;

    #[test]
    fn a_bare_heading_is_not_quoted_and_a_fact_without_a_full_stop_is() {
        assert_eq!(
            cited("Sourdough bread\n\nThe loaf rests.", 1),
            "The loaf rests. [1]"
        );
        assert_eq!(cited("Sourdough bread", 1), "Sourdough bread [1]");
        assert_eq!(
            cited("Bin C-04\n\nThe loaf rests.", 2),
            "Bin C-04 [2] The loaf rests. [2]"
        );
    }
}
