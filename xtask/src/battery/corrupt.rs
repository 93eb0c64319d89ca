//! B8: files of the data folder are cut, changed or removed. The next start finds it and mends it from the catalogue, or
//! says what is wrong; it never gives other answers than before without a word.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::corpus::Corpus;
use super::{Chance, Row, Tally, verdict};
use crate::app;

const DOCUMENTS: usize = 12;
/// Questions whose answers are compared.
const GOLDEN: usize = 4;

pub fn run(mut row: Row) -> Result<Tally> {
    let corpus = Corpus::write(row.work, 0, DOCUMENTS)?;
    let sound = row.work.join("sound");
    row.ingest(&sound, &corpus)?;
    let golden = answers(&row, &sound, &corpus)?;
    let files = files(&sound)?;
    let mut tally = Tally::default();
    for round in 0..row.rounds {
        let data = row.work.join(format!("data{round}"));
        copy(&sound, &data)?;
        let file = &files[row.chance.below(files.len())];
        let how = harm(&data.join(file), &mut row.chance)?;
        tally.injected += 1;
        let faults = faults(&row, &data, &corpus, &golden)?;
        println!(
            "round {:>3}: {} {how}: {}",
            round + 1,
            file.display(),
            verdict(&faults)
        );
        tally.losses.extend(
            faults
                .into_iter()
                .map(|fault| format!("round {}: {} {how}: {fault}", round + 1, file.display())),
        );
        std::fs::remove_dir_all(&data).context("a folder cannot be removed")?;
    }
    Ok(tally)
}

/// What is wrong after the harm. A program that says why it cannot serve has lost nothing silently.
fn faults(row: &Row, data: &Path, corpus: &Corpus, golden: &[Vec<String>]) -> Result<Vec<String>> {
    let doctor = app::ask(row.program, data, &["doctor"])?;
    if doctor.last.get("error").is_some() {
        return Ok(Vec::new());
    }
    let told = ["problems", "repaired"]
        .iter()
        .any(|key| doctor.last[*key].as_array().is_some_and(|list| !list.is_empty()));
    let mut faults = match row.look(data, &BTreeSet::new()) {
        Ok((faults, _)) if !told => faults,
        Ok(_) => Vec::new(),
        Err(error) => vec![format!("{error:#}")],
    };
    match answers(row, data, corpus) {
        Ok(now) if now == golden => {}
        Ok(_) if told => {}
        Ok(_) => faults.push("other answers than before, and not a word".to_owned()),
        Err(error) if told => println!("           (said: {error:#})"),
        Err(error) => faults.push(format!("{error:#}")),
    }
    Ok(faults)
}

/// The files found for some of the markers, by all stores and by words alone.
fn answers(row: &Row, data: &Path, corpus: &Corpus) -> Result<Vec<Vec<String>>> {
    let mut answers = Vec::new();
    for (_, marker) in corpus.markers.iter().step_by(DOCUMENTS / GOLDEN) {
        for store in ["hybrid", "keyword"] {
            let words = ["search", marker, "--store", store, "--top", "3", "--no-rerank"];
            let reply = app::ask(row.program, data, &words)?.accepted()?;
            answers.push(paths(&reply));
        }
    }
    Ok(answers)
}

fn paths(reply: &Value) -> Vec<String> {
    let hits = reply["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    hits.iter()
        .filter_map(|hit| Some(format!("{} {}", hit["path"].as_str()?, hit["span"])))
        .collect()
}

/// Cuts, changes or removes a file; says how.
fn harm(file: &Path, chance: &mut Chance) -> Result<&'static str> {
    let mut bytes = std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let how = match chance.below(4) {
        0 => {
            bytes.clear();
            "emptied"
        }
        1 => {
            bytes.truncate(bytes.len() / 2);
            "cut in half"
        }
        2 => {
            for _ in 0..20 {
                if !bytes.is_empty() {
                    let at = chance.below(bytes.len());
                    bytes[at] ^= 0xff;
                }
            }
            "changed in twenty places"
        }
        _ => {
            std::fs::remove_file(file).context("a file cannot be removed")?;
            return Ok("removed");
        }
    };
    std::fs::write(file, bytes).with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(how)
}

/// The files of a data folder, relative, but for locks, which hold nothing.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| format!("cannot read `{}`", next.display()))? {
            let path = entry.context("a folder cannot be read")?.path();
            let lock = path.extension().is_some_and(|end| end == "lock");
            if path.is_dir() {
                open.push(path);
            } else if !lock && let Ok(short) = path.strip_prefix(folder) {
                found.push(short.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create `{}`", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))? {
        let path = entry.context("a folder cannot be read")?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).with_context(|| format!("cannot copy `{}`", path.display()))?;
        }
    }
    Ok(())
}
