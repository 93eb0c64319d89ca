//! `cargo xtask battery`: faults put into the real program on purpose, and a count of what was lost by them.
//!
//! `B1` kills the program at random moments while it takes documents in. After each kill the next start must find
//! every document absent or complete in all stores, and what was complete before must still be.

mod corpus;
mod invariant;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use crate::workspace::Workspace;
use crate::{app, report};
use corpus::Corpus;

const DOCUMENTS: usize = 30;
/// The moments of the kills, in milliseconds: from just after the start to the end of an undisturbed run.
const EARLIEST: u64 = 5;
const LATEST: u64 = 30_000;

#[derive(clap::Args)]
pub struct Options {
    /// Which fault
    #[arg(value_enum, ignore_case = true, default_value_t = Fault::B1)]
    fault: Fault,
    /// How often
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Repeats the moments of an earlier run
    #[arg(long)]
    seed: Option<u64>,
    /// Break this program instead of building ours
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fault {
    /// kill -9 while documents are taken in
    #[value(name = "B1")]
    B1,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let program = app::choose(workspace, options.program.as_deref())?;
    match options.fault {
        Fault::B1 => kill_while_ingesting(&program, options),
    }
}

fn kill_while_ingesting(program: &Path, options: &Options) -> Result<()> {
    let work = tempfile::Builder::new()
        .prefix("adrag-battery-")
        .tempdir()
        .context("no temporary folder")?;
    let data = work.path().join("data");
    let seed = options.seed.unwrap_or_else(clock_seed);
    let mut chance = Chance(seed | 1);
    let latest = measure_undisturbed(program, work.path())?.clamp(EARLIEST * 10, LATEST);
    report::step(format!("seed {seed}, kills between {EARLIEST} and {latest} ms"));
    let mut corpora = Vec::new();
    let mut ready = BTreeSet::new();
    let (mut kills, mut losses) = (0, Vec::new());
    for round in 0..options.rounds {
        let corpus = Corpus::write(work.path(), round, DOCUMENTS)?;
        let moment = chance.between(EARLIEST, latest);
        let killed = ingest_and_kill(program, &data, &corpus, Duration::from_millis(moment))?;
        corpora.push(corpus);
        kills += usize::from(killed);
        let doctor = app::ask(program, &data, &["doctor"])?.last;
        let documents = app::ask(program, &data, &["documents"])?.accepted()?;
        let faults = invariant::check(&documents, &doctor, &ready);
        let how = if killed {
            format!("killed after {moment} ms")
        } else {
            "ended before the kill".to_owned()
        };
        ready = invariant::ready_paths(&documents);
        println!(
            "round {:>3}: {how}, {} ready, {}",
            round + 1,
            ready.len(),
            verdict(&faults)
        );
        losses.extend(
            faults
                .into_iter()
                .map(|fault| format!("round {}: {fault}", round + 1)),
        );
    }
    losses.extend(finish(program, &data, &corpora)?);
    println!("faults injected: {kills}, losses: {}", losses.len());
    for loss in &losses {
        println!("  {loss}");
    }
    if !losses.is_empty() {
        bail!("{} losses after {kills} kills (seed {seed})", losses.len());
    }
    Ok(())
}

/// How long the program needs for one corpus when nobody kills it, in milliseconds.
fn measure_undisturbed(program: &Path, work: &Path) -> Result<u64> {
    let corpus = Corpus::write(work, usize::MAX, DOCUMENTS)?;
    let start = Instant::now();
    app::ask(
        program,
        &work.join("undisturbed"),
        &["ingest", &corpus.folder.to_string_lossy()],
    )?
    .accepted()?;
    Ok(u64::try_from(start.elapsed().as_millis()).unwrap_or(LATEST))
}

/// Whether the program was still at work when it was killed.
fn ingest_and_kill(program: &Path, data: &Path, corpus: &Corpus, after: Duration) -> Result<bool> {
    let mut child = app::call(
        program,
        data,
        &["ingest", &corpus.folder.to_string_lossy(), "--json"],
    )
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .context("the program could not be started")?;
    std::thread::sleep(after);
    let running = child
        .try_wait()
        .context("the program cannot be watched")?
        .is_none();
    if running {
        child.kill().context("the program could not be killed")?;
    }
    child.wait().context("the program did not end")?;
    Ok(running)
}

/// Everything once more, undisturbed: every document must be ready, and found by the word only it has.
fn finish(program: &Path, data: &Path, corpora: &[Corpus]) -> Result<Vec<String>> {
    report::step("taking everything in, undisturbed");
    let mut losses = Vec::new();
    for corpus in corpora {
        app::ask(program, data, &["ingest", &corpus.folder.to_string_lossy()])?.accepted()?;
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
