//! What the program asks of the desktop around it: pick files and folders, open a document, open a link.
//!
//! Only Rust reaches it; the window has no permission for any of it. Links are limited to the web, documents to paths
//! of the catalogue, and a file that a double click would *run* is shown in its folder instead.

use adrag_contract::{AppError, ErrorCode};
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tauri::{AppHandle, Runtime, Url};
use tauri_plugin_dialog::DialogExt;

/// Extensions that systems execute on opening. Source code among them can be ingested, so it can be cited.
const RUN_ON_OPENING: [&str; 32] = [
    "app", "appimage", "bash", "bat", "cmd", "com", "command", "cpl", "desktop", "exe", "hta", "jar", "js",
    "jse", "lnk", "msi", "php", "pl", "ps1", "py", "pyw", "rb", "reg", "run", "scr", "sh", "tool", "url",
    "vbe", "vbs", "wsf", "zsh",
];

/// The desktop, or a stand-in in tests.
pub trait Desktop: Send + Sync {
    /// Lets the person pick files; none when they think better of it.
    fn pick_files(&self) -> BoxFuture<'_, Result<Vec<PathBuf>, AppError>>;
    /// Lets the person pick a folder; none when they think better of it.
    fn pick_folder(&self) -> BoxFuture<'_, Result<Option<PathBuf>, AppError>>;
    /// Lets the person choose where a file is written; none when they think better of it.
    fn pick_target<'a>(&'a self, file_name: &'a str) -> BoxFuture<'a, Result<Option<PathBuf>, AppError>>;
    /// Opens a file in the system's program for it.
    fn open_path(&self, path: &Path) -> Result<(), AppError>;
    /// Shows a file in its folder.
    fn reveal(&self, path: &Path) -> Result<(), AppError>;
    /// Opens a page in the browser.
    fn open_url(&self, url: &Url) -> Result<(), AppError>;
}

/// Opens a document, or shows it in its folder when opening would run it.
///
/// # Errors
/// When the file is gone or the system cannot open it.
pub fn open_document(desktop: &dyn Desktop, path: &Path) -> Result<(), AppError> {
    if !path.is_file() {
        return Err(AppError::new(
            ErrorCode::NotFound,
            format!("`{}` is not there any more", path.display()),
        )
        .with_hint("the indexed text can still be read here; add the file again when it moved"));
    }
    if runs_on_opening(path) {
        desktop.reveal(path)
    } else {
        desktop.open_path(path)
    }
}

/// The link in the form that will be opened.
///
/// # Errors
/// When it is not a plain `http` or `https` address of a host.
pub fn web_link(link: &str) -> Result<Url, AppError> {
    let refuse = |why: &str| {
        Err(AppError::new(
            ErrorCode::InvalidRequest,
            format!("the link is not opened: {why}"),
        )
        .with_hint("only plain http and https links are opened"))
    };
    let Ok(url) = Url::parse(link.trim()) else {
        return refuse("it is no complete address");
    };
    match url.scheme() {
        "http" | "https" => {}
        other => return refuse(&format!("`{other}:` is no web address")),
    }
    if url.host_str().is_none_or(str::is_empty) {
        return refuse("it names no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("it carries a user name, which disguises the host");
    }
    Ok(url)
}

fn runs_on_opening(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| RUN_ON_OPENING.contains(&extension.as_str())) || is_executable(path)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

/// The real desktop.
pub struct SystemDesktop<R: Runtime> {
    app: OnceLock<AppHandle<R>>,
}

impl<R: Runtime> Default for SystemDesktop<R> {
    fn default() -> Self {
        Self { app: OnceLock::new() }
    }
}

impl<R: Runtime> SystemDesktop<R> {
    /// Tells it the running application; a second call changes nothing.
    pub fn attach(&self, app: AppHandle<R>) {
        let _ = self.app.set(app);
    }
}

impl<R: Runtime> Desktop for SystemDesktop<R> {
    fn pick_files(&self) -> BoxFuture<'_, Result<Vec<PathBuf>, AppError>> {
        Box::pin(async {
            let app = self
                .app
                .get()
                .ok_or_else(|| unable("pick files", "the window is not there yet"))?;
            let (answer, answered) = tokio::sync::oneshot::channel();
            app.dialog()
                .file()
                .set_title("Add documents")
                .pick_files(move |files| {
                    // The window may be gone by the time the person has chosen.
                    let _ = answer.send(files);
                });
            let files = answered
                .await
                .map_err(|_| unable("pick files", "the picker was closed"))?;
            files
                .unwrap_or_default()
                .into_iter()
                .map(|file| file.into_path().map_err(|error| unable("pick files", error)))
                .collect()
        })
    }

    fn pick_folder(&self) -> BoxFuture<'_, Result<Option<PathBuf>, AppError>> {
        Box::pin(async {
            let app = self
                .app
                .get()
                .ok_or_else(|| unable("pick a folder", "the window is not there yet"))?;
            let (answer, answered) = tokio::sync::oneshot::channel();
            app.dialog()
                .file()
                .set_title("Follow a folder")
                .pick_folder(move |folder| {
                    // The window may be gone by the time the person has chosen.
                    let _ = answer.send(folder);
                });
            let folder = answered
                .await
                .map_err(|_| unable("pick a folder", "the picker was closed"))?;
            folder
                .map(|folder| folder.into_path().map_err(|error| unable("pick a folder", error)))
                .transpose()
        })
    }

    fn pick_target<'a>(&'a self, file_name: &'a str) -> BoxFuture<'a, Result<Option<PathBuf>, AppError>> {
        Box::pin(async move {
            let app = self
                .app
                .get()
                .ok_or_else(|| unable("choose a file", "the window is not there yet"))?;
            let (answer, answered) = tokio::sync::oneshot::channel();
            app.dialog()
                .file()
                .set_title("Export the conversation")
                .set_file_name(file_name)
                .save_file(move |target| {
                    // The window may be gone by the time the person has chosen.
                    let _ = answer.send(target);
                });
            let target = answered
                .await
                .map_err(|_| unable("choose a file", "the picker was closed"))?;
            target
                .map(|target| target.into_path().map_err(|error| unable("choose a file", error)))
                .transpose()
        })
    }

    fn open_path(&self, path: &Path) -> Result<(), AppError> {
        tauri_plugin_opener::open_path(path, None::<&str>).map_err(|error| unable("open the document", error))
    }

    fn reveal(&self, path: &Path) -> Result<(), AppError> {
        tauri_plugin_opener::reveal_item_in_dir(path).map_err(|error| unable("show the document", error))
    }

    fn open_url(&self, url: &Url) -> Result<(), AppError> {
        tauri_plugin_opener::open_url(url.as_str(), None::<&str>)
            .map_err(|error| unable("open the link", error))
    }
}

fn unable(what: &str, why: impl std::fmt::Display) -> AppError {
    AppError::new(ErrorCode::Internal, format!("the system could not {what}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_links_are_opened() {
        for link in ["https://example.org/a?b=c#d", " http://127.0.0.1:8080/ "] {
            assert!(web_link(link).is_ok(), "{link}");
        }
        for link in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ftp://example.org",
            "example.org",
            "https://good.org@evil.org/",
            "https://u:p@evil.org/",
            "",
            "http://",
            "mailto:a@b.c",
            "JaVaScRiPt:1",
            "smb://host/share",
            "tauri://localhost",
            "ms-msdt:/id",
        ] {
            let refused = web_link(link);
            assert_eq!(
                refused.err().map(|error| error.code),
                Some(ErrorCode::InvalidRequest),
                "{link}"
            );
        }
    }

    #[test]
    fn files_that_would_run_are_shown_in_their_folder() {
        for name in ["a.BAT", "b.js", "c.py", "d.desktop", "e.sh"] {
            assert!(runs_on_opening(Path::new(name)), "{name}");
        }
        for name in ["a.pdf", "b.txt", "c", "d.html", "e.docx"] {
            assert!(!runs_on_opening(Path::new(name)), "{name}");
        }
    }
}
