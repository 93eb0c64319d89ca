//! Whether a model file on disk is whole, without reading it every time.
//!
//! Beside `NAME` lies `NAME.lock`: the checksum and the size the file had when it was verified. For a file the
//! manifest has no checksum of, the lock *is* the checksum: the first fetch writes it, later ones must agree.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::checksum;
use super::manifest::ModelFile;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    pub sha256: String,
    pub bytes: u64,
}

impl Lock {
    pub fn read(folder: &Path, name: &str) -> Option<Self> {
        toml::from_str(&std::fs::read_to_string(lock_path(folder, name)).ok()?).ok()
    }

    fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let path = lock_path(folder, name);
        std::fs::write(&path, toml::to_string(self)?)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }
}

/// A cheap look: the right size and a lock that agrees with the manifest.
pub fn is_whole(folder: &Path, file: &ModelFile) -> bool {
    let Ok(found) = std::fs::metadata(folder.join(&file.name)) else {
        return false;
    };
    let Some(lock) = Lock::read(folder, &file.name) else {
        return false;
    };
    found.is_file()
        && found.len() == lock.bytes
        && file.bytes.is_none_or(|bytes| bytes == lock.bytes)
        && file.sha256.as_ref().is_none_or(|sha256| *sha256 == lock.sha256)
}

/// A thorough look at a file that has no lock yet, as when a person copied it here.
pub fn adopt(folder: &Path, file: &ModelFile) -> Result<bool> {
    let path = folder.join(&file.name);
    if file.sha256.is_none() || !path.is_file() {
        return Ok(false);
    }
    match verify(&path, folder, file) {
        Ok(lock) => lock.write(folder, &file.name).map(|()| true),
        Err(_) => Ok(false),
    }
}

/// Verifies a fetched file and moves it to its place in one step.
pub fn settle(part: &Path, folder: &Path, file: &ModelFile) -> Result<()> {
    let lock = match verify(part, folder, file) {
        Ok(lock) => lock,
        Err(error) => {
            // A wrong file must not be resumed.
            let _ = std::fs::remove_file(part);
            return Err(error);
        }
    };
    let opened = std::fs::File::options().append(true).open(part);
    opened
        .and_then(|file| file.sync_all())
        .with_context(|| format!("cannot flush `{}`", part.display()))?;
    let path = folder.join(&file.name);
    std::fs::rename(part, &path).with_context(|| format!("cannot move the file to `{}`", path.display()))?;
    lock.write(folder, &file.name)
}

fn verify(path: &Path, folder: &Path, file: &ModelFile) -> Result<Lock> {
    let bytes = std::fs::metadata(path)
        .with_context(|| format!("cannot read `{}`", path.display()))?
        .len();
    if let Some(expected) = file.bytes
        && bytes != expected
    {
        bail!("`{}` has {bytes} bytes, not {expected}", file.name);
    }
    let found = checksum::of_file(path)?;
    let expected = file
        .sha256
        .clone()
        .or_else(|| Lock::read(folder, &file.name).map(|lock| lock.sha256));
    if let Some(expected) = expected
        && found != expected
    {
        bail!("`{}` has the checksum {found}, not {expected}", file.name);
    }
    Ok(Lock { sha256: found, bytes })
}

fn lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(sha256: Option<&str>) -> ModelFile {
        ModelFile {
            name: "model.onnx".into(),
            platform: None,
            bytes: None,
            sha256: sha256.map(str::to_owned),
            sources: Vec::new(),
        }
    }

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn settle_text(folder: &Path, text: &str, file: &ModelFile) -> Result<()> {
        let part = folder.join("model.onnx.part");
        std::fs::write(&part, text).unwrap();
        settle(&part, folder, file)
    }

    #[test]
    fn a_file_with_the_wrong_checksum_never_reaches_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let error = settle_text(folder.path(), "abd", &file(Some(ABC))).unwrap_err();
        assert!(format!("{error:#}").contains("checksum"));
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        settle_text(folder.path(), "abc", &file(Some(ABC))).unwrap();
        assert!(is_whole(folder.path(), &file(Some(ABC))));
    }

    #[test]
    fn an_unknown_checksum_is_recorded_once_and_then_kept() {
        let folder = tempfile::tempdir().unwrap();
        settle_text(folder.path(), "abc", &file(None)).unwrap();
        assert_eq!(
            Lock::read(folder.path(), "model.onnx"),
            Some(Lock {
                sha256: ABC.into(),
                bytes: 3
            })
        );
        assert!(settle_text(folder.path(), "other", &file(None)).is_err());
        assert_eq!(
            std::fs::read_to_string(folder.path().join("model.onnx")).unwrap(),
            "abc"
        );
    }

    #[test]
    fn a_truncated_file_is_not_whole_and_a_copied_one_is_adopted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.onnx"), "abc").unwrap();
        assert!(!is_whole(folder.path(), &file(Some(ABC))));
        assert!(adopt(folder.path(), &file(Some(ABC))).unwrap());
        assert!(is_whole(folder.path(), &file(Some(ABC))));
        std::fs::write(folder.path().join("model.onnx"), "ab").unwrap();
        assert!(!is_whole(folder.path(), &file(Some(ABC))));
    }
}
