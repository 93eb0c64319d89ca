//! B11: model files that are missing, cut or changed. The program says so and serves with what is left.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::corpus::Corpus;
use super::{Row, Tally, verdict};
use crate::app;

/// The files that are harmed, and what still has to work without them.
const FILES: [&str; 4] = [
    "adrag-judge/judge.onnx",
    "adrag-judge/tokenizer.json",
    "all-MiniLM-L6-v2/model.onnx",
    "onnxruntime/libonnxruntime.so",
];

pub fn run(row: Row) -> Result<Tally> {
    let Some(models) = models() else {
        bail!("there are no models; run `cargo xtask setup`");
    };
    let corpus = Corpus::write(row.work, 0, 6)?;
    let data = row.data();
    row.ingest(&data, &corpus)?;
    let (_, marker) = &corpus.markers[0];
    let mut tally = Tally::default();
    for (number, file) in FILES.iter().enumerate() {
        for harm in ["missing", "cut", "changed"] {
            let folder = row.work.join(format!("models-{number}-{harm}"));
            with_harm(&models, &folder, Path::new(file), harm)?;
            let call = |words: &[&str]| -> Result<Value> {
                let output = app::call(row.program, &data, words)
                    .arg("--json")
                    .env("ADRAG_MODELS", &folder)
                    .output()
                    .context("the program could not be started")?;
                let text = String::from_utf8_lossy(&output.stdout);
                serde_json::from_str(text.lines().last().unwrap_or_default())
                    .with_context(|| format!("it printed: {text}"))
            };
            let mut faults = Vec::new();
            let name = file.rsplit('/').next().unwrap_or(file);
            if !call(&["doctor"])?["problems"].to_string().contains(name) {
                faults.push(format!("doctor does not name `{name}`"));
            }
            let found = call(&["search", marker, "--top", "1"])?;
            if !found["hits"][0]["text"]
                .as_str()
                .is_some_and(|text| text.contains(marker.as_str()))
            {
                faults.push(format!("the document is not found any more: {found}"));
            }
            println!("{file} {harm}: {}", verdict(&faults));
            tally.injected += 1;
            tally
                .losses
                .extend(faults.into_iter().map(|fault| format!("{file} {harm}: {fault}")));
        }
    }
    Ok(tally)
}

/// The folder of the models, by the program's rule.
fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("ADRAG_MODELS").map(PathBuf::from).or_else(|| {
        directories::ProjectDirs::from("org", "adrag", "adrag").map(|dirs| dirs.cache_dir().join("models"))
    })?;
    folder.is_dir().then_some(folder)
}

/// A copy of the models with one file harmed.
fn with_harm(models: &Path, folder: &Path, file: &Path, harm: &str) -> Result<()> {
    for wanted in FILES.iter().chain(&["all-MiniLM-L6-v2/tokenizer.json"]) {
        let (from, to) = (models.join(wanted), folder.join(wanted));
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot create `{}`", parent.display()))?;
        }
        if Path::new(wanted) == file && harm == "missing" {
            continue;
        }
        let mut bytes = std::fs::read(&from).with_context(|| format!("cannot read `{}`", from.display()))?;
        if Path::new(wanted) == file {
            let half = bytes.len() / 2;
            match harm {
                "cut" => bytes.truncate(half),
                _ => bytes[half] ^= 0xff,
            }
        }
        std::fs::write(&to, bytes).with_context(|| format!("cannot write `{}`", to.display()))?;
    }
    Ok(())
}
