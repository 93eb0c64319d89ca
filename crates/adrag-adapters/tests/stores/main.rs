//! The stores against their promises: the same suites that the fakes pass, then what only a folder or a server can
//! break.
#![allow(clippy::unwrap_used)]

mod embedded;
mod keyword;
mod retrieval;
mod server;
mod stub;

use std::fs;
use std::path::{Path, PathBuf};

/// Files of a folder and below, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Folders beside a store that were set aside.
fn set_aside(home: &Path) -> usize {
    let entries = fs::read_dir(home).unwrap();
    entries
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains(".damaged-")
        })
        .count()
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, &target).unwrap();
    }
}
