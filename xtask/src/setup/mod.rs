//! `cargo xtask setup`: what this machine lacks is installed where we may, and named where we may not.
//!
//! A second run finds everything in place and costs a few process starts. The order is the order of need:
//! the linker and the web view, the wasm32 target, fonts, models.

pub mod debian;
pub mod fonts;
mod system;
mod wasm;

use std::path::PathBuf;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{llama, models, report};

#[derive(clap::Args)]
pub struct Options {
    /// Also install what reading scanned pages needs
    #[arg(long)]
    ocr: bool,
    /// Also fetch what only tests need: a small chat model and `llama-server`
    #[arg(long)]
    tests: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    system::ensure(options.ocr)?;
    finish(workspace)?;
    if options.tests {
        Extras::collect(workspace);
    }
    Ok(())
}

/// Set-up as the other tasks need it.
pub fn ensure(workspace: &Workspace) -> Result<()> {
    system::ensure(false)?;
    finish(workspace)
}

fn finish(workspace: &Workspace) -> Result<()> {
    wasm::ensure()?;
    fonts::ensure(workspace)?;
    models::ensure_default(workspace)?;
    report::step("set-up is complete");
    Ok(())
}

/// What tests against a real language model need, where it can be had; a test without it says that it is skipped.
#[derive(Default)]
pub struct Extras {
    /// The variables that hand it to the tests.
    pub environment: Vec<(&'static str, PathBuf)>,
}

impl Extras {
    pub fn collect(workspace: &Workspace) -> Self {
        let mut environment = Vec::new();
        match models::ensure_test_chat_model(workspace) {
            Ok(path) => environment.push(("ADRAG_TEST_GGUF", path)),
            Err(error) => report::notice(format!(
                "no chat model, so tests that need one are skipped: {error:#}"
            )),
        }
        environment.extend(llama::ensure(workspace).map(|path| ("ADRAG_LLAMA_SERVER", path)));
        for (name, path) in &environment {
            report::step(format!("{name}={}", path.display()));
        }
        Self { environment }
    }
}
