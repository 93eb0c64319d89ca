//! Document recall: for how many answerable questions the gold documents are among the first hits, once when any
//! gold document counts and once when all of them must be there; per store, overall and by type of question.
//!
//! The program is asked over its command line, as a script would. A question of a conversation is asked alone.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use super::data::{self, Question};
use crate::workspace::Workspace;
use crate::{app, report};

const STORES: [&str; 4] = ["vector", "keyword", "graph", "hybrid"];

#[derive(Debug, Default, Clone, Serialize)]
struct Score {
    questions: usize,
    any: usize,
    all: usize,
}

impl Score {
    fn add(&mut self, found: &[String], gold: &[String]) {
        let hits = gold.iter().filter(|name| found.contains(name)).count();
        self.questions += 1;
        self.any += usize::from(hits > 0);
        self.all += usize::from(hits == gold.len());
    }

    fn share(&self, count: usize) -> f64 {
        if self.questions == 0 {
            f64::NAN
        } else {
            count as f64 / self.questions as f64
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct StoreReport {
    overall: Score,
    types: BTreeMap<String, Score>,
    median_ms: f64,
    /// The questions none of whose gold documents was found.
    missed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    top: usize,
    documents: BTreeMap<String, usize>,
    questions: usize,
    /// Of those, questions that belong to a conversation and were asked without it.
    asked_alone: usize,
    stores: BTreeMap<&'static str, StoreReport>,
}

pub fn run(workspace: &Workspace, folder: &Path, top: usize, json: bool) -> Result<()> {
    let questions = data::answerable(folder)?;
    let data = tempfile::Builder::new()
        .prefix("adrag-bench-")
        .tempdir()
        .context("no temporary folder")?;
    report::step("adrag ingest docs/open");
    let documents = folder.join("docs").join("open");
    let path = documents.to_string_lossy();
    let ingested = app::ask(workspace, data.path(), &["ingest", &path])?.accepted()?;
    let mut stores = BTreeMap::new();
    for store in STORES {
        report::step(format!(
            "asking {} questions of the store `{store}`",
            questions.len()
        ));
        stores.insert(store, measure(workspace, data.path(), &questions, store, top)?);
    }
    let report = Report {
        top,
        documents: states(&ingested),
        questions: questions.len(),
        asked_alone: questions
            .iter()
            .filter(|question| !question.conversation.is_empty())
            .count(),
        stores,
    };
    if json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{}", table(&report));
    }
    Ok(())
}

fn measure(
    workspace: &Workspace,
    data: &Path,
    questions: &[Question],
    store: &str,
    top: usize,
) -> Result<StoreReport> {
    let mut result = StoreReport::default();
    let mut times = Vec::new();
    let top = top.to_string();
    for question in questions {
        let words = ["search", &question.question, "--store", store, "--top", &top];
        let reply = app::ask(workspace, data, &words)
            .and_then(app::Reply::accepted)
            .with_context(|| format!("question {}", question.id))?;
        let (found, gold) = (names(&reply), question.gold_names());
        result.overall.add(&found, &gold);
        result
            .types
            .entry(question.kind.clone())
            .or_default()
            .add(&found, &gold);
        if !gold.iter().any(|name| found.contains(name)) {
            result.missed.push(question.id.clone());
        }
        times.extend(reply["took_ms"].as_f64());
    }
    times.sort_by(f64::total_cmp);
    result.median_ms = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(result)
}

/// The file names of the hits, in order.
fn names(reply: &Value) -> Vec<String> {
    let hits = reply["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    hits.iter()
        .filter_map(|hit| hit["path"].as_str())
        .map(data::plain_name)
        .collect()
}

/// How many documents ended in which state.
fn states(ingested: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for document in ingested["documents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        *counts
            .entry(document["state"].as_str().unwrap_or("unknown").to_owned())
            .or_default() += 1;
    }
    counts
}

fn table(report: &Report) -> String {
    let documents: Vec<String> = report
        .documents
        .iter()
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    let mut text = format!(
        "documents: {}\nquestions: {} answerable, {} of them part of a conversation and asked alone\n\
         recall@{}: any gold document / all gold documents\n\n{:<16}{:>4}",
        documents.join(", "),
        report.questions,
        report.asked_alone,
        report.top,
        "type",
        "n"
    );
    for store in STORES {
        text.push_str(&format!("{store:>16}"));
    }
    text.push('\n');
    let kinds = report.stores["hybrid"]
        .types
        .keys()
        .map(String::as_str)
        .chain(["all"]);
    for kind in kinds {
        let of = |store: &str| {
            let report = &report.stores[store];
            if kind == "all" {
                report.overall.clone()
            } else {
                report.types.get(kind).cloned().unwrap_or_default()
            }
        };
        text.push_str(&format!("{kind:<16}{:>4}", of("hybrid").questions));
        for store in STORES {
            let score = of(store);
            text.push_str(&format!(
                "{:>16}",
                format!("{:.3} / {:.3}", score.share(score.any), score.share(score.all))
            ));
        }
        text.push('\n');
    }
    text.push_str(&format!("{:<20}", "median ms"));
    for store in STORES {
        text.push_str(&format!("{:>16.1}", report.stores[store].median_ms));
    }
    text.push_str(&format!(
        "\n\nnot found by hybrid: {}\n",
        report.stores["hybrid"].missed.join(" ")
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_and_all_are_counted_apart() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut score = Score::default();
        score.add(&names("a b c"), &names("a x"));
        score.add(&names("a b c"), &names("a b"));
        score.add(&names("a b c"), &names("x"));
        assert_eq!((score.questions, score.any, score.all), (3, 2, 1));
    }

    #[test]
    fn hits_are_read_by_the_file_name_of_their_path() {
        let reply =
            json!({"hits": [{"path": "/data/open/a.md", "document": "1"}, {"document": "2"}], "took_ms": 3});
        assert_eq!(names(&reply), ["a.md"]);
        assert_eq!(names(&json!({})), Vec::<String>::new());
    }

    #[test]
    fn the_table_has_a_row_for_each_type_and_one_for_all() {
        let mut store = StoreReport::default();
        store.overall.add(&["a".into()], &["a".into()]);
        store
            .types
            .entry("table".into())
            .or_default()
            .add(&["a".into()], &["a".into()]);
        let mut stores = BTreeMap::new();
        for name in STORES {
            stores.insert(
                name,
                StoreReport {
                    overall: store.overall.clone(),
                    types: store.types.clone(),
                    ..StoreReport::default()
                },
            );
        }
        let documents =
            states(&json!({"documents": [{"state": "ready"}, {"state": "empty"}, {"state": "ready"}]}));
        let text = table(&Report {
            top: 5,
            documents,
            questions: 1,
            asked_alone: 0,
            stores,
        });
        assert!(text.contains("documents: 1 empty, 2 ready"), "{text}");
        assert!(
            text.lines()
                .any(|line| line.starts_with("table") && line.contains("1.000 / 1.000")),
            "{text}"
        );
        assert!(text.lines().any(|line| line.starts_with("all ")), "{text}");
    }
}
