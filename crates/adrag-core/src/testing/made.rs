//! Passages made for tests of the stages.

use adrag_contract::{ChunkId, DocumentId, Passage};

/// A passage of a text, found by nothing.
pub fn passage(text: &str) -> Passage {
    Passage {
        chunk: ChunkId::new("c"),
        document: DocumentId::new("d"),
        title: String::new(),
        path: String::new(),
        pages: None,
        headings: Vec::new(),
        span: (0, text.len() as u64),
        text: text.to_owned(),
        found_by: Vec::new(),
        fused_score: 0.0,
        rerank_score: None,
    }
}
