//! The engine over fakes of every port: runs from their first to their last event.
#![allow(clippy::unwrap_used)]

mod ask;
mod bench;
mod compat;
mod delete;
mod events;
mod ingest;
mod injection;
mod interleavings;
mod pause;
mod recover;
mod threads;
mod watch;
