//! The wasm32 target of the compiler. `rustup target add` is the way; where that cannot download, std is built
//! once from the sources of the very same version, which Debian packages, and laid into the toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::debian::{self, PrivateApt};
use crate::{process, report};

const TARGET: &str = "wasm32-unknown-unknown";
const RELEASES: [&str; 3] = ["trixie-backports", "sid", "forky"];

pub fn ensure() -> Result<()> {
    let toolchain = Toolchain::find()?;
    if toolchain.has_std() {
        return Ok(());
    }
    report::step(format!("adding the {TARGET} target"));
    if process::find_on_path("rustup").is_some()
        && process::capture(Command::new("rustup").args(["target", "add", TARGET])).is_ok()
        && toolchain.has_std()
    {
        return Ok(());
    }
    toolchain.build_std().map_err(|error| {
        report::hinted(
            format!("the {TARGET} target is missing and could not be built: {error:#}"),
            format!("run `rustup target add {TARGET}` where the network allows it"),
        )
    })
}

struct Toolchain {
    sysroot: PathBuf,
    version: String,
}

impl Toolchain {
    fn find() -> Result<Self> {
        let sysroot = process::capture(Command::new("rustc").args(["--print", "sysroot"]))?;
        let said = process::capture(Command::new("rustc").arg("--version"))?;
        let version = said
            .split_whitespace()
            .nth(1)
            .ok_or_else(|| anyhow!("rustc does not tell its version"))?;
        Ok(Self {
            sysroot: PathBuf::from(sysroot.trim()),
            version: version.to_owned(),
        })
    }

    fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib")
    }

    fn sources(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust")
    }

    fn has_std(&self) -> bool {
        std::fs::read_dir(self.libraries()).is_ok_and(|entries| {
            entries.filter_map(|entry| entry.ok()).any(|entry| {
                let name = entry.file_name();
                name.to_string_lossy().starts_with("libstd-") && name.to_string_lossy().ends_with(".rlib")
            })
        })
    }

    fn build_std(&self) -> Result<()> {
        if !self.sources().join("library/std/src/lib.rs").exists() {
            self.fetch_sources()?;
        }
        report::step("building std for wasm32 (once, about a minute)");
        let work = tempfile::Builder::new()
            .prefix("adrag-std-")
            .tempdir()
            .context("no temporary folder")?;
        let package = work.path().join("stub");
        write_stub(&package)?;
        let built = work.path().join("target");
        let mut cargo = Command::new(self.tool("cargo"));
        cargo
            .args([
                "build",
                "--quiet",
                "--release",
                "-Zbuild-std=std,panic_abort,test",
                "--target",
                TARGET,
            ])
            .current_dir(&package)
            .env("RUSTC", self.tool("rustc"))
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", "-Cembed-bitcode=yes")
            .env("CARGO_TARGET_DIR", &built);
        for name in [
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
        ] {
            cargo.env_remove(name);
        }
        process::capture(&mut cargo)?;
        self.install(&built.join(TARGET).join("release/deps"))
    }

    /// Debian's `rust-src` of our version, only its `library` folder.
    fn fetch_sources(&self) -> Result<()> {
        if !PrivateApt::is_possible() {
            bail!("std's sources are not in the toolchain and this is no Debian-like system");
        }
        report::step(format!("fetching the sources of std {}", self.version));
        let apt = PrivateApt::open(&RELEASES)?;
        let offered = apt.versions("rust-src")?;
        let wanted = offered
            .iter()
            .find(|offer| is_same_version(offer, &self.version))
            .ok_or_else(|| {
                anyhow!(
                    "Debian has no rust-src {} (it has: {})",
                    self.version,
                    offered.join(", ")
                )
            })?;
        let files = apt.download(&[format!("rust-src={wanted}")])?;
        let file = files
            .first()
            .ok_or_else(|| anyhow!("rust-src was not downloaded"))?;
        // Unpacked beside its destination, so that the last step is a rename.
        let into = self.sysroot.join("lib/rustlib/src");
        std::fs::create_dir_all(&into).with_context(|| format!("cannot write to `{}`", into.display()))?;
        let unpacked = tempfile::Builder::new().prefix("unpack-").tempdir_in(&into)?;
        debian::unpack(file, unpacked.path(), &["./usr/src/rustc-*/library/*"])?;
        let root = only_folder(&unpacked.path().join("usr/src"))?;
        if self.sources().exists() {
            std::fs::remove_dir_all(self.sources()).context("cannot replace the toolchain's old sources")?;
        }
        std::fs::rename(&root, self.sources()).context("cannot move the sources into the toolchain")
    }

    fn install(&self, built: &Path) -> Result<()> {
        let place = self.libraries();
        let fresh = place.with_extension("new");
        for old in [&fresh, &place] {
            if old.exists() {
                std::fs::remove_dir_all(old)
                    .with_context(|| format!("cannot replace `{}`", old.display()))?;
            }
        }
        std::fs::create_dir_all(&fresh).with_context(|| format!("cannot write to `{}`", fresh.display()))?;
        for entry in
            std::fs::read_dir(built).with_context(|| format!("nothing was built in `{}`", built.display()))?
        {
            let path = entry?.path();
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            if name.ends_with(".rlib") && !name.starts_with("libadrag_stub") {
                std::fs::copy(&path, fresh.join(&name)).with_context(|| format!("cannot copy `{name}`"))?;
            }
        }
        std::fs::rename(&fresh, &place).context("cannot lay std into the toolchain")?;
        if !self.has_std() {
            bail!("the build left no std");
        }
        Ok(())
    }

    /// The toolchain's own tool: a proxy in front of it could choose another toolchain in another folder.
    fn tool(&self, name: &str) -> PathBuf {
        let own = self
            .sysroot
            .join("bin")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if own.exists() { own } else { PathBuf::from(name) }
    }
}

fn write_stub(package: &Path) -> Result<()> {
    let manifest =
        "[package]\nname = \"adrag_stub\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
    process::write_if_changed(&package.join("Cargo.toml"), manifest.as_bytes())?;
    process::write_if_changed(&package.join("src/lib.rs"), b"")?;
    Ok(())
}

fn only_folder(parent: &Path) -> Result<PathBuf> {
    let mut folders = std::fs::read_dir(parent)
        .with_context(|| format!("cannot list `{}`", parent.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir());
    match (folders.next(), folders.next()) {
        (Some(folder), None) => Ok(folder),
        _ => bail!("`{}` does not hold exactly one folder", parent.display()),
    }
}

/// `1.95.0+dfsg1-2~bpo13+1` is version 1.95.0 as Debian packages it.
fn is_same_version(offer: &str, version: &str) -> bool {
    offer
        .strip_prefix(version)
        .is_some_and(|rest| rest.starts_with(['+', '-', '~']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_version_of_std_fits_a_compiler() {
        assert!(is_same_version("1.95.0+dfsg1-2~bpo13+1", "1.95.0"));
        assert!(is_same_version("1.95.0-1", "1.95.0"));
        assert!(!is_same_version("1.95.01", "1.95.0"));
        assert!(!is_same_version("1.94.0+dfsg1-2", "1.95.0"));
    }
}
