//! The world: one folder per vendor implementing a port of core, and [`compose`] that puts them together.
//!
//! No vendor type is `pub` here: a caller sees ports and its own words only.

pub mod compose;
pub mod engines;
mod judges;
pub mod keychain;
pub mod llama_server;
mod models;
pub mod notify;
pub mod ollama;
pub mod openai;
pub mod ort;
pub mod parse;
mod projection;
pub mod qdrant;
pub mod sled;
pub mod sqlite;
mod system;
pub mod tantivy;
#[cfg(feature = "test-support")]
pub mod testing_servers;
pub mod web;
