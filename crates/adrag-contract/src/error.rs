//! The one error that crosses a boundary: a code to branch on, a message for people, a hint on what to do.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why something failed, as far as a program may branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is wrong: empty question, unknown id, bad setting.
    InvalidRequest,
    /// A file cannot be read or holds nothing usable.
    UnreadableFile,
    /// The named thing does not exist (any more).
    NotFound,
    /// A key is missing or was refused.
    Unauthorized,
    /// The engine does not have the chosen model.
    UnknownModel,
    /// The engine asks to slow down.
    RateLimited,
    /// Nothing answered in time.
    Timeout,
    /// The engine or store cannot be reached.
    Unreachable,
    /// The engine answered something that cannot be used.
    BadReply,
    /// A local model file is missing or damaged.
    ModelMissing,
    /// A store is down or damaged.
    StoreFailed,
    /// Another adRAG uses the same data folder.
    DataFolderInUse,
    /// The disk is full or may not be written.
    Disk,
    /// The run was cancelled.
    Cancelled,
    /// A fault of the program itself.
    Internal,
}

/// An error as people and programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppError {
    /// What a program may branch on.
    pub code: ErrorCode,
    /// What happened, naming the file, engine or store; no final full stop.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl AppError {
    /// An error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// The same error with the next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AppError {}
