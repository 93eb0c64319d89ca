//! Conversations: a thread holds the questions that followed one another, each with the answers it got.

use crate::{RunId, ThreadId};
use serde::{Deserialize, Serialize};

/// A thread, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSummary {
    /// The thread.
    pub thread: ThreadId,
    /// The name it was given, else its first question.
    pub title: String,
    /// Questions asked in it; an answer given anew counts once.
    pub questions: u64,
    /// When it began, milliseconds since the Unix epoch.
    pub started_at_ms: i64,
    /// When its last question was asked, milliseconds since the Unix epoch.
    pub updated_at_ms: i64,
}

/// A run of the past, as a list shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// The thread it belongs to.
    pub thread: ThreadId,
    /// The run whose answer it gave anew, if it did.
    pub replaces: Option<RunId>,
    /// The question.
    pub question: String,
    /// When it began, milliseconds since the Unix epoch.
    pub started_at_ms: i64,
    /// Whether its terminal event is stored.
    pub finished: bool,
}

/// Another name for a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenameThreadRequest {
    /// The thread.
    pub thread: ThreadId,
    /// Its name; blank goes back to the first question.
    pub title: String,
}

/// A form in which a thread leaves the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Markdown, the passages as footnotes.
    #[default]
    Markdown,
    /// Everything there is, as JSON.
    Json,
    /// One page that needs nothing else.
    Html,
}

impl ExportFormat {
    /// Every format, in the order shown.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Html, Self::Json];

    /// Name on the wire and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Html => "html",
        }
    }

    /// Extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
            Self::Html => "html",
        }
    }
}

impl std::str::FromStr for ExportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| format!("unknown format `{name}`: one of markdown, html, json"))
    }
}

/// A thread to export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportThreadRequest {
    /// The thread.
    pub thread: ThreadId,
    /// The form wanted.
    pub format: ExportFormat,
}
