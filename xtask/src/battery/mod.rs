//! `cargo xtask battery`: faults put into the real program on purpose, and a count of what was lost by them.
//!
//! One module a fault. After each fault the next start must find every document absent or complete in all stores, and
//! what was complete before must still be. A row prints how many faults were injected and what was lost, and fails when
//! anything was.

mod cancel;
mod corpus;
mod corrupt;
mod crowd;
mod invariant;
mod kill;
mod many;
mod models;
mod resume;
mod space;
mod twice;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use crate::workspace::Workspace;
use crate::{app, report};
use corpus::Corpus;

const DOCUMENTS: usize = 30;

#[derive(clap::Args)]
pub struct Options {
    /// Which faults; none means all
    #[arg(value_enum, ignore_case = true)]
    faults: Vec<Fault>,
    /// How often each
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Files of the row `many`
    #[arg(long, default_value_t = 2_000)]
    documents: usize,
    /// Repeats the moments of an earlier run
    #[arg(long)]
    seed: Option<u64>,
    /// Break this program instead of building ours
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fault {
    /// kill -9 while documents are taken in
    #[value(name = "B1")]
    B1,
    /// A stop while documents are taken in
    #[value(name = "B4")]
    B4,
    /// kill -9, then the same again: nothing is embedded twice
    #[value(name = "B5")]
    B5,
    /// A disk that is full, then has room again
    #[value(name = "B6")]
    B6,
    /// A data folder that may not be written
    #[value(name = "B7")]
    B7,
    /// Files of the data folder cut, changed or gone
    #[value(name = "B8")]
    B8,
    /// A second program on the same data folder
    #[value(name = "B9")]
    B9,
    /// Model files missing, cut or changed
    #[value(name = "B11")]
    B11,
    /// Eight that search, two that add and one that deletes, at once
    #[value(name = "B16")]
    B16,
    /// Thousands of files, some bad, with kills on the way; only when it is named
    #[value(name = "many")]
    Many,
}

/// One row of the battery at work.
struct Row<'a> {
    program: &'a Path,
    work: &'a Path,
    rounds: usize,
    chance: Chance,
}

/// What a row came to.
#[derive(Default)]
struct Tally {
    injected: usize,
    losses: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let program = app::choose(workspace, options.program.as_deref())?;
    let faults = if options.faults.is_empty() {
        &Fault::value_variants()[..Fault::value_variants().len() - 1]
    } else {
        &options.faults
    };
    let seed = options.seed.unwrap_or_else(clock_seed);
    let mut lost = 0;
    for fault in faults {
        let work = tempfile::Builder::new()
            .prefix("adrag-battery-")
            .tempdir()
            .context("no temporary folder")?;
        let row = Row {
            program: &program,
            work: work.path(),
            rounds: options.rounds,
            chance: Chance(seed | 1),
        };
        report::step(format!("{fault:?}, seed {seed}"));
        let tally = match fault {
            Fault::B1 => kill::run(row),
            Fault::B4 => cancel::run(row),
            Fault::B5 => resume::run(row),
            Fault::B6 => space::full(row),
            Fault::B7 => space::locked(row),
            Fault::B8 => corrupt::run(row),
            Fault::B9 => twice::run(row),
            Fault::B11 => models::run(row),
            Fault::B16 => crowd::run(row),
            Fault::Many => many::run(row, options.documents),
        }?;
        println!(
            "{fault:?}: {} faults injected, {} losses",
            tally.injected,
            tally.losses.len()
        );
        for loss in &tally.losses {
            println!("  {loss}");
        }
        lost += tally.losses.len();
    }
    if lost > 0 {
        bail!("{lost} losses (seed {seed})");
    }
    Ok(())
}

impl Tally {
    /// Counts what was wrong after a round, 0-based.
    fn take(&mut self, round: usize, faults: Vec<String>) {
        self.losses.extend(
            faults
                .into_iter()
                .map(|fault| format!("round {}: {fault}", round + 1)),
        );
    }
}

impl Row<'_> {
    fn data(&self) -> PathBuf {
        self.work.join("data")
    }

    /// Takes a corpus in, undisturbed.
    fn ingest(&self, data: &Path, corpus: &Corpus) -> Result<Value> {
        app::ask(self.program, data, &["ingest", &corpus.folder.to_string_lossy()])?.accepted()
    }

    /// What is wrong with a data folder after a start, and which documents are ready.
    fn look(&self, data: &Path, before: &BTreeSet<String>) -> Result<(Vec<String>, BTreeSet<String>)> {
        let doctor = app::ask(self.program, data, &["doctor"])?.last;
        let documents = app::ask(self.program, data, &["documents"])?.accepted()?;
        let faults = invariant::check(&documents, &doctor, before);
        Ok((faults, invariant::ready_paths(&documents)))
    }
}

/// Everything once more, undisturbed: every document must be ready, and found by the word only it has.
fn finish(row: &Row, data: &Path, corpora: &[Corpus]) -> Result<Vec<String>> {
    let program = row.program;
    report::step("taking everything in, undisturbed");
    let mut losses = Vec::new();
    for corpus in corpora {
        row.ingest(data, corpus)?;
    }
    let documents = app::ask(program, data, &["documents"])?.accepted()?;
    let doctor = app::ask(program, data, &["doctor"])?.last;
    losses.extend(invariant::check(&documents, &doctor, &BTreeSet::new()));
    let ready = invariant::ready_paths(&documents);
    report::step("looking for every document by its own word");
    for (name, marker) in corpora.iter().flat_map(|corpus| &corpus.markers) {
        if !ready.iter().any(|path| path.ends_with(name.as_str())) {
            losses.push(format!("`{name}` is not ready after all"));
            continue;
        }
        let reply = app::ask(
            program,
            data,
            &["search", marker, "--store", "keyword", "--top", "3"],
        )?
        .accepted()?;
        if !is_found(&reply, name) {
            losses.push(format!(
                "`{name}` is ready, but its word `{marker}` does not find it"
            ));
        }
    }
    Ok(losses)
}

fn is_found(reply: &Value, name: &str) -> bool {
    let hits = reply["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    hits.iter()
        .any(|hit| hit["path"].as_str().is_some_and(|path| path.ends_with(name)))
}

fn verdict(faults: &[String]) -> String {
    if faults.is_empty() {
        "sound".to_owned()
    } else {
        format!("LOSS: {}", faults.join("; "))
    }
}

fn clock_seed() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map(|since| since.as_millis() as u64)
        .unwrap_or(1)
}

/// Numbers that look random and can be had again: xorshift64 (Marsaglia 2003, "Xorshift RNGs", triple 13, 7, 17).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.between(0, bound.saturating_sub(1) as u64) as usize
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % (most - least + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_stays_in_its_bounds_and_repeats() {
        let draw = || {
            let mut chance = Chance(7);
            (0..100).map(|_| chance.between(5, 50)).collect::<Vec<_>>()
        };
        assert!(draw().iter().all(|moment| (5..=50).contains(moment)));
        assert_eq!(draw(), draw());
    }
}
