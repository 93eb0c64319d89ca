//! The shell as scripts and the window see it: command line, commands, configuration, faults of engines.
//!
//! What needs a real window is in `../window`.
#![allow(clippy::unwrap_used)]

mod commands;
mod config;
mod fake_server;
mod faults;
mod judge;
mod library;
mod program;
mod serve;
mod threads;
mod usage;
