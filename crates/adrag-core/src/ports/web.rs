//! The web beyond the person's documents: searched only when switched on, and only by the person's own words.

use adrag_contract::WebSettings;
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A result of a web search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHit {
    /// Address of the page, `http` or `https`, redirects of the provider unwrapped.
    pub url: String,
    /// Title as the provider shows it, plain text.
    pub title: String,
    /// Excerpt as the provider shows it, plain text.
    pub snippet: String,
    /// Ids of the providers that found it, best rank first.
    pub providers: Vec<String>,
    /// Milliseconds since the Unix epoch when the provider answered.
    pub fetched_at_ms: i64,
}

/// Why a provider gave nothing. Being blocked is never "no results".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchFault {
    /// The provider challenges or refuses programs; it is left alone for a while.
    #[error("it refuses automatic searches for now")]
    Blocked,
    /// Too many searches.
    #[error("it wants fewer searches")]
    RateLimited {
        /// How long to wait, where the provider says so.
        retry_after: Option<Duration>,
    },
    /// No answer in time.
    #[error("it did not answer in time")]
    Timeout,
    /// Another status.
    #[error("it answered with status {0}")]
    Http(u16),
    /// A page that holds neither results nor the sign of none: its markup changed.
    #[error("its page could not be understood; it may have changed")]
    ParseChanged {
        /// SHA-256 of the page, hexadecimal.
        sha: String,
    },
    /// No connection.
    #[error("it cannot be reached")]
    Offline,
    /// It needs a key that is not stored.
    #[error("it needs a key")]
    NoKey,
    /// An own instance that does not offer its results as data.
    #[error("it does not give results as JSON: add `json` under `search.formats` in its settings.yml")]
    FormatOff,
    /// Switched off.
    #[error("it is switched off")]
    Disabled,
}

/// What one search of the web came to: hits of the providers that answered, faults of those that did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebResults {
    /// Distinct pages, best first.
    pub hits: Vec<WebHit>,
    /// Provider id and what went wrong with it.
    pub faults: Vec<(String, SearchFault)>,
}

/// Searches the web over the providers of the settings.
#[async_trait]
pub trait WebSearch: Send + Sync {
    /// Pages for a query, as many as the settings want at most. Never fails as a whole: what went wrong is told provider by provider. Cancelling
    /// closes the connections at once and answers with what there was.
    async fn search(&self, settings: &WebSettings, query: &str, cancel: &CancellationToken) -> WebResults;

    /// The readable text of a page, fetched under guard: public addresses only, bounded in size, time and redirects.
    async fn read(&self, url: &str, cancel: &CancellationToken) -> super::PortResult<String>;
}
