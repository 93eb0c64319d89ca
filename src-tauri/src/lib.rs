//! The shell: turns the engine into a desktop program and a command line.
//!
//! It decides nothing about documents or answers; that is `adrag-core`. Start at [`window::run`] for the window, at
//! [`cli::run`] for the command line, at [`commands`] for what the window may ask and at [`serve`] for what other programs may.
#![warn(missing_docs)]

pub mod cli;
pub mod commands;
pub mod desktop;
mod display;
pub mod events;
mod log;
pub mod places;
pub mod serve;
pub mod session;
pub mod window;

use clap::Parser;
use cli::args::{Cli, Command};
use std::process::ExitCode;

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::say_usage(&error),
    };
    // The worker reads one hostile file under limits: it starts neither a runtime nor a log.
    if let Some(Command::ExtractWorker) = cli.command {
        let code = adrag_adapters::parse::run_worker();
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    log::start();
    let places = match places::Places::find(cli.common.data_dir.clone()) {
        Ok(places) => places,
        Err(error) => return cli::fail(&error),
    };
    match cli.command {
        Some(command) => cli::run(command, cli.common.json, &places),
        None => window::run(places, &cli.files),
    }
}
