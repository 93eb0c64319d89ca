//! `adrag ask`: answers a question, with citations.

use super::args::AskArgs;
use super::exit::{Ended, Exit, Stop};
use super::interrupt::{self, Interrupt};
use super::known_collection;
use super::output::Output;
use super::run::follow;
use super::search::indent;
use crate::events::subscribe;
use adrag_contract::{
    Answer, AppError, AskRequest, Citation, Claim, DocumentId, Event, Grounding, RowStatus, RunEvent,
    RunOutcome, RunView, Turn, Verdict,
};
use adrag_core::Engine;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Largest history file that is read, bytes.
const HISTORY_LIMIT: u64 = 1 << 20;

/// Runs the command.
pub async fn ask(
    args: &AskArgs,
    history: Vec<Turn>,
    engine: &Arc<Engine>,
    output: &Output,
    interrupt: &Interrupt,
) -> Ended {
    let request = AskRequest {
        question: args.question.clone(),
        history,
        engine: args.engine,
        model: args.model.clone(),
        base_url: args.base_url.clone(),
        collection: known_collection(engine, args.collection.as_deref()).await?,
        thread: args.thread.as_deref().map(adrag_contract::ThreadId::new),
        replaces: None,
        web: (args.web || args.no_web).then_some(args.web),
    };
    let mut events = subscribe(engine);
    let run = engine.ask(request).await?;
    let mut view = RunView::default();
    let last = follow(engine, &run, &mut events, interrupt, |event| {
        show(output, &mut view, event);
        if output.json {
            output.json_line(event)
        } else {
            Ok(())
        }
    })
    .await?;
    conclude(last, &view, output)
}

fn conclude(last: RunEvent, view: &RunView, output: &Output) -> Ended {
    let took_ms = last
        .at_ms
        .saturating_sub(view.started_at_ms.unwrap_or(last.at_ms))
        .max(0)
        .unsigned_abs();
    let (answer, error) = match last.event {
        Event::RunFinished {
            outcome: RunOutcome::Answered { answer },
        } => {
            let broken_off = answer.broken_off.clone();
            (Some(answer), broken_off)
        }
        Event::RunFailed { error, partial } => (partial, Some(error)),
        _ => (None, Some(interrupt::stopped())),
    };
    if output.json {
        output.json_line(&last_line(answer.as_deref(), error.as_ref(), took_ms))?;
    } else if let Some(answer) = &answer {
        print(answer, output)?;
    }
    if let Some(error) = &error {
        output.error(error);
    }
    Ok(exit_of(answer.as_deref(), error.is_some()))
}

/// An answer that broke off is done in part when there is any text of it.
fn exit_of(answer: Option<&Answer>, broken: bool) -> Exit {
    match (answer, broken) {
        (Some(_), false) => Exit::Done,
        (Some(answer), true) if !answer.text.trim().is_empty() => Exit::Partly,
        _ => Exit::Failed,
    }
}

/// A citation as scripts read it.
#[derive(Serialize)]
struct CitationLine<'a> {
    n: u32,
    document: &'a DocumentId,
    path: &'a str,
    page: Option<u32>,
    span: (u64, u64),
    text: &'a str,
}

impl<'a> From<&'a Citation> for CitationLine<'a> {
    fn from(citation: &'a Citation) -> Self {
        Self {
            n: citation.n,
            document: &citation.document,
            path: &citation.path,
            page: citation.page,
            span: citation.span,
            text: &citation.text,
        }
    }
}

/// The last line of `ask --json`: what there is of an answer, and the error if there is one.
pub fn last_line(answer: Option<&Answer>, error: Option<&AppError>, took_ms: u64) -> Value {
    let mut line = match answer {
        Some(answer) => json!({
            "answer": answer.text,
            "abstained": answer.abstained,
            "citations": answer.citations.iter().map(CitationLine::from).collect::<Vec<_>>(),
            "grounded": answer.grounding.as_bool(),
            "confidence": answer.confidence,
            "took_ms": answer.took_ms,
        }),
        None => json!({
            "answer": "", "abstained": false, "citations": [], "grounded": null, "confidence": null,
            "took_ms": took_ms,
        }),
    };
    if let Some(error) = error {
        line["error"] = json!(error);
    }
    line
}

/// The turns of a history file.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn read_history(file: Option<&Path>) -> Result<Vec<Turn>, String> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let refuse = |why: String| format!("`--history {}` cannot be used: {why}", file.display());
    let size = std::fs::metadata(file)
        .map_err(|error| refuse(error.to_string()))?
        .len();
    if size > HISTORY_LIMIT {
        return Err(refuse(format!(
            "it has {size} bytes, at most {HISTORY_LIMIT} are read"
        )));
    }
    let text = std::fs::read_to_string(file).map_err(|error| refuse(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| {
        refuse(format!(
            "it is no JSON list of {{\"role\": \"user\" or \"assistant\", \"content\": TEXT}}: {error}"
        ))
    })
}

fn show(output: &Output, view: &mut RunView, event: &RunEvent) {
    if view.apply(event).is_err() {
        tracing::warn!(seq = event.seq, "an event of the run is missing");
        return;
    }
    let active = view.rows.iter().find(|row| row.status == RowStatus::Active);
    if let Some(row) = active {
        let done = row
            .progress
            .as_ref()
            .map(|progress| format!(" {}/{}", progress.done, progress.total));
        output.progress(&format!("{}{}", row.stage.label(), done.unwrap_or_default()));
    }
}

fn print(answer: &Answer, output: &Output) -> Result<(), Stop> {
    output.text(&answer.text)?;
    if !answer.citations.is_empty() {
        output.text("")?;
    }
    for citation in &answer.citations {
        let page = citation
            .page
            .map(|page| format!(", page {page}"))
            .unwrap_or_default();
        output.text(&format!(
            "[{}] {}{page}\n{}",
            citation.n,
            citation.path,
            indent(&citation.text)
        ))?;
    }
    if answer.abstained && !answer.uncited.is_empty() {
        output.text("\nThe nearest passages:")?;
        for passage in answer.uncited.iter().take(3) {
            let page = passage
                .page()
                .map(|page| format!(", page {page}"))
                .unwrap_or_default();
            output.text(&format!("- {}{page}\n{}", passage.path, indent(&passage.text)))?;
        }
    }
    if let Some(remark) = remark(answer) {
        output.note(remark);
    }
    for claim in &answer.claims {
        if let Some(doubt) = doubt(claim) {
            output.note(&doubt);
        }
    }
    Ok(())
}

/// What is wrong with a sentence, if anything.
fn doubt(claim: &Claim) -> Option<String> {
    let verdict = match claim.verdict {
        Verdict::Supported => return None,
        Verdict::Partly => "supported in part",
        Verdict::Unsupported => "not supported",
        Verdict::Uncited => "cites nothing",
        Verdict::Unverified => "not checked",
    };
    let share = claim
        .support
        .map(|share| format!(" ({:.0} %)", share * 100.0))
        .unwrap_or_default();
    Some(format!("- {verdict}{share}: {}", claim.sentence))
}

fn remark(answer: &Answer) -> Option<&'static str> {
    if answer.broken_off.is_some() {
        return Some("note: the answer breaks off");
    }
    if answer.abstained || answer.direct {
        return None;
    }
    match answer.grounding {
        Grounding::Grounded => None,
        Grounding::NotGrounded => Some("note: not every sentence is supported by the cited passages"),
        Grounding::Unverified => Some("note: the answer could not be checked against the passages"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{EngineId, ErrorCode};

    fn answer(text: &str) -> Answer {
        Answer {
            text: text.to_owned(),
            abstained: false,
            direct: false,
            citations: vec![Citation {
                n: 1,
                document: "d".into(),
                path: "/a.pdf".to_owned(),
                page: Some(2),
                span: (3, 7),
                text: "fact".to_owned(),
                title: "A".to_owned(),
                headings: vec![],
                chunk: "c".into(),
                url: None,
                flagged: None,
                stores: vec![],
                rerank_score: None,
            }],
            uncited: vec![],
            claims: vec![],
            grounding: Grounding::Unverified,
            answerable: Some(0.875),
            confidence: Some(0.5),
            engine: EngineId::Quotes,
            model: None,
            broken_off: None,
            took_ms: 12,
            spent: adrag_contract::Spent::default(),
        }
    }

    #[test]
    fn a_doubted_sentence_is_told_with_its_probability() {
        let claim = |verdict, support| Claim {
            sentence: "It leaks.".to_owned(),
            span: (0, 9),
            verdict,
            support,
            citations: vec![1],
        };
        assert_eq!(doubt(&claim(Verdict::Supported, Some(0.9))), None);
        let told = doubt(&claim(Verdict::Partly, Some(0.31)));
        assert_eq!(told.as_deref(), Some("- supported in part (31 %): It leaks."));
        let told = doubt(&claim(Verdict::Uncited, None));
        assert_eq!(told.as_deref(), Some("- cites nothing: It leaks."));
    }

    #[test]
    fn the_last_line_has_exactly_the_promised_keys() {
        assert_eq!(
            last_line(Some(&answer("A [1].")), None, 0),
            json!({
                "answer": "A [1].", "abstained": false,
                "citations": [{"n": 1, "document": "d", "path": "/a.pdf", "page": 2, "span": [3, 7], "text": "fact"}],
                "grounded": null, "confidence": 0.5, "took_ms": 12,
            })
        );
    }

    #[test]
    fn a_failure_keeps_the_shape_and_adds_the_error() {
        let error = AppError::new(ErrorCode::Unauthorized, "refused").with_hint("enter a key");
        assert_eq!(
            last_line(None, Some(&error), 9),
            json!({
                "answer": "", "abstained": false, "citations": [], "grounded": null, "confidence": null, "took_ms": 9,
                "error": {"code": "unauthorized", "message": "refused", "hint": "enter a key"},
            })
        );
    }

    #[test]
    fn a_broken_off_answer_is_done_in_part() {
        assert_eq!(exit_of(Some(&answer("x")), false), Exit::Done);
        assert_eq!(exit_of(Some(&answer("x")), true), Exit::Partly);
        assert_eq!(exit_of(Some(&answer(" ")), true), Exit::Failed);
        assert_eq!(exit_of(None, true), Exit::Failed);
    }

    #[test]
    fn a_history_that_cannot_be_used_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("h.json");
        assert!(read_history(Some(&file)).unwrap_err().contains("cannot be used"));
        for bad in ["", "{}", "[1]", r#"[{"role":"wizard","content":"x"}]"#] {
            std::fs::write(&file, bad).unwrap();
            assert!(
                read_history(Some(&file)).unwrap_err().contains("no JSON list"),
                "{bad}"
            );
        }
        std::fs::write(
            &file,
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#,
        )
        .unwrap();
        assert_eq!(read_history(Some(&file)).unwrap().len(), 2);
    }
}
