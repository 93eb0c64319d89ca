//! B9: a second program on a data folder in use is refused with the first one's process named, and disturbs nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};

use super::corpus::Corpus;
use super::kill::start_ingest;
use super::{DOCUMENTS, Row, Tally};
use crate::app;

/// Tries to meet the first program at work.
const TRIES: usize = 50;

pub fn run(row: Row) -> Result<Tally> {
    let data = row.data();
    let mut tally = Tally::default();
    for round in 0..row.rounds.min(5) {
        let corpus = Corpus::write(row.work, round, DOCUMENTS)?;
        let mut first = start_ingest(row.program, &data, &corpus)?;
        let holder = first.id();
        let mut refused = false;
        for _ in 0..TRIES {
            std::thread::sleep(Duration::from_millis(40));
            if first
                .try_wait()
                .context("the program cannot be watched")?
                .is_some()
            {
                break;
            }
            let second = app::ask(row.program, &data, &["documents"])?;
            if let Some(error) = second.last.get("error") {
                let told = error["message"].as_str().unwrap_or_default().to_owned();
                tally.injected += 1;
                refused = true;
                if second.code != Some(1) || !told.contains(&holder.to_string()) {
                    tally.losses.push(format!(
                        "round {}: it ended with {:?} and said: {told}",
                        round + 1,
                        second.code
                    ));
                }
                break;
            }
        }
        let ended = first.wait().context("the program did not end")?;
        if !refused {
            println!("round {:>3}: the first program was never met at work", round + 1);
        } else if !ended.success() {
            tally.losses.push(format!(
                "round {}: the first program ended with {ended}",
                round + 1
            ));
        }
        let (faults, _) = row.look(&data, &BTreeSet::new())?;
        tally.losses.extend(faults);
    }
    Ok(tally)
}
