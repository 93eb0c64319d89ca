//! Folders that collections follow: who hints at changes below them, and what is remembered of their files.

use super::PortResult;
use adrag_contract::{AppError, CollectionName, DocumentId};
use async_trait::async_trait;

/// Hints that something below a folder may have changed. A hint may come late, twice or for nothing; what really changed
/// is found by looking.
#[async_trait]
pub trait FolderWatcher: Send + Sync {
    /// Hints at changes below this folder from now on; again when it was followed before and vanished meanwhile.
    async fn follow(&self, folder: &str) -> PortResult<()>;

    /// Hints no more. A folder that is not followed is no error.
    async fn leave(&self, folder: &str);

    /// Waits for the next hint: a followed folder. A call that is given up loses none.
    async fn changed(&self) -> String;
}

/// What tells a file that was not touched since from one that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Size in bytes.
    pub bytes: u64,
    /// When it was last written, nanoseconds since the Unix epoch.
    pub modified_ns: i64,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A file.
    File(FileStamp),
    /// A folder; the number of its disk, where the system has such numbers.
    Folder(Option<u64>),
    /// Certainly nothing.
    Gone,
    /// It cannot be told, for this reason; or something that is neither file nor folder.
    Unknown(AppError),
}

/// A folder that a collection follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Followed {
    /// The collection.
    pub collection: CollectionName,
    /// The folder, absolute.
    pub path: String,
}

/// A file below a followed folder, as it was when it was last given to ingestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// Absolute path.
    pub path: String,
    /// Its size and time then.
    pub stamp: FileStamp,
    /// The document it became.
    pub document: Option<DocumentId>,
}

/// The followed folders and what is known of their files. Every method is one durable transaction.
#[async_trait]
pub trait WatchList: Send + Sync {
    /// The followed folders with the number of files known of each, by collection and path.
    async fn followed(&self) -> PortResult<Vec<(Followed, u64)>>;

    /// Follows a folder; one that is followed already stays as it is.
    async fn add(&self, folder: &Followed) -> PortResult<()>;

    /// Follows a folder no more and forgets its files; false when it was not followed.
    async fn remove(&self, folder: &Followed) -> PortResult<bool>;

    /// Number of the disk that the folder was last seen on, and its known files by path.
    async fn known(&self, folder: &Followed) -> PortResult<(Option<u64>, Vec<KnownFile>)>;

    /// Remembers the disk, adds or replaces files and forgets others. A folder that is not followed (any more) is left
    /// alone.
    async fn note(
        &self,
        folder: &Followed,
        disk: Option<u64>,
        seen: &[KnownFile],
        gone: &[String],
    ) -> PortResult<()>;
}
