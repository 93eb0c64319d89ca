//! B4: an ingestion is stopped at random moments, as Ctrl-C does. It ends soon, leaves no half document, and the same
//! documents can be taken in again.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::corpus::Corpus;
use super::kill::{start_ingest, undisturbed_ms};
use super::{DOCUMENTS, Row, Tally, finish, verdict};

/// Longest time between the stop and the end of the program.
const SOON: Duration = Duration::from_millis(500);

pub fn run(mut row: Row) -> Result<Tally> {
    let data = row.data();
    let latest = undisturbed_ms(&row)?;
    let (mut corpora, mut ready, mut tally) = (Vec::new(), BTreeSet::new(), Tally::default());
    for round in 0..row.rounds {
        let corpus = Corpus::write(row.work, round, DOCUMENTS)?;
        let mut child = start_ingest(row.program, &data, &corpus)?;
        let moment = row.chance.between(300, latest.max(301));
        std::thread::sleep(Duration::from_millis(moment));
        let running = child
            .try_wait()
            .context("the program cannot be watched")?
            .is_none();
        let stopped = Instant::now();
        if running {
            let sent = Command::new("kill")
                .args(["-TERM", &child.id().to_string()])
                .status();
            ensure!(
                sent.context("`kill` cannot be run")?.success(),
                "the stop could not be sent"
            );
        }
        child.wait().context("the program did not end")?;
        let took = stopped.elapsed();
        corpora.push(corpus);
        tally.injected += usize::from(running);
        let (mut faults, now) = row.look(&data, &ready)?;
        if running && took > SOON {
            faults.push(format!("it took {} ms to stop", took.as_millis()));
        }
        println!(
            "round {:>3}: stopped after {moment} ms, ended {} ms later, {} ready, {}",
            round + 1,
            took.as_millis(),
            now.len(),
            verdict(&faults)
        );
        ready = now;
        tally.take(round, faults);
    }
    tally.losses.extend(finish(&row, &data, &corpora)?);
    Ok(tally)
}
