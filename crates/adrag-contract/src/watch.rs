//! Folders that collections follow.

use crate::CollectionName;
use serde::{Deserialize, Serialize};

/// A folder and the collection that follows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchFolderRequest {
    /// The folder, absolute.
    pub path: String,
    /// Where its files go.
    pub collection: CollectionName,
}

/// How it stands with a followed folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchState {
    /// It was not looked at yet.
    Waiting,
    /// Changes are followed as they happen.
    Following,
    /// The system does not tell of changes there: it is looked at from time to time.
    Polled,
    /// The folder is not there. Its documents stay until it is back.
    Missing,
    /// It could not be looked at; the reason says why.
    Failed,
}

/// A followed folder as the library lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedFolder {
    /// The folder.
    pub path: String,
    /// Where its files go.
    pub collection: CollectionName,
    /// How it stands with it.
    pub state: WatchState,
    /// Why, where that is not plain.
    pub reason: Option<String>,
    /// Files known of it.
    pub files: u64,
}
