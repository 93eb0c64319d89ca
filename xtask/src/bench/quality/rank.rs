//! Reranking: hybrid search with the judge against hybrid search alone, nDCG@10, on collections with known relevance.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::Bench;
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

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

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
    let corpus: Vec<Entry> = entries(&folder.join("corpus.jsonl"))?;
    let slug = name.replace('/', "-");
    let documents = bench.kept.join(&slug).join("documents");
    let expected = write_documents(&documents, &corpus)?;
    let library = bench.library(&slug, &documents, expected)?;
    let relevant = relevance(&folder.join("qrels").join("test.tsv"))?;
    let mut queries: Vec<Entry> = entries(&folder.join("queries.jsonl"))?;
    let derived = name.starts_with("ragbench");
    queries.retain(|query| relevant.contains_key(&query.id) && (!derived || query.id.contains("-test-")));
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
            values[column].push(ndcg(&ranked(reply), &relevant[&queries[*at].id], DEPTH));
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

/// The ids of the documents found, each once, best first.
fn ranked(reply: &Value) -> Vec<String> {
    let mut seen = HashSet::new();
    reply["hits"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|hit| hit["path"].as_str())
        .filter_map(|path| Path::new(path).file_stem()?.to_str().map(str::to_owned))
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

/// One text file a document that says anything; their number. Texts that occur twice stay with the first.
fn write_documents(folder: &Path, corpus: &[Entry]) -> Result<usize> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let mut seen = HashSet::new();
    for entry in corpus {
        let text = format!("{}\n\n{}\n", entry.title, entry.text);
        let path = folder.join(format!("{}.txt", entry.id));
        if text.trim().is_empty() || !seen.insert(text.clone()) || path.exists() {
            continue;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(seen.len())
}

fn entries(path: &Path) -> Result<Vec<Entry>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("`{}` is damaged", path.display())))
        .collect()
}

/// Gains by query and document, those above nothing.
fn relevance(path: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        if let (Some(query), Some(document), Some(gain)) = (fields.next(), fields.next(), fields.next())
            && let Ok(gain) = gain.trim().parse::<f64>()
            && gain > 0.0
        {
            relevant
                .entry(query.to_owned())
                .or_default()
                .insert(document.to_owned(), gain);
        }
    }
    Ok(relevant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_counts_once_by_its_file_name() {
        let reply = serde_json::json!({"hits": [{"path": "/x/d1.txt"}, {"path": "/x/d2.txt"}, {"path": "/x/d1.txt"}]});
        assert_eq!(ranked(&reply), ["d1", "d2"]);
    }
}
