//! The ports: what the logic needs of the world, as traits. A trait stands here only where a real adapter and a fake
//! both exist; each has a conformance suite in [`crate::testing`] that runs on both.

mod catalog;
mod chat;
mod clock;
mod document;
mod embedder;
mod error;
mod graph;
mod keys;
mod keyword;
mod parser;
mod reranker;
mod support;
mod vector;
mod watcher;
mod web;

pub use catalog::*;
pub use chat::*;
pub use clock::*;
pub use document::*;
pub use embedder::*;
pub use error::*;
pub use graph::*;
pub use keys::*;
pub use keyword::*;
pub use parser::*;
pub use reranker::*;
pub use support::*;
pub use vector::*;
pub use watcher::*;
pub use web::*;
