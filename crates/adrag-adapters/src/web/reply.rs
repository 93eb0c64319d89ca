//! What a provider is asked with, and its reply as far as it matters.

use crate::engines::address::Address;
use crate::engines::http::Clients;
use adrag_core::ports::SearchFault;
use reqwest::{Client, RequestBuilder, Response, Url, header};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Most bytes of a page of results.
const MAX_BODY: usize = 2 * 1024 * 1024;
/// A server that asks for a longer pause is not believed.
const MAX_RETRY_AFTER: u64 = 24 * 3600;

/// Where the providers are.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// DuckDuckGo's page without scripts.
    pub duckduckgo: String,
    /// Its lighter page, the second try.
    pub duckduckgo_lite: String,
    /// Wikipedia's interface; `{language}` is the code of a language.
    pub wikipedia: String,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self {
            duckduckgo: "https://html.duckduckgo.com".to_owned(),
            duckduckgo_lite: "https://lite.duckduckgo.com".to_owned(),
            wikipedia: "https://{language}.wikipedia.org".to_owned(),
        }
    }
}

/// One question to one provider.
pub(super) struct Asked<'a> {
    pub(super) clients: &'a Clients,
    pub(super) endpoints: &'a Endpoints,
    pub(super) query: &'a str,
    pub(super) limit: usize,
}

impl Asked<'_> {
    /// The client and the URL of a path below a base address.
    pub(super) fn at(&self, base: &str, path: &str) -> Result<(Client, Url), SearchFault> {
        let address = Address::parse(base).map_err(|_| SearchFault::Offline)?;
        let client = self.clients.of(&address).map_err(|_| SearchFault::Offline)?;
        Ok((client, address.join(path)))
    }
}

/// A reply, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: String,
}

impl Reply {
    /// What the status alone says is wrong.
    pub(super) fn fault(&self) -> Option<SearchFault> {
        match self.status {
            200 => None,
            // DuckDuckGo sends its challenge as "accepted".
            202 | 401 | 403 => Some(SearchFault::Blocked),
            429 => Some(SearchFault::RateLimited {
                retry_after: self.retry_after,
            }),
            status => Some(SearchFault::Http(status)),
        }
    }

    /// The fault of a page that is not understood.
    pub(super) fn changed(&self) -> SearchFault {
        let sha = Sha256::digest(self.body.as_bytes());
        SearchFault::ParseChanged {
            sha: sha.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

/// Sends a request and reads its reply, bounded in size; time is for the caller to bound.
pub(super) async fn send(request: RequestBuilder) -> Result<Reply, SearchFault> {
    let response = request.send().await.map_err(|error| fault_of(&error))?;
    let status = response.status().as_u16();
    let retry_after = retry_after(&response);
    let body = match read_bounded(response, MAX_BODY).await {
        Ok(body) => body,
        Err(Broken::TooLong) => {
            return Err(SearchFault::ParseChanged {
                sha: "too long".to_owned(),
            });
        }
        Err(Broken::Cut(error)) => return Err(fault_of(&error)),
    };
    Ok(Reply {
        status,
        retry_after,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response
        .headers()
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse::<u64>()
        .ok()?;
    Some(Duration::from_secs(seconds.min(MAX_RETRY_AFTER)))
}

fn fault_of(error: &reqwest::Error) -> SearchFault {
    tracing::info!(error = %error.to_string().replace(['\n', '\r'], " "), "a provider did not answer");
    if error.is_timeout() {
        SearchFault::Timeout
    } else {
        SearchFault::Offline
    }
}

/// Why a body could not be read.
pub(super) enum Broken {
    TooLong,
    Cut(reqwest::Error),
}

/// A body of at most so many bytes, after decompression.
pub(super) async fn read_bounded(mut response: Response, limit: usize) -> Result<Vec<u8>, Broken> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(Broken::Cut)? {
        if body.len() + piece.len() > limit {
            return Err(Broken::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Now, as the clock on the wall says.
pub(super) fn now_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or_default()
}
