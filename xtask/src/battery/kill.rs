//! B1: the program is killed at random moments while it takes documents in.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::corpus::Corpus;
use super::{DOCUMENTS, Row, Tally, finish, verdict};
use crate::{app, report};

/// The moments of the faults, in milliseconds: from just after the start to the end of an undisturbed run.
const EARLIEST: u64 = 5;
const LATEST: u64 = 30_000;

pub fn run(mut row: Row) -> Result<Tally> {
    let data = row.data();
    let latest = undisturbed_ms(&row)?;
    report::step(format!("kills between {EARLIEST} and {latest} ms"));
    let (mut corpora, mut ready, mut tally) = (Vec::new(), BTreeSet::new(), Tally::default());
    for round in 0..row.rounds {
        let corpus = Corpus::write(row.work, round, DOCUMENTS)?;
        let moment = row.chance.between(EARLIEST, latest);
        let killed = ingest_and_kill(row.program, &data, &corpus, Duration::from_millis(moment))?;
        corpora.push(corpus);
        tally.injected += usize::from(killed);
        let (faults, now) = row.look(&data, &ready)?;
        let how = if killed {
            format!("killed after {moment} ms")
        } else {
            "ended before the kill".to_owned()
        };
        println!(
            "round {:>3}: {how}, {} ready, {}",
            round + 1,
            now.len(),
            verdict(&faults)
        );
        ready = now;
        tally.take(round, faults);
    }
    tally.losses.extend(finish(&row, &data, &corpora)?);
    Ok(tally)
}

/// How long the program needs for one corpus when nobody disturbs it, in milliseconds.
pub fn undisturbed_ms(row: &Row) -> Result<u64> {
    let corpus = Corpus::write(row.work, usize::MAX, DOCUMENTS)?;
    let start = Instant::now();
    row.ingest(&row.work.join("undisturbed"), &corpus)?;
    let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(LATEST);
    Ok(took.clamp(EARLIEST * 10, LATEST))
}

/// An ingestion under way.
pub fn start_ingest(program: &Path, data: &Path, corpus: &Corpus) -> Result<Child> {
    app::call(
        program,
        data,
        &["ingest", &corpus.folder.to_string_lossy(), "--json"],
    )
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .context("the program could not be started")
}

/// Whether the program was still at work when it was killed.
pub fn ingest_and_kill(program: &Path, data: &Path, corpus: &Corpus, after: Duration) -> Result<bool> {
    let mut child = start_ingest(program, data, corpus)?;
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
