//! B6: the disk is full while documents are taken in. The program says what is wrong, nothing of what was there is lost, and it goes
//! on when there is room again; whether searches answer meanwhile is printed. B7: a data folder that may not be written.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::corpus::Corpus;
use super::{DOCUMENTS, Row, Tally, is_found, verdict};
use crate::app;

/// Size of the disk.
const DISK_MEGABYTES: u64 = 160;
/// Documents that do not fit any more.
const MANY: usize = 40;

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

pub fn full(mut row: Row) -> Result<Tally> {
    let mut tally = Tally::default();
    for round in 0..row.rounds.min(6) {
        let data = row.work.join(format!("full{round}"));
        std::fs::create_dir_all(&data).with_context(|| format!("cannot create `{}`", data.display()))?;
        let Some(_disk) = Mount::memory(&data, DISK_MEGABYTES) else {
            println!("skipped: this user may not mount a small disk");
            return Ok(tally);
        };
        let mut faults = Vec::new();
        let first = Corpus::write(row.work, 2 * round, DOCUMENTS / 3)?;
        row.ingest(&data, &first)?;
        let (_, before) = row.look(&data, &BTreeSet::new())?;
        // What is left is filled but for a little, so that the end comes at another place each time.
        let slack = row.chance.between(0, 3_000_000);
        let filler = data.join("filler");
        fill(&filler, slack)?;
        tally.injected += 1;
        let large = Corpus::write(row.work, 2 * round + 1, MANY)?;
        match app::ask(row.program, &data, &["ingest", &large.folder.to_string_lossy()]) {
            Ok(reply) if reply.code == Some(0) => println!("round {:>3}: everything fitted", round + 1),
            Ok(reply) => {
                let told = reply.last.to_string();
                if !told.contains("disk") && !told.contains("space") {
                    faults.push(format!(
                        "it ended with {:?} and did not name the disk",
                        reply.code
                    ));
                }
            }
            Err(error) => faults.push(format!("taking documents in broke down: {error:#}")),
        }
        let (name, marker) = &first.markers[0];
        let found = app::ask(
            row.program,
            &data,
            &["search", marker, "--store", "keyword", "--top", "3"],
        );
        let answers = found.is_ok_and(|reply| is_found(&reply.last, name));
        std::fs::remove_file(&filler).with_context(|| format!("cannot remove `{}`", filler.display()))?;
        row.ingest(&data, &large)?;
        let (rest, after) = row.look(&data, &before)?;
        faults.extend(rest);
        let wanted = first.markers.len() + MANY;
        if after.len() != wanted {
            faults.push(format!(
                "{} of {wanted} documents are ready in the end",
                after.len()
            ));
        }
        println!(
            "round {:>3}: {slack} bytes left, searches {} meanwhile, then room again, {} ready, {}",
            round + 1,
            if answers { "answered" } else { "did not answer" },
            after.len(),
            verdict(&faults)
        );
        tally.take(round, faults);
    }
    Ok(tally)
}

/// Writes a file until only so many bytes are left on its disk.
fn fill(path: &Path, slack: u64) -> Result<()> {
    let mut file =
        std::fs::File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let piece = vec![0; 64 * 1024];
    let mut written = 0;
    // The disk says when it is full; that is what was wanted.
    while file.write_all(&piece).is_ok() {
        written += piece.len() as u64;
    }
    file.set_len(written.saturating_sub(slack))
        .with_context(|| format!("cannot shorten `{}`", path.display()))
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
