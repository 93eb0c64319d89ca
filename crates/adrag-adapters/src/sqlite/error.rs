//! What SQLite's errors mean to a person.

use adrag_contract::ErrorCode;
use adrag_core::ports::PortError;
use rusqlite::ErrorCode as Sqlite;
use std::path::Path;

/// Why a statement could not be done: SQLite's own reason, or one of ours.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// SQLite's.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Ours.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A stored value is not what this program writes.
    #[error("{0}")]
    Stored(String),
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Stored(error.to_string())
    }
}

impl Failure {
    /// The error of the port, naming the file.
    pub(super) fn into_port(self, file: &Path) -> PortError {
        match self {
            Self::Port(error) => error,
            Self::Stored(why) => damaged(file, &why),
            Self::Sqlite(error) => from_sqlite(&error, file),
        }
    }
}

fn from_sqlite(error: &rusqlite::Error, file: &Path) -> PortError {
    let name = file.display();
    match error.sqlite_error_code() {
        Some(Sqlite::DiskFull) => {
            PortError::permanent(ErrorCode::Disk, format!("the disk of `{name}` is full"))
                .with_hint("free some space, then try again")
        }
        Some(Sqlite::ReadOnly | Sqlite::PermissionDenied | Sqlite::CannotOpen) => PortError::permanent(
            ErrorCode::Disk,
            format!("the catalogue `{name}` cannot be written ({error})"),
        )
        .with_hint("check the permissions of the data folder, and that it is not on a read-only disk"),
        Some(Sqlite::SystemIoFailure) => PortError::permanent(
            ErrorCode::Disk,
            format!("the disk refused to read or write the catalogue `{name}` ({error})"),
        )
        .with_hint("check the disk and the space left on it, then try again"),
        Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => PortError::transient(
            ErrorCode::DataFolderInUse,
            format!("another program holds the catalogue `{name}`"),
        )
        .with_hint("close the other adRAG, then try again"),
        Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => damaged(file, &error.to_string()),
        _ => PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the catalogue `{name}` failed ({error})"),
        ),
    }
}

/// The authority is never set aside silently: the error names what there is to go back to.
pub(super) fn damaged(file: &Path, why: &str) -> PortError {
    let hint = match newest_backup(file) {
        Some(backup) => format!(
            "move `{0}` aside and copy the backup `{backup}` to its name; or only move it aside to begin with an empty library",
            file.display()
        ),
        None => format!(
            "move `{}` aside to begin with an empty library, then add the documents again",
            file.display()
        ),
    };
    PortError::permanent(
        ErrorCode::StoreFailed,
        format!("the catalogue `{}` is damaged ({why})", file.display()),
    )
    .with_hint(hint)
}

/// The backup of the newest schema beside the catalogue.
pub(super) fn newest_backup(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    let folder = file.parent()?.read_dir().ok()?;
    folder
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version: u32 = path
                .file_name()?
                .to_str()?
                .strip_prefix(stem)?
                .strip_prefix(".backup-v")?
                .strip_suffix(".sqlite")?
                .parse()
                .ok()?;
            Some((version, path.display().to_string()))
        })
        .max()
        .map(|(_, path)| path)
}

/// A generation that is not under way (any more).
pub(super) fn not_under_way(key: &adrag_core::ports::DocumentKey) -> Failure {
    Failure::Port(PortError::rejected(
        ErrorCode::NotFound,
        format!(
            "generation {} of document `{}` is not under way",
            key.generation, key.document
        ),
    ))
}
