//! The catalogue and the graph on disk: the promises of their ports, and what only a disk can break.
#![allow(clippy::unwrap_used)]

#[path = "catalog/sled.rs"]
mod sled;
#[path = "catalog/sqlite.rs"]
mod sqlite;
