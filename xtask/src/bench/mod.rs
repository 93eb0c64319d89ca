//! `cargo xtask bench`: numbers about the built program. Nothing here asserts; a bench that cannot run says why.

mod data;
mod retrieval;

use anyhow::Result;
use clap::ValueEnum;

use crate::workspace::Workspace;
use crate::{app, report, setup, ui};

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
    setup::ensure(workspace)?;
    ui::build(workspace)?;
    report::step("building the program");
    app::build(workspace)?;
    match options.subject {
        Subject::Retrieval => retrieval::run(workspace, &data, options.top, options.json),
    }
}
