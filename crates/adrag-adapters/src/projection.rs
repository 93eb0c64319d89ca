//! The folder of a projection: locked while open, set aside when damaged.
//!
//! A projection can be rebuilt from the catalogue, so a folder that cannot be read is renamed and replaced by an empty
//! one; nothing is ever deleted here. It is not the lock of the data folder: that one the program takes first.

use adrag_contract::ErrorCode;
use adrag_core::ports::{DocumentKey, HeldDocument, PortError, PortResult};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The lock on a folder, given up when dropped. It lies beside the folder, which may be renamed.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks the folder for this instance; makes its parents.
    ///
    /// # Errors
    /// `DataFolderInUse` when another instance, here or in another process, has it open.
    pub(crate) fn take(folder: &Path) -> PortResult<Self> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(|error| disk_error("make", parent, &error))?;
        }
        let path = beside(folder, "lock");
        let file = File::create(&path).map_err(|error| disk_error("write", &path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(in_use(folder)),
            Err(TryLockError::Error(error)) => Err(disk_error("lock", &path, &error)),
        }
    }
}

/// The error of a folder that another instance has open.
pub(crate) fn in_use(folder: &Path) -> PortError {
    PortError::permanent(
        ErrorCode::DataFolderInUse,
        format!("another adRAG uses `{}`", folder.display()),
    )
    .with_hint("close the other adRAG, or choose another data folder")
}

/// The error of a folder or file that cannot be used as it should.
pub(crate) fn disk_error(verb: &str, path: &Path, error: &std::io::Error) -> PortError {
    PortError::permanent(
        ErrorCode::Disk,
        format!("cannot {verb} `{}`: {error}", path.display()),
    )
    .with_hint("check that the disk has room and that the folder may be written")
}

/// Renames a folder to `*.damaged-<milliseconds>` and says so for people.
pub(crate) fn set_aside(folder: &Path, what: &str, why: &str) -> PortResult<String> {
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis());
    let mut aside = beside(folder, &format!("damaged-{millis}"));
    let mut again = 1;
    while aside.exists() {
        aside = beside(folder, &format!("damaged-{millis}-{again}"));
        again += 1;
    }
    fs::rename(folder, &aside).map_err(|error| disk_error("rename", folder, &error))?;
    let why = brief(why);
    tracing::warn!(folder = %folder.display(), aside = %aside.display(), why, "projection set aside");
    Ok(format!(
        "{what} is rebuilt: {why}; the old one was kept as `{}`",
        aside.display()
    ))
}

/// An engine's reason in one line that a person can take in: some quote whole files.
fn brief(reason: &str) -> String {
    const MAX_CHARS: usize = 160;
    let line = reason.split(|c: char| c.is_whitespace() || c.is_control());
    let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// The one term by which a store knows a generation.
pub(crate) fn held_key(key: &DocumentKey) -> String {
    format!("{}@{}", key.document, key.generation)
}

/// What a term of [`held_key`] stands for; `what` names the store in the error.
pub(crate) fn held_document(value: &str, chunks: u64, what: &str) -> PortResult<HeldDocument> {
    let parsed = value
        .rsplit_once('@')
        .and_then(|(document, generation)| Some((document, generation.parse().ok()?)));
    let Some((document, generation)) = parsed else {
        return Err(PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the {what} holds an entry that is not ours: `{value}`"),
        ));
    };
    Ok(HeldDocument {
        key: DocumentKey {
            document: document.into(),
            generation,
        },
        chunks,
    })
}

/// True when there is nothing in a folder, or no folder.
pub(crate) fn is_vacant(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Runs what may panic on damaged files; a panic becomes the `Err` of the inner result.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(said.unwrap_or("it cannot be read").to_owned())
    })
}

/// Runs blocking work on the runtime's threads for it; a panic there is an error, not the end of the program.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> PortResult<T> + Send + 'static,
) -> PortResult<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the {what} failed: {error}"),
        )
        .with_hint("start adRAG again: a damaged store is rebuilt")),
    }
}

fn beside(folder: &Path, extension: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(extension);
    folder.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_survives_its_key() {
        for name in ["doc", "a@b@3", "", "@"] {
            let key = DocumentKey {
                document: name.into(),
                generation: 12,
            };
            assert_eq!(held_document(&held_key(&key), 4, "index").unwrap().key, key);
        }
        assert!(held_document("no generation", 1, "index").is_err());
        assert!(held_document("doc@x", 1, "index").is_err());
    }

    #[test]
    fn a_folder_is_locked_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep").join("store");
        let first = FolderLock::take(&folder).unwrap();
        let refused = FolderLock::take(&folder).unwrap_err();
        assert_eq!(refused.error.code, ErrorCode::DataFolderInUse);
        drop(first);
        FolderLock::take(&folder).unwrap();
    }

    #[test]
    fn what_is_set_aside_is_kept_under_another_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("store");
        for content in ["one", "two"] {
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("file"), content).unwrap();
            let note = set_aside(
                &folder,
                "the store",
                &format!("it was torn: {}", "page\n".repeat(900)),
            )
            .unwrap();
            assert!(
                note.contains("it was torn") && note.contains("damaged-"),
                "{note}"
            );
            assert!(is_vacant(&folder));
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_panic_is_an_error() {
        let text = guarded::<()>(|| panic!("torn at {}", 7)).unwrap_err();
        assert_eq!(text, "torn at 7");
        assert_eq!(guarded(|| Ok(3)), Ok(3));
    }
}
