//! What the judge is worth, through the program itself: reranking, checking, abstaining, finding. The tables of
//! `docs/QUALITY.md` come from here. Indexes are kept under `target/bench-quality`, so a second run only asks.

mod abstain;
pub mod collection;
mod rank;
pub mod stats;
mod support;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::app;

pub struct Bench<'a> {
    pub program: &'a Path,
    pub data: &'a Path,
    /// Where the indexes stay.
    pub kept: PathBuf,
    /// Questions of each collection.
    pub queries: usize,
    pub top: usize,
}

pub fn run(bench: &Bench, parts: &[String]) -> Result<()> {
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    println!("processor: {}", processor());
    if wanted("rank") {
        rank::run(bench)?;
    }
    if wanted("support") {
        support::run(bench)?;
    }
    if wanted("abstain") {
        abstain::run(bench)?;
    }
    Ok(())
}

impl Bench<'_> {
    /// A library over a folder, made on the first call; ingested again when it does not hold so many documents.
    fn library(&self, name: &str, documents: &Path, expected: usize) -> Result<PathBuf> {
        let folder = self.kept.join(name).join("library");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        let held = app::ask(self.program, &folder, &["documents"])?.accepted()?;
        let held = held["documents"].as_array().map_or(0, Vec::len);
        if held < expected {
            crate::report::step(format!("indexing {name}"));
            app::ask(self.program, &folder, &["ingest", &documents.to_string_lossy()])?.accepted()?;
        }
        Ok(folder)
    }

    /// One reply for each line of requests.
    fn lines(&self, library: &Path, command: &[&str], requests: &[String]) -> Result<Vec<Value>> {
        let mut file = tempfile::NamedTempFile::new().context("no temporary file")?;
        for request in requests {
            writeln!(file, "{}", request.replace(['\n', '\r'], " ")).context("no temporary file")?;
        }
        let path = file.path().to_string_lossy().into_owned();
        let arguments: Vec<&str> = command
            .iter()
            .map(|word| if *word == "FILE" { path.as_str() } else { *word })
            .collect();
        let output = app::call(self.program, library, &arguments)
            .output()
            .with_context(|| format!("`{}` could not be started", self.program.display()))?;
        let replies: Vec<Value> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).context("the program printed something else than JSON"))
            .collect::<Result<_>>()?;
        ensure!(
            replies.len() == requests.len(),
            "{} replies to {} requests: {}",
            replies.len(),
            requests.len(),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(replies)
    }
}

fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{name}, {cores} cores")
}
