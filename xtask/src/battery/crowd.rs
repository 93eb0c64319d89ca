//! B16: many at once through one running program: eight that search, two that add, one that deletes. Nobody ever finds what was
//! deleted before he asked, and in the end the stores agree.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use super::corpus::Corpus;
use super::{Chance, DOCUMENTS, Row, Tally, verdict};
use crate::app;

/// Searches of each searcher in a round.
const SEARCHES: usize = 20;
const SEARCHERS: usize = 8;

pub fn run(mut row: Row) -> Result<Tally> {
    let mut tally = Tally::default();
    let data = row.data();
    for round in 0..row.rounds {
        let corpora: Vec<Corpus> = (0..3)
            .map(|part| Corpus::write(row.work, 3 * round + part, DOCUMENTS / 3))
            .collect::<Result<_>>()?;
        row.ingest(&data, &corpora[0])?;
        let served = Served::start(row.program, &data)?;
        let gone: Mutex<BTreeSet<String>> = Mutex::default();
        let faults: Mutex<Vec<String>> = Mutex::default();
        let asked = AtomicUsize::new(0);
        let seeds: Vec<u64> = (0..=SEARCHERS)
            .map(|_| row.chance.between(1, u64::MAX - 1))
            .collect();
        std::thread::scope(|scope| {
            for corpus in &corpora[1..] {
                let (served, faults) = (&served, &faults);
                scope.spawn(move || {
                    let body = json!({ "paths": [corpus.folder.to_string_lossy()] });
                    if let Err(error) = served.call("POST", "/v1/documents", Some(&body)) {
                        note(faults, format!("adding failed: {error:#}"));
                    }
                });
            }
            for seed in &seeds[1..] {
                let (served, faults, gone, asked, corpora) = (&served, &faults, &gone, &asked, &corpora);
                scope.spawn(move || {
                    let mut chance = Chance(*seed | 1);
                    for _ in 0..SEARCHES {
                        let corpus = &corpora[chance.below(corpora.len())];
                        let (_, marker) = &corpus.markers[chance.below(corpus.markers.len())];
                        // What is known to be gone before the question must not be in its answer.
                        let before = gone.lock().map(|gone| gone.clone()).unwrap_or_default();
                        let body =
                            json!({ "question": format!("reference {marker}"), "top": 20, "rerank": false });
                        asked.fetch_add(1, Ordering::Relaxed);
                        match served.call("POST", "/v1/search", Some(&body)) {
                            Ok(reply) => {
                                let hits = reply["hits"].as_array().cloned().unwrap_or_default();
                                for hit in hits.iter().filter_map(|hit| hit["document"].as_str()) {
                                    if before.contains(hit) {
                                        note(
                                            faults,
                                            format!("document {hit} was found after it was deleted"),
                                        );
                                    }
                                }
                            }
                            Err(error) => note(faults, format!("a search failed: {error:#}")),
                        }
                    }
                });
            }
            let (served, faults, gone) = (&served, &faults, &gone);
            let seed = seeds[0];
            scope.spawn(move || {
                let mut chance = Chance(seed | 1);
                for _ in 0..DOCUMENTS / 6 {
                    let listed = match served.call("GET", "/v1/documents", None) {
                        Ok(listed) => listed,
                        Err(error) => return note(faults, format!("listing failed: {error:#}")),
                    };
                    let ready: Vec<String> = listed["documents"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter(|document| document["state"] == "ready")
                        .filter_map(|document| document["id"].as_str().map(str::to_owned))
                        .collect();
                    if ready.is_empty() {
                        continue;
                    }
                    let id = ready[chance.below(ready.len())].clone();
                    match served.call("DELETE", &format!("/v1/documents/{id}"), None) {
                        Ok(_) => {
                            if let Ok(mut gone) = gone.lock() {
                                gone.insert(id);
                            }
                        }
                        Err(error) => note(faults, format!("deleting failed: {error:#}")),
                    }
                }
            });
        });
        drop(served);
        let mut faults = faults.into_inner().unwrap_or_default();
        let gone = gone.into_inner().unwrap_or_default();
        let asked = asked.into_inner();
        tally.injected += asked + gone.len() + 2;
        let (rest, ready) = row.look(&data, &BTreeSet::new())?;
        faults.extend(rest);
        println!(
            "round {:>3}: {asked} searches, 2 ingestions, {} deletions at once, {} ready, {}",
            round + 1,
            gone.len(),
            ready.len(),
            verdict(&faults)
        );
        tally.take(round, faults);
    }
    Ok(tally)
}

fn note(faults: &Mutex<Vec<String>>, fault: String) {
    if let Ok(mut faults) = faults.lock() {
        faults.push(fault);
    }
}

/// `adrag serve`, for as long as this lives.
struct Served {
    child: Child,
    url: String,
    token: String,
    agent: ureq::Agent,
}

impl Served {
    fn start(program: &Path, data: &Path) -> Result<Self> {
        let mut child = app::call(program, data, &["serve", "--port", "0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the program could not be started")?;
        let output = child.stdout.take().context("the program has no output")?;
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .context("the program said nothing")?;
        let told: Value =
            serde_json::from_str(&line).with_context(|| format!("the program said `{line}`"))?;
        let text = |name: &str| {
            told[name]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| anyhow!("no `{name}`"))
        };
        Ok(Self {
            url: text("url")?,
            token: text("token")?,
            child,
            agent: ureq::Agent::new_with_defaults(),
        })
    }

    /// The reply as JSON; a stream of events is read to its end and gives nothing.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = format!("{}{path}", self.url);
        let bearer = format!("Bearer {}", self.token);
        let mut reply = match (method, body) {
            ("GET", _) => self.agent.get(&url).header("Authorization", &bearer).call(),
            ("DELETE", _) => self.agent.delete(&url).header("Authorization", &bearer).call(),
            (_, body) => self
                .agent
                .post(&url)
                .header("Authorization", &bearer)
                .header("Content-Type", "application/json")
                .send(body.map(Value::to_string).unwrap_or_default()),
        }
        .with_context(|| format!("{method} {path}"))?;
        let text = reply
            .body_mut()
            .read_to_string()
            .with_context(|| format!("{method} {path}"))?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An orderly end, so that the stores are flushed; after that by force.
        let _ = std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        for _ in 0..100 {
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
