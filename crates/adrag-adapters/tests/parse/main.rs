//! The document parser on real and hostile files: the corpus, documents made here, the file system, the worker.
#![allow(clippy::unwrap_used)]

mod corpus;
mod disk;
mod hostile;
mod made;
mod office;
mod pdfs;
mod prose;
mod word;
mod worker;

use adrag_adapters::parse::FileParser;
use adrag_core::ports::{BlockKind, DocumentParser, ParsedDocument, PortResult};
use adrag_core::testing::parser::assert_document;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Parses a file in-process and checks what every document promises.
async fn parse(path: &Path) -> PortResult<ParsedDocument> {
    parse_with(&FileParser::new(None), path).await
}

async fn parse_with(parser: &FileParser, path: &Path) -> PortResult<ParsedDocument> {
    let source = parser.inspect(&path.to_string_lossy()).await?;
    let document = parser.parse(&source, &CancellationToken::new()).await?;
    assert_document(&document, &path.to_string_lossy());
    Ok(document)
}

/// Writes bytes under a name into a fresh folder and parses them.
async fn parse_bytes(name: &str, bytes: &[u8]) -> PortResult<ParsedDocument> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    parse(&path).await
}

/// The message of a refusal.
async fn refusal(name: &str, bytes: &[u8]) -> String {
    parse_bytes(name, bytes).await.expect_err(name).error.message
}

/// The blocks of a document with their text.
fn blocks(document: &ParsedDocument) -> Vec<(BlockKind, &str)> {
    document
        .blocks
        .iter()
        .map(|block| (block.kind, &document.text[block.start..block.end]))
        .collect()
}
