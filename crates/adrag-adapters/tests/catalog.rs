//! The catalogue, the graph and the followed folders on disk: the promises of their ports, and what only a disk can break.
#![allow(clippy::unwrap_used)]

#[path = "catalog/folders.rs"]
mod folders;
#[path = "catalog/sled.rs"]
mod sled;
#[path = "catalog/sqlite.rs"]
mod sqlite;
