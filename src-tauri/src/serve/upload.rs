//! Files that come over the wire: kept under a name made from their content, so that no name can lead anywhere else.

use super::Door;
use super::reply::{Answered, Refused};
use adrag_contract::{AddFilesRequest, AppError, CollectionName, DocumentReport, ErrorCode};
use adrag_core::engine::reports_of;
use axum::extract::Multipart;
use axum::http::StatusCode;
use std::path::{Path, PathBuf};
use tokio::io::AsyncWriteExt;

/// Largest file taken, bytes: what ingestion takes from the disk too.
const MAX_FILE: u64 = 52_428_800;
/// Longest name kept.
const NAME_CHARS: usize = 120;

/// A file that was taken in.
pub(super) struct Taken {
    /// Its name as it was sent, made safe.
    pub(super) name: String,
    /// What became of it.
    pub(super) report: DocumentReport,
}

/// Takes the field `file` of a form and ingests it; the run is waited for.
pub(super) async fn take(door: &Door, form: Result<Multipart, String>) -> Answered<Taken> {
    let bad = |message: String| Refused::from(AppError::new(ErrorCode::InvalidRequest, message));
    let mut form = form.map_err(bad)?;
    let mut collection = CollectionName::default();
    while let Some(mut field) = form
        .next_field()
        .await
        .map_err(|error| bad(format!("the form cannot be read: {error}")))?
    {
        match field.name() {
            Some("collection") => {
                let name = field
                    .text()
                    .await
                    .map_err(|error| bad(format!("the form cannot be read: {error}")))?;
                if !name.trim().is_empty() {
                    collection = CollectionName::new(name.trim());
                }
            }
            Some("file") => {
                let name = safe_name(field.file_name().unwrap_or_default());
                if name.is_empty() {
                    return Err(bad("the file has no name".to_owned()));
                }
                // A folder of its own for each upload: two files of one name do not meet.
                let folder = door.uploads.join(uuid::Uuid::new_v4().simple().to_string());
                let path = folder.join(&name);
                let kept = async {
                    tokio::fs::create_dir_all(&folder)
                        .await
                        .map_err(|error| disk(&folder, &error))?;
                    let mut file = tokio::fs::File::create(&path)
                        .await
                        .map_err(|error| disk(&path, &error))?;
                    let mut size = 0;
                    while let Some(piece) = field
                        .chunk()
                        .await
                        .map_err(|error| bad(format!("the upload broke off: {error}")))?
                    {
                        size += piece.len() as u64;
                        if size > MAX_FILE {
                            return Err(Refused::new(
                                StatusCode::PAYLOAD_TOO_LARGE,
                                AppError::new(
                                    ErrorCode::UnreadableFile,
                                    format!("`{name}` is larger than {MAX_FILE} bytes"),
                                )
                                .with_hint("split it into smaller files"),
                            ));
                        }
                        file.write_all(&piece)
                            .await
                            .map_err(|error| disk(&path, &error))?;
                    }
                    file.flush().await.map_err(|error| disk(&path, &error))
                };
                if let Err(refused) = kept.await {
                    forget(&folder).await;
                    return Err(refused);
                }
                let report = ingest(door, &path, collection).await?;
                if !report.state.is_searchable() {
                    forget(&folder).await;
                }
                return Ok(Taken { name, report });
            }
            _ => {}
        }
    }
    Err(bad("the form has no field `file`".to_owned()))
}

async fn ingest(door: &Door, path: &Path, collection: CollectionName) -> Answered<DocumentReport> {
    let request = AddFilesRequest {
        paths: vec![path.to_string_lossy().into_owned()],
        collection,
    };
    let run = door.engine.add_files(request).await?;
    let last = door.engine.wait(&run).await?;
    reports_of(&last).first().cloned().ok_or_else(|| {
        Refused::from(AppError::new(
            ErrorCode::Internal,
            "the upload ended without a report",
        ))
    })
}

async fn forget(folder: &PathBuf) {
    if let Err(error) = tokio::fs::remove_dir_all(folder).await {
        tracing::warn!(%error, folder = %folder.display(), "an upload could not be removed");
    }
}

fn disk(path: &Path, error: &std::io::Error) -> Refused {
    Refused::from(AppError::new(
        ErrorCode::Disk,
        format!("`{}` cannot be written: {error}", path.display()),
    ))
}

/// The last part of a name, without what could lead elsewhere or mean something to a system.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|'))
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'))
        .collect();
    let clean = clean.trim().trim_matches('.').trim();
    let extension = clean
        .rsplit_once('.')
        .map(|(_, extension)| extension)
        .unwrap_or_default();
    let mut short: String = clean.chars().take(NAME_CHARS).collect();
    if short.len() < clean.len() && !extension.is_empty() && extension.len() < 12 {
        short = format!("{short}.{extension}");
    }
    let stem = short.split('.').next().unwrap_or_default().to_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") {
        short.insert(0, '_');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::safe_name;

    #[test]
    fn names_lead_nowhere() {
        for (name, safe) in [
            ("../../.bashrc", "bashrc"),
            ("..\\..\\x.txt", "x.txt"),
            ("a\u{202e}fdp.exe", "afdp.exe"),
            ("CON.txt", "_CON.txt"),
            ("..", ""),
            ("", ""),
            ("報告 😀.pdf", "報告 😀.pdf"),
        ] {
            assert_eq!(safe_name(name), safe, "{name}");
        }
        let long = safe_name(&format!("{}.pdf", "x".repeat(4_000)));
        assert!(long.len() < 140 && long.ends_with(".pdf"), "{long}");
    }
}
