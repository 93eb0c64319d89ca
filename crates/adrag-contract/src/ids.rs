//! Identifiers: opaque strings with a type each, so that a document can never be passed where a run is meant.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text of an id.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }
    )*};
}

ids! {
    /// One run of the engine: a question answered or a set of files ingested.
    RunId;
    /// One conversation; its id is that of its first run.
    ThreadId;
    /// One document of one collection; the same file in two collections is two documents.
    DocumentId;
    /// One chunk of one generation of a document: a UUID derived from both and the chunk's number.
    ChunkId;
    /// One deletion that can still be undone.
    DeletionId;
    /// A named set of documents, by its name as the person wrote it.
    CollectionName;
}

impl Default for CollectionName {
    fn default() -> Self {
        Self("default".to_owned())
    }
}
