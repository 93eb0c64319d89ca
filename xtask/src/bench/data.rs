//! The shared test data: where it is, and its questions. It is used in place and never copied.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::workspace::Workspace;

/// `ADRAG_DATA`, else `shared/data` beside the repository; none where neither is there.
pub fn folder(workspace: &Workspace) -> Option<PathBuf> {
    let named = std::env::var_os("ADRAG_DATA")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let folder = named.unwrap_or_else(|| workspace.root.join("..").join("shared").join("data"));
    folder.join("qa.jsonl").exists().then_some(folder)
}

#[derive(Debug, Deserialize)]
pub struct Question {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub question: String,
    #[serde(default)]
    pub conversation: Vec<serde_json::Value>,
    pub answerable: bool,
    #[serde(default)]
    pub gold: Vec<Gold>,
    /// For each part of the answer the words that may say it.
    #[serde(default)]
    pub answer_must_contain: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct Gold {
    pub file: String,
    #[serde(default)]
    pub passage: String,
}

impl Question {
    /// The plain names of the gold files, each once.
    pub fn gold_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.gold.iter().map(|gold| plain_name(&gold.file)).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// All questions.
pub fn questions(folder: &Path) -> Result<Vec<Question>> {
    let path = folder.join("qa.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("line {} of `{}` is no question", number + 1, path.display()))
        })
        .collect()
}

/// Those questions that have an answer in some document.
pub fn answerable(folder: &Path) -> Result<Vec<Question>> {
    let mut questions = questions(folder)?;
    questions.retain(|question| question.answerable && !question.gold.is_empty());
    Ok(questions)
}

/// The file name of a path, whichever way its separators lean.
pub fn plain_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gold_files_are_compared_by_their_plain_names() {
        let question: Question = serde_json::from_str(
            r#"{"id":"o1","type":"table","question":"?","answerable":true,
                "gold":[{"file":"open/b.csv"},{"file":"open/a.md"},{"file":"open/b.csv"}]}"#,
        )
        .unwrap();
        assert_eq!(question.gold_names(), ["a.md", "b.csv"]);
        assert_eq!(plain_name(r"C:\data\x.pdf"), "x.pdf");
    }
}
