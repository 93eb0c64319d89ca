//! `cargo xtask bench`: numbers about the built program. Nothing here asserts; a bench that cannot run says why.

mod data;
mod languages;
mod qa;
mod quality;
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
    /// Engine that answers in `qa`: quotes, openai, ollama or local, as the settings of a fresh library have it
    #[arg(long, default_value = "quotes")]
    engine: String,
    /// Questions of each collection of `quality` and `languages`
    #[arg(long, default_value_t = 60)]
    queries: usize,
    /// Parts of `quality` to measure: rank, support, abstain [default: all]
    #[arg(long, value_name = "PART")]
    part: Vec<String>,
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
    /// What the judge is worth: reranking, checking, abstaining (the tables of docs/QUALITY.md)
    Quality,
    /// Whole answers to the questions of the test documents
    Qa,
    /// Keyword search in thirteen languages
    Languages,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let Some(data) = data::folder(workspace) else {
        println!("skipped: no test data");
        return Ok(());
    };
    let program = app::choose(workspace, options.program.as_deref())?;
    match options.subject {
        Subject::Retrieval => retrieval::run(&program, &data, options.top, options.json),
        Subject::Qa => qa::run(&program, &data, &options.engine, options.json),
        Subject::Languages => {
            let kept = workspace.target.join("bench-languages");
            languages::run(&program, &data, &kept, options.queries)
        }
        Subject::Quality => {
            let bench = quality::Bench {
                program: &program,
                data: &data,
                kept: workspace.target.join("bench-quality"),
                queries: options.queries,
                top: options.top,
            };
            quality::run(&bench, &options.part)
        }
    }
}
