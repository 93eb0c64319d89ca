//! B5: an ingestion is killed and started again on the same documents: what was ready is not embedded again, the rest is
//! completed.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::corpus::Corpus;
use super::kill::{ingest_and_kill, undisturbed_ms};
use super::{DOCUMENTS, Row, Tally, verdict};
use crate::app;

pub fn run(mut row: Row) -> Result<Tally> {
    let latest = undisturbed_ms(&row)?;
    let mut tally = Tally::default();
    for round in 0..row.rounds {
        let data = row.work.join(format!("data{round}"));
        let corpus = Corpus::write(row.work, round, DOCUMENTS)?;
        let moment = row.chance.between(latest / 5, latest);
        let killed = ingest_and_kill(row.program, &data, &corpus, Duration::from_millis(moment))?;
        tally.injected += usize::from(killed);
        let (mut faults, before) = row.look(&data, &BTreeSet::new())?;
        let again = embedded(&row, &data, &corpus)?;
        faults.extend(
            again
                .intersection(&before)
                .map(|path| format!("`{path}` was embedded twice")),
        );
        let (rest, after) = row.look(&data, &before)?;
        faults.extend(rest);
        if after.len() != DOCUMENTS {
            faults.push(format!(
                "{} of {DOCUMENTS} documents are ready in the end",
                after.len()
            ));
        }
        println!(
            "round {:>3}: killed after {moment} ms with {} ready, {} embedded afterwards, {}",
            round + 1,
            before.len(),
            again.len(),
            verdict(&faults)
        );
        tally.take(round, faults);
    }
    Ok(tally)
}

/// Takes the corpus in and says which paths were embedded on the way.
fn embedded(row: &Row, data: &std::path::Path, corpus: &Corpus) -> Result<BTreeSet<String>> {
    let output = app::call(
        row.program,
        data,
        &["ingest", &corpus.folder.to_string_lossy(), "--json"],
    )
    .output()
    .context("the program could not be started")?;
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| {
            line["event"]["type"] == "DocumentStateChanged" && line["event"]["state"] == "embedding"
        })
        .filter_map(|line| line["event"]["path"].as_str().map(str::to_owned))
        .collect())
}
