//! An engine with every fake at hand.

use adrag_contract::{
    AddFilesRequest, AskRequest, CollectionName, DocumentReport, EngineId, Event, RunEvent, RunView,
};
use adrag_core::Engine;
use adrag_core::answer::{Abstention, Fold, SentenceReranker};
use adrag_core::engine::{Ports, Surroundings, reports_of};
use adrag_core::ports::{ChatModel, PortError};
use adrag_core::testing::catalog::FakeCatalog;
use adrag_core::testing::chat::{FakeChatModel, FakeEngines, FakeReply};
use adrag_core::testing::clock::{FakeClock, assert_well_formed};
use adrag_core::testing::embedder::{FakeEmbedder, WordTokenizer};
use adrag_core::testing::graph::FakeEntityGraph;
use adrag_core::testing::keys::FakeKeyStore;
use adrag_core::testing::keyword::FakeKeywordIndex;
use adrag_core::testing::parser::FakeParser;
use adrag_core::testing::support::FakeSupport;
use adrag_core::testing::vector::FakeVectorIndex;
use adrag_core::testing::watch_list::FakeWatchList;
use adrag_core::testing::watcher::FakeFolderWatcher;
use adrag_core::testing::web::FakeWeb;
use std::sync::Arc;
use std::time::Duration;

pub struct Bench {
    pub engine: Arc<Engine>,
    pub parser: Arc<FakeParser>,
    pub embedder: Arc<FakeEmbedder>,
    pub vectors: Arc<FakeVectorIndex>,
    pub keywords: Arc<FakeKeywordIndex>,
    pub graph: Arc<FakeEntityGraph>,
    pub catalog: Arc<FakeCatalog>,
    pub model: Arc<FakeChatModel>,
    pub support: Arc<FakeSupport>,
    pub clock: Arc<FakeClock>,
    pub watcher: Arc<FakeFolderWatcher>,
    pub watch_list: Arc<FakeWatchList>,
    pub web: Arc<FakeWeb>,
    ports: Ports,
}

impl Bench {
    pub async fn new() -> Self {
        Self::with_replies([]).await
    }

    /// With a language model that says these things in turn.
    pub async fn with_replies(replies: impl IntoIterator<Item = FakeReply>) -> Self {
        let parser = Arc::new(FakeParser::new());
        let embedder = Arc::new(FakeEmbedder::default());
        let vectors = Arc::new(FakeVectorIndex::new(64));
        let keywords = Arc::new(FakeKeywordIndex::new());
        let graph = Arc::new(FakeEntityGraph::new());
        let catalog = Arc::new(FakeCatalog::new());
        let support = Arc::new(FakeSupport::default());
        let watcher = Arc::new(FakeFolderWatcher::default());
        let watch_list = Arc::new(FakeWatchList::default());
        let web = Arc::new(FakeWeb::default());
        let clock = Arc::new(FakeClock::default());
        let model = Arc::new(FakeChatModel::new(replies));
        let ports = Ports {
            parser: parser.clone(),
            tokenizer: Arc::new(WordTokenizer),
            reranker: Some(Arc::new(SentenceReranker::new(embedder.clone()))),
            support: Some(support.clone()),
            abstention: Abstention::default(),
            fold: Fold::default(),
            embedder: Some(embedder.clone()),
            vectors: vectors.clone(),
            keywords: keywords.clone(),
            graph: graph.clone(),
            catalog: catalog.clone(),
            watcher: watcher.clone(),
            watch_list: watch_list.clone(),
            engines: Arc::new(FakeEngines::new(model.clone() as Arc<dyn ChatModel>)),
            web: web.clone(),
            keys: Arc::new(FakeKeyStore::default()),
            clock: clock.clone(),
        };
        Self {
            engine: Engine::open(ports.clone(), Surroundings::default())
                .await
                .unwrap(),
            parser,
            embedder,
            vectors,
            keywords,
            graph,
            catalog,
            model,
            support,
            clock,
            watcher,
            watch_list,
            web,
            ports,
        }
    }

    /// Where no model reranks or checks.
    pub async fn without_judge() -> Self {
        let mut bench = Self::new().await;
        bench.ports.reranker = None;
        bench.ports.support = None;
        bench.restart().await;
        bench
    }

    /// A restart with another embedder: its vectors stand in an index of their own.
    pub async fn change_embedder(&mut self, fingerprint: &str) {
        self.embedder = Arc::new(FakeEmbedder::of(fingerprint));
        self.vectors = Arc::new(FakeVectorIndex::new(64));
        self.ports.embedder = Some(self.embedder.clone());
        self.ports.vectors = self.vectors.clone();
        self.restart().await;
    }

    /// The same stores under a new engine, as after a restart.
    pub async fn restart(&mut self) {
        self.engine = Engine::open(self.ports.clone(), Surroundings::default())
            .await
            .unwrap();
    }

    /// Ingests files with these texts and returns their reports.
    pub async fn add(&self, files: &[(&str, &str)]) -> Vec<DocumentReport> {
        for (path, text) in files {
            self.parser.put(path, text);
        }
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let events = self.ingest(&paths).await;
        reports_of(events.last().unwrap()).to_vec()
    }

    /// Ingests paths and returns the events.
    pub async fn ingest(&self, paths: &[&str]) -> Vec<RunEvent> {
        let request = AddFilesRequest {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            collection: CollectionName::default(),
        };
        let run = self.engine.add_files(request).await.unwrap();
        self.engine.wait(&run).await.unwrap();
        self.events(&run).await
    }

    /// Asks and returns the events.
    pub async fn ask(&self, question: &str, engine: EngineId) -> Vec<RunEvent> {
        let run = self.engine.ask(request(question, engine)).await.unwrap();
        self.engine.wait(&run).await.unwrap();
        self.events(&run).await
    }

    pub async fn events(&self, run: &adrag_contract::RunId) -> Vec<RunEvent> {
        let events = self.engine.run_snapshot(run).await.unwrap();
        assert_well_formed(&events);
        events
    }

    /// Lets time pass until something in the background has come about.
    pub async fn in_time(&self, what: &str, mut holds: impl AsyncFnMut(&Self) -> bool) {
        self.until(what, async |bench| {
            bench.clock.advance(Duration::from_millis(100));
            holds(bench).await
        })
        .await;
    }

    /// Waits until something in the background has come about.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut(&Self) -> bool) {
        for _ in 0..100_000 {
            if holds(self).await {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("it never came about that {what}");
    }

    /// The texts nearest to these words by vector.
    pub async fn search_vectors(&self, words: &str) -> Vec<String> {
        let request = adrag_core::engine::SearchRequest {
            question: words.to_owned(),
            stores: vec![adrag_contract::Store::Vector],
            rerank: Some(false),
            top: 200,
            collection: None,
        };
        let reply = self.engine.search(request).await.unwrap();
        reply.hits.into_iter().map(|hit| hit.text).collect()
    }

    pub async fn finds(&self, words: &str) -> bool {
        use adrag_contract::Store;
        let mut found = false;
        for store in Store::LOCAL {
            let reply = self
                .engine
                .search(adrag_core::engine::SearchRequest {
                    question: words.to_owned(),
                    stores: vec![store],
                    rerank: Some(false),
                    top: 10,
                    collection: None,
                })
                .await
                .unwrap();
            found |= reply.hits.iter().any(|hit| hit.text.contains(words));
        }
        found
    }
}

pub fn request(question: &str, engine: EngineId) -> AskRequest {
    AskRequest {
        question: question.to_owned(),
        engine: Some(engine),
        ..AskRequest::default()
    }
}

pub fn view(events: &[RunEvent]) -> RunView {
    RunView::replay(events).unwrap()
}

/// One word an event, with the stage where it has one: the shape of a run.
pub fn shape(events: &[RunEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| match &event.event {
            Event::RunStarted { .. } => "run started".to_owned(),
            Event::StageStarted { stage } => format!("{stage} started"),
            Event::StageProgressed { stage, .. } => format!("{stage} progressed"),
            Event::StageFinished { stage, .. } => format!("{stage} finished"),
            Event::StageSkipped { stage, reason } => format!("{stage} skipped: {reason}"),
            Event::StageFailed {
                stage,
                error,
                degraded_to,
            } => format!(
                "{stage} failed: {}; {}",
                error.message,
                degraded_to.as_deref().unwrap_or("the run ends")
            ),
            Event::PassagesFound { store, .. } => format!("{store} found"),
            Event::Retried { attempt, changes, .. } => {
                format!("retried as {attempt}: {}", changes.join("; "))
            }
            Event::AnswerDelta { .. } => "answer grew".to_owned(),
            Event::CitationAdded { citation } => format!("cited [{}]", citation.n),
            Event::ClaimChecked { claim } => format!("claim {:?}", claim.verdict),
            Event::DocumentStateChanged { state, .. } => format!("document {}", state.as_str()),
            Event::DocumentProgressed { .. } => "document progressed".to_owned(),
            Event::RunPaused => "run paused".to_owned(),
            Event::RunResumed => "run resumed".to_owned(),
            Event::RunFinished { .. } => "run finished".to_owned(),
            Event::RunFailed { error, .. } => format!("run failed: {}", error.message),
            Event::RunCancelled { .. } => "run cancelled".to_owned(),
        })
        .fold(Vec::new(), |mut shape, line| {
            // How many pieces an answer came in is not part of the shape.
            if line != "answer grew" || shape.last() != Some(&line) {
                shape.push(line);
            }
            shape
        })
}

pub fn down(what: &str) -> PortError {
    PortError::permanent(adrag_contract::ErrorCode::StoreFailed, format!("{what} is down"))
}

/// A value with its names in order, whatever order the features of the build keep them in.
pub fn sorted(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect()
        }
        Value::Array(values) => values.into_iter().map(sorted).collect(),
        other => other,
    }
}
