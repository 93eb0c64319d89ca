//! Small documents that are easy to tell apart: each has one word that no other has.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::process;

pub struct Corpus {
    pub folder: PathBuf,
    /// File name and the word only that file has.
    pub markers: Vec<(String, String)>,
}

const PLACES: [&str; 6] = [
    "the quay",
    "the workshop",
    "the upper store",
    "the boiler room",
    "the office",
    "the yard",
];
const THINGS: [&str; 7] = [
    "a pump",
    "two valves",
    "a ladder",
    "the ledger",
    "a crate of seals",
    "the spare motor",
    "a lamp",
];

impl Corpus {
    /// Writes the documents of one round into a folder of their own.
    pub fn write(parent: &Path, round: usize, count: usize) -> Result<Self> {
        let label = if round == usize::MAX {
            "trial".to_owned()
        } else {
            format!("round{round}")
        };
        let folder = parent.join(&label);
        let mut markers = Vec::new();
        for number in 0..count {
            let name = format!("{label}-document{number:02}.md");
            let marker = format!("zq{label}x{number:02}mark");
            process::write_if_changed(&folder.join(&name), text(&marker, number).as_bytes())?;
            markers.push((name, marker));
        }
        Ok(Self { folder, markers })
    }
}

fn text(marker: &str, number: usize) -> String {
    let mut text = format!("# Inventory sheet {number}\n\nThis sheet has the reference {marker}.\n");
    for paragraph in 0..4 + number % 5 {
        text.push_str(&format!("\n## Entry {paragraph}\n\n"));
        for sentence in 0..6 {
            let place = PLACES[(number + paragraph + sentence) % PLACES.len()];
            let thing = THINGS[(number * 3 + paragraph * 5 + sentence) % THINGS.len()];
            text.push_str(&format!(
                "On day {} {thing} was carried to {place} and counted {} times. ",
                number * 10 + paragraph,
                sentence + 1
            ));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_occurs_in_its_own_document_only() {
        let parent = tempfile::tempdir().unwrap();
        let corpus = Corpus::write(parent.path(), 3, 12).unwrap();
        for (_, marker) in &corpus.markers {
            let holders = corpus.markers.iter().filter(|(name, _)| {
                std::fs::read_to_string(corpus.folder.join(name))
                    .unwrap()
                    .contains(marker.as_str())
            });
            assert_eq!(holders.count(), 1);
        }
    }
}
