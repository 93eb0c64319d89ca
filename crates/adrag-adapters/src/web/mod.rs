//! The web, searched without a key and read under guard: DuckDuckGo, Wikipedia, or a SearXNG of one's own.
//!
//! Start at [`GuardedWeb`]. What a provider answered is understood by pure functions over status and body; `router.rs`
//! decides whom to ask, `guard.rs` which addresses a page may have. Not here: whether the web is searched at all (core
//! decides that), cookies, scripts, pictures.

mod duckduckgo;
mod fetch;
mod guard;
mod markup;
mod reply;
mod router;
mod searxng;
mod wikipedia;

pub use reply::Endpoints;

use crate::engines::http::Clients;
use adrag_contract::WebSettings;
use adrag_core::ports::{PortResult, SearchFault, WebHit, WebResults, WebSearch};
use async_trait::async_trait;
use reply::Asked;
use router::{Router, Source};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Searches over the providers of the settings and reads pages of public addresses.
pub struct GuardedWeb {
    endpoints: Endpoints,
    clients: Clients,
    router: Router,
    pages: fetch::Pages,
}

impl Default for GuardedWeb {
    fn default() -> Self {
        Self::at(Endpoints::default())
    }
}

impl GuardedWeb {
    /// Asks providers at other addresses than their own.
    pub fn at(endpoints: Endpoints) -> Self {
        Self {
            endpoints,
            clients: Clients::default(),
            router: Router::default(),
            pages: fetch::Pages::default(),
        }
    }
}

/// The providers of one search, with what they need to be asked.
struct Providers<'a> {
    web: &'a GuardedWeb,
    settings: &'a WebSettings,
    query: &'a str,
}

#[async_trait]
impl Source for Providers<'_> {
    async fn ask(&self, provider: &str) -> Result<Vec<WebHit>, SearchFault> {
        let asked = Asked {
            clients: &self.web.clients,
            endpoints: &self.web.endpoints,
            query: self.query,
            limit: self.settings.results as usize,
        };
        match provider {
            duckduckgo::ID => duckduckgo::ask(&asked).await,
            wikipedia::ID => wikipedia::ask(&asked).await,
            searxng::ID => searxng::ask(&asked, self.settings.searxng_url.as_deref()).await,
            _ => Err(SearchFault::Disabled),
        }
    }
}

#[async_trait]
impl WebSearch for GuardedWeb {
    async fn search(&self, settings: &WebSettings, query: &str, cancel: &CancellationToken) -> WebResults {
        if !settings.enabled {
            return WebResults {
                faults: vec![("web".to_owned(), SearchFault::Disabled)],
                ..WebResults::default()
            };
        }
        let providers = Providers {
            web: self,
            settings,
            query,
        };
        let limit = Duration::from_millis(settings.timeout_ms);
        let work = self.router.search(&providers, &settings.providers, query, limit);
        let mut results = tokio::select! {
            biased;
            () = cancel.cancelled() => WebResults::default(),
            results = work => results,
        };
        results.hits.truncate(settings.results as usize);
        results
    }

    async fn read(&self, url: &str, cancel: &CancellationToken) -> PortResult<String> {
        self.pages.read(url, cancel).await
    }
}
