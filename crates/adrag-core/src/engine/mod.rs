//! The engine: what shell, command line and tests call. It owns the ports and the runs under way.
//!
//! It decides nothing about documents or answers itself: that is [`crate::ingest`] and [`crate::answer`].

mod add;
mod ask;
mod check;
mod deletion;
mod export;
mod library;
mod ports;
mod runs;
mod search;
mod status;
mod threads;
mod watch;

pub use check::{CheckReply, CheckRequest};
pub use deletion::UNDO_FOR;
pub use export::Exported;
pub use ports::{ExtractReport, Ports, SearchRequest, Surroundings};

use crate::ports::PortError;
use crate::reconcile::reconcile;
use adrag_contract::{AppError, DocumentReport, Event, RunEvent, RunId, RunOutcome, RunSummary, Settings};
use deletion::Deletions;
use runs::Runs;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;
use watch::Watching;

/// Runs listed at once.
const LISTED_RUNS: usize = 200;

/// The engine.
pub struct Engine {
    ports: Ports,
    surroundings: Surroundings,
    repaired: Vec<String>,
    settings: RwLock<Settings>,
    /// What lives as long as the engine is open.
    kept: Mutex<Vec<Arc<dyn std::any::Any + Send + Sync>>>,
    runs: Arc<Runs>,
    /// One ingestion at a time; the others wait their turn.
    ingesting: tokio::sync::Mutex<()>,
    /// Held for reading from before the last event of a question until its log is kept: who lists the history waits.
    saving: tokio::sync::RwLock<()>,
    deletions: Deletions,
    watching: Arc<Watching>,
    /// Ends what waits in the background.
    closing: CancellationToken,
}

impl Engine {
    /// Opens the engine and mends what an earlier end left half done. A store that cannot be mended now is named by
    /// [`doctor`](Self::doctor); searches never see what is half done.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub async fn open(ports: Ports, mut surroundings: Surroundings) -> Result<Arc<Self>, AppError> {
        let settings = ports.catalog.settings().await?;
        let mut repaired = std::mem::take(&mut surroundings.repaired);
        match reconcile(&ports).await {
            Ok(mended) => repaired.extend(mended),
            Err(error) => {
                tracing::error!(%error, "the stores could not be reconciled");
                surroundings.problems.push(error.into());
            }
        }
        for line in &repaired {
            tracing::warn!("{line}");
        }
        Ok(Arc::new(Self {
            ports,
            kept: Mutex::new(std::mem::take(&mut surroundings.kept)),
            surroundings,
            repaired,
            settings: RwLock::new(settings),
            runs: Arc::new(Runs::default()),
            ingesting: tokio::sync::Mutex::new(()),
            saving: tokio::sync::RwLock::new(()),
            deletions: Deletions::default(),
            watching: Arc::new(Watching::default()),
            closing: CancellationToken::new(),
        }))
    }

    /// Calls `listener` with every event of every run, in order, on the thread that made it; it must not block.
    pub fn on_event(&self, listener: impl Fn(&RunEvent) + Send + Sync + 'static) {
        self.runs.listen(Box::new(listener));
    }

    /// Waits for a run's terminal event, which it returns.
    ///
    /// # Errors
    /// For a run that is unknown or of an earlier session.
    pub async fn wait(&self, run: &RunId) -> Result<RunEvent, AppError> {
        self.runs.wait(run).await
    }

    /// Stops a run. False when it is not under way.
    pub fn cancel(&self, run: &RunId) -> bool {
        self.runs.cancel(run)
    }

    /// Lets an ingestion rest: the small piece of work under way is done, nothing new is begun.
    ///
    /// # Errors
    /// When the run is unknown or a question.
    pub fn pause(&self, run: &RunId) -> Result<(), AppError> {
        self.runs.pause(run, true)
    }

    /// Lets a resting ingestion go on.
    ///
    /// # Errors
    /// When the run is unknown or a question.
    pub fn resume_run(&self, run: &RunId) -> Result<(), AppError> {
        self.runs.pause(run, false)
    }

    /// The events of a run so far, from memory or from history.
    ///
    /// # Errors
    /// When the run is unknown or the history cannot be read.
    pub async fn run_snapshot(&self, run: &RunId) -> Result<Vec<RunEvent>, AppError> {
        if let Some(events) = self.runs.events(run) {
            return Ok(events);
        }
        let events = self.ports.catalog.run_events(run).await?;
        if events.is_empty() {
            return Err(runs::unknown(run));
        }
        Ok(events)
    }

    /// The latest questions, newest first: those under way, then those of the history.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub async fn list_runs(&self) -> Result<Vec<RunSummary>, AppError> {
        self.history_kept().await;
        let mut listed = self.runs.questions_under_way();
        let stored = self.ports.catalog.runs(LISTED_RUNS).await?;
        listed.extend(
            stored
                .into_iter()
                .filter(|summary| !self.runs.is_under_way(&summary.run)),
        );
        Ok(listed)
    }

    /// Forgets the finished runs.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub async fn clear_runs(&self) -> Result<(), AppError> {
        self.ports.catalog.clear_runs().await?;
        self.runs.forget_finished();
        Ok(())
    }

    /// Ends all runs, flushes the stores, stops our servers and lets go of the data folder. Call it before the program
    /// ends. Deletions that could still be undone are finished by the next start.
    pub async fn close(&self) {
        self.closing.cancel();
        self.runs.cancel_all().await;
        // A cleaning of the stores that has begun is let end.
        let _turn = self.ingesting.lock().await;
        self.ports.engines.close().await;
        if let Err(error) = crate::project::flush(&self.ports).await {
            tracing::error!(%error, "flushing the stores failed; the next start mends it");
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Waits until every question that ended stands in the history.
    async fn history_kept(&self) {
        drop(self.saving.write().await);
    }

    fn current_settings(&self) -> Settings {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Reports an ingestion's terminal event carries; empty for others.
pub fn reports_of(event: &RunEvent) -> &[DocumentReport] {
    match &event.event {
        Event::RunFinished {
            outcome: RunOutcome::Ingested { documents },
        }
        | Event::RunCancelled { documents } => documents,
        _ => &[],
    }
}

/// Removes documents that are already marked, off the caller's task: a dropped caller does not leave it half done.
async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, PortError>> + Send + 'static,
) -> Result<T, AppError> {
    match tokio::spawn(work).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(AppError::new(
            adrag_contract::ErrorCode::Internal,
            format!("the work broke down: {error}"),
        )),
    }
}
