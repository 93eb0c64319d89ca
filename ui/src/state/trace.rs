//! What a stage did, in a word for the strip and in lines for the trace.

use super::format::{count, counted, duration};
use adrag_contract::{Grounding, QuestionKind, RowStatus, StageDetail, StageRow};

/// The outcome in a word or two.
pub fn summary(row: &StageRow) -> String {
    if row.status == RowStatus::Active {
        return row
            .progress
            .as_ref()
            .map(|now| format!("{}/{} {}", now.done, now.total, now.unit))
            .unwrap_or_default();
    }
    match &row.detail {
        None => String::new(),
        Some(StageDetail::Planner { retrieve: false, .. }) => "no search needed".to_owned(),
        Some(StageDetail::Planner { queries, .. }) => counted(queries.len() as u64, "query", "queries"),
        Some(StageDetail::Retrieval {
            vector,
            keyword,
            graph,
            ..
        }) => counted(vector + keyword + graph, "hit", "hits"),
        Some(StageDetail::ExternalTools { web, .. }) => counted(*web, "page", "pages"),
        Some(StageDetail::Aggregate { after, .. }) => counted(*after, "passage", "passages"),
        Some(StageDetail::Rerank { kept, .. }) => format!("{} kept", count(*kept)),
        Some(StageDetail::Compress { tokens_after, .. }) => counted(*tokens_after, "token", "tokens"),
        Some(StageDetail::Reason { cited, .. }) => format!("{} cited", count(*cited)),
        Some(StageDetail::Reflect { checked: 0, .. }) => "nothing to check".to_owned(),
        Some(StageDetail::Reflect {
            checked, supported, ..
        }) => format!("{supported} of {checked} hold"),
    }
}

/// A status for people and for screen readers.
pub fn status(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Waiting => "waiting",
        RowStatus::Active => "active",
        RowStatus::Done => "done",
        RowStatus::Skipped => "skipped",
        RowStatus::Degraded => "degraded",
        RowStatus::Failed => "failed",
    }
}

/// A row in one sentence: for hover and for screen readers.
pub fn sentence(row: &StageRow) -> String {
    let mut text = format!("{}: {}", row.stage.label(), status(row.status));
    let said = summary(row);
    if !said.is_empty() {
        text.push_str(&format!(", {said}"));
    }
    if let Some(took) = row.took_ms {
        text.push_str(&format!(", {}", duration(took)));
    }
    if let Some(note) = &row.note {
        text.push_str(&format!(" ({note})"));
    }
    text
}

/// What a stage found or decided, a name and a value each.
pub fn details(detail: &StageDetail) -> Vec<(&'static str, String)> {
    match detail {
        StageDetail::Planner {
            retrieve,
            use_web,
            kind,
            standalone_question,
            queries,
            by,
            reasoning,
        } => {
            let kind = match kind {
                QuestionKind::Factual => "a fact",
                QuestionKind::Analytical => "an analysis",
                QuestionKind::Conversational => "small talk",
            };
            let mut lines = vec![
                ("Understood", standalone_question.clone()),
                ("Asks for", kind.to_owned()),
            ];
            lines.extend(
                queries
                    .iter()
                    .filter(|query| *query != standalone_question)
                    .map(|query| ("Query", query.clone())),
            );
            lines.push(("Searches", searches(*retrieve, *use_web).to_owned()));
            lines.push(("Planned by", by.clone()));
            lines.push(("Because", reasoning.clone()));
            lines
        }
        StageDetail::Retrieval {
            vector,
            keyword,
            graph,
            down,
            filters,
            left_out,
        } => {
            let mut lines = vec![
                ("Vectors", count(*vector)),
                ("Words", count(*keyword)),
                ("Graph", count(*graph)),
            ];
            if !down.is_empty() {
                lines.push((
                    "No answer",
                    down.iter()
                        .map(|store| store.as_str())
                        .collect::<Vec<_>>()
                        .join(", "),
                ));
            }
            if !filters.is_empty() {
                lines.push(("Only", filters.join(" ")));
                lines.push(("Shut out", count(*left_out)));
            }
            lines
        }
        StageDetail::ExternalTools { web, queries, faults } => {
            let mut lines = vec![("Pages", count(*web))];
            lines.extend(queries.iter().map(|query| ("Sent to the web", query.clone())));
            lines.extend(faults.iter().map(|fault| ("Went wrong", fault.clone())));
            lines
        }
        StageDetail::Aggregate { before, after, .. } => {
            vec![
                ("Found by all stores", count(*before)),
                ("Distinct passages", count(*after)),
            ]
        }
        StageDetail::Rerank {
            by,
            scored,
            kept,
            best,
            ..
        } => {
            let mut lines = vec![
                ("Scored by", by.clone()),
                ("Scored", count(*scored)),
                ("Kept", count(*kept)),
            ];
            lines.extend(best.map(|best| ("Best score", format!("{best:.3}"))));
            lines
        }
        StageDetail::Compress {
            tokens_before,
            tokens_after,
            passages,
            ..
        } => vec![
            ("Passages", count(*passages)),
            (
                "Tokens",
                format!("{} of {}", count(*tokens_after), count(*tokens_before)),
            ),
        ],
        StageDetail::Reason {
            engine,
            model,
            cited,
            answerable,
            removed_citations,
            prompt_tokens,
            completion_tokens,
        } => {
            let model = model
                .as_ref()
                .map(|model| format!(" \u{b7} {model}"))
                .unwrap_or_default();
            let mut lines = vec![
                ("Engine", format!("{}{model}", engine.label())),
                ("Cited", count(*cited)),
            ];
            if *removed_citations > 0 {
                lines.push((
                    "Removed citations",
                    format!("{} pointed at nothing", count(*removed_citations)),
                ));
            }
            lines.extend(
                answerable.map(|share| ("Documents answer", format!("{:.0} % probable", share * 100.0))),
            );
            lines.extend(prompt_tokens.map(|tokens| ("Tokens read", count(tokens))));
            lines.extend(completion_tokens.map(|tokens| ("Tokens written", count(tokens))));
            lines
        }
        StageDetail::Reflect {
            by,
            grounding,
            checked,
            supported,
            issues,
        } => {
            let mut lines = vec![
                ("Verdict", grounding_label(*grounding).to_owned()),
                ("Sentences", format!("{supported} of {checked} supported")),
                ("Checked by", by.clone()),
            ];
            lines.extend(issues.iter().map(|issue| ("Issue", issue.clone())));
            lines
        }
    }
}

fn searches(retrieve: bool, use_web: bool) -> &'static str {
    match (retrieve, use_web) {
        (true, true) => "documents and the web",
        (true, false) => "documents",
        (false, true) => "the web",
        (false, false) => "nothing",
    }
}

/// Whether an answer stands on the documents, in words.
pub fn grounding_label(grounding: Grounding) -> &'static str {
    match grounding {
        Grounding::Grounded => "Every checked sentence is supported",
        Grounding::NotGrounded => "Some sentences are not supported",
        Grounding::Unverified => "Not checked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{Progress, StageId};

    fn row(status: RowStatus) -> StageRow {
        StageRow {
            stage: StageId::Rerank,
            status,
            progress: None,
            took_ms: None,
            detail: None,
            note: None,
        }
    }

    #[test]
    fn an_active_row_counts_things_done() {
        let progress = Some(Progress {
            done: 8,
            total: 24,
            unit: "passages".to_owned(),
        });
        assert_eq!(
            summary(&StageRow {
                progress,
                ..row(RowStatus::Active)
            }),
            "8/24 passages"
        );
        assert_eq!(summary(&row(RowStatus::Active)), "");
    }

    #[test]
    fn a_row_reads_as_a_sentence() {
        let done = StageRow {
            took_ms: Some(1_240),
            detail: Some(StageDetail::Rerank {
                by: "embedder".to_owned(),
                scored: 24,
                kept: 1,
                best: None,
                scores: vec![],
                stores: Default::default(),
            }),
            ..row(RowStatus::Done)
        };
        assert_eq!(sentence(&done), "Rerank: done, 1 kept, 1.2 s");
        let skipped = StageRow {
            note: Some("switched off".to_owned()),
            ..row(RowStatus::Skipped)
        };
        assert_eq!(sentence(&skipped), "Rerank: skipped (switched off)");
    }
}
