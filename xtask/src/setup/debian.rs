//! Packages of other Debian releases, downloaded and unpacked beside the system: a private apt state, so that
//! neither the system's sources, nor its lists, nor its lock are touched, and nothing is installed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::process;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// An apt state of its own in a temporary folder, knowing only the given releases.
pub struct PrivateApt {
    folder: TempDir,
}

impl PrivateApt {
    /// Whether this machine has the tools and a Debian mirror at all.
    pub fn is_possible() -> bool {
        let tools = ["apt-get", "apt-cache", "dpkg-deb"];
        tools.iter().all(|tool| process::find_on_path(tool).is_some()) && Path::new(KEYRING).exists()
    }

    /// Reads the package lists of the releases from the mirror this machine already uses.
    pub fn open(releases: &[&str]) -> Result<Self> {
        let mirror = mirror()?;
        let folder = tempfile::Builder::new()
            .prefix("adrag-apt-")
            .tempdir()
            .context("no temporary folder")?;
        for part in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(folder.path().join(part))
                .context("cannot lay out the private apt state")?;
        }
        let mut sources = String::new();
        for release in releases {
            writeln!(sources, "deb [signed-by={KEYRING}] {mirror} {release} main")?;
        }
        let settings = settings(folder.path());
        for (name, text) in [
            ("status", ""),
            ("sources.list", &sources),
            ("apt.conf", &settings),
        ] {
            std::fs::write(folder.path().join(name), text)
                .with_context(|| format!("cannot write `{name}`"))?;
        }
        let apt = Self { folder };
        // A mirror may lack one of the releases; what counts is whether the package is found afterwards.
        let _ = process::capture(apt.tool("apt-get").args(["-qq", "update"]));
        Ok(apt)
    }

    /// The versions of a package that the releases offer, newest release first in the order they were named.
    pub fn versions(&self, package: &str) -> Result<Vec<String>> {
        Ok(parse_versions(&process::capture(
            self.tool("apt-cache").args(["madison", package]),
        )?))
    }

    /// Downloads packages (`name` or `name=version`) and returns their files.
    pub fn download(&self, packages: &[String]) -> Result<Vec<PathBuf>> {
        let into = self.folder.path().join("debs");
        std::fs::create_dir_all(&into).context("cannot create the download folder")?;
        process::capture(
            self.tool("apt-get")
                .arg("-qq")
                .arg("download")
                .args(packages)
                .current_dir(&into),
        )?;
        let mut files: Vec<PathBuf> = std::fs::read_dir(&into)
            .context("cannot list the download folder")?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .collect();
        files.sort();
        if files.len() < packages.len() {
            bail!("{} of {} packages were downloaded", files.len(), packages.len());
        }
        Ok(files)
    }

    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("APT_CONFIG", self.folder.path().join("apt.conf"));
        command
    }
}

/// Unpacks a package; `members` are tar patterns, none means everything.
pub fn unpack(package: &Path, into: &Path, members: &[&str]) -> Result<()> {
    std::fs::create_dir_all(into).with_context(|| format!("cannot create `{}`", into.display()))?;
    let mut reader = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(Stdio::piped())
        .spawn()
        .context("`dpkg-deb` could not be started")?;
    let archive = reader.stdout.take().context("`dpkg-deb` has no output")?;
    let mut unpacking = Command::new("tar");
    unpacking
        .arg("-x")
        .arg("-C")
        .arg(into)
        .stdin(Stdio::from(archive));
    if !members.is_empty() {
        unpacking.arg("--wildcards").args(members);
    }
    let unpacked = unpacking.status().context("`tar` could not be started");
    let read = reader.wait().context("`dpkg-deb` did not end")?;
    if !unpacked?.success() || !read.success() {
        bail!("`{}` could not be unpacked", package.display());
    }
    Ok(())
}

fn settings(folder: &Path) -> String {
    let at = folder.display();
    format!(
        "Dir::Etc::sourcelist \"{at}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         Dir::State::lists \"{at}/lists\";\n\
         Dir::State::status \"{at}/status\";\n\
         Dir::Cache \"{at}/cache\";\n\
         APT::Sandbox::User \"root\";\n"
    )
}

fn mirror() -> Result<String> {
    let listing = process::capture(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(REPO_URI) $(COMPONENT)",
        "Created-By: Packages",
    ]))?;
    match parse_mirror(&listing) {
        Some(mirror) => Ok(mirror),
        None => bail!("no mirror of Debian's main archive is configured for apt"),
    }
}

/// The main archive, not the one of security updates: its address ends in `/debian`.
fn parse_mirror(listing: &str) -> Option<String> {
    listing
        .lines()
        .filter_map(|line| line.trim().rsplit_once(' '))
        .filter(|(_, component)| *component == "main")
        .map(|(address, _)| address.trim_end_matches('/'))
        .find(|address| address.ends_with("/debian"))
        .map(str::to_owned)
}

fn parse_versions(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter_map(|line| line.split('|').nth(1))
        .map(|version| version.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_of_the_main_archive_is_chosen() {
        let listing = "http://mirror.example/debian-security/ main\n\
                       http://mirror.example/debian/ contrib\n\
                       http://mirror.example/debian/ main\n";
        assert_eq!(
            parse_mirror(listing).as_deref(),
            Some("http://mirror.example/debian")
        );
        assert_eq!(parse_mirror("http://mirror.example/ubuntu/ main\n"), None);
    }

    #[test]
    fn versions_are_read_from_the_table() {
        let listing = " rust-src | 1.95.0+dfsg1-2 | http://mirror.example/debian sid/main amd64 Packages\n\
                        rust-src | 1.94.0 | http://mirror.example/debian forky/main amd64 Packages\n";
        assert_eq!(parse_versions(listing), ["1.95.0+dfsg1-2", "1.94.0"]);
    }
}
