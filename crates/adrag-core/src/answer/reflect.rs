//! Stage 8: every sentence of the answer against the passages it cites. What is verbatim is supported; the rest is for the
//! support model, and a language model may add its critique. What nothing could check stays *unverified*; nothing fails
//! toward "grounded".

use super::types::{Context, Draft, Plan, Review};
use super::{Desk, check_support, json, prompt};
use crate::cite::markers;
use crate::ports::{ChatMessage, ChatRequest, ChatRole, PortResult, ReplySchema, SupportModel};
use crate::run::{StageEnd, run_stage_or};
use crate::sentence::sentences;
use adrag_contract::{Claim, Event, Grounding, Passage, StageDetail, StageId, Verdict};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use unicode_normalization::UnicodeNormalization;

/// Issues and searches taken from a critic.
const MAX_ISSUES: usize = 8;
const MAX_SEARCHES: usize = 3;
/// What is wrong with an answer that claims nothing.
const EMPTY: &str = "the model wrote nothing";
const UNANSWERED: &str = "the documents do not answer the question";

pub(super) async fn reflect(
    desk: Desk<'_>,
    plan: &Plan,
    context: &Context,
    draft: &Draft,
) -> PortResult<Review> {
    let claims = if draft.direct || draft.abstained {
        Vec::new()
    } else {
        check(&draft.text, &context.passages)
    };
    let unverified = Review {
        grounding: Grounding::Unverified,
        confidence: None,
        issues: Vec::new(),
        missing: Vec::new(),
        retry: false,
        wanting: false,
        claims,
    };
    run_stage_or(
        desk.run,
        StageId::Reflect,
        async {
            if draft.direct {
                return Ok(StageEnd::Skipped(
                    unverified.clone(),
                    "nothing was said from the documents".to_owned(),
                ));
            }
            if draft.abstained {
                let review = Review {
                    issues: vec![if draft.empty { EMPTY } else { UNANSWERED }.to_owned()],
                    retry: draft.empty,
                    wanting: !draft.empty,
                    ..unverified.clone()
                };
                return Ok(StageEnd::Skipped(review, "the answer claims nothing".to_owned()));
            }
            let (review, by) = judge(desk, plan, context, draft, unverified.clone()).await?;
            announce(desk, &review);
            let detail = StageDetail::Reflect {
                by,
                grounding: review.grounding,
                checked: review.claims.len() as u64,
                supported: count(&review, Verdict::Supported),
                issues: review.issues.clone(),
            };
            Ok(StageEnd::Done(review, detail))
        },
        |_| {
            announce(desk, &unverified);
            Some((unverified.clone(), "the answer stays unverified".to_owned()))
        },
    )
    .await
}

fn announce(desk: Desk<'_>, review: &Review) {
    for claim in &review.claims {
        desk.run.emit(Event::ClaimChecked { claim: claim.clone() });
    }
}

fn count(review: &Review, verdict: Verdict) -> u64 {
    review
        .claims
        .iter()
        .filter(|claim| claim.verdict == verdict)
        .count() as u64
}

async fn judge(
    desk: Desk<'_>,
    plan: &Plan,
    context: &Context,
    draft: &Draft,
    mut review: Review,
) -> PortResult<(Review, String)> {
    let mut by = vec!["verbatim".to_owned()];
    let all_verbatim = !review.claims.is_empty()
        && review
            .claims
            .iter()
            .all(|claim| claim.verdict == Verdict::Supported);
    if !all_verbatim && let Some(model) = &desk.ports.support {
        by.push(model.name());
        review.issues = check_support(
            model.as_ref(),
            &plan.question,
            &mut review.claims,
            &context.passages,
            &desk.run.cancel,
        )
        .await?;
        review.missing = review
            .claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Unsupported)
            .map(|claim| claim.sentence.clone())
            .take(MAX_SEARCHES)
            .collect();
    }
    let uncited = count(&review, Verdict::Uncited);
    if uncited > 0 {
        review.issues.push(format!("{uncited} sentences cite no passage"));
    }
    review.grounding = grounding(&review.claims);
    let support: Vec<f32> = review.claims.iter().filter_map(|claim| claim.support).collect();
    if support.len() == review.claims.len() {
        review.confidence = desk.ports.fold.of(&support);
    }
    if !all_verbatim && desk.model.is_some() && desk.settings.answer.critic {
        by.push("language model".to_owned());
        if let Err(error) = criticise(desk, plan, context, draft, &mut review).await {
            if error.is_cancelled() || review.grounding == Grounding::Unverified {
                return Err(error);
            }
            desk.run.emit(Event::StageFailed {
                stage: StageId::Reflect,
                error: error.error,
                degraded_to: Some("the local check stands alone".to_owned()),
            });
        }
    }
    review.wanting = review.grounding == Grounding::NotGrounded;
    review.retry = desk.model.is_some() && review.wanting;
    Ok((review, by.join(", ")))
}

/// Grounded when every claim is supported; not when one is known not to be; else nobody knows.
fn grounding(claims: &[Claim]) -> Grounding {
    let any = |verdict: Verdict| claims.iter().any(|claim| claim.verdict == verdict);
    if any(Verdict::Unsupported) || any(Verdict::Partly) || any(Verdict::Uncited) {
        Grounding::NotGrounded
    } else if claims.is_empty() || any(Verdict::Unverified) {
        Grounding::Unverified
    } else {
        Grounding::Grounded
    }
}

/// Checks a text against passages alone: a sentence that cites nothing is checked against all of them.
pub(crate) async fn check_answer(
    model: &dyn SupportModel,
    question: &str,
    answer: &str,
    passages: &[String],
    cancel: &CancellationToken,
) -> PortResult<(Vec<Claim>, Grounding)> {
    let passages: Vec<Passage> = passages.iter().map(|text| Passage::of_text(text)).collect();
    let mut claims = claims_of(answer);
    for claim in claims.iter_mut().filter(|claim| claim.citations.is_empty()) {
        claim.citations = (1..).take(passages.len()).collect();
    }
    settle_verbatim(&mut claims, &passages);
    check_support(model, question, &mut claims, &passages, cancel).await?;
    let grounding = grounding(&claims);
    Ok((claims, grounding))
}

/// Asks the language model what it thinks of the answer. It can condemn what the check let pass, and settle what nothing
/// else could check; it cannot acquit.
async fn criticise(
    desk: Desk<'_>,
    plan: &Plan,
    context: &Context,
    draft: &Draft,
    review: &mut Review,
) -> PortResult<()> {
    let request = ChatRequest {
        messages: vec![ChatMessage {
            role: ChatRole::User,
            content: prompt::critic(&desk.run.run, &plan.question, context, &draft.text),
        }],
        schema: Some(schema()),
        temperature: 0.0,
        max_tokens: Some(500),
    };
    let reply = super::reason::ask_for_json(desk, request).await?;
    review.issues.extend(json::texts(&reply, "issues", MAX_ISSUES));
    for query in json::texts(&reply, "missing", MAX_SEARCHES) {
        if !review.missing.contains(&query) {
            review.missing.push(query);
        }
    }
    review.confidence = review.confidence.or(json::share(&reply, "confidence"));
    review.grounding = match (review.grounding, json::truth(&reply, "grounded")) {
        (_, Some(false)) => Grounding::NotGrounded,
        (Grounding::Unverified, Some(true)) => Grounding::Grounded,
        (checked, _) => checked,
    };
    Ok(())
}

fn schema() -> ReplySchema {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    ReplySchema {
        name: "review".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "grounded": {"type": "boolean"},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "issues": texts,
                "missing": texts,
                "should_retry": {"type": "boolean"}
            },
            "required": ["grounded", "confidence", "issues", "missing", "should_retry"],
            "additionalProperties": false
        }),
    }
}

/// The sentences of an answer with what can be said of them without a model.
fn check(text: &str, passages: &[Passage]) -> Vec<Claim> {
    let mut claims = claims_of(text);
    settle_verbatim(&mut claims, passages);
    claims
}

/// Settles the claims that a cited passage says word for word, and those that cite nothing.
fn settle_verbatim(claims: &mut [Claim], passages: &[Passage]) {
    let normal: Vec<String> = passages
        .iter()
        .map(|passage| normal_form(&passage.text))
        .collect();
    for claim in claims {
        claim.verdict = verdict(claim, &normal);
        claim.support = (claim.verdict == Verdict::Supported).then_some(1.0);
    }
}

/// The sentences of an answer that say something, with the numbers they cite.
fn claims_of(text: &str) -> Vec<Claim> {
    let found = markers(text);
    let mut claims: Vec<Claim> = Vec::new();
    for span in sentences(text) {
        let inside = found
            .iter()
            .filter(|marker| marker.span.start >= span.start && marker.span.end <= span.end);
        let (mut words, mut numbers, mut done) = (String::new(), Vec::new(), span.start);
        for marker in inside {
            // A marker at the very start belongs to the sentence before: "It failed. [1] Then ..."
            if words.trim().is_empty()
                && text[done..marker.span.start].trim().is_empty()
                && let Some(before) = claims.last_mut()
            {
                before.citations.extend(&marker.numbers);
                before.span.1 = marker.span.end as u64;
            } else {
                numbers.extend(&marker.numbers);
            }
            words.push_str(&text[done..marker.span.start]);
            done = marker.span.end;
        }
        words.push_str(&text[done..span.end]);
        if !words.chars().any(char::is_alphanumeric) {
            continue;
        }
        claims.push(Claim {
            sentence: words.trim().to_owned(),
            span: (span.start as u64, span.end as u64),
            verdict: Verdict::Unverified,
            support: None,
            citations: numbers,
        });
    }
    for claim in &mut claims {
        claim.citations.sort_unstable();
        claim.citations.dedup();
    }
    claims
}

fn verdict(claim: &Claim, passages: &[String]) -> Verdict {
    if claim.citations.is_empty() {
        return Verdict::Uncited;
    }
    let said = normal_form(&claim.sentence);
    let verbatim = claim
        .citations
        .iter()
        .filter_map(|number| passages.get((*number as usize).checked_sub(1)?))
        .any(|passage| passage.contains(&said));
    if verbatim {
        Verdict::Supported
    } else {
        Verdict::Unverified
    }
}

/// Letters and digits only, NFKC, lower case: white space, escapes and quotation marks make no difference.
fn normal_form(text: &str) -> String {
    text.nfkc()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(text: &str, passages: &[&str]) -> Vec<Verdict> {
        let passages: Vec<Passage> = passages.iter().map(|text| Passage::of_text(text)).collect();
        check(text, &passages)
            .into_iter()
            .map(|claim| claim.verdict)
            .collect()
    }

    #[test]
    fn verbatim_is_supported_only_by_the_passage_it_cites() {
        let passages = ["The seal is SK-118-C.\nIt costs 57.80.", "Other."];
        assert_eq!(
            verdicts("The seal is SK-118-C. [1]", &passages),
            [Verdict::Supported]
        );
        assert_eq!(
            verdicts("The seal is SK-118-C. [2]", &passages),
            [Verdict::Unverified]
        );
    }

    #[test]
    fn a_sentence_without_a_number_is_uncited() {
        assert_eq!(
            verdicts("The seal leaks. It costs 57.80 [1].", &["It costs 57.80"]),
            [Verdict::Uncited, Verdict::Supported]
        );
    }

    #[test]
    fn a_marker_after_the_full_stop_belongs_to_the_sentence_before() {
        let passages = ["It failed. Then it stopped."];
        assert_eq!(
            verdicts("It failed. [1] Then it stopped. [1]", &passages),
            [Verdict::Supported, Verdict::Supported]
        );
    }
}
