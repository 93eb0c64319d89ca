//! Many files, some of them bad, and kills on the way: every good one is ready in the end, every bad one has its reason, and
//! nothing that was ready is embedded again.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::corpus::Corpus;
use super::{Row, Tally, verdict};
use crate::{app, process};

/// Kills on the way.
const KILLS: usize = 5;
/// One bad file in so many.
const BAD_SHARE: usize = 100;

pub fn run(mut row: Row, documents: usize) -> Result<Tally> {
    let data = row.data();
    let bad = (documents / BAD_SHARE).max(1);
    let corpus = Corpus::write(row.work, 0, documents - bad)?;
    let damaged = write_bad(&corpus.folder, bad)?;
    let mut tally = Tally::default();
    let (mut ready, mut embedded) = (BTreeSet::new(), BTreeSet::new());
    let began = Instant::now();
    for kill in 0..KILLS {
        let log = row.work.join(format!("log{kill}"));
        let mut child = ingest(&row, &data, &corpus.folder, &log)?;
        // Some work is done between two kills, so that they come at different places.
        let wait = row.chance.between(3_000, 12_000);
        std::thread::sleep(Duration::from_millis(wait));
        if child
            .try_wait()
            .context("the program cannot be watched")?
            .is_none()
        {
            child.kill().context("the program could not be killed")?;
            tally.injected += 1;
        }
        child.wait().context("the program did not end")?;
        let mut faults = twice(&ready, &mut embedded, &log)?;
        let (rest, now) = row.look(&data, &ready)?;
        faults.extend(rest);
        println!(
            "kill {:>2}: after {wait} ms, {} ready, {}",
            kill + 1,
            now.len(),
            verdict(&faults)
        );
        ready = now;
        tally.take(kill, faults);
    }
    let log = row.work.join("log-last");
    let ended = ingest(&row, &data, &corpus.folder, &log)?
        .wait()
        .context("the program did not end")?;
    let mut faults = twice(&ready, &mut embedded, &log)?;
    if ended.code() != Some(3) {
        faults.push(format!("it ended with {:?} instead of 3", ended.code()));
    }
    let (rest, now) = row.look(&data, &ready)?;
    faults.extend(rest);
    if now.len() != documents - bad {
        faults.push(format!(
            "{} of {} documents are ready",
            now.len(),
            documents - bad
        ));
    }
    let listed = app::ask(row.program, &data, &["documents"])?.accepted()?;
    let reasons = with_reason(&listed, &damaged);
    if reasons != bad {
        faults.push(format!("{reasons} of {bad} bad files have a reason"));
    }
    println!(
        "in the end: {} ready, {reasons} with a reason, {:.0} s in all, {}",
        now.len(),
        began.elapsed().as_secs_f64(),
        verdict(&faults)
    );
    tally.take(KILLS, faults);
    Ok(tally)
}

/// Files that cannot be read, each in a way of its own.
fn write_bad(folder: &Path, count: usize) -> Result<Vec<PathBuf>> {
    let kinds: [(&str, &[u8]); 4] = [
        ("pdf", b"%PDF-1.7\nthis is no document"),
        ("docx", b"no archive at all"),
        ("txt", b"\x89PNG\r\n\x1a\n\0\0\0\0a picture under another name"),
        ("xlsx", b"PK\x03\x04 cut off"),
    ];
    (0..count)
        .map(|number| {
            let (extension, content) = kinds[number % kinds.len()];
            let path = folder.join(format!("bad{number:03}.{extension}"));
            // Not the same bytes: those would be one document.
            let mut bytes = content.to_vec();
            bytes.extend_from_slice(format!(" {number}").as_bytes());
            process::write_if_changed(&path, &bytes)?;
            Ok(path)
        })
        .collect()
}

fn ingest(row: &Row, data: &Path, folder: &Path, log: &Path) -> Result<std::process::Child> {
    let file = File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    app::call(
        row.program,
        data,
        &["ingest", &folder.to_string_lossy(), "--json"],
    )
    .stdout(file)
    .stderr(Stdio::null())
    .spawn()
    .context("the program could not be started")
}

/// Paths that were ready before and were embedded again; those embedded now are added.
fn twice(ready: &BTreeSet<String>, embedded: &mut BTreeSet<String>, log: &Path) -> Result<Vec<String>> {
    let text = std::fs::read(log).with_context(|| format!("cannot read `{}`", log.display()))?;
    let now: BTreeSet<String> = String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| {
            line["event"]["type"] == "DocumentStateChanged" && line["event"]["state"] == "embedding"
        })
        .filter_map(|line| line["event"]["path"].as_str().map(str::to_owned))
        .collect();
    let again = ready
        .intersection(&now)
        .map(|path| format!("`{path}` was embedded twice"))
        .collect();
    embedded.extend(now);
    Ok(again)
}

fn with_reason(listed: &Value, damaged: &[PathBuf]) -> usize {
    let list = listed["documents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .filter(|document| {
            document["state"] == "failed" && !document["reason"].as_str().unwrap_or_default().is_empty()
        })
        .filter(|document| {
            document["path"].as_str().is_some_and(|path| {
                damaged
                    .iter()
                    .any(|bad| path.ends_with(&*bad.file_name().unwrap_or_default().to_string_lossy()))
            })
        })
        .count()
}
