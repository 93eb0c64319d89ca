//! Stage 1: whether and what to search. Rules first, then the language model where there is one; every failure leads
//! toward retrieval.

use super::types::{Plan, Question};
use super::{Desk, arithmetic, decompose::decompose, json, prompt};
use crate::ports::{ChatMessage, ChatRequest, ChatRole, PortResult, ReplySchema};
use crate::run::{StageEnd, run_stage_or};
use adrag_contract::{QuestionKind, Role, StageDetail, StageId, Turn};
use serde_json::json;

/// Searches of a question beside itself, at most.
const MAX_SUB_QUESTIONS: usize = 4;
/// A follow-up with fewer words takes its subject from the turn before.
const SHORT_QUESTION_WORDS: usize = 7;

const GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hi there",
    "hello there",
    "good morning",
    "good afternoon",
    "good evening",
    "thanks",
    "thank you",
    "thank you very much",
    "thanks a lot",
    "bye",
    "goodbye",
    "how are you",
    "how are you today",
    "hallo",
    "guten tag",
    "danke",
    "bonjour",
    "merci",
    "hola",
    "gracias",
    "ciao",
    "grazie",
    "olá",
    "obrigado",
    "привет",
    "спасибо",
    "你好",
    "谢谢",
    "こんにちは",
    "ありがとう",
];

const BACK_REFERENCES: &[&str] = &[
    "it", "its", "they", "them", "their", "he", "she", "his", "her", "this", "that", "these", "those", "one",
    "ones", "other", "others", "former", "latter", "there", "same",
];

/// Plans.
pub(super) async fn plan(desk: Desk<'_>, question: &Question) -> PortResult<Plan> {
    run_stage_or(
        desk.run,
        StageId::Planner,
        async {
            let ruled = by_rules(desk, question);
            let (mut plan, by, reasoning) = match (&ruled, desk.model) {
                (Ruled::Settled(plan, why), _) => (plan.clone(), "rules", (*why).to_owned()),
                (Ruled::Open(plan), Some(_)) if needs_model(question) => {
                    let (plan, why) = by_model(desk, question, plan).await?;
                    (plan, "language model", why)
                }
                (Ruled::Open(plan), _) => (plan.clone(), "rules", "it asks about the documents".to_owned()),
            };
            plan.use_web &= question.may_search_web;
            let detail = StageDetail::Planner {
                retrieve: plan.retrieve,
                use_web: plan.use_web,
                kind: plan.kind,
                standalone_question: plan.question.clone(),
                queries: plan.queries.clone(),
                by: by.to_owned(),
                reasoning,
            };
            Ok(StageEnd::Done(plan, detail))
        },
        |_| match by_rules(desk, question) {
            Ruled::Settled(plan, _) | Ruled::Open(plan) => {
                Some((plan, "the question is searched for as it stands".to_owned()))
            }
        },
    )
    .await
}

enum Ruled {
    Settled(Plan, &'static str),
    Open(Plan),
}

fn by_rules(desk: Desk<'_>, question: &Question) -> Ruled {
    let mut plan = Plan {
        retrieve: true,
        use_web: false,
        kind: kind_of(&question.text),
        question: standalone(&question.text, &question.history),
        queries: Vec::new(),
        temperature: 0.0,
        critique: Vec::new(),
        direct_answer: None,
    };
    plan.queries = vec![plan.question.clone()];
    if is_greeting(&question.text) {
        plan.retrieve = false;
        plan.kind = QuestionKind::Conversational;
        plan.question.clone_from(&question.text);
        plan.queries.clear();
        return Ruled::Settled(plan, "it is a greeting");
    }
    if let Some(value) = arithmetic::evaluate(&question.text) {
        plan.retrieve = false;
        plan.queries.clear();
        plan.question.clone_from(&question.text);
        plan.direct_answer = Some(value);
        return Ruled::Settled(plan, "it is plain arithmetic");
    }
    // A follow-up is made whole from the turn before, whose question was searched for already.
    if desk.settings.retrieval.decompose && question.history.is_empty() {
        plan.queries.extend(
            decompose(&plan.question)
                .into_iter()
                .filter(|query| *query != plan.question),
        );
        plan.queries.truncate(1 + MAX_SUB_QUESTIONS);
    }
    Ruled::Open(plan)
}

/// A model is asked where rules are weak: a conversation to resolve, or a question that may need several searches.
fn needs_model(question: &Question) -> bool {
    !question.history.is_empty() || question.text.split_whitespace().count() > SHORT_QUESTION_WORDS
}

async fn by_model(desk: Desk<'_>, question: &Question, ruled: &Plan) -> PortResult<(Plan, String)> {
    let request = ChatRequest {
        messages: vec![ChatMessage {
            role: ChatRole::User,
            content: prompt::planner(&question.history, &question.text),
        }],
        schema: Some(schema()),
        temperature: 0.0,
        max_tokens: Some(400),
    };
    let reply = super::reason::ask_for_json(desk, request).await?;
    let mut plan = ruled.clone();
    plan.retrieve = json::truth(&reply, "retrieve").unwrap_or(true);
    plan.use_web = json::truth(&reply, "use_web").unwrap_or(false);
    plan.kind = match json::text(&reply, "kind").as_deref() {
        Some("analytical") => QuestionKind::Analytical,
        Some("conversational") => QuestionKind::Conversational,
        Some("factual") => QuestionKind::Factual,
        _ => ruled.kind,
    };
    if let Some(standalone) = json::text(&reply, "standalone_question") {
        plan.question = standalone;
    }
    let asked = std::mem::replace(&mut plan.queries, vec![plan.question.clone()]);
    let wanted = json::texts(&reply, "sub_questions", MAX_SUB_QUESTIONS);
    if wanted.is_empty() && plan.question == ruled.question {
        // The model saw nothing to divide; what the rules saw stands.
        plan.queries = asked;
    }
    for query in wanted {
        if !plan.queries.contains(&query) {
            plan.queries.push(query);
        }
    }
    let why = json::text(&reply, "reasoning").unwrap_or_else(|| "the model gave no reason".to_owned());
    Ok((plan, why))
}

fn schema() -> ReplySchema {
    ReplySchema {
        name: "plan".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "retrieve": {"type": "boolean"},
                "use_web": {"type": "boolean"},
                "kind": {"type": "string", "enum": ["factual", "analytical", "conversational"]},
                "standalone_question": {"type": "string"},
                "sub_questions": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_SUB_QUESTIONS},
                "reasoning": {"type": "string"}
            },
            "required": ["retrieve", "use_web", "kind", "standalone_question", "sub_questions", "reasoning"],
            "additionalProperties": false
        }),
    }
}

fn is_greeting(text: &str) -> bool {
    let plain: String = text
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let starts = |whole: &str| {
        GREETINGS
            .iter()
            .filter_map(|greeting| whole.strip_prefix(greeting).map(str::trim).map(str::to_owned))
            .min_by_key(String::len)
    };
    // "Hi there! How are you today?" is two greetings and nothing else.
    let mut rest = plain;
    for _ in 0..3 {
        match starts(&rest) {
            Some(left) if left.is_empty() => return true,
            Some(left) => rest = left,
            None => return false,
        }
    }
    false
}

fn kind_of(text: &str) -> QuestionKind {
    let lower = text.to_lowercase();
    let weighs = [
        "why",
        "how does",
        "how do",
        "explain",
        "compare",
        "difference",
        "versus",
        " vs ",
        "summar",
        "more from",
    ];
    if weighs.iter().any(|word| lower.contains(word)) {
        QuestionKind::Analytical
    } else {
        QuestionKind::Factual
    }
}

/// The question with its subject taken from the turn before, where it plainly has none of its own. A language model
/// does this better; without one, words are enough to search by.
pub fn standalone(question: &str, history: &[Turn]) -> String {
    let Some(asked) = history.iter().rev().find(|turn| turn.role == Role::User) else {
        return question.to_owned();
    };
    let words: Vec<String> = question
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let begins = words.first().is_some_and(|word| matches!(word.as_str(), "and" | "what" if words.len() <= SHORT_QUESTION_WORDS || word == "and"));
    let refers = words.iter().any(|word| BACK_REFERENCES.contains(&word.as_str()));
    if begins || refers || words.len() <= 4 {
        let before: String = asked.content.chars().take(300).collect();
        format!("{} {question}", before.trim())
    } else {
        question.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_greetings_and_questions_are_not() {
        for text in ["Hi there! How are you today?", "hello", "Thanks!", "你好"] {
            assert!(is_greeting(text), "{text}");
        }
        for text in ["Hi, which seal fits?", "History of the pump", "Which hey?"] {
            assert!(!is_greeting(text), "{text}");
        }
    }

    #[test]
    fn a_follow_up_takes_its_subject_from_the_turn_before() {
        let history = [Turn {
            role: Role::User,
            content: "How much is a tyre change for model X?".to_owned(),
        }];
        assert!(standalone("and a windscreen?", &history).contains("model X"));
        let own = "Which harbour was closed in March because of the ice?";
        assert_eq!(standalone(own, &history), own);
    }
}
