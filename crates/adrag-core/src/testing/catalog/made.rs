//! Files and contents made for the checks of a catalogue.

use crate::ports::{BlockKind, Chunk, Content, DocumentKey, NewDocument};
use adrag_contract::{ChunkId, CollectionName, PageRange};

/// A file as it is admitted.
pub fn file(collection: &str, path: &str, sha256: &str, at_ms: i64) -> NewDocument {
    NewDocument {
        collection: CollectionName::from(collection),
        path: path.to_owned(),
        title: path.rsplit('/').next().unwrap_or(path).to_owned(),
        bytes: 1_000,
        sha256: sha256.to_owned(),
        at_ms,
    }
}

/// A text cut into one chunk a line, with ids derived from the generation.
pub fn content(key: &DocumentKey, text: &str) -> Content {
    let mut start = 0;
    let chunks = text
        .split_inclusive('\n')
        .enumerate()
        .map(|(number, line)| {
            let chunk = Chunk {
                id: ChunkId::new(format!("{}-{}-{number}", key.document, key.generation)),
                ordinal: number as u32,
                start,
                end: start + line.len() as u64,
                pages: (number > 0).then(|| PageRange {
                    first: number as u32,
                    last: number as u32 + 1,
                }),
                headings: vec!["Part".to_owned(), format!("Section {number}")],
                kind: if number == 0 {
                    BlockKind::Heading(1)
                } else {
                    BlockKind::Prose
                },
                text: line.to_owned(),
                header: "Title > Part".to_owned(),
                tokens: 7 + number as u32,
            };
            start = chunk.end;
            chunk
        })
        .collect();
    Content {
        title: format!("Title of {}", text.lines().next().unwrap_or_default()),
        kind: "markdown".to_owned(),
        text: text.to_owned(),
        pages: Some(3),
        chunks,
        fingerprint: "print-1".to_owned(),
    }
}
