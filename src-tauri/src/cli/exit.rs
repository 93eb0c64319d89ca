//! Exit codes and the ways a command can end early.

use adrag_contract::AppError;
use std::io;
use std::process::ExitCode;

/// How a command ended. The numbers are a contract with scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done = 0,
    /// Nothing was.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Some was done and some was not.
    Partly = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub enum Stop {
    /// It could not be done.
    Failed(AppError),
    /// It makes no sense; what to write instead is part of the message.
    Usage(String),
    /// Nobody reads standard output any more.
    Unread(io::Error),
}

impl From<AppError> for Stop {
    fn from(error: AppError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unread(error)
    }
}

/// Result of a command.
pub type Ended = Result<Exit, Stop>;
