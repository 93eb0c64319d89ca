//! Reading files.

use super::{ParsedDocument, PortResult, Presence, SourceFile};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// Reads files of every supported format into text with structure.
///
/// Files are hostile: whatever they hold, an implementation answers within its limits or fails with a
/// [`Rejected`](super::ErrorClass::Rejected) error whose message names the reason for a person.
#[async_trait]
pub trait DocumentParser: Send + Sync {
    /// Looks at a file: it exists, may be read, is a plain file within the size limit.
    async fn inspect(&self, path: &str) -> PortResult<SourceFile>;

    /// Extracts the text. A document without any text is `Ok` with empty `text`.
    async fn parse(&self, file: &SourceFile, cancel: &CancellationToken) -> PortResult<ParsedDocument>;

    /// The files under a path, sorted: the path itself for a file, supported files below for a folder (hidden ones
    /// and links out of it left out).
    async fn list(&self, path: &str) -> PortResult<Vec<String>>;

    /// What stands at each of these paths, in their order. Nothing is read.
    async fn look(&self, paths: &[String]) -> PortResult<Vec<Presence>>;

    /// Name and version of everything that decides what text comes out; part of the index fingerprint.
    fn fingerprint(&self) -> String;
}
