//! B6: the disk is full while documents are taken in. What was there stays and answers, the program says what is wrong, and goes
//! on when there is room again. B7: a data folder that may not be written.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::corpus::Corpus;
use super::{DOCUMENTS, Row, Tally, is_found, verdict};
use crate::app;

/// Documents that do not fit any more.
const TOO_MANY: usize = 400;

/// A file system of its own, for as long as this lives.
struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    /// None where this user may not mount.
    fn memory(at: &'a Path, megabytes: u64) -> Option<Self> {
        let options = format!("size={megabytes}m");
        let path = at.to_string_lossy();
        mount(&["-t", "tmpfs", "-o", &options, "tmpfs", &path]).then_some(Self(at))
    }

    fn over(at: &'a Path) -> Option<Self> {
        let path = at.to_string_lossy();
        mount(&["--bind", &path, &path]).then_some(Self(at))
    }

    fn change(&self, options: &str) -> bool {
        mount(&["-o", &format!("remount,{options}"), &self.0.to_string_lossy()])
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        // A folder that stays mounted stays in the temporary folder: the system says why.
        if let Err(error) = Command::new("umount").arg(self.0).status() {
            eprintln!("`{}` stays mounted: {error}", self.0.display());
        }
    }
}

fn mount(arguments: &[&str]) -> bool {
    Command::new("mount")
        .args(arguments)
        .output()
        .is_ok_and(|output| output.status.success())
}

pub fn full(row: Row) -> Result<Tally> {
    let mut tally = Tally::default();
    for round in 0..row.rounds.min(6) {
        let data = row.work.join(format!("full{round}"));
        std::fs::create_dir_all(&data).with_context(|| format!("cannot create `{}`", data.display()))?;
        let Some(disk) = Mount::memory(&data, 24 + 2 * round as u64) else {
            println!("skipped: this user may not mount a small disk");
            return Ok(tally);
        };
        let mut faults = Vec::new();
        let first = Corpus::write(row.work, 2 * round, 4)?;
        row.ingest(&data, &first)?;
        let (_, before) = row.look(&data, &BTreeSet::new())?;
        let large = Corpus::write(row.work, 2 * round + 1, TOO_MANY)?;
        let reply = app::ask(row.program, &data, &["ingest", &large.folder.to_string_lossy()])?;
        let told = reply.last.to_string();
        let says_so = told.contains("disk") || told.contains("space");
        if reply.code == Some(0) {
            println!("round {:>3}: everything fitted", round + 1);
        } else {
            tally.injected += 1;
            if !says_so {
                faults.push(format!(
                    "it ended with {:?} and did not name the disk",
                    reply.code
                ));
            }
        }
        let (name, marker) = &first.markers[0];
        let found = app::ask(
            row.program,
            &data,
            &["search", marker, "--store", "keyword", "--top", "3"],
        )?;
        if !is_found(&found.last, name) {
            faults.push(format!(
                "what was there is not found while the disk is full: {}",
                found.last
            ));
        }
        if !disk.change("size=512m") {
            faults.push("the small disk could not be made larger".to_owned());
        }
        row.ingest(&data, &large)?;
        let (rest, after) = row.look(&data, &before)?;
        faults.extend(rest);
        if after.len() != 4 + TOO_MANY {
            faults.push(format!(
                "{} of {} documents are ready in the end",
                after.len(),
                4 + TOO_MANY
            ));
        }
        println!(
            "round {:>3}: full, then room again, {} ready, {}",
            round + 1,
            after.len(),
            verdict(&faults)
        );
        tally.take(round, faults);
    }
    Ok(tally)
}

pub fn locked(row: Row) -> Result<Tally> {
    let mut tally = Tally::default();
    let data = row.data();
    let corpus = Corpus::write(row.work, 0, DOCUMENTS / 3)?;
    row.ingest(&data, &corpus)?;
    let (_, before) = row.look(&data, &BTreeSet::new())?;
    let Some(disk) = Mount::over(&data) else {
        println!("skipped: this user may not mount a folder");
        return Ok(tally);
    };
    for round in 0..row.rounds.min(3) {
        let mut faults = Vec::new();
        if !disk.change("ro,bind") {
            println!("skipped: a folder cannot be mounted read-only here");
            return Ok(tally);
        }
        tally.injected += 1;
        let reply = app::ask(row.program, &data, &["documents"])?;
        let message = reply.last["error"]["message"].as_str().unwrap_or_default();
        if reply.code != Some(1) || message.is_empty() || reply.last["error"]["hint"].as_str().is_none() {
            faults.push(format!(
                "a folder that may not be written gave {:?}: {}",
                reply.code, reply.last
            ));
        }
        if !disk.change("rw,bind") {
            faults.push("the folder could not be unlocked".to_owned());
        }
        let (rest, _) = row.look(&data, &before)?;
        faults.extend(rest);
        println!("round {:>3}: read-only, {}", round + 1, verdict(&faults));
        tally.take(round, faults);
    }
    Ok(tally)
}
