//! Checking: does the confidence of the check tell hallucinated answers from others? AUROC on RAGBench test rows, beside the
//! published judges on the same rows.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Bench;
use super::stats::{Dice, auroc, mean, percentiles};

const JUDGES: [&str; 4] = [
    "the judge",
    "gpt3_adherence",
    "ragas_faithfulness",
    "trulens_groundedness",
];
const DRAWS: usize = 1_000;

#[derive(Deserialize)]
struct Row {
    subset: String,
    question: String,
    documents: Vec<String>,
    response: String,
    unsupported_response_sentence_keys: Vec<String>,
    gpt3_adherence: Option<f64>,
    ragas_faithfulness: Option<f64>,
    trulens_groundedness: Option<f64>,
}

/// A row as every judge sees it: whether it is hallucinated, and the risk each judge gives it.
#[derive(Clone)]
struct Case {
    bad: bool,
    risk: [Option<f64>; JUDGES.len()],
}

pub fn run(bench: &Bench) -> Result<()> {
    let path = bench.data.join("ragbench").join("sample-open.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let rows: Vec<Row> = text
        .lines()
        .map(|line| serde_json::from_str(line).context("a row of RAGBench is damaged"))
        .collect::<Result<_>>()?;
    let rows: Vec<Row> = rows
        .into_iter()
        .filter(|row| !row.response.trim().is_empty())
        .collect();
    let requests: Vec<String> = rows
        .iter()
        .map(|row| {
            json!({"question": row.question, "answer": row.response, "passages": row.documents}).to_string()
        })
        .collect();
    let library = bench.kept.join("check");
    std::fs::create_dir_all(&library).context("cannot create a folder")?;
    let replies = bench.lines(&library, &["check", "FILE"], &requests)?;
    let mut subsets: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for (row, reply) in rows.iter().zip(&replies) {
        let risk = |score: Option<f64>| score.map(|score| 1.0 - score);
        subsets.entry(&row.subset).or_default().push(Case {
            bad: !row.unsupported_response_sentence_keys.is_empty(),
            risk: [
                risk(reply["confidence"].as_f64()),
                risk(row.gpt3_adherence),
                risk(row.ragas_faithfulness),
                risk(row.trulens_groundedness),
            ],
        });
    }
    table(&subsets);
    Ok(())
}

fn table(subsets: &BTreeMap<&str, Vec<Case>>) {
    println!("\n| subset | rows (hallucinated) | {} |", JUDGES.join(" | "));
    println!("|---|---|{}", "---|".repeat(JUDGES.len()));
    let mut dice = Dice::new(20);
    let mut means = vec![Vec::new(); JUDGES.len()];
    let mut drawn = vec![vec![Vec::new(); DRAWS]; JUDGES.len()];
    for (name, cases) in subsets {
        let bad = cases.iter().filter(|case| case.bad).count();
        let mut cells = Vec::new();
        let draws: Vec<Vec<Case>> = (0..DRAWS)
            .map(|_| {
                cases
                    .iter()
                    .map(|_| cases[dice.below(cases.len())].clone())
                    .collect()
            })
            .collect();
        for judge in 0..JUDGES.len() {
            let area = |cases: &[Case]| {
                let seen: Vec<(bool, f64)> = cases
                    .iter()
                    .filter_map(|case| Some((case.bad, case.risk[judge]?)))
                    .collect();
                auroc(&seen)
            };
            let value = area(cases).unwrap_or(f64::NAN);
            let mut again = Vec::new();
            for (number, draw) in draws.iter().enumerate() {
                if let Some(value) = area(draw) {
                    again.push(value);
                    drawn[judge][number].push(value);
                }
            }
            let (low, high) = percentiles(&mut again);
            means[judge].push(value);
            cells.push(format!("{value:.3} [{low:.2}, {high:.2}]"));
        }
        println!("| {name} | {} ({bad}) | {} |", cases.len(), cells.join(" | "));
    }
    let cells: Vec<String> = (0..JUDGES.len())
        .map(|judge| {
            let mut again: Vec<f64> = drawn[judge].iter().map(|values| mean(values)).collect();
            let (low, high) = percentiles(&mut again);
            format!("**{:.3}** [{low:.2}, {high:.2}]", mean(&means[judge]))
        })
        .collect();
    println!("| mean | | {} |", cells.join(" | "));
}
