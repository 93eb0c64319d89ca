//! Errors of ports, classified where they happen.

use adrag_contract::{AppError, ErrorCode};

/// Whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// It may work in a moment: a time-out, a rate limit, a busy server.
    Transient,
    /// It will fail the same way until something outside changes: no disk, no server, a damaged file.
    Permanent,
    /// The request itself is refused: wrong key, unknown model, unusable input.
    Rejected,
}

/// What a port answers when it cannot do its work.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct PortError {
    /// Whether trying again can help.
    pub class: ErrorClass,
    /// What people are told.
    pub error: AppError,
}

impl PortError {
    /// It may work in a moment.
    pub fn transient(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Transient, code, message)
    }

    /// It will fail the same way until something outside changes.
    pub fn permanent(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Permanent, code, message)
    }

    /// The request itself is refused.
    pub fn rejected(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Rejected, code, message)
    }

    /// The run was cancelled while the port worked.
    pub fn cancelled() -> Self {
        Self::of(ErrorClass::Rejected, ErrorCode::Cancelled, "stopped")
    }

    /// The same error with the next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    /// True when the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.error.code == ErrorCode::Cancelled
    }

    fn of(class: ErrorClass, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            class,
            error: AppError::new(code, message),
        }
    }
}

impl From<PortError> for AppError {
    fn from(error: PortError) -> Self {
        error.error
    }
}

/// Result of a port.
pub type PortResult<T> = Result<T, PortError>;
