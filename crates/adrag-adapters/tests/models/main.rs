//! The local models on the real runtime, against the suites that the fakes pass too.
#![allow(clippy::unwrap_used)]

use adrag_adapters::ort::{OrtEmbedder, WordPieces};
use adrag_core::answer::SentenceReranker;
use adrag_core::ports::{Embedder, Tokenizer};
use adrag_core::testing;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod pairs;

/// The folder of the models, by the same rule as the program's; says so when there is none.
fn folder() -> Option<PathBuf> {
    let found = look();
    if found.is_none() {
        println!("skipped: the models are not there; run `cargo xtask setup`");
    }
    found
}

fn look() -> Option<PathBuf> {
    let folder = std::env::var_os("ADRAG_MODELS").map(PathBuf::from).or_else(|| {
        directories::ProjectDirs::from("org", "adrag", "adrag").map(|dirs| dirs.cache_dir().join("models"))
    })?;
    folder
        .join("all-MiniLM-L6-v2/model.onnx")
        .is_file()
        .then_some(folder)
}

fn library() -> &'static str {
    match std::env::consts::OS {
        "windows" => "onnxruntime.dll",
        "macos" => "libonnxruntime.dylib",
        _ => "libonnxruntime.so",
    }
}

fn tokenizer_file(folder: &Path) -> PathBuf {
    folder.join("all-MiniLM-L6-v2").join("tokenizer.json")
}

fn open() -> Option<(Arc<WordPieces>, Arc<OrtEmbedder>)> {
    let folder = folder()?;
    let model = folder.join("all-MiniLM-L6-v2");
    let tokenizer = Arc::new(WordPieces::open(&tokenizer_file(&folder)).unwrap());
    let embedder = OrtEmbedder::open(
        &folder.join("onnxruntime").join(library()),
        &model.join("model.onnx"),
        tokenizer.clone(),
        "all-MiniLM-L6-v2",
        "checksum",
        256,
    );
    Some((tokenizer, Arc::new(embedder.unwrap())))
}

#[tokio::test]
async fn the_embedder_keeps_every_promise_of_its_port() {
    let Some((_, embedder)) = open() else { return };
    assert_eq!(embedder.info().dim, 384);
    testing::embedder::conformance(embedder.as_ref()).await;
}

#[tokio::test]
async fn the_reranker_over_it_does_too() {
    let Some((_, embedder)) = open() else { return };
    testing::reranker::conformance(&SentenceReranker::new(embedder)).await;
}

#[test]
fn a_text_that_looks_like_a_special_token_is_plain_text() {
    let Some((tokenizer, _)) = open() else { return };
    assert!(tokenizer.count("[SEP]") > 1, "it is read as its characters");
    assert_eq!(tokenizer.count("the pump"), 2);
}

#[test]
fn a_missing_or_damaged_model_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokenizer.json");
    let missing = WordPieces::open(&file).err().unwrap();
    assert!(missing.to_string().contains("tokenizer.json"), "{missing}");
    std::fs::write(&file, "{\"half\": ").unwrap();
    let damaged = WordPieces::open(&file).err().unwrap();
    assert!(damaged.to_string().contains("cannot be used"), "{damaged}");
}
