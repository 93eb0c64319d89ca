//! Local models on ONNX Runtime: the embedder, the cross-encoders and their tokenizer.
//!
//! The runtime is a shared library found at run time, never linked. A missing or damaged file is a typed error that
//! names it; the program then serves without what it cannot have.

mod batch;
mod cross_encoder;
mod embedder;
mod runtime;
mod tokenizer;

pub use cross_encoder::{CrossEncoder, Head, OrtReranker, OrtSupport, PairForm, Reading};
pub use embedder::OrtEmbedder;
pub use tokenizer::{ApproximateTokenizer, WordPieces};
