//! `cargo xtask setup`: what this machine lacks is installed where we may, and named where we may not.
//!
//! A second run finds everything in place and costs a few process starts. The order is the order of need:
//! the linker and the web view, the wasm32 target, fonts, models.

pub mod debian;
pub mod fonts;
mod system;
mod wasm;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{models, report};

#[derive(clap::Args)]
pub struct Options {
    /// Also install what reading scanned pages needs
    #[arg(long)]
    ocr: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    system::ensure(options.ocr)?;
    finish(workspace)
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
