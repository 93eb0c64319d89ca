//! Files that come through the door: received beside their place under limits, kept under a name of ours, read by the
//! engine, and removed when no document needs them.
//!
//! A file lies in a folder named after its content, under a harmless form of the name it came with. The same bytes under
//! another name take the place of the first. What cannot be read is not kept.

use super::fault::Fault;
use super::read::announced_within;
use super::{Served, Shared};
use adrag_contract::{
    AddFilesRequest, AppError, CollectionName, DocumentId, DocumentReport, DocumentState, ErrorCode, Event,
};
use adrag_core::Engine;
use adrag_core::engine::reports_of;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tokio::fs;
use tokio::io::AsyncWriteExt;

/// Largest upload, bytes, all files of a request together.
pub const LIMIT: u64 = 256 << 20;

/// What a form may have around its files, bytes.
const FORM: u64 = 1 << 20;

/// Most bytes of a stored name: file systems take 255.
const NAME_LIMIT: usize = 120;

/// How files that are still being received begin.
const PART: &str = ".part-";

/// Names that Windows gives to devices, whatever follows the first dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A file as it was received, beside its place; it goes unless it was moved there.
pub struct Received {
    part: PathBuf,
    content: String,
    name: String,
}

impl Drop for Received {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.part)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %self.part.display(), "an upload could not be removed");
        }
    }
}

/// The folder of uploads, made and swept of what no document needs.
///
/// # Errors
/// When it cannot be written, or the catalogue cannot be read.
pub async fn prepare(engine: &Engine, data_dir: &Path) -> Result<PathBuf, AppError> {
    let folder = data_dir.join("uploads");
    let disk = |error| disk(&folder, &error);
    fs::create_dir_all(&folder).await.map_err(disk)?;
    let folder = fs::canonicalize(&folder).await.map_err(disk)?;
    let needed = paths(engine).await?;
    let mut entries = fs::read_dir(&folder).await.map_err(disk)?;
    while let Some(entry) = entries.next_entry().await.map_err(disk)? {
        if entry.file_type().await.is_ok_and(|kind| kind.is_dir()) {
            tidy(&entry.path(), &needed).await;
        } else if entry.file_name().to_string_lossy().starts_with(PART) {
            remove(&entry.path()).await;
        }
    }
    Ok(folder)
}

/// Receives the files of a form, and the value of its field `collection`.
///
/// # Errors
/// When the form is no form, is too large, holds no file, or the disk is full. Nothing is left then.
pub async fn receive(
    served: &Served,
    request: Request,
    limit: u64,
) -> Result<(Vec<Received>, Option<CollectionName>), Fault> {
    announced_within(request.headers(), limit + FORM)?;
    let mut form = Multipart::from_request(request, &()).await.map_err(|error| {
        Fault::bad_request(format!("there is no form with a file: {}", error.body_text()))
    })?;
    let (mut received, mut collection, mut left) = (Vec::new(), None, limit);
    while let Some(field) = form.next_field().await.map_err(broken)? {
        match field.file_name().map(str::to_owned) {
            Some(name) if name.trim().is_empty() => {
                return Err(Fault::bad_request("the file has no name"));
            }
            Some(name) => {
                let file = Received {
                    part: served
                        .uploads
                        .join(format!("{PART}{}", uuid::Uuid::new_v4().simple())),
                    content: String::new(),
                    name: stored_name(&name),
                };
                received.push(write(field, file, &mut left, limit).await?);
            }
            None if field.name() == Some("collection") => {
                collection = Some(CollectionName::new(field.text().await.map_err(broken)?));
            }
            None => {}
        }
    }
    if received.is_empty() {
        return Err(Fault::bad_request("the form holds no file"));
    }
    Ok((received, collection))
}

/// Moves the files to their place and lets the engine read them to the end, also when nobody waits for it any more.
/// Those that come to nothing are removed again.
///
/// # Errors
/// When the disk is full, or the engine cannot begin.
pub async fn add(
    served: &Shared,
    received: Vec<Received>,
    collection: CollectionName,
) -> Result<Vec<DocumentReport>, Fault> {
    let served = served.clone();
    let adding = tokio::spawn(async move {
        let _turn = served.keeping.lock().await;
        let mut kept = HashSet::new();
        let added = settle_and_read(&served, received, collection, &mut kept).await;
        sweep(&served, kept).await;
        added
    });
    adding.await.map_err(|error| {
        AppError::new(
            ErrorCode::Internal,
            format!("adding the files broke down: {error}"),
        )
    })?
}

async fn settle_and_read(
    served: &Served,
    received: Vec<Received>,
    collection: CollectionName,
    kept: &mut HashSet<PathBuf>,
) -> Result<Vec<DocumentReport>, Fault> {
    for file in received {
        kept.insert(settle(served, &file).await?);
    }
    let ours: HashSet<String> = kept
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let request = AddFilesRequest {
        paths: ours.iter().cloned().collect(),
        collection,
    };
    let run = served.engine.add_files(request).await?;
    let last = served.engine.wait(&run).await?;
    let reports: Vec<DocumentReport> = reports_of(&last)
        .iter()
        .filter(|report| ours.contains(&report.path))
        .cloned()
        .collect();
    let mut useless: Vec<DocumentId> = reports
        .iter()
        .filter(|report| report.state != DocumentState::Ready)
        .filter_map(|report| report.id.clone())
        .collect();
    useless.extend(namesakes(served, kept).await?);
    if !useless.is_empty() {
        served.engine.delete_documents(&useless).await?;
    }
    match last.event {
        Event::RunFailed { error, .. } => Err(error.into()),
        _ => Ok(reports),
    }
}

/// Removes those of our files that no document needs any more. That a file stays is no fault of the request: the next
/// start looks again.
pub async fn forget(served: &Served, files: impl IntoIterator<Item = PathBuf>) {
    let _turn = served.keeping.lock().await;
    sweep(served, files).await;
}

async fn sweep(served: &Served, files: impl IntoIterator<Item = PathBuf>) {
    let folders: HashSet<PathBuf> = files
        .into_iter()
        .filter(|file| file.starts_with(&served.uploads))
        .filter_map(|file| file.parent().map(Path::to_path_buf))
        .collect();
    if folders.is_empty() {
        return;
    }
    match paths(&served.engine).await {
        Ok(needed) => {
            for folder in folders {
                tidy(&folder, &needed).await;
            }
        }
        Err(error) => tracing::warn!(%error, "uploads that are not needed stay until the next start"),
    }
}

/// The documents of the same bytes under other names.
async fn namesakes(served: &Served, kept: &HashSet<PathBuf>) -> Result<Vec<DocumentId>, Fault> {
    let folders: HashSet<&Path> = kept.iter().filter_map(|path| path.parent()).collect();
    let documents = served.engine.list_documents(None).await?;
    Ok(documents
        .into_iter()
        .filter(|document| {
            let path = Path::new(&document.path);
            !kept.contains(path) && path.parent().is_some_and(|folder| folders.contains(folder))
        })
        .map(|document| document.id)
        .collect())
}

/// Writes a field to its file and learns the name of its content.
async fn write(
    mut field: Field<'_>,
    mut to: Received,
    left: &mut u64,
    limit: u64,
) -> Result<Received, Fault> {
    let mut file = fs::File::create_new(&to.part)
        .await
        .map_err(|error| disk(&to.part, &error))?;
    let mut hasher = Sha256::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        *left = left
            .checked_sub(piece.len() as u64)
            .ok_or_else(|| Fault::too_large(limit))?;
        hasher.update(&piece);
        file.write_all(&piece)
            .await
            .map_err(|error| disk(&to.part, &error))?;
    }
    file.sync_all().await.map_err(|error| disk(&to.part, &error))?;
    let digest = hasher.finalize();
    to.content = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Ok(to)
}

async fn settle(served: &Served, file: &Received) -> Result<PathBuf, Fault> {
    let folder = served.uploads.join(&file.content);
    fs::create_dir_all(&folder)
        .await
        .map_err(|error| disk(&folder, &error))?;
    let path = folder.join(&file.name);
    fs::rename(&file.part, &path)
        .await
        .map_err(|error| disk(&path, &error))?;
    Ok(path)
}

/// A harmless form of a file's name: its last part, without characters that steer, separate or mean something to a file
/// system, not hidden, no device, short, with its extension.
pub fn stored_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if r#"<>:"|?*"#.contains(c) { '_' } else { c })
        .collect();
    let clean = clean.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let (stem, extension) = match clean.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 16 => (stem.trim_end(), Some(extension)),
        _ => (clean, None),
    };
    let stem = cut(
        stem,
        NAME_LIMIT - extension.map_or(0, |extension| extension.len() + 1),
    );
    let first = stem.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_device = DEVICES.contains(&first.as_str())
        || (first.len() == 4
            && (first.starts_with("com") || first.starts_with("lpt"))
            && first.ends_with(|c: char| c.is_ascii_digit()));
    let mark = if is_device { "_" } else { "" };
    let stem = if stem.is_empty() { "document" } else { stem };
    match extension {
        Some(extension) => format!("{mark}{stem}.{extension}"),
        None => format!("{mark}{stem}"),
    }
}

/// Characters that show nothing, or turn the direction of writing.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Removes the files of a folder that are not needed, and the folder when it is empty.
async fn tidy(folder: &Path, needed: &HashSet<PathBuf>) {
    let mut entries = match fs::read_dir(folder).await {
        Ok(entries) => entries,
        Err(error) => return tracing::warn!(%error, folder = %folder.display(), "uploads cannot be listed"),
    };
    let mut stays = false;
    while let Ok(Some(entry)) = entries.next_entry().await {
        if needed.contains(&entry.path()) {
            stays = true;
        } else {
            remove(&entry.path()).await;
        }
    }
    if !stays && let Err(error) = fs::remove_dir(folder).await {
        tracing::debug!(%error, folder = %folder.display(), "the folder stays");
    }
}

async fn remove(file: &Path) {
    match fs::remove_file(file).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, file = %file.display(), "an upload could not be removed");
        }
        _ => {}
    }
}

async fn paths(engine: &Engine) -> Result<HashSet<PathBuf>, AppError> {
    let documents = engine.list_documents(None).await?;
    Ok(documents
        .into_iter()
        .map(|document| PathBuf::from(document.path))
        .collect())
}

fn broken(error: MultipartError) -> Fault {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Fault::too_large(LIMIT);
    }
    Fault::bad_request(format!("the form cannot be read: {}", error.body_text()))
}

fn disk(path: &Path, error: &std::io::Error) -> AppError {
    AppError::new(
        ErrorCode::Disk,
        format!("`{}` cannot be written: {error}", path.display()),
    )
    .with_hint("free some space, or check the rights of the data folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_is_made_harmless_and_stays_recognisable() {
        for (name, stored) in [
            ("report.pdf", "report.pdf"),
            ("../../.bashrc", "bashrc"),
            ("..\\..\\Windows\\win.ini", "win.ini"),
            ("/etc/passwd", "passwd"),
            ("CON", "_CON"),
            ("con.txt", "_con.txt"),
            ("COM1.tar.gz", "_COM1.tar.gz"),
            ("company.txt", "company.txt"),
            ("a\u{202e}fdp.exe", "afdp.exe"),
            ("a\0b\n.txt", "ab.txt"),
            ("..", "document"),
            ("", "document"),
            (".txt", "txt"),
            ("C:stream.txt:$DATA", "C_stream.txt_$DATA"),
            ("Übersicht 概要.md", "Übersicht 概要.md"),
            ("trailing. ", "trailing"),
        ] {
            assert_eq!(stored_name(name), stored, "{name:?}");
        }
        let long = stored_name(&format!("{}.pdf", "ä".repeat(2_000)));
        assert!(long.len() <= NAME_LIMIT && long.ends_with(".pdf"), "{long}");
        let long = stored_name(&format!("a.{}", "x".repeat(4_000)));
        assert!(long.len() <= NAME_LIMIT, "{long}");
    }
}
