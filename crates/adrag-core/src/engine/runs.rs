//! The runs of this session: their events, who listens, how they end.

use crate::ports::EventSink;
use crate::run::Pause;
use adrag_contract::{AppError, ErrorCode, RunEvent, RunId, RunKind, RunSummary, RunView, ThreadId};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Finished runs kept in memory; questions are in the catalogue as well.
const KEPT_FINISHED: usize = 32;

type Listener = Box<dyn Fn(&RunEvent) + Send + Sync>;

/// All runs.
#[derive(Default)]
pub(super) struct Runs {
    listeners: RwLock<Vec<Listener>>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    runs: HashMap<RunId, Record>,
    finished: VecDeque<RunId>,
}

struct Record {
    events: Vec<RunEvent>,
    view: RunView,
    cancel: CancellationToken,
    pause: Option<Pause>,
    last: watch::Sender<Option<RunEvent>>,
}

impl Runs {
    pub fn listen(&self, listener: Listener) {
        self.listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    /// Makes room for a run; `pause` where it can rest.
    pub fn begin(&self, run: &RunId, cancel: CancellationToken, pause: Option<Pause>) {
        let record = Record {
            events: Vec::new(),
            view: RunView::default(),
            cancel,
            pause,
            last: watch::Sender::new(None),
        };
        self.table().runs.insert(run.clone(), record);
    }

    pub fn cancel(&self, run: &RunId) -> bool {
        let table = self.table();
        match table.runs.get(run) {
            Some(record) if !record.view.is_over() => {
                record.cancel.cancel();
                true
            }
            _ => false,
        }
    }

    /// Turns the pause of a run on or off; nothing when it is over.
    pub fn pause(&self, run: &RunId, on: bool) -> Result<(), AppError> {
        let table = self.table();
        let record = table.runs.get(run).ok_or_else(|| unknown(run))?;
        match &record.pause {
            Some(pause) => {
                if !record.view.is_over() {
                    pause.set(on);
                }
                Ok(())
            }
            None => Err(
                AppError::new(ErrorCode::InvalidRequest, "a question cannot be paused")
                    .with_hint("stop it and ask again"),
            ),
        }
    }

    pub async fn cancel_all(&self) {
        let under_way: Vec<RunId> = {
            let table = self.table();
            let open = table.runs.iter().filter(|(_, record)| !record.view.is_over());
            open.map(|(run, record)| {
                record.cancel.cancel();
                run.clone()
            })
            .collect()
        };
        for run in under_way {
            if let Err(error) = self.wait(&run).await {
                tracing::warn!(%error, "a run ended without a word");
            }
        }
    }

    pub fn events(&self, run: &RunId) -> Option<Vec<RunEvent>> {
        self.table().runs.get(run).map(|record| record.events.clone())
    }

    pub fn view(&self, run: &RunId) -> Option<RunView> {
        self.table().runs.get(run).map(|record| record.view.clone())
    }

    pub fn is_under_way(&self, run: &RunId) -> bool {
        self.table()
            .runs
            .get(run)
            .is_some_and(|record| !record.view.is_over())
    }

    pub fn questions_under_way(&self) -> Vec<RunSummary> {
        let table = self.table();
        let mut open: Vec<RunSummary> = table
            .runs
            .values()
            .filter(|record| !record.view.is_over())
            .filter_map(|record| summary(&record.view))
            .collect();
        open.sort_by_key(|summary| std::cmp::Reverse(summary.started_at_ms));
        open
    }

    /// Forgets finished runs of these threads.
    pub fn forget_threads(&self, threads: &[ThreadId]) {
        self.table().runs.retain(|_, record| {
            !record.view.is_over()
                || summary(&record.view).is_none_or(|summary| !threads.contains(&summary.thread))
        });
    }

    pub fn forget_finished(&self) {
        let mut table = self.table();
        table.runs.retain(|_, record| !record.view.is_over());
        table.finished.clear();
    }

    pub async fn wait(&self, run: &RunId) -> Result<RunEvent, AppError> {
        let mut last = self
            .table()
            .runs
            .get(run)
            .map(|record| record.last.subscribe())
            .ok_or_else(|| unknown(run))?;
        let event = last.wait_for(Option::is_some).await.map_err(|_| unknown(run))?;
        event.clone().ok_or_else(|| unknown(run))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Runs {
    fn emit(&self, event: &RunEvent) {
        {
            let mut table = self.table();
            if let Some(record) = table.runs.get_mut(&event.run) {
                if let Err(gap) = record.view.apply(event) {
                    tracing::error!(?gap, "a run lost an event");
                }
                record.events.push(event.clone());
            }
        }
        for listener in self
            .listeners
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            listener(event);
        }
        // Who waits is woken last: by then every listener has the terminal event.
        if event.event.is_terminal() {
            let mut table = self.table();
            if let Some(record) = table.runs.get(&event.run) {
                record.last.send_replace(Some(event.clone()));
            }
            table.finished.push_back(event.run.clone());
            if table.finished.len() > KEPT_FINISHED
                && let Some(oldest) = table.finished.pop_front()
            {
                table.runs.remove(&oldest);
            }
        }
    }
}

/// What history lists of a question; `None` for another kind of run.
pub(super) fn summary(view: &RunView) -> Option<RunSummary> {
    let Some(RunKind::Ask {
        question,
        thread,
        replaces,
        ..
    }) = &view.kind
    else {
        return None;
    };
    let run = view.run.clone()?;
    Some(RunSummary {
        thread: thread.clone().unwrap_or_else(|| ThreadId::new(run.as_str())),
        replaces: replaces.clone(),
        run,
        question: question.clone(),
        started_at_ms: view.started_at_ms.unwrap_or_default(),
        finished: view.is_over(),
    })
}

pub(super) fn unknown(run: &RunId) -> AppError {
    AppError::new(ErrorCode::NotFound, format!("there is no run {run}"))
}
