//! `cargo xtask ui`: the screen, from Rust to `dist/`, without a bundler.
//!
//! The crate is built for wasm32 in a cargo call of its own, wasm-bindgen makes the module, and the page around it
//! is written here. `dist/` is only touched where its content changes, because the program embeds it.

mod folder;
mod page;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::models::checksum::Summary;
use crate::setup::fonts;
use crate::workspace::{UI, Workspace};
use crate::{process, report};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm";
const FINGERPRINT: &str = ".fingerprint";

pub fn build(workspace: &Workspace) -> Result<()> {
    let wanted = fingerprint(workspace)?;
    let dist = workspace.dist();
    if std::fs::read_to_string(dist.join(FINGERPRINT)).is_ok_and(|present| present == wanted) {
        report::step("dist/ is up to date");
        return Ok(());
    }
    report::step("building the screen");
    process::run(workspace.cargo().args([
        "build",
        "--package",
        UI,
        "--target",
        TARGET,
        "--profile",
        PROFILE,
    ]))?;
    let stage = tempfile::Builder::new()
        .prefix("adrag-dist-")
        .tempdir()
        .context("no temporary folder")?;
    fill(workspace, stage.path())?;
    std::fs::write(stage.path().join(FINGERPRINT), &wanted).context("cannot write the fingerprint")?;
    folder::mirror(stage.path(), &dist)
}

fn fill(workspace: &Workspace, stage: &Path) -> Result<()> {
    let module = workspace
        .target
        .join(TARGET)
        .join(PROFILE)
        .join(format!("{UI}.wasm"));
    Bindgen::new()
        .input_path(&module)
        .web(true)?
        .out_name("ui")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(stage)
        .context("wasm-bindgen could not make the module")?;
    let mut sheets = page::in_order(copy_sheets(&workspace.root.join("ui").join("css"), stage)?);
    if copy_fonts(&fonts::folder(workspace), stage)? && !sheets.iter().any(|name| name == fonts::SHEET) {
        sheets.insert(0, fonts::SHEET.to_owned());
    }
    std::fs::write(stage.join("index.html"), page::index(&sheets)).context("cannot write index.html")?;
    std::fs::write(stage.join("boot.js"), page::BOOT).context("cannot write boot.js")
}

fn copy_sheets(from: &Path, stage: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for path in folder::files(from)? {
        if path.extension().is_some_and(|extension| extension == "css") {
            let name = folder::relative(from, &path);
            folder::copy(&path, &stage.join(&name))?;
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether there are bundled fonts at all.
fn copy_fonts(from: &Path, stage: &Path) -> Result<bool> {
    let sheet = from.join(fonts::SHEET);
    if !sheet.exists() {
        return Ok(false);
    }
    let place = stage.join(fonts::SHEET);
    // The repository's own `fonts.css`, if there is one, was copied already and wins.
    if !place.exists() {
        folder::copy(&sheet, &place)?;
    }
    for path in folder::files(from)?.into_iter().filter(|path| *path != sheet) {
        folder::copy(&path, &stage.join("fonts").join(folder::relative(from, &path)))?;
    }
    Ok(true)
}

/// A checksum over everything that decides what `dist/` holds.
fn fingerprint(workspace: &Workspace) -> Result<String> {
    let mut summary = Summary::default();
    summary.add("page", page::index(&[]).as_bytes());
    summary.add("boot", page::BOOT.as_bytes());
    let folders = [
        workspace.root.join("ui"),
        workspace.root.join("crates").join("adrag-contract"),
    ];
    let mut files: Vec<PathBuf> = vec![
        workspace.root.join("Cargo.toml"),
        workspace.root.join("Cargo.lock"),
    ];
    for folder in folders {
        files.extend(folder::files(&folder)?);
    }
    for path in files {
        let content = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        summary.add(&folder::relative(&workspace.root, &path), &content);
    }
    let cached = fonts::folder(workspace);
    let sheet = std::fs::read(cached.join(fonts::SHEET)).unwrap_or_default();
    summary.add("fonts", &sheet);
    Ok(summary.finish())
}
