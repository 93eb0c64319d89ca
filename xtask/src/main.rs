//! `cargo xtask`: everything a person or a machine does to this repository, in plain Rust.
//!
//! It is not part of the product: nothing here is shipped, and the program never calls it. It starts other
//! programs (cargo, apt-get, pip, npm) and has no shell scripts of its own. Start reading at [`Task`].

mod app;
mod battery;
mod bench;
mod llama;
mod models;
mod package;
mod process;
mod report;
mod run;
mod rustc_shim;
mod setup;
mod test;
mod ui;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use workspace::Workspace;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Set-up, run, test, bench and package"
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install or name what is missing: system packages, the wasm32 target, fonts, models
    Setup(setup::Options),
    /// List the local models, or fetch the named ones
    Models(models::Options),
    /// Build the screen into `dist/`
    Ui,
    /// Set up, build and start the program; without a display, ask the sample documents a question
    Run(run::Options),
    /// Set up, build, and run every check
    Test(test::Options),
    /// Measure the built program on the test data
    Bench(bench::Options),
    /// Build the installable package
    Package,
    /// Break the running program on purpose and look for losses
    Battery(battery::Options),
}

fn main() -> ExitCode {
    if rustc_shim::is_called_as_wrapper() {
        return rustc_shim::wrap();
    }
    match dispatch(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::failure(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Setup(options) => setup::run(&workspace, &options),
        Task::Models(options) => models::run(&workspace, &options),
        Task::Ui => ui::build(&workspace),
        Task::Run(options) => run::run(&workspace, &options),
        Task::Test(options) => test::run(&workspace, &options),
        Task::Bench(options) => bench::run(&workspace, &options),
        Task::Package => package::run(&workspace),
        Task::Battery(options) => battery::run(&workspace, &options),
    }
}
