//! The catalogue's tables and their way from one version to the next.
//!
//! A migration is a numbered step that never changes once released. Existing data is copied to
//! `<name>.backup-v<N>.sqlite` before the first step; data of a newer program is refused, not touched.

use super::error::{Failure, damaged, newest_backup};
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "adRG": tells our file from any other SQLite file.
const APPLICATION: i32 = 0x6164_5247;

/// Step `i` leads from version `i` to version `i + 1`.
pub(super) const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2, VERSION_3];

// Text is kept in segments cut on character boundaries, so that a passage of a long document costs its own length.
// A chunk is a span of that text. `published` and `pending` name rows of `generations`.
const VERSION_1: &str = "
CREATE TABLE documents (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    collection      TEXT NOT NULL,
    path            TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    state           TEXT NOT NULL,
    reason          TEXT,
    published       INTEGER,
    pending         INTEGER,
    last_generation INTEGER NOT NULL,
    updated_at_ms   INTEGER NOT NULL,
    UNIQUE (collection, path)
);
CREATE INDEX documents_by_sha256 ON documents (collection, sha256);
CREATE INDEX documents_by_state ON documents (state);
CREATE TABLE generations (
    number      INTEGER PRIMARY KEY,
    document    INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    generation  INTEGER NOT NULL,
    path        TEXT NOT NULL,
    title       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    bytes       INTEGER NOT NULL,
    sha256      TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at_ms       INTEGER NOT NULL,
    pages       INTEGER,
    chars       INTEGER NOT NULL,
    length      INTEGER NOT NULL,
    chunks      INTEGER NOT NULL,
    UNIQUE (document, generation)
);
CREATE TABLE segments (
    number     INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL REFERENCES generations (number) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    text       BLOB NOT NULL,
    UNIQUE (generation, start)
);
CREATE TABLE chunks (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    generation INTEGER NOT NULL REFERENCES generations (number) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    start      INTEGER NOT NULL,
    end        INTEGER NOT NULL,
    first_page INTEGER,
    last_page  INTEGER,
    headings   TEXT NOT NULL,
    kind       TEXT NOT NULL,
    header     TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    UNIQUE (generation, ordinal)
);
CREATE TABLE notes (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE settings (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    json TEXT NOT NULL
);
CREATE TABLE runs (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    question      TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    finished      INTEGER NOT NULL,
    events        TEXT NOT NULL
);
CREATE INDEX runs_by_start ON runs (started_at_ms DESC, number DESC);
";

// Folders that collections follow, and their files as they were when they were last given to ingestion.
const VERSION_2: &str = "
CREATE TABLE watched_folders (
    number     INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    path       TEXT NOT NULL,
    disk       INTEGER,
    UNIQUE (collection, path)
);
CREATE TABLE watched_files (
    folder      INTEGER NOT NULL REFERENCES watched_folders (number) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    bytes       INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    document    TEXT,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
";

// Questions that followed one another are a thread; those of before are one each.
const VERSION_3: &str = "
ALTER TABLE runs ADD COLUMN thread TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN replaces TEXT;
ALTER TABLE runs ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE runs SET thread = id, folded = lower(question);
CREATE INDEX runs_by_thread ON runs (thread, started_at_ms);
CREATE TABLE thread_titles (
    thread TEXT PRIMARY KEY,
    title  TEXT NOT NULL,
    folded TEXT NOT NULL
);
";

/// Opens the file, makes it when it is absent, and brings it to the version of `migrations`.
///
/// Returns the one connection that writes and one that only reads.
pub(super) fn open(file: &Path, migrations: &[&str]) -> PortResult<(Connection, Connection)> {
    open_file(file, migrations).map_err(|failure| failure.into_port(file))
}

fn open_file(file: &Path, migrations: &[&str]) -> Result<(Connection, Connection), Failure> {
    match file.metadata() {
        Ok(meta) if meta.len() == 0 => return Err(damaged(file, "the file is empty").into()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => begin(file, migrations)?,
        Err(error) => return Err(unreachable_file(file, &error).into()),
    }
    let mut writer = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    writer.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    migrate(&mut writer, file, migrations)?;
    let reader = connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok((writer, reader))
}

/// Makes the file under another name first: an empty file under the real name is then always damage, never a beginning.
fn begin(file: &Path, migrations: &[&str]) -> Result<(), Failure> {
    let wal = beside(file, "-wal");
    if wal.metadata().is_ok_and(|meta| meta.len() > 0) || newest_backup(file).is_some() {
        return Err(damaged(file, "the file is missing, its companions are there").into());
    }
    let fresh = beside(file, ".new");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| unreachable_file(folder, &error))?;
    }
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unreachable_file(&fresh, &error).into());
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(&fresh, flags)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    apply(&mut connection, 0, migrations)?;
    connection.close().map_err(|(_, error)| Failure::Sqlite(error))?;
    std::fs::rename(&fresh, file).map_err(|error| unreachable_file(file, &error))?;
    Ok(())
}

fn connect(file: &Path, flags: OpenFlags) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A file crafted by someone else must not make SQLite call functions while we read it.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn migrate(connection: &mut Connection, file: &Path, migrations: &[&str]) -> Result<(), Failure> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION {
        return Err(damaged(file, "it is not a catalogue of adRAG").into());
    }
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = usize::try_from(version).map_err(|_| damaged(file, "its version is not a number"))?;
    if version > migrations.len() {
        return Err(PortError::permanent(
            ErrorCode::StoreFailed,
            format!(
                "the catalogue `{}` was made by a newer adRAG (version {version}, this one knows {})",
                file.display(),
                migrations.len()
            ),
        )
        .with_hint("start the newer adRAG, or choose another data folder")
        .into());
    }
    if version < migrations.len() {
        back_up(connection, file, version)?;
        apply(connection, version, migrations)?;
    }
    Ok(())
}

/// Copies the data as it is; under its final name only once it is whole.
fn back_up(connection: &Connection, file: &Path, version: usize) -> Result<(), Failure> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let backup = file.with_file_name(format!("{stem}.backup-v{version}.sqlite"));
    let unfinished = beside(&backup, ".new");
    match std::fs::remove_file(&unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unreachable_file(&unfinished, &error).into());
        }
        _ => {}
    }
    let name = unfinished
        .to_str()
        .ok_or_else(|| Failure::Stored("the data folder's name is not UTF-8".to_owned()))?;
    connection.execute("VACUUM INTO ?1", [name])?;
    std::fs::File::open(&unfinished)
        .and_then(|copy| copy.sync_all())
        .and_then(|()| std::fs::rename(&unfinished, &backup))
        .map_err(|error| unreachable_file(&backup, &error))?;
    Ok(())
}

fn apply(connection: &mut Connection, from: usize, migrations: &[&str]) -> Result<(), Failure> {
    for (step, sql) in migrations.iter().enumerate().skip(from) {
        let step_done = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        step_done.execute_batch(sql)?;
        step_done.pragma_update(None, "user_version", step as i64 + 1)?;
        step_done.commit()?;
    }
    Ok(())
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn unreachable_file(file: &Path, error: &std::io::Error) -> PortError {
    PortError::permanent(ErrorCode::Disk, format!("`{}`: {error}", file.display()))
        .with_hint("check the permissions of the data folder and the space left on its disk")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NEXT: &str = "ALTER TABLE notes ADD COLUMN at_ms INTEGER NOT NULL DEFAULT 7;";

    #[test]
    fn existing_data_is_backed_up_before_it_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        let (writer, reader) = open(&file, &[VERSION_1]).unwrap();
        writer
            .execute("INSERT INTO notes (name, value) VALUES ('a', 'b')", [])
            .unwrap();
        drop((reader, writer));
        assert!(newest_backup(&file).is_none(), "nothing was migrated yet");

        let (writer, _reader) = open(&file, &[VERSION_1, NEXT]).unwrap();
        let at: i64 = writer
            .query_row("SELECT at_ms FROM notes WHERE name = 'a'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(at, 7);
        let backup = newest_backup(&file).unwrap();
        assert!(backup.ends_with("catalog.backup-v1.sqlite"), "{backup}");
        let old = Connection::open(&backup).unwrap();
        let value: String = old
            .query_row("SELECT value FROM notes WHERE name = 'a'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(value, "b");
        assert!(
            old.prepare("SELECT at_ms FROM notes").is_err(),
            "the backup is of the old version"
        );
    }

    #[test]
    fn data_of_the_first_version_opens_and_may_follow_folders() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        let (writer, reader) = open(&file, &[VERSION_1]).unwrap();
        writer
            .execute("INSERT INTO notes (name, value) VALUES ('a', 'b')", [])
            .unwrap();
        drop((reader, writer));
        let (writer, reader) = open(&file, MIGRATIONS).unwrap();
        let value: String = reader
            .query_row("SELECT value FROM notes WHERE name = 'a'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(value, "b");
        writer
            .execute(
                "INSERT INTO watched_folders (collection, path) VALUES ('default', '/docs')",
                [],
            )
            .unwrap();
        let version: i64 = reader
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        assert_eq!(version, 3);
    }

    #[test]
    fn a_question_of_before_there_were_threads_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        let (writer, reader) = open(&file, &[VERSION_1, VERSION_2]).unwrap();
        writer
            .execute(
                "INSERT INTO runs (id, question, started_at_ms, finished, events) VALUES ('r1', 'Which Seal?', 5, 1, '[]')",
                [],
            )
            .unwrap();
        drop((reader, writer));
        let (_writer, reader) = open(&file, MIGRATIONS).unwrap();
        let found: (String, String) = reader
            .query_row("SELECT thread, folded FROM runs", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(found, ("r1".to_owned(), "which seal?".to_owned()));
    }

    #[test]
    fn a_migration_that_fails_leaves_data_and_version_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        drop(open(&file, &[VERSION_1]).unwrap());
        let broken = "CREATE TABLE half (a); CREATE TABLE notes (name);";
        assert!(open(&file, &[VERSION_1, broken]).is_err());
        let (writer, _reader) = open(&file, &[VERSION_1]).unwrap();
        assert!(writer.prepare("SELECT a FROM half").is_err());
    }

    #[test]
    fn a_newer_version_is_refused_politely() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        drop(open(&file, &[VERSION_1, VERSION_2, VERSION_3, NEXT]).unwrap());
        let error = open(&file, MIGRATIONS).unwrap_err();
        assert_eq!(error.error.code, ErrorCode::StoreFailed);
        assert!(error.error.message.contains("newer adRAG"), "{error}");
        assert!(error.error.hint.is_some());
    }

    #[test]
    fn a_damaged_file_is_named_and_not_touched() {
        for damage in [
            &b""[..],
            &b"this is no database at all, but long enough to be one"[..],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("catalog.sqlite");
            std::fs::write(&file, damage).unwrap();
            let error = open(&file, MIGRATIONS).unwrap_err();
            assert_eq!(error.error.code, ErrorCode::StoreFailed);
            assert!(error.error.message.contains("damaged"), "{error}");
            assert!(error.error.hint.is_some());
            assert_eq!(std::fs::read(&file).unwrap(), damage);
        }
    }

    #[test]
    fn a_missing_file_beside_its_backup_is_no_empty_library() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.sqlite");
        std::fs::write(folder.path().join("catalog.backup-v1.sqlite"), b"x").unwrap();
        let error = open(&file, MIGRATIONS).unwrap_err();
        assert!(error.error.hint.unwrap().contains("catalog.backup-v1.sqlite"));
        assert!(!file.exists());
    }

    #[test]
    fn a_folder_that_may_not_be_made_is_a_disk_error() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, b"x").unwrap();
        let error = open(&plain.join("catalog.sqlite"), MIGRATIONS).unwrap_err();
        assert_eq!(error.error.code, ErrorCode::Disk);
    }
}
