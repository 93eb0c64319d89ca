//! Words in thirteen languages: keyword search on XQuAD, CMRC and JaQuAD, nDCG@10 beside the plain BM25 numbers of the data.
//!
//! The program runs without local models here, so that nothing but words is indexed.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::quality::collection::{Collection, ranked};
use super::quality::stats::{Dice, mean, ndcg};
use crate::{app, report};

const COLLECTIONS: [&str; 14] = [
    "xquad/en",
    "xquad/de",
    "xquad/es",
    "xquad/ro",
    "xquad/el",
    "xquad/ru",
    "xquad/tr",
    "xquad/ar",
    "xquad/hi",
    "xquad/th",
    "xquad/vi",
    "xquad/zh",
    "cmrc2018-zh",
    "jaquad-ja",
];
const DEPTH: usize = 10;

pub fn run(program: &Path, data: &Path, kept: &Path, queries: usize) -> Result<()> {
    let folder = data.join("retrieval");
    let baseline: Value = serde_json::from_str(
        &std::fs::read_to_string(folder.join("bm25-baseline.json"))
            .context("no baseline beside the collections")?,
    )
    .context("the baseline is damaged")?;
    println!("| collection | queries | nDCG@10 | plain BM25 (word) | best BM25 (stem or bigrams) |");
    println!("|---|---|---|---|---|");
    for name in COLLECTIONS {
        let place = folder.join(name);
        if !place.is_dir() {
            println!("| {name} | skipped: `{}` is not there |", place.display());
            continue;
        }
        let (count, value) = measure(program, &place, name, kept, queries)?;
        let known = |way: &str| baseline[format!("{name}|{way}")]["ndcg10"].as_f64();
        let best = ["word", "stem", "cjk"]
            .iter()
            .filter_map(|way| known(way))
            .fold(f64::NAN, f64::max);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        println!(
            "| {name} | {count} | {value:.3} | {} | {} |",
            shown(known("word")),
            shown(Some(best).filter(|best| best.is_finite()))
        );
    }
    Ok(())
}

fn measure(program: &Path, place: &Path, name: &str, kept: &Path, queries: usize) -> Result<(usize, f64)> {
    let collection = Collection::read(place)?;
    let slug = name.replace('/', "-");
    let home = kept.join(&slug);
    let documents = home.join("documents");
    let expected = collection.write_documents(&documents)?;
    let library = home.join("words");
    let models = home.join("no-models");
    std::fs::create_dir_all(&models).with_context(|| format!("cannot create `{}`", models.display()))?;
    let call = |arguments: &[&str]| {
        let mut command = app::call(program, &library, arguments);
        command.env("ADRAG_MODELS", &models).arg("--json");
        command
    };
    let held = call(&["documents"])
        .output()
        .context("the program could not be started")?;
    let held: Value = serde_json::from_slice(&held.stdout).unwrap_or_default();
    if held["documents"].as_array().map_or(0, Vec::len) < expected {
        report::step(format!("indexing {name}"));
        let path = documents.to_string_lossy();
        let ended = call(&["ingest", &path])
            .output()
            .context("the program could not be started")?;
        ensure!(
            matches!(ended.status.code(), Some(0 | 3)),
            "indexing {name} failed"
        );
    }
    let wanted = collection.judged();
    let at = Dice::new(20).sample(&(0..wanted.len()).collect::<Vec<_>>(), queries);
    let file = home.join("queries.txt");
    let lines: Vec<String> = at
        .iter()
        .map(|at| wanted[*at].text.replace(['\n', '\r'], " "))
        .collect();
    std::fs::write(&file, lines.join("\n")).with_context(|| format!("cannot write `{}`", file.display()))?;
    let top = (2 * DEPTH).to_string();
    let path = file.to_string_lossy();
    let output = call(&[
        "search",
        "--file",
        &path,
        "--store",
        "keyword",
        "--no-rerank",
        "--top",
        &top,
    ])
    .output()
    .context("the program could not be started")?;
    let replies: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).context("the program printed something else than JSON"))
        .collect::<Result<_>>()?;
    ensure!(
        replies.len() == at.len(),
        "{} replies to {} queries",
        replies.len(),
        at.len()
    );
    let values: Vec<f64> = at
        .iter()
        .zip(&replies)
        .map(|(at, reply)| ndcg(&ranked(reply), collection.gains(&wanted[*at].id), DEPTH))
        .collect();
    Ok((values.len(), mean(&values)))
}
