//! The fake and the conformance suite of the document parser.

use crate::ports::{
    Block, BlockKind, DocumentParser, FileStamp, ParsedDocument, PortError, PortResult, Presence, SourceFile,
};
use adrag_contract::{AppError, ErrorCode};
use async_trait::async_trait;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A parser over texts in memory: no file is touched. Paragraphs become prose, lines that begin with `#` headings.
#[derive(Default)]
pub struct FakeParser {
    files: Mutex<BTreeMap<String, FakeFile>>,
    folders: Mutex<BTreeSet<String>>,
    unreadable: Mutex<BTreeSet<String>>,
    disk: AtomicU64,
    changes: AtomicU64,
    inspected: AtomicU64,
    version: AtomicU64,
}

#[derive(Clone, Default)]
struct FakeFile {
    text: String,
    modified_ns: i64,
    failure: Option<PortError>,
    delay: Duration,
    document: Option<ParsedDocument>,
}

impl FakeParser {
    /// A parser without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it.
    pub fn with_file(self, path: &str, text: &str) -> Self {
        self.put(path, text);
        self
    }

    /// Adds a file, or replaces it, while the parser is shared.
    pub fn put(&self, path: &str, text: &str) {
        let modified_ns = self.changes.fetch_add(1, Ordering::SeqCst) as i64;
        self.change(path, |file| {
            *file = FakeFile {
                text: text.to_owned(),
                modified_ns,
                ..FakeFile::default()
            };
        });
    }

    /// Adds a folder that is there even while it holds nothing.
    pub fn put_folder(&self, path: &str) {
        self.folders.lock().unwrap().insert(path.to_owned());
    }

    /// Removes a folder with all that is below it.
    pub fn remove_folder(&self, path: &str) {
        let below = format!("{path}/");
        self.folders.lock().unwrap().remove(path);
        self.files
            .lock()
            .unwrap()
            .retain(|file, _| !file.starts_with(&below));
    }

    /// Moves a file; its text and its time stay.
    pub fn rename(&self, from: &str, to: &str) {
        let mut files = self.files.lock().unwrap();
        if let Some(file) = files.remove(from) {
            files.insert(to.to_owned(), file);
        }
    }

    /// What is below a folder cannot be seen, or can again.
    pub fn hide(&self, folder: &str, is_hidden: bool) {
        let mut unreadable = self.unreadable.lock().unwrap();
        if is_hidden {
            unreadable.insert(format!("{folder}/"));
        } else {
            unreadable.remove(&format!("{folder}/"));
        }
    }

    /// All folders are on another disk from now on.
    pub fn change_disk(&self) {
        self.disk.fetch_add(1, Ordering::SeqCst);
    }

    /// It reads otherwise from now on.
    pub fn upgrade(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// How many files were inspected so far.
    pub fn inspected(&self) -> u64 {
        self.inspected.load(Ordering::SeqCst)
    }

    fn is_hidden(&self, path: &str) -> bool {
        let unreadable = self.unreadable.lock().unwrap();
        unreadable.iter().any(|folder| path.starts_with(folder))
    }

    /// Adds a file that parses to this document.
    pub fn put_document(&self, path: &str, document: ParsedDocument) {
        self.change(path, |file| {
            file.text.clone_from(&document.text);
            file.document = Some(document);
        });
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) {
        self.files.lock().unwrap().remove(path);
    }

    /// Lets parsing a file fail; it can still be inspected.
    pub fn fail(&self, path: &str, error: PortError) {
        self.change(path, |file| file.failure = Some(error));
    }

    /// Lets parsing a file take this long.
    pub fn delay(&self, path: &str, delay: Duration) {
        self.change(path, |file| file.delay = delay);
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut FakeFile)) {
        change(self.files.lock().unwrap().entry(path.to_owned()).or_default());
    }

    fn file(&self, path: &str) -> PortResult<FakeFile> {
        let files = self.files.lock().unwrap();
        files
            .get(path)
            .cloned()
            .ok_or_else(|| PortError::rejected(ErrorCode::NotFound, format!("`{path}` does not exist")))
    }
}

#[async_trait]
impl DocumentParser for FakeParser {
    async fn inspect(&self, path: &str) -> PortResult<SourceFile> {
        self.inspected.fetch_add(1, Ordering::SeqCst);
        let file = self.file(path)?;
        Ok(SourceFile {
            path: path.to_owned(),
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            bytes: file.text.len() as u64,
            sha256: Sha256::digest(file.text.as_bytes())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        })
    }

    async fn parse(&self, file: &SourceFile, cancel: &CancellationToken) -> PortResult<ParsedDocument> {
        let fake = self.file(&file.path)?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(PortError::cancelled()),
            () = tokio::time::sleep(fake.delay) => {}
        }
        if let Some(error) = fake.failure {
            return Err(error);
        }
        Ok(fake.document.unwrap_or_else(|| paragraphs(&fake.text)))
    }

    async fn list(&self, path: &str) -> PortResult<Vec<String>> {
        let files = self.files.lock().unwrap();
        if files.contains_key(path) {
            return Ok(vec![path.to_owned()]);
        }
        let folder = format!("{}/", path.trim_end_matches('/'));
        let found: Vec<String> = files
            .keys()
            .filter(|file| file.starts_with(&folder) && !self.is_hidden(file))
            .cloned()
            .collect();
        let is_folder = self.folders.lock().unwrap().contains(path.trim_end_matches('/'));
        if found.is_empty() && !is_folder {
            return Err(PortError::rejected(
                ErrorCode::NotFound,
                format!("`{path}` does not exist"),
            ));
        }
        Ok(found)
    }

    async fn look(&self, paths: &[String]) -> PortResult<Vec<Presence>> {
        let files = self.files.lock().unwrap();
        let folders = self.folders.lock().unwrap();
        Ok(paths
            .iter()
            .map(|path| {
                let below = format!("{path}/");
                match files.get(path) {
                    _ if self.is_hidden(path) => Presence::Unknown(AppError::new(
                        ErrorCode::UnreadableFile,
                        format!("`{path}` may not be seen"),
                    )),
                    Some(file) => Presence::File(FileStamp {
                        bytes: file.text.len() as u64,
                        modified_ns: file.modified_ns,
                    }),
                    None if folders.contains(path) || files.keys().any(|file| file.starts_with(&below)) => {
                        Presence::Folder(Some(self.disk.load(Ordering::SeqCst)))
                    }
                    None => Presence::Gone,
                }
            })
            .collect())
    }

    fn fingerprint(&self) -> String {
        format!("fake-parser {}", self.version.load(Ordering::SeqCst) + 1)
    }
}

fn paragraphs(text: &str) -> ParsedDocument {
    let mut blocks = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive("\n\n") {
        let lead = piece.len() - piece.trim_start().len();
        let trimmed = piece.trim();
        let (mark, kind) = match trimmed.strip_prefix("# ") {
            Some(_) => (2, BlockKind::Heading(1)),
            None => (0, BlockKind::Prose),
        };
        if trimmed.len() > mark {
            blocks.push(Block {
                kind,
                start: start + lead + mark,
                end: start + lead + trimmed.len(),
                page: None,
            });
        }
        start += piece.len();
    }
    let text = if blocks.is_empty() {
        String::new()
    } else {
        text.to_owned()
    };
    ParsedDocument {
        kind: "text".to_owned(),
        text,
        blocks,
        ..ParsedDocument::default()
    }
}

/// Panics when a document breaks a promise of [`ParsedDocument`]; `context` names the file.
pub fn assert_document(document: &ParsedDocument, context: &str) {
    let text = &document.text;
    assert!(!document.kind.is_empty(), "{context}: the kind is empty");
    assert_eq!(
        document.kind,
        document.kind.to_lowercase(),
        "{context}: the kind is not lower case"
    );
    assert!(
        !text.contains('\r'),
        "{context}: a line ends with a carriage return"
    );
    assert!(!text.contains('\0'), "{context}: the text holds a NUL");
    assert_eq!(
        text.trim().is_empty(),
        document.blocks.is_empty(),
        "{context}: text without blocks, or blocks without text"
    );
    let (mut end, mut page) = (0, 1);
    for block in &document.blocks {
        let at = format!("{context}: block {}..{}", block.start, block.end);
        assert!(block.start < block.end, "{at} is empty");
        assert!(block.start >= end, "{at} begins before the last one ends ({end})");
        assert!(
            block.end <= text.len(),
            "{at} ends behind the text ({})",
            text.len()
        );
        assert!(
            text.is_char_boundary(block.start) && text.is_char_boundary(block.end),
            "{at} cuts a character"
        );
        assert!(
            !text[block.start..block.end].trim().is_empty(),
            "{at} holds white space only"
        );
        // Marks of a heading may stand outside a block, words may not.
        let gap = &text[end..block.start];
        assert!(
            !gap.contains(char::is_alphanumeric),
            "{at}: no block holds {gap:?}"
        );
        end = block.end;
        if let BlockKind::Heading(level) = block.kind {
            assert!((1..=9).contains(&level), "{at} is a heading of level {level}");
        }
        if let Some(of) = block.page {
            assert!(of >= page, "{at} goes back from page {page} to {of}");
            assert!(
                document.pages.is_some_and(|pages| of <= pages),
                "{at} is on page {of} of {:?}",
                document.pages
            );
            page = of;
        }
    }
    let gap = &text[end..];
    assert!(
        !gap.contains(char::is_alphanumeric),
        "{context}: no block holds {gap:?} at the end"
    );
}

/// Files a real or fake parser finds for the suite.
pub struct ParserFixtures {
    /// A folder that holds `readable`, `empty` and `broken` and nothing else to be listed.
    pub folder: String,
    /// A file whose text holds [`MARKER`].
    pub readable: String,
    /// A file without any text.
    pub empty: String,
    /// A file that cannot be parsed.
    pub broken: String,
    /// A path where nothing is.
    pub missing: String,
}

/// The words of the readable file.
pub const MARKER: &str = "QUOKKA-7731 lives at the end of the pier";

/// Runs the suite.
pub async fn conformance(parser: &dyn DocumentParser, fixtures: &ParserFixtures) {
    let cancel = CancellationToken::new();

    let source = parser
        .inspect(&fixtures.readable)
        .await
        .expect("a readable file can be inspected");
    assert_eq!(source.path, fixtures.readable, "inspecting keeps the path");
    assert!(
        fixtures.readable.ends_with(&source.name),
        "the name is the last part of the path"
    );
    assert!(source.bytes > 0, "a readable file has a size");
    assert_eq!(
        source.sha256.len(),
        64,
        "the fingerprint is SHA-256 in hexadecimal"
    );
    let again = parser
        .inspect(&fixtures.readable)
        .await
        .expect("a file can be inspected twice");
    assert_eq!(source, again, "the same file has the same fingerprint");

    let document = parser
        .parse(&source, &cancel)
        .await
        .expect("a readable file can be parsed");
    assert_document(&document, &fixtures.readable);
    assert!(
        document.text.contains(MARKER),
        "the text of the file comes out: {:?}",
        document.text
    );
    let twice = parser
        .parse(&source, &cancel)
        .await
        .expect("a file can be parsed twice");
    assert_eq!(document, twice, "the same bytes give the same document");

    let empty = parser
        .inspect(&fixtures.empty)
        .await
        .expect("an empty file can be inspected");
    let empty = parser
        .parse(&empty, &cancel)
        .await
        .expect("a file without text is no error");
    assert_eq!(empty.text, "", "a file without text has none");
    assert_document(&empty, &fixtures.empty);

    let broken = parser
        .inspect(&fixtures.broken)
        .await
        .expect("a broken file can be inspected");
    let error = parser
        .parse(&broken, &cancel)
        .await
        .expect_err("a broken file cannot be parsed");
    assert_eq!(
        error.class,
        crate::ports::ErrorClass::Rejected,
        "a broken file is refused for good: {error}"
    );
    assert_eq!(error.error.code, ErrorCode::UnreadableFile, "{error}");
    assert!(
        error.error.message.contains(' '),
        "the reason is a sentence: {error}"
    );
    assert!(
        !error.error.message.ends_with('.'),
        "messages end without a full stop: {error}"
    );

    let error = parser
        .inspect(&fixtures.missing)
        .await
        .expect_err("a missing file is an error");
    assert_eq!(error.error.code, ErrorCode::NotFound, "{error}");
    let error = parser
        .list(&fixtures.missing)
        .await
        .expect_err("a missing folder is an error");
    assert_eq!(error.error.code, ErrorCode::NotFound, "{error}");

    let mut expected = vec![
        fixtures.readable.clone(),
        fixtures.empty.clone(),
        fixtures.broken.clone(),
    ];
    expected.sort();
    assert_eq!(
        parser
            .list(&fixtures.folder)
            .await
            .expect("a folder can be listed"),
        expected
    );
    assert_eq!(
        parser
            .list(&fixtures.readable)
            .await
            .expect("a file lists itself"),
        std::slice::from_ref(&fixtures.readable)
    );

    let asked = [
        fixtures.missing.clone(),
        fixtures.readable.clone(),
        fixtures.folder.clone(),
        format!("{}/below", fixtures.readable),
    ];
    let found = parser.look(&asked).await.expect("paths can be looked at");
    assert_eq!(found.len(), asked.len(), "each path has its answer");
    assert_eq!(found[0], Presence::Gone);
    match &found[1] {
        Presence::File(stamp) => assert_eq!(stamp.bytes, source.bytes),
        other => panic!("a file is a file: {other:?}"),
    }
    assert!(matches!(found[2], Presence::Folder(_)), "{:?}", found[2]);
    assert_eq!(found[3], Presence::Gone, "nothing is below a file");
    assert_eq!(
        parser.look(&asked).await.expect("again"),
        found,
        "what was not touched looks the same"
    );

    cancel.cancel();
    let error = parser
        .parse(&source, &cancel)
        .await
        .expect_err("a cancelled run parses nothing");
    assert!(error.is_cancelled(), "{error}");
    assert!(!parser.fingerprint().is_empty(), "the parser names its version");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_keeps_the_promises() {
        let parser = FakeParser::new()
            .with_file("/docs/a.txt", &format!("# Title\n\n{MARKER}\n"))
            .with_file("/docs/b.txt", " \n")
            .with_file("/docs/c.txt", "x");
        parser.fail(
            "/docs/c.txt",
            PortError::rejected(ErrorCode::UnreadableFile, "`c.txt` is broken"),
        );
        let fixtures = ParserFixtures {
            folder: "/docs".to_owned(),
            readable: "/docs/a.txt".to_owned(),
            empty: "/docs/b.txt".to_owned(),
            broken: "/docs/c.txt".to_owned(),
            missing: "/docs/none.txt".to_owned(),
        };
        conformance(&parser, &fixtures).await;
    }

    #[tokio::test]
    async fn a_slow_file_can_be_cancelled() {
        let parser = FakeParser::new().with_file("/slow.txt", "text");
        parser.delay("/slow.txt", Duration::from_secs(3600));
        let source = parser.inspect("/slow.txt").await.unwrap();
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let (parsed, ()) = tokio::join!(parser.parse(&source, &cancel), async move { stop.cancel() });
        assert!(parsed.unwrap_err().is_cancelled());
    }
}
