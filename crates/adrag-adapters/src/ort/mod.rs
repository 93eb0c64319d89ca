//! Local models on ONNX Runtime: the embedder and its tokenizer.
//!
//! The runtime is a shared library found at run time, never linked. A missing or damaged file is a typed error that
//! names it; the program then serves without what it cannot have.

mod embedder;
mod runtime;
mod tokenizer;

pub use embedder::OrtEmbedder;
pub use tokenizer::{ApproximateTokenizer, WordPieces};
