//! Stage 7: the cited answer, from the language model or from the documents' own sentences.

use super::prompt::{self, ABSTENTION};
use super::types::{Context, Draft, Plan};
use super::{Desk, abstain, json, quotes};
use crate::cite::{escape, markers, validate};
use crate::ports::{ChatDelta, ChatMessage, ChatRequest, ChatRole, PortError, PortResult};
use crate::run::{StageEnd, run_stage};
use adrag_contract::{Citation, EngineId, ErrorCode, Event, Passage, StageDetail, StageId};
use futures::StreamExt;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Most bytes of an answer; what a model writes beyond is not read.
const MAX_ANSWER_BYTES: usize = 200_000;
/// Most bytes of a reply that must be JSON.
const MAX_JSON_BYTES: usize = 64_000;
/// Most tokens of an answer.
const MAX_ANSWER_TOKENS: u32 = 1_024;

/// Passages named when the documents do not say.
const NAMED: usize = 3;

#[derive(Default)]
struct Spent {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

pub(super) async fn reason(desk: Desk<'_>, plan: &Plan, context: &Context) -> PortResult<Draft> {
    run_stage(desk.run, StageId::Reason, async {
        let mut spent = Spent::default();
        let mut removed = 0;
        let mut answerable = None;
        let draft = if plan.searches() {
            let probability = abstain::answerable(desk, &plan.question, context).await?;
            answerable = Some(probability);
            let raw = match desk.model {
                _ if probability < threshold(desk) || context.passages.is_empty() => None,
                None => quotes::quote(desk, plan, context)
                    .await?
                    .inspect(|text| whole(desk, context, text)),
                Some(_) => {
                    let content = prompt::answer(&desk.run.run, plan, context);
                    Some(stream(desk, plan, content, &context.passages, &mut spent).await?)
                }
            };
            let empty = raw.as_deref().is_some_and(|text| text.trim().is_empty());
            match raw.filter(|text| !is_abstention(text)) {
                Some(raw) => {
                    let cited = validate(raw.trim(), context.passages.len());
                    removed = cited.removed;
                    Draft {
                        citations: citations(&cited.numbers, &context.passages),
                        text: cited.text,
                        ..Draft::default()
                    }
                }
                None => Draft {
                    empty,
                    ..abstained(desk, context)
                },
            }
        } else {
            direct(desk, plan, &mut spent).await?
        };
        let draft = Draft { answerable, ..draft };
        let detail = StageDetail::Reason {
            engine: desk.model.map_or(EngineId::Quotes, |model| model.engine()),
            model: desk.model.map(|model| model.model()),
            cited: draft.citations.len() as u64,
            answerable,
            removed_citations: removed,
            prompt_tokens: spent.prompt_tokens,
            completion_tokens: spent.completion_tokens,
        };
        Ok(StageEnd::Done(draft, detail))
    })
    .await
}

/// Below which probability the program says that the documents do not answer. A language model reads the passages itself
/// and may say so: it is not asked only when the evidence is hopeless.
fn threshold(desk: Desk<'_>) -> f32 {
    let below = desk.settings.answer.abstain_below;
    if desk.model.is_some() { below / 2.0 } else { below }
}

/// A reply is an abstention when it says the agreed sentence and nothing else worth mentioning.
fn is_abstention(text: &str) -> bool {
    let plain = text.trim().trim_matches(['"', '*', '.', ' ']).to_lowercase();
    let agreed = ABSTENTION.trim_end_matches('.').to_lowercase();
    plain.is_empty() || plain == agreed || (plain.starts_with(&agreed) && markers(text).is_empty())
}

/// Claims nothing, and names the nearest passages.
fn abstained(desk: Desk<'_>, context: &Context) -> Draft {
    let mut names: Vec<String> = Vec::new();
    for passage in &context.passages {
        let page = passage
            .page()
            .map_or(String::new(), |page| format!(", page {page}"));
        let name = format!("{}{page}", escape(&prompt::harmless(&passage.title)));
        if names.len() < NAMED && !names.contains(&name) {
            names.push(name);
        }
    }
    let text = if names.is_empty() {
        format!("{ABSTENTION} No passage about this was found.")
    } else {
        format!(
            "{ABSTENTION} The nearest passages do not answer the question: {}.",
            names.join("; ")
        )
    };
    desk.run.emit(Event::AnswerDelta { text: text.clone() });
    Draft {
        text,
        abstained: true,
        ..Draft::default()
    }
}

async fn direct(desk: Desk<'_>, plan: &Plan, spent: &mut Spent) -> PortResult<Draft> {
    let text = match (&plan.direct_answer, desk.model) {
        (Some(known), _) => {
            desk.run.emit(Event::AnswerDelta { text: known.clone() });
            known.clone()
        }
        (None, Some(_)) => {
            let content = prompt::direct(&[], &plan.question);
            let text = stream(desk, plan, content, &[], spent).await?;
            validate(text.trim(), 0).text
        }
        (None, None) => {
            let text =
                "Hello. Ask a question about your documents and the answer will quote them.".to_owned();
            desk.run.emit(Event::AnswerDelta { text: text.clone() });
            text
        }
    };
    Ok(Draft {
        text,
        direct: true,
        ..Draft::default()
    })
}

/// Shows a text that is there at once, paragraph by paragraph.
fn whole(desk: Desk<'_>, context: &Context, text: &str) {
    let mut seen = BTreeSet::new();
    for paragraph in text.split_inclusive("\n\n") {
        desk.run.emit(Event::AnswerDelta {
            text: paragraph.to_owned(),
        });
        announce(desk, &context.passages, paragraph, &mut seen);
    }
}

/// Streams a reply into the run's events.
async fn stream(
    desk: Desk<'_>,
    plan: &Plan,
    content: String,
    passages: &[Passage],
    spent: &mut Spent,
) -> PortResult<String> {
    let request = ChatRequest {
        messages: vec![ChatMessage {
            role: ChatRole::User,
            content,
        }],
        schema: None,
        temperature: plan.temperature,
        max_tokens: Some(MAX_ANSWER_TOKENS),
    };
    let asked = words(desk, &request);
    let mut reply = open(desk, request).await?;
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    while let Some(delta) = reply.next().await {
        match delta? {
            ChatDelta::Text(piece) => {
                if text.len() + piece.len() > MAX_ANSWER_BYTES {
                    return Err(
                        PortError::rejected(ErrorCode::BadReply, "the model did not stop writing")
                            .with_hint("ask again, or choose another model in Settings"),
                    );
                }
                text.push_str(&piece);
                let closes = piece.contains(']');
                desk.run.emit(Event::AnswerDelta { text: piece });
                if closes {
                    announce(desk, passages, &text, &mut seen);
                }
            }
            ChatDelta::Usage {
                prompt_tokens,
                completion_tokens,
            } => {
                spent.prompt_tokens = Some(prompt_tokens);
                spent.completion_tokens = Some(completion_tokens);
            }
        }
    }
    pay(desk, asked, &text, spent);
    Ok(text)
}

async fn open(desk: Desk<'_>, request: ChatRequest) -> PortResult<crate::ports::ChatStream> {
    let model = desk.model.ok_or_else(|| {
        PortError::rejected(
            ErrorCode::InvalidRequest,
            "the quotes engine has no language model",
        )
    })?;
    desk.run.budget.take_llm_call()?;
    model.chat(request, &desk.run.cancel).await
}

/// Tokens of a request as our own model counts them.
fn words(desk: Desk<'_>, request: &ChatRequest) -> u64 {
    request
        .messages
        .iter()
        .map(|message| desk.ports.tokenizer.count(&message.content) as u64)
        .sum()
}

/// Counts a call against the budget: as the engine says, else as our own model counts.
fn pay(desk: Desk<'_>, asked: u64, text: &str, spent: &Spent) {
    let written = || desk.ports.tokenizer.count(text) as u64;
    desk.run.budget.spend(
        spent.prompt_tokens.unwrap_or(asked),
        spent.completion_tokens.unwrap_or_else(written),
        spent.prompt_tokens.is_none() || spent.completion_tokens.is_none(),
    );
}

/// Tells of each citation the first time the text makes it.
fn announce(desk: Desk<'_>, passages: &[Passage], text: &str, seen: &mut BTreeSet<u32>) {
    for number in markers(text).into_iter().flat_map(|marker| marker.numbers) {
        if seen.insert(number)
            && let Some(citation) = citation(number, passages)
        {
            desk.run.emit(Event::CitationAdded { citation });
        }
    }
}

fn citations(numbers: &BTreeSet<u32>, passages: &[Passage]) -> Vec<Citation> {
    numbers
        .iter()
        .filter_map(|number| citation(*number, passages))
        .collect()
}

fn citation(n: u32, passages: &[Passage]) -> Option<Citation> {
    let passage = passages.get(usize::try_from(n).ok()?.checked_sub(1)?)?;
    Some(Citation {
        n,
        document: passage.document.clone(),
        path: passage.path.clone(),
        page: passage.page(),
        span: passage.span,
        text: passage.text.clone(),
        title: passage.title.clone(),
        headings: passage.headings.clone(),
        chunk: passage.chunk.clone(),
        url: passage.url.clone(),
        flagged: passage.flagged.clone(),
        stores: passage.stores(),
        rerank_score: passage.rerank_score,
    })
}

/// Asks the language model for a JSON object.
pub(super) async fn ask_for_json(desk: Desk<'_>, request: ChatRequest) -> PortResult<Map<String, Value>> {
    let asked = words(desk, &request);
    let mut spent = Spent::default();
    let mut reply = open(desk, request).await?;
    let mut text = String::new();
    while let Some(delta) = reply.next().await {
        match delta? {
            ChatDelta::Text(piece) => text.push_str(&piece),
            ChatDelta::Usage {
                prompt_tokens,
                completion_tokens,
            } => {
                spent.prompt_tokens = Some(prompt_tokens);
                spent.completion_tokens = Some(completion_tokens);
            }
        }
        if text.len() > MAX_JSON_BYTES {
            break;
        }
    }
    pay(desk, asked, &text, &spent);
    json::object(&text).ok_or_else(|| {
        let start: String = text.chars().take(120).collect();
        PortError::transient(
            ErrorCode::BadReply,
            format!("the model did not reply with a JSON object: \"{start}\""),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::is_abstention;

    #[test]
    fn the_agreed_sentence_is_an_abstention_and_a_cited_one_is_not() {
        assert!(is_abstention("The documents do not say."));
        assert!(is_abstention("**The documents do not say**"));
        assert!(is_abstention(""));
        assert!(!is_abstention(
            "The documents do not say why, but the pump failed twice [1]."
        ));
        assert!(!is_abstention("The pump failed [1]."));
    }
}
