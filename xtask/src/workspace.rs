//! Where things are: the repository, what cargo builds, and the person's cache folder.
//!
//! The folder of the local models is decided here by the same rule as in the program: `ADRAG_MODELS` when it
//! is set and not empty, else `models` in the platform's cache folder for `org.adrag.adrag`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use directories::ProjectDirs;

use crate::rustc_shim;

/// The crate that is built for wasm32 and must never share a cargo call with the others.
pub const UI: &str = "adrag-ui";

pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub cache: PathBuf,
    shim: Option<PathBuf>,
}

impl Workspace {
    /// Asks cargo, so that `CARGO_TARGET_DIR` and every configuration file are respected.
    pub fn find() -> Result<Self> {
        let mut query = cargo_metadata::MetadataCommand::new();
        query.no_deps();
        if let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") {
            query.current_dir(folder);
        }
        let metadata = query.exec().context("cargo could not describe the workspace")?;
        let target = metadata.target_directory.into_std_path_buf();
        let cache = ProjectDirs::from("org", "adrag", "adrag")
            .map(|folders| folders.cache_dir().to_path_buf())
            .ok_or_else(|| anyhow!("this user has no home folder, so there is no cache folder"))?;
        let shim = rustc_shim::prepare(&target)?;
        Ok(Self {
            root: metadata.workspace_root.into_std_path_buf(),
            target,
            cache,
            shim,
        })
    }

    /// A cargo call in the root of the repository, with the compiler wrapper where it is needed.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        without_own_package(&mut command);
        if let Some(shim) = &self.shim {
            command.env("RUSTC_WRAPPER", shim);
        }
        command
    }

    /// The environment another program needs to call cargo as we do.
    pub fn lend_compiler(&self, command: &mut Command) {
        without_own_package(command);
        if let Some(shim) = &self.shim {
            command.env("RUSTC_WRAPPER", shim);
        }
    }

    /// The folder of the local models.
    pub fn models(&self) -> PathBuf {
        match std::env::var_os("ADRAG_MODELS") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => self.cache.join("models"),
        }
    }

    /// The folder the window's files are built into.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// The built program of the dev profile.
    pub fn program(&self) -> PathBuf {
        self.target
            .join("debug")
            .join(format!("adrag{}", std::env::consts::EXE_SUFFIX))
    }
}

/// Cargo sets these for us because we are a package; for the packages we build they would be another change of
/// the environment and so a reason to build again.
fn without_own_package(command: &mut Command) {
    const PREFIXES: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        {
            command.env_remove(name);
        }
    }
}
