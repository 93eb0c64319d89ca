//! Reading files: [`FileParser`] turns PDF, Office and OpenDocument files, books, e-mails, web pages, Markdown, tables, JSON,
//! source code and anything else that is text into text with structure.
//!
//! The program reads each file in a worker process ([`run_worker`]) with limits of its own, because a library that runs
//! out of stack or memory cannot be caught. Not here: cutting into chunks, OCR, network. Start at `read.rs`.

mod archive;
mod builder;
mod csv_table;
mod docx;
mod encoding;
mod epub;
mod failure;
mod folder;
mod format;
mod html;
mod json;
mod limits;
mod look;
mod mail;
mod markdown;
mod notebook;
mod opendocument;
mod pdf;
mod read;
mod records;
mod rtf;
mod slides;
mod source_text;
mod workbook;
mod worker;
mod xml;

pub use worker::run_worker;

use adrag_contract::ErrorCode;
use adrag_core::ports::{DocumentParser, ParsedDocument, PortError, PortResult, Presence, SourceFile};
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Counts changes of what text comes out of a file.
const VERSION: u32 = 2;

/// Reads files of the local disk.
#[derive(Clone, Debug)]
pub struct FileParser {
    worker: Option<(PathBuf, String)>,
}

impl FileParser {
    /// A parser that runs the program with the argument for each file, or reads in-process without one (tests).
    pub fn new(worker: Option<(PathBuf, String)>) -> Self {
        Self { worker }
    }
}

#[async_trait]
impl DocumentParser for FileParser {
    async fn inspect(&self, path: &str) -> PortResult<SourceFile> {
        let path = PathBuf::from(path);
        off_thread(move || folder::inspect(&path)).await
    }

    async fn parse(&self, file: &SourceFile, cancel: &CancellationToken) -> PortResult<ParsedDocument> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        if let Some((program, argument)) = &self.worker {
            return worker::read_in_worker(program, argument, file, cancel).await;
        }
        let path = PathBuf::from(&file.path);
        let name = file.name.clone();
        let work = off_thread(move || read_in_process(&path, &name));
        tokio::select! {
            () = cancel.cancelled() => Err(PortError::cancelled()),
            parsed = work => parsed,
        }
    }

    async fn list(&self, path: &str) -> PortResult<Vec<String>> {
        let path = PathBuf::from(path);
        off_thread(move || folder::list(&path)).await
    }

    async fn look(&self, paths: &[String]) -> PortResult<Vec<Presence>> {
        let paths = paths.to_vec();
        off_thread(move || Ok(paths.iter().map(|path| look::look(Path::new(path))).collect())).await
    }

    fn fingerprint(&self) -> String {
        format!("file-parser {VERSION}")
    }
}

/// The readable text of a page of the web that is at hand already.
pub(crate) async fn page_text(name: &'static str, bytes: Vec<u8>) -> PortResult<String> {
    let read =
        move || read::read_guarded(name.to_owned(), bytes).map_err(|failure| failure.into_port_error(name));
    off_thread(read).await.map(|parsed| parsed.text)
}

fn read_in_process(path: &Path, name: &str) -> PortResult<ParsedDocument> {
    let bytes = folder::read_bytes(path)?;
    read::read_guarded(name.to_owned(), bytes).map_err(|failure| failure.into_port_error(name))
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> PortResult<T> + Send + 'static,
) -> PortResult<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(PortError::permanent(
            ErrorCode::Internal,
            format!("reading a file failed: {error}"),
        ))
    })
}
