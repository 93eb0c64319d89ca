//! Prompts: files with named places, filled with data that was made harmless.

use super::types::{Context, Plan};
use adrag_contract::{QuestionKind, Role, RunId, Turn};

const PLANNER: &str = include_str!("../prompts/planner.md");
const ANSWER: &str = include_str!("../prompts/answer.md");
const DIRECT: &str = include_str!("../prompts/direct.md");
const CRITIC: &str = include_str!("../prompts/critic.md");

/// Turns of the conversation a prompt carries, and most characters of each.
const TURNS: usize = 6;
const TURN_CHARS: usize = 600;

/// The sentence by which a model says that the passages do not answer.
pub(super) const ABSTENTION: &str = "The documents do not say.";

/// A line that fences data. It carries the run's id, so no document can know it beforehand.
pub(super) fn marker(run: &RunId) -> String {
    let id: String = run
        .as_str()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(16)
        .collect();
    format!("=====data-{id}=====")
}

pub(super) fn planner(history: &[Turn], question: &str) -> String {
    fill(
        PLANNER,
        &[
            ("conversation", &conversation(history)),
            ("question", &harmless(question)),
        ],
    )
}

pub(super) fn direct(history: &[Turn], question: &str) -> String {
    fill(
        DIRECT,
        &[
            ("conversation", &conversation(history)),
            ("question", &harmless(question)),
        ],
    )
}

pub(super) fn answer(run: &RunId, plan: &Plan, context: &Context) -> String {
    let Plan {
        question,
        critique,
        kind,
        ..
    } = plan;
    let marker = marker(run);
    let critique = if critique.is_empty() {
        String::new()
    } else {
        format!(
            "\nAn earlier answer was rejected: {}\n",
            harmless(&critique.join("; "))
        )
    };
    fill(
        ANSWER,
        &[
            ("abstention", ABSTENTION),
            ("form", form(*kind)),
            ("critique", &critique),
            ("evidence", &evidence(context, &marker)),
            ("question", &harmless(question)),
            ("marker", &marker),
        ],
    )
}

pub(super) fn critic(run: &RunId, question: &str, context: &Context, answer: &str) -> String {
    let marker = marker(run);
    fill(
        CRITIC,
        &[
            ("evidence", &evidence(context, &marker)),
            ("question", &harmless(question)),
            ("answer", &harmless(answer)),
            ("marker", &marker),
        ],
    )
}

/// How an answer to such a question is built.
fn form(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Analytical => {
            "Weigh what the passages say: point by point, in a few short paragraphs or a list, the conclusion first."
        }
        QuestionKind::Factual | QuestionKind::Conversational => "Be brief: a fact in one sentence.",
    }
}

/// Replaces each `{{name}}` of the template once; values are never looked at for names again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, tail)) = after.split_once("}}") else {
            break;
        };
        filled.push_str(before);
        filled.push_str(
            values
                .iter()
                .find(|(key, _)| *key == name)
                .map_or("", |(_, value)| value),
        );
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

fn evidence(context: &Context, marker: &str) -> String {
    let mut evidence = String::new();
    for ((n, passage), excerpt) in (1..).zip(&context.passages).zip(&context.excerpts) {
        let mut label = harmless(&passage.title);
        for heading in &passage.headings {
            label.push_str(" > ");
            label.push_str(&harmless(heading));
        }
        if let Some(page) = passage.page() {
            label.push_str(&format!(", page {page}"));
        }
        evidence.push_str(&format!("{marker}\n[{n}] {label}\n{}\n", harmless(excerpt)));
    }
    evidence.push_str(marker);
    evidence
}

fn conversation(history: &[Turn]) -> String {
    let mut conversation = String::new();
    for turn in history.iter().skip(history.len().saturating_sub(TURNS)) {
        let who = match turn.role {
            Role::User => "Person",
            Role::Assistant => "Program",
        };
        let said: String = harmless(&turn.content).chars().take(TURN_CHARS).collect();
        conversation.push_str(&format!("{who}: {said}\n"));
    }
    conversation
}

/// Text without control, direction, zero-width and tag characters, and with our fences broken.
pub(super) fn harmless(text: &str) -> String {
    text.chars()
        .filter(|c| !is_hidden(*c))
        .collect::<String>()
        .replace("=====", "= = =")
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_looks_like_a_place_is_left_alone() {
        assert_eq!(
            fill("a {{x}} b {{y}}", &[("x", "{{y}}"), ("y", "1")]),
            "a {{y}} b 1"
        );
    }

    #[test]
    fn hidden_characters_and_fences_do_not_reach_the_model() {
        let text = harmless("a\u{200b}b\u{e0041}c\u{202e} =====data-1===== d");
        assert_eq!(text, "abc = = =data-1= = = d");
    }

    #[test]
    fn the_rendered_answer_prompt() {
        let mut plan = Plan {
            retrieve: true,
            use_web: false,
            kind: QuestionKind::Factual,
            question: "Which seal?".to_owned(),
            queries: Vec::new(),
            temperature: 0.0,
            critique: vec!["no number".to_owned()],
            direct_answer: None,
        };
        let fact = answer(&RunId::new("r-1"), &plan, &Context::default());
        insta::assert_snapshot!(fact);
        plan.kind = QuestionKind::Analytical;
        let weighed = answer(&RunId::new("r-1"), &plan, &Context::default());
        assert_ne!(fact, weighed, "the question's form steers the answer's");
    }

    #[test]
    fn the_rendered_critic_prompt() {
        insta::assert_snapshot!(critic(
            &RunId::new("r-1"),
            "Which seal?",
            &Context::default(),
            "SK-118-C [1]."
        ));
    }

    #[test]
    fn the_rendered_planner_prompt() {
        let history = [Turn {
            role: Role::User,
            content: "Which pump?".to_owned(),
        }];
        insta::assert_snapshot!(planner(&history, "And its seal?"));
    }
}
