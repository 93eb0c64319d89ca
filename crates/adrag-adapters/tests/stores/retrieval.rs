//! How well the words rank, on collections with judged answers, beside plain BM25 with English stems.

use adrag_adapters::tantivy::TantivyKeywordIndex;
use adrag_core::ports::KeywordChunk;
use adrag_core::ports::{KeywordIndex, Scope};
use adrag_core::testing::vector::chunk_id;
use adrag_core::testing::vector::key;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The test data: `ADRAG_DATA`, else `shared/data` beside a folder above this crate.
fn data() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("ADRAG_DATA") {
        return Some(PathBuf::from(given));
    }
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .map(|above| above.join("shared/data"))
        .find(|candidate| candidate.is_dir())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

struct Measured {
    ndcg: f64,
    micros: Vec<u128>,
}

/// nDCG@10 with linear gain, as `pytrec_eval` computes it, over all judged questions.
async fn measure(folder: &Path) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let (index, _) = TantivyKeywordIndex::open(home.path().join("words"))
        .await
        .unwrap();
    let mut names = HashMap::new();
    let mut chunks = Vec::new();
    for (number, line) in lines(&folder.join("corpus.jsonl")).iter().enumerate() {
        let id = string(line, "_id");
        names.insert(chunk_id(id, 1, number), id.to_owned());
        chunks.push(KeywordChunk {
            chunk: chunk_id(id, 1, number),
            key: key(id, 1),
            collection: "a".into(),
            title: string(line, "title").to_owned(),
            headings: String::new(),
            text: string(line, "text").to_owned(),
        });
    }
    index.add(chunks).await.unwrap();
    index.flush().await.unwrap();

    let mut judged: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(folder.join("qrels/test.tsv"))
        .unwrap()
        .lines()
        .skip(1)
    {
        let parts: Vec<&str> = line.split('\t').collect();
        let gain: f64 = parts[2].parse().unwrap();
        judged
            .entry(parts[0].to_owned())
            .or_default()
            .insert(parts[1].to_owned(), gain);
    }
    let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let (mut total, mut count, mut micros) = (0.0, 0, Vec::new());
    for line in lines(&folder.join("queries.jsonl")) {
        let Some(gains) = judged.get(string(&line, "_id")) else {
            continue;
        };
        let begun = Instant::now();
        let hits = index
            .search(string(&line, "text"), 10, &Scope::Everything)
            .await
            .unwrap();
        micros.push(begun.elapsed().as_micros());
        let gained: f64 = hits
            .iter()
            .enumerate()
            .map(|(rank, hit)| {
                gains.get(&names[&hit.chunk]).copied().unwrap_or(0.0).max(0.0) * discount(rank)
            })
            .sum();
        let mut ideal: Vec<f64> = gains.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best: f64 = ideal
            .iter()
            .take(10)
            .enumerate()
            .map(|(rank, gain)| gain * discount(rank))
            .sum();
        if best > 0.0 {
            total += gained / best;
        }
        count += 1;
    }
    micros.sort_unstable();
    Measured {
        ndcg: total / f64::from(count),
        micros,
    }
}

/// `ADRAG_RETRIEVAL` names other collections to print, separated by commas; only the two here are asserted.
#[tokio::test]
async fn ranks_no_worse_than_plain_bm25_with_stems() {
    let Some(data) = data()
        .map(|data| data.join("retrieval"))
        .filter(|folder| folder.is_dir())
    else {
        println!("skipped: no test data");
        return;
    };
    let baseline = fs::read_to_string(data.join("bm25-baseline.json")).unwrap();
    let baseline: Value = serde_json::from_str(&baseline).unwrap();
    let more = std::env::var("ADRAG_RETRIEVAL").unwrap_or_default();
    let asserted = ["cranfield", "cisi"];
    let mut failed = Vec::new();
    for name in asserted
        .into_iter()
        .chain(more.split(',').filter(|name| !name.is_empty()))
    {
        let measured = measure(&data.join(name)).await;
        let reference = ["stem", "cjk", "word"]
            .iter()
            .find_map(|kind| baseline[format!("{name}|{kind}")]["ndcg10"].as_f64())
            .unwrap_or(f64::NAN);
        println!(
            "{name}: nDCG@10 {:.4} (plain {reference:.4}), search p50 {} us p95 {} us",
            measured.ndcg,
            measured.micros[measured.micros.len() / 2],
            measured.micros[measured.micros.len() * 95 / 100],
        );
        if asserted.contains(&name) && measured.ndcg < reference {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "worse than plain BM25 on {failed:?}");
}
