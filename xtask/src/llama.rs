//! A `llama-server` for tests that need a real one: `ADRAG_LLAMA_SERVER`, then `PATH`, then the cache folder,
//! then Debian's build of it, unpacked privately and started with the loader and the libraries it came with.
//!
//! It is a convenience of the test machine. People who use the program bring their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::debian::{self, PrivateApt};
use crate::workspace::Workspace;
use crate::{process, report};

const NAME: &str = "llama-server";
const RELEASE: &str = "sid";
const PACKAGES: [&str; 10] = [
    "llama.cpp-tools",
    "libllama0",
    "libggml0",
    "libc6",
    "libstdc++6",
    "libgcc-s1",
    "libssl3t64",
    "libgomp1",
    "zlib1g",
    "libzstd1",
];

/// The server, fetched when it is not here; none, with a notice, where it cannot be had.
pub fn ensure(workspace: &Workspace) -> Option<PathBuf> {
    if let Some(found) = find(workspace) {
        return Some(found);
    }
    match fetch(workspace) {
        Ok(path) => Some(path),
        Err(error) => {
            report::notice(format!("no llama-server, so tests that need one are skipped: {error:#}"));
            None
        }
    }
}

fn find(workspace: &Workspace) -> Option<PathBuf> {
    let named = std::env::var_os("ADRAG_LLAMA_SERVER").filter(|path| !path.is_empty()).map(PathBuf::from);
    if named.is_some() {
        return named;
    }
    let cached = folder(workspace).join(NAME);
    process::find_on_path(NAME).into_iter().chain([cached]).find(|path| works(path))
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.cache.join(NAME)
}

fn works(path: &Path) -> bool {
    process::is_executable(path) && process::succeeds(Command::new(path).arg("--version"))
}

fn fetch(workspace: &Workspace) -> Result<PathBuf> {
    if !cfg!(target_os = "linux") || !PrivateApt::is_possible() {
        bail!("this is no Debian-like system; set `ADRAG_LLAMA_SERVER` to yours");
    }
    report::step("fetching llama-server for the tests");
    let packages: Vec<String> = PACKAGES.iter().map(|name| (*name).to_owned()).collect();
    let files = PrivateApt::open(&[RELEASE])?.download_into_memory_of(&packages, |file, root| {
        debian::unpack(file, root, &[])
    }, &folder(workspace).join("root"))?;
    let root = folder(workspace).join("root");
    let wrapper = folder(workspace).join(NAME);
    process::write_if_changed(&wrapper, wrapper_text(&root)?.as_bytes())?;
    process::make_executable(&wrapper)?;
    process::capture(Command::new(&wrapper).arg("--version")).context("the unpacked server does not start")?;
    report::step(format!("llama-server from {files} packages is ready"));
    Ok(wrapper)
}

/// Paths are taken from the wrapper's own place, so that the cache folder may move.
fn wrapper_text(root: &Path) -> Result<String> {
    let binary = inside(root, &["usr/bin/llama-server"])?;
    let loader = inside(root, &["usr/lib64/ld-linux-x86-64.so.2", "lib64/ld-linux-x86-64.so.2", "usr/lib/ld-linux-aarch64.so.1", "lib/ld-linux-aarch64.so.1"])?;
    Ok(String::new() + binary + loader)
}

fn inside<'a>(root: &Path, candidates: &[&'a str]) -> Result<&'a str> {
    match candidates.iter().find(|path| root.join(path).exists()) {
        Some(path) => Ok(path),
        None => bail!("the packages hold no `{}`", candidates[0]),
    }
}
