//! Why a file could not be read, in words that follow its name: `is protected by a password`.

use adrag_contract::ErrorCode;
use adrag_core::ports::PortError;
use serde::{Deserialize, Serialize};

/// The reason, without the file's name, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Unreadable {
    /// Follows the name of the file.
    pub(crate) reason: String,
    /// The next step.
    pub(crate) hint: Option<String>,
}

impl Unreadable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file of a known format whose content is damaged.
    pub(crate) fn corrupt(format: &str, detail: impl std::fmt::Display) -> Self {
        Self::new(format!("is not a readable {format}: {detail}"))
            .hint("the file may be damaged or cut off; try to open it in its own program and save it again")
    }

    pub(crate) fn password() -> Self {
        Self::new("is protected by a password")
            .hint("open it in its own program, save a copy without the password and add that copy")
    }

    pub(crate) fn too_much_text() -> Self {
        Self::new("holds more text than can be read from one file (96 MB)")
            .hint("split it into smaller files")
    }

    /// The same as the port says it.
    pub(crate) fn into_port_error(self, name: &str) -> PortError {
        let error = PortError::rejected(ErrorCode::UnreadableFile, format!("`{name}` {}", self.reason));
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

pub(crate) type ReadResult<T> = Result<T, Unreadable>;
