//! Whom to ask: the providers in the person's order, the next when one fails or is slow, none while it refuses, none too often,
//! and nobody twice for the same words within minutes.

use super::guard::canonical;
use adrag_core::ports::{SearchFault, WebHit, WebResults};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A provider slower than this gets company.
const HEDGE: Duration = Duration::from_millis(2_500);
/// How long a provider that refused is left alone.
const COOL_DOWN: Duration = Duration::from_secs(15 * 60);
/// One search of a provider in so much time, two at once.
const PACE: Duration = Duration::from_secs(2);
/// How long a page of results is remembered, and how many.
const REMEMBERED_FOR: Duration = Duration::from_secs(10 * 60);
const REMEMBERED: usize = 64;
/// Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009).
const RRF_K: f64 = 60.0;

/// What can be asked.
#[async_trait]
pub(super) trait Source: Send + Sync {
    /// Asks one provider.
    async fn ask(&self, provider: &str) -> Result<Vec<WebHit>, SearchFault>;
}

/// Time as the router sees it.
type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

pub(super) struct Router {
    state: Mutex<State>,
    now: Now,
    hedge: Duration,
}

#[derive(Default)]
struct State {
    blocked_until: HashMap<String, Instant>,
    /// When the next search of a provider would be on time (generic cell rate algorithm).
    due: HashMap<String, Instant>,
    pages: HashMap<(String, String), (Instant, Vec<WebHit>)>,
}

impl Default for Router {
    fn default() -> Self {
        Self::with(Arc::new(Instant::now), HEDGE)
    }
}

impl Router {
    fn with(now: Now, hedge: Duration) -> Self {
        Self {
            state: Mutex::default(),
            now,
            hedge,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the providers in turn until one has found something; what others said meanwhile is merged.
    pub(super) async fn search(
        &self,
        source: &dyn Source,
        providers: &[String],
        query: &str,
        limit: Duration,
    ) -> WebResults {
        let mut waiting = providers.iter();
        let mut asked = FuturesUnordered::new();
        let mut lists = Vec::new();
        let mut faults = Vec::new();
        loop {
            if asked.is_empty() {
                match waiting.next() {
                    Some(provider) => asked.push(self.ask(source, provider, query, limit)),
                    None => break,
                }
            }
            tokio::select! {
                biased;
                Some((provider, answer)) = asked.next() => match answer {
                    Ok(hits) if hits.is_empty() => {}
                    Ok(hits) => {
                        lists.push(hits);
                        break;
                    }
                    Err(fault) => faults.push((provider, fault)),
                },
                () = tokio::time::sleep(self.hedge), if waiting.len() > 0 => {
                    if let Some(provider) = waiting.next() {
                        asked.push(self.ask(source, provider, query, limit));
                    }
                }
            }
        }
        WebResults {
            hits: merged(lists),
            faults,
        }
    }

    async fn ask(
        &self,
        source: &dyn Source,
        provider: &str,
        query: &str,
        limit: Duration,
    ) -> (String, Result<Vec<WebHit>, SearchFault>) {
        let key = (provider.to_owned(), query.to_owned());
        let answer = match self.admit(&key) {
            Admitted::Known(hits) => Ok(hits),
            Admitted::Refused(fault) => Err(fault),
            Admitted::After(wait) if wait >= limit => Err(SearchFault::RateLimited {
                retry_after: Some(wait),
            }),
            Admitted::After(wait) => {
                tokio::time::sleep(wait).await;
                let answer = tokio::time::timeout(limit, source.ask(provider)).await;
                let answer = answer.unwrap_or(Err(SearchFault::Timeout));
                self.remember(key, &answer);
                answer
            }
        };
        (provider.to_owned(), answer)
    }

    fn admit(&self, key: &(String, String)) -> Admitted {
        let now = (self.now)();
        let mut state = self.state();
        if let Some((at, hits)) = state.pages.get(key)
            && now.saturating_duration_since(*at) < REMEMBERED_FOR
        {
            return Admitted::Known(hits.clone());
        }
        if state.blocked_until.get(&key.0).is_some_and(|until| now < *until) {
            return Admitted::Refused(SearchFault::Blocked);
        }
        let due = state.due.get(&key.0).copied().unwrap_or(now).max(now);
        state.due.insert(key.0.clone(), due + PACE);
        // Two at once, then one in so much time.
        Admitted::After(due.saturating_duration_since(now + PACE))
    }

    fn remember(&self, key: (String, String), answer: &Result<Vec<WebHit>, SearchFault>) {
        let now = (self.now)();
        let mut state = self.state();
        match answer {
            Ok(hits) if !hits.is_empty() => {
                if state.pages.len() >= REMEMBERED {
                    let oldest = state
                        .pages
                        .iter()
                        .min_by_key(|(_, (at, _))| *at)
                        .map(|(key, _)| key.clone());
                    if let Some(oldest) = oldest {
                        state.pages.remove(&oldest);
                    }
                }
                state.pages.insert(key, (now, hits.clone()));
            }
            Err(SearchFault::Blocked) => {
                state.blocked_until.insert(key.0, now + COOL_DOWN);
            }
            Err(SearchFault::RateLimited { retry_after }) => {
                let pause = retry_after.unwrap_or(PACE * 5).min(COOL_DOWN);
                state.blocked_until.insert(key.0, now + pause);
            }
            _ => {}
        }
    }
}

enum Admitted {
    Known(Vec<WebHit>),
    Refused(SearchFault),
    After(Duration),
}

/// The lists as one, by reciprocal ranks of pages; a page that several found is one.
fn merged(lists: Vec<Vec<WebHit>>) -> Vec<WebHit> {
    let mut pool: Vec<(f64, String, WebHit)> = Vec::new();
    for list in lists {
        for (rank, hit) in (1_u32..).zip(list) {
            let score = 1.0 / (RRF_K + f64::from(rank));
            let page = canonical(&hit.url);
            match pool.iter_mut().find(|(_, known, _)| *known == page) {
                Some((sum, _, known)) => {
                    *sum += score;
                    known.providers.extend(hit.providers);
                    known.providers.dedup();
                }
                None => pool.push((score, page, hit)),
            }
        }
    }
    pool.sort_by(|a, b| b.0.total_cmp(&a.0));
    pool.into_iter().map(|(_, _, hit)| hit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    type Said = Result<Vec<WebHit>, SearchFault>;

    /// Providers by a script: what each says next; an empty script hangs.
    #[derive(Default)]
    struct Script {
        says: Mutex<HashMap<String, VecDeque<Said>>>,
        asked: Mutex<Vec<String>>,
    }

    impl Script {
        fn says(self, provider: &str, answer: Result<Vec<WebHit>, SearchFault>) -> Self {
            self.says
                .lock()
                .unwrap()
                .entry(provider.to_owned())
                .or_default()
                .push_back(answer);
            self
        }

        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut self.asked.lock().unwrap())
        }
    }

    #[async_trait]
    impl Source for Script {
        async fn ask(&self, provider: &str) -> Result<Vec<WebHit>, SearchFault> {
            self.asked.lock().unwrap().push(provider.to_owned());
            let next = self
                .says
                .lock()
                .unwrap()
                .get_mut(provider)
                .and_then(VecDeque::pop_front);
            match next {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    }

    fn hit(url: &str) -> WebHit {
        WebHit {
            url: url.to_owned(),
            title: url.to_owned(),
            snippet: String::new(),
            providers: vec!["a".to_owned()],
            fetched_at_ms: 0,
        }
    }

    /// A router whose time only moves when told.
    fn router() -> (Router, Arc<Mutex<Instant>>) {
        let time = Arc::new(Mutex::new(Instant::now()));
        let shown = time.clone();
        let router = Router::with(
            Arc::new(move || *shown.lock().unwrap()),
            Duration::from_millis(30),
        );
        (router, time)
    }

    fn both() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    const LIMIT: Duration = Duration::from_millis(300);

    #[tokio::test]
    async fn a_refusal_leads_to_the_next_then_to_a_cool_down_then_to_another_try() {
        let (router, time) = router();
        let script = Script::default()
            .says("a", Err(SearchFault::Blocked))
            .says("b", Ok(vec![hit("https://example.org/1")]))
            .says("b", Ok(vec![hit("https://example.org/2")]))
            .says("a", Ok(vec![hit("https://example.org/3")]));
        let first = router.search(&script, &both(), "one", LIMIT).await;
        assert_eq!(first.hits[0].url, "https://example.org/1");
        assert_eq!(first.faults, [("a".to_owned(), SearchFault::Blocked)]);
        assert_eq!(script.asked(), ["a", "b"]);

        *time.lock().unwrap() += Duration::from_secs(10 * 60);
        let second = router.search(&script, &both(), "two", LIMIT).await;
        assert_eq!(script.asked(), ["b"], "it is left alone");
        assert_eq!(second.faults, [("a".to_owned(), SearchFault::Blocked)]);

        *time.lock().unwrap() += Duration::from_secs(6 * 60);
        let third = router.search(&script, &both(), "three", LIMIT).await;
        assert_eq!(script.asked(), ["a"]);
        assert_eq!(third.hits[0].url, "https://example.org/3");
    }

    #[tokio::test]
    async fn a_slow_provider_gets_company_and_time_ends_it() {
        let (router, _time) = router();
        let script = Script::default().says("b", Ok(vec![hit("https://example.org/")]));
        let found = router.search(&script, &both(), "one", LIMIT).await;
        assert_eq!(found.hits.len(), 1);
        let silent = Script::default();
        let found = router.search(&silent, &both(), "two", LIMIT).await;
        assert_eq!(
            found.faults,
            [
                ("a".to_owned(), SearchFault::Timeout),
                ("b".to_owned(), SearchFault::Timeout)
            ]
        );
    }

    #[tokio::test]
    async fn the_same_words_are_answered_from_memory_and_faults_are_not_remembered() {
        let (router, time) = router();
        let script = Script::default()
            .says("a", Err(SearchFault::Http(500)))
            .says("a", Ok(vec![hit("https://example.org/")]))
            .says("a", Ok(vec![hit("https://example.org/new")]));
        let only = ["a".to_owned()];
        assert!(router.search(&script, &only, "x", LIMIT).await.hits.is_empty());
        assert_eq!(router.search(&script, &only, "x", LIMIT).await.hits.len(), 1);
        assert_eq!(router.search(&script, &only, "x", LIMIT).await.hits.len(), 1);
        assert_eq!(script.asked().len(), 2);
        *time.lock().unwrap() += Duration::from_secs(11 * 60);
        let later = router.search(&script, &only, "x", LIMIT).await;
        assert_eq!(later.hits[0].url, "https://example.org/new");
    }

    #[tokio::test]
    async fn a_third_search_at_once_waits_or_says_that_it_is_too_often() {
        let (router, time) = router();
        let script = Script::default()
            .says("a", Ok(vec![hit("https://example.org/1")]))
            .says("a", Ok(vec![hit("https://example.org/2")]))
            .says("a", Ok(vec![hit("https://example.org/3")]));
        let only = ["a".to_owned()];
        for query in ["1", "2"] {
            assert_eq!(
                router.search(&script, &only, query, LIMIT).await.hits.len(),
                1,
                "{query}"
            );
        }
        let third = router.search(&script, &only, "3", LIMIT).await;
        assert!(
            matches!(third.faults[0].1, SearchFault::RateLimited { .. }),
            "{third:?}"
        );
        *time.lock().unwrap() += Duration::from_secs(30);
        assert_eq!(router.search(&script, &only, "3", LIMIT).await.hits.len(), 1);
    }

    #[test]
    fn a_page_that_two_found_is_one_and_first() {
        let two = WebHit {
            providers: vec!["b".to_owned()],
            ..hit("https://EXAMPLE.org/x/?utm_source=y#part")
        };
        let found = merged(vec![
            vec![hit("https://example.org/1"), hit("https://example.org/x")],
            vec![two],
        ]);
        assert_eq!(found[0].url, "https://example.org/x");
        assert_eq!(found[0].providers, ["a", "b"]);
        assert_eq!(found.len(), 2);
    }
}
