//! This repository as the rules see it: its packages with their dependencies, and its files.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand};

/// A package of ours: its name and the names of what it depends on, for every purpose and platform.
pub struct Member {
    pub name: String,
    pub dependencies: Vec<String>,
}

/// A file of ours: its path from the root, with forward slashes, and its text.
pub struct Text {
    pub path: String,
    pub text: String,
}

impl Text {
    #[cfg(test)]
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

pub fn members() -> Vec<Member> {
    let metadata = command().no_deps().exec().unwrap();
    metadata
        .packages
        .iter()
        .map(|package| Member {
            name: package.name.to_string(),
            dependencies: package
                .dependencies
                .iter()
                .map(|dependency| dependency.name.clone())
                .collect(),
        })
        .collect()
}

/// Everything this platform builds, as the lock file fixes it. Without network first; a package that no build needed
/// so far is fetched then.
pub fn whole_tree() -> Metadata {
    let host = host();
    let query = |offline: bool| {
        let mut options = vec![
            "--locked".to_owned(),
            "--filter-platform".to_owned(),
            host.clone(),
        ];
        options.extend(offline.then(|| "--offline".to_owned()));
        command().other_options(options).exec()
    };
    query(true).or_else(|_| query(false)).unwrap()
}

/// Every text file that git has or would take, beside the lock file.
pub fn texts() -> Vec<Text> {
    let root = root();
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git cannot list the files: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let listing = String::from_utf8(output.stdout).unwrap();
    let mut texts: Vec<Text> = listing
        .split('\0')
        .filter(|path| !path.is_empty() && *path != "Cargo.lock")
        .filter_map(|path| {
            // A file that is deleted but still in the index cannot be read; a picture is no text.
            let bytes = std::fs::read(root.join(path)).ok()?;
            Some(Text {
                path: path.to_owned(),
                text: String::from_utf8(bytes).ok()?,
            })
        })
        .collect();
    texts.sort_by(|one, other| one.path.cmp(&other.path));
    texts.dedup_by(|one, other| one.path == other.path);
    texts
}

fn command() -> MetadataCommand {
    let mut command = MetadataCommand::new();
    command.current_dir(root());
    command
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned()
}
