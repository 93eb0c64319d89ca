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
            report::notice(format!(
                "no llama-server, so tests that need one are skipped: {error:#}"
            ));
            None
        }
    }
}

fn find(workspace: &Workspace) -> Option<PathBuf> {
    let named = std::env::var_os("ADRAG_LLAMA_SERVER")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    if named.is_some() {
        return named;
    }
    let cached = folder(workspace).join(NAME);
    process::find_on_path(NAME)
        .into_iter()
        .chain([cached])
        .find(|path| works(path))
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
    let folder = folder(workspace);
    let root = folder.join("root");
    if root.exists() {
        std::fs::remove_dir_all(&root).with_context(|| format!("cannot replace `{}`", root.display()))?;
    }
    let apt = PrivateApt::open(&[RELEASE])?;
    let packages: Vec<String> = PACKAGES.iter().map(|name| (*name).to_owned()).collect();
    for file in apt.download(&packages)? {
        debian::unpack(&file, &root, &[])?;
    }
    let libraries = libraries(&root)?;
    link_backends(&libraries)?;
    let wrapper = folder.join(NAME);
    process::write_if_changed(&wrapper, wrapper_text(&folder, &libraries)?.as_bytes())?;
    process::make_executable(&wrapper)?;
    process::capture(Command::new(&wrapper).arg("--version"))
        .context("the unpacked server does not start")?;
    Ok(wrapper)
}

/// The folder of the architecture, known by the loader that lies in it.
fn libraries(root: &Path) -> Result<PathBuf> {
    let found = entries(&root.join("usr/lib"))?
        .into_iter()
        .find(|folder| loader(folder).is_some());
    found.context("the packages hold no loader")
}

fn loader(folder: &Path) -> Option<PathBuf> {
    let is_loader = |path: &PathBuf| file_name(path).starts_with("ld-linux-");
    entries(folder).ok()?.into_iter().find(is_loader)
}

/// The server looks for its processor back ends beside the running program, which here is the loader.
fn link_backends(libraries: &Path) -> Result<()> {
    for kind in entries(&libraries.join("ggml"))? {
        for backend in entries(&kind)? {
            let place = libraries.join(file_name(&backend));
            std::fs::copy(&backend, &place)
                .with_context(|| format!("cannot copy `{}`", backend.display()))?;
        }
    }
    Ok(())
}

/// Paths are relative to the wrapper, so that the cache folder may move.
fn wrapper_text(folder: &Path, libraries: &Path) -> Result<String> {
    let relative = libraries
        .strip_prefix(folder)
        .context("the packages were unpacked elsewhere")?
        .display()
        .to_string();
    let loader = file_name(&loader(libraries).context("the packages hold no loader")?);
    Ok(format!(
        "#!/bin/sh\n\
         # Written by `cargo xtask`: starts the unpacked server with the libraries it came with.\n\
         here=$(dirname -- \"$(readlink -f -- \"$0\")\")\n\
         lib=$here/{relative}\n\
         exec \"$lib/{loader}\" --library-path \"$lib:$lib/llama\" \"$here/root/usr/bin/{NAME}\" \"$@\"\n"
    ))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listing = std::fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    Ok(listing.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_names_nothing_outside_its_own_folder() {
        let folder = tempfile::tempdir().unwrap();
        let libraries = folder.path().join("root/usr/lib/x86_64-linux-gnu");
        process::write_if_changed(&libraries.join("ld-linux-x86-64.so.2"), b"").unwrap();
        let text = wrapper_text(
            folder.path(),
            &super::libraries(&folder.path().join("root")).unwrap(),
        )
        .unwrap();
        assert!(
            text.contains("lib=$here/root/usr/lib/x86_64-linux-gnu\n"),
            "{text}"
        );
        assert!(
            text.contains("exec \"$lib/ld-linux-x86-64.so.2\" --library-path"),
            "{text}"
        );
        assert!(!text.contains(&folder.path().display().to_string()));
    }
}
