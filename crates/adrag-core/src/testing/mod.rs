//! Fakes of the ports, and the conformance suites that fakes and real adapters both pass.
//!
//! A suite is a function that takes a fresh instance and panics with a sentence on the first broken promise. Only for
//! tests: behind the feature `test-support`.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

pub mod catalog;
pub mod chat;
pub mod clock;
pub mod embedder;
pub mod graph;
pub mod keys;
pub mod keyword;
pub mod parser;
pub mod reranker;
pub mod support;
pub mod vector;
pub mod watch_list;
pub mod watcher;
pub mod web;
