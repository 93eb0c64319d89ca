//! A web that says what the test tells it to, and remembers what it was asked.

use crate::ports::{PortError, PortResult, SearchFault, WebHit, WebResults, WebSearch};
use adrag_contract::{ErrorCode, WebSettings};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The fake web. Empty until told otherwise.
#[derive(Default)]
pub struct FakeWeb {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    hits: Vec<WebHit>,
    pages: HashMap<String, String>,
    faults: Vec<(String, SearchFault)>,
    hangs: bool,
    queries: Vec<String>,
    read: Vec<String>,
}

impl FakeWeb {
    /// Adds a page that every search finds; its text is what `read` gives.
    pub fn put(&self, url: &str, title: &str, snippet: &str, text: &str) {
        let mut state = self.state.lock().unwrap();
        state.hits.push(WebHit {
            url: url.to_owned(),
            title: title.to_owned(),
            snippet: snippet.to_owned(),
            providers: vec!["fake".to_owned()],
            fetched_at_ms: 0,
        });
        state.pages.insert(url.to_owned(), text.to_owned());
    }

    /// A provider that fails from now on.
    pub fn fail(&self, provider: &str, fault: SearchFault) {
        self.state
            .lock()
            .unwrap()
            .faults
            .push((provider.to_owned(), fault));
    }

    /// No search answers any more until it is cancelled.
    pub fn hang(&self) {
        self.state.lock().unwrap().hangs = true;
    }

    /// What was searched for.
    pub fn queries(&self) -> Vec<String> {
        self.state.lock().unwrap().queries.clone()
    }

    /// Which pages were opened.
    pub fn opened(&self) -> Vec<String> {
        self.state.lock().unwrap().read.clone()
    }
}

#[async_trait]
impl WebSearch for FakeWeb {
    async fn search(&self, settings: &WebSettings, query: &str, cancel: &CancellationToken) -> WebResults {
        let hangs = {
            let mut state = self.state.lock().unwrap();
            state.queries.push(query.to_owned());
            state.hangs
        };
        if hangs {
            cancel.cancelled().await;
            return WebResults::default();
        }
        let state = self.state.lock().unwrap();
        WebResults {
            hits: state
                .hits
                .iter()
                .take(settings.results as usize)
                .cloned()
                .collect(),
            faults: state.faults.clone(),
        }
    }

    async fn read(&self, url: &str, _cancel: &CancellationToken) -> PortResult<String> {
        let mut state = self.state.lock().unwrap();
        state.read.push(url.to_owned());
        state
            .pages
            .get(url)
            .cloned()
            .ok_or_else(|| PortError::rejected(ErrorCode::NotFound, format!("there is no page at `{url}`")))
    }
}
