//! Reranking: hybrid search with the judge against hybrid search alone, nDCG@10, on collections with known relevance.

use std::path::Path;

use anyhow::Result;

use super::Bench;
use super::collection::{Collection, ranked};
use super::stats::{Dice, interval, mean, ndcg};

/// Collections nothing was trained on, then those of which other questions were.
const COLLECTIONS: [&str; 7] = [
    "cranfield",
    "cisi",
    "npl-vaswani",
    "ragbench-derived/hotpotqa",
    "ragbench-derived/msmarco",
    "ragbench-derived/hagrid",
    "ragbench-derived/covidqa",
];
const DEPTH: usize = 10;

pub fn run(bench: &Bench) -> Result<()> {
    println!(
        "\n| collection | queries | hybrid | hybrid + judge | difference | 95 % interval | median ms | with judge |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut differences = Vec::new();
    for name in COLLECTIONS {
        let folder = bench.data.join("retrieval").join(name);
        if !folder.is_dir() {
            println!("| {name} | skipped: `{}` is not there |", folder.display());
            continue;
        }
        differences.extend(measure(bench, name, &folder)?);
    }
    let (low, high) = interval(&differences, |drawn| Some(mean(drawn)));
    println!(
        "| all questions | {} | | | {:+.3} | [{low:+.3}, {high:+.3}] | | |",
        differences.len(),
        mean(&differences)
    );
    Ok(())
}

fn measure(bench: &Bench, name: &str, folder: &Path) -> Result<Vec<f64>> {
    let collection = Collection::read(folder)?;
    let slug = name.replace('/', "-");
    let documents = bench.kept.join(&slug).join("documents");
    let expected = collection.write_documents(&documents)?;
    let library = bench.library(&slug, &documents, expected)?;
    let mut queries = collection.judged();
    let derived = name.starts_with("ragbench");
    queries.retain(|query| !derived || query.id.contains("-test-"));
    let at: Vec<usize> = Dice::new(20).sample(&(0..queries.len()).collect::<Vec<_>>(), bench.queries);
    let texts: Vec<String> = at.iter().map(|at| queries[*at].text.clone()).collect();
    let top = (2 * DEPTH).to_string();
    let mut values: [Vec<f64>; 2] = Default::default();
    let mut times: [Vec<f64>; 2] = Default::default();
    for (column, flag) in ["--no-rerank", "--rerank"].into_iter().enumerate() {
        let replies = bench.lines(
            &library,
            &["search", "--file", "FILE", "--top", &top, flag],
            &texts,
        )?;
        for (at, reply) in at.iter().zip(&replies) {
            values[column].push(ndcg(&ranked(reply), collection.gains(&queries[*at].id), DEPTH));
            times[column].extend(reply["took_ms"].as_f64());
        }
    }
    let differences: Vec<f64> = values[1]
        .iter()
        .zip(&values[0])
        .map(|(with, alone)| with - alone)
        .collect();
    let (low, high) = interval(&differences, |drawn| Some(mean(drawn)));
    println!(
        "| {name} | {} | {:.3} | {:.3} | {:+.3} | [{low:+.3}, {high:+.3}] | {:.0} | {:.0} |",
        at.len(),
        mean(&values[0]),
        mean(&values[1]),
        mean(&differences),
        median(&mut times[0]),
        median(&mut times[1]),
    );
    Ok(differences)
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
