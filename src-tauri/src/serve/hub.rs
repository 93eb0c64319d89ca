//! Hands the events of a run to whoever follows it, from its first event on, however late they come.

use adrag_contract::{AppError, RunEvent, RunId};
use adrag_core::Engine;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Who follows which run.
#[derive(Default)]
pub struct Hub {
    followers: Mutex<HashMap<RunId, Vec<UnboundedSender<RunEvent>>>>,
}

impl Hub {
    /// A hub that hears of every run of the engine from now on.
    pub fn listening(engine: &Engine) -> Arc<Self> {
        let hub = Arc::new(Self::default());
        let told = Arc::downgrade(&hub);
        engine.on_event(move |event| {
            if let Some(hub) = told.upgrade() {
                hub.tell(event);
            }
        });
        hub
    }

    /// The events of a run from number `from` on.
    ///
    /// # Errors
    /// When the run is unknown or the history cannot be read.
    pub async fn follow(&self, engine: &Engine, run: &RunId, from: u64) -> Result<Follow, AppError> {
        // First the place among the followers, then what happened so far: nothing is lost in between.
        let (sender, live) = mpsc::unbounded_channel();
        self.table().entry(run.clone()).or_default().push(sender);
        match engine.run_snapshot(run).await {
            Ok(events) => Ok(Follow {
                backlog: events.into(),
                live,
                next: from,
                over: false,
            }),
            Err(error) => {
                drop(live);
                self.sweep(run);
                Err(error)
            }
        }
    }

    fn tell(&self, event: &RunEvent) {
        let mut table = self.table();
        let Some(followers) = table.get_mut(&event.run) else {
            return;
        };
        followers.retain(|follower| follower.send(event.clone()).is_ok());
        if followers.is_empty() || event.event.is_terminal() {
            table.remove(&event.run);
        }
    }

    /// Forgets those of a run who left.
    pub fn sweep(&self, run: &RunId) {
        let mut table = self.table();
        if let Some(followers) = table.get_mut(run) {
            followers.retain(|follower| !follower.is_closed());
            if followers.is_empty() {
                table.remove(run);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<RunId, Vec<UnboundedSender<RunEvent>>>> {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run as its follower sees it: every event once, in order.
pub struct Follow {
    backlog: VecDeque<RunEvent>,
    live: UnboundedReceiver<RunEvent>,
    next: u64,
    over: bool,
}

impl Follow {
    /// The next event; nothing after the terminal one.
    pub async fn next(&mut self) -> Option<RunEvent> {
        while !self.over {
            let event = match self.backlog.pop_front() {
                Some(event) => event,
                None => self.live.recv().await?,
            };
            self.over = event.event.is_terminal();
            if event.seq >= self.next {
                self.next = event.seq + 1;
                return Some(event);
            }
        }
        None
    }

    /// Hears no more.
    pub fn leave(&mut self) {
        self.live.close();
    }

    /// Whether the terminal event was given.
    pub fn is_over(&self) -> bool {
        self.over
    }
}
