//! `cargo xtask bench`: numbers about the built program. Nothing here asserts; a bench that cannot run says why.

mod data;
mod retrieval;

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;

use crate::app;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub struct Options {
    /// What to measure
    #[arg(value_enum, default_value_t = Subject::Retrieval)]
    subject: Subject,
    /// How many hits are looked at
    #[arg(long, default_value_t = 5)]
    top: usize,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Measure this program instead of building ours
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Subject {
    /// Whether the gold documents of the questions are found, by store and by type of question
    Retrieval,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let Some(data) = data::folder(workspace) else {
        println!("skipped: no test data");
        return Ok(());
    };
    let program = app::choose(workspace, options.program.as_deref())?;
    match options.subject {
        Subject::Retrieval => retrieval::run(&program, &data, options.top, options.json),
    }
}
