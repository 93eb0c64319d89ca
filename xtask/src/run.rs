//! `cargo xtask run`: from a clean clone to the running program. Without a display it shows the same engine at
//! work in the terminal: the sample documents go in, a question is asked, the cited answer is printed.

use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{app, process, report, setup, ui};

/// Its answer stands in `docs/sample/`.
const QUESTION: &str = "Which gasket does the Marlowe heliostat use and who makes it?";

#[derive(clap::Args)]
pub struct Options {
    /// Handed on to the program
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    setup::ensure(workspace)?;
    ui::build(workspace)?;
    report::step("building the program");
    app::build(workspace)?;
    if !options.arguments.is_empty() || has_display() {
        report::step("starting adRAG");
        return process::run(Command::new(workspace.program()).args(&options.arguments));
    }
    ask_the_sample(workspace)
}

fn ask_the_sample(workspace: &Workspace) -> Result<()> {
    report::notice("there is no display, so the sample documents are asked in the terminal");
    let data = tempfile::Builder::new()
        .prefix("adrag-sample-")
        .tempdir()
        .context("no temporary folder")?;
    let sample = workspace.root.join("docs").join("sample");
    report::step("adrag ingest docs/sample");
    process::run(app::call(workspace, data.path(), &["ingest"]).arg(&sample))?;
    report::step(format!("adrag ask \"{QUESTION}\""));
    process::run(&mut app::call(workspace, data.path(), &["ask", QUESTION]))
}

/// A window system on this machine: always on macOS and Windows, elsewhere where one is announced.
pub fn has_display() -> bool {
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(target_os = "macos", windows)) || named("DISPLAY") || named("WAYLAND_DISPLAY")
}
