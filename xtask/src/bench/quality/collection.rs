//! A retrieval collection in BEIR layout: its texts, its queries, and which texts answer which query.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// A text or a query.
#[derive(Deserialize)]
pub struct Entry {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    pub text: String,
}

/// A collection.
pub struct Collection {
    corpus: Vec<Entry>,
    queries: Vec<Entry>,
    relevant: HashMap<String, HashMap<String, f64>>,
}

impl Collection {
    pub fn read(folder: &Path) -> Result<Self> {
        Ok(Self {
            corpus: entries(&folder.join("corpus.jsonl"))?,
            queries: entries(&folder.join("queries.jsonl"))?,
            relevant: relevance(&folder.join("qrels").join("test.tsv"))?,
        })
    }

    /// The queries that some text answers.
    pub fn judged(&self) -> Vec<&Entry> {
        self.queries
            .iter()
            .filter(|query| self.relevant.contains_key(&query.id))
            .collect()
    }

    /// What each text is worth to a judged query.
    pub fn gains(&self, query: &str) -> &HashMap<String, f64> {
        &self.relevant[query]
    }

    /// One text file a document that says anything; their number. Texts that occur twice stay with the first.
    pub fn write_documents(&self, folder: &Path) -> Result<usize> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        let mut seen = HashSet::new();
        for entry in &self.corpus {
            let text = format!("{}\n\n{}\n", entry.title, entry.text);
            let path = folder.join(format!("{}.txt", entry.id));
            if text.trim().is_empty() || !seen.insert(text.clone()) || path.exists() {
                continue;
            }
            std::fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        Ok(seen.len())
    }
}

/// The ids of the documents found, each once, best first.
pub fn ranked(reply: &Value) -> Vec<String> {
    let mut seen = HashSet::new();
    reply["hits"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|hit| hit["path"].as_str())
        .filter_map(|path| Path::new(path).file_stem()?.to_str().map(str::to_owned))
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

fn entries(path: &Path) -> Result<Vec<Entry>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("`{}` is damaged", path.display())))
        .collect()
}

/// Gains by query and document, those above nothing.
fn relevance(path: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        if let (Some(query), Some(document), Some(gain)) = (fields.next(), fields.next(), fields.next())
            && let Ok(gain) = gain.trim().parse::<f64>()
            && gain > 0.0
        {
            relevant
                .entry(query.to_owned())
                .or_default()
                .insert(document.to_owned(), gain);
        }
    }
    Ok(relevant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_counts_once_by_its_file_name() {
        let reply = serde_json::json!({"hits": [{"path": "/x/d1.txt"}, {"path": "/x/d2.txt"}, {"path": "/x/d1.txt"}]});
        assert_eq!(ranked(&reply), ["d1", "d2"]);
    }
}
