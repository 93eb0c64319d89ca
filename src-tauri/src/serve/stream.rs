//! The events of a run as they come, gapless, from any of them on.

use adrag_contract::{AppError, RunEvent, RunId};
use adrag_core::Engine;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Events held for a reader that is slow; one that is slower reads the log again.
const HELD: usize = 4_096;

/// All events of the engine.
#[derive(Clone)]
pub(super) struct Events {
    sender: broadcast::Sender<RunEvent>,
}

impl Events {
    pub(super) fn of(engine: &Engine) -> Self {
        let (sender, _) = broadcast::channel(HELD);
        let told = sender.clone();
        engine.on_event(move |event| {
            // Nobody may be listening.
            let _ = told.send(event.clone());
        });
        Self { sender }
    }

    /// The events of a run from number `from` on. With `cancel`, the run is stopped when the reader goes away.
    ///
    /// # Errors
    /// When the run is unknown.
    pub(super) async fn follow(
        &self,
        engine: Arc<Engine>,
        run: RunId,
        from: u64,
        cancel: bool,
    ) -> Result<Follow, AppError> {
        // First listen, then read what was: nothing falls between.
        let receiver = self.sender.subscribe();
        let past = engine.run_snapshot(&run).await?;
        Ok(Follow {
            receiver,
            waiting: past.into_iter().filter(|event| event.seq >= from).collect(),
            next: from,
            over: false,
            hold: Hold { engine, run, cancel },
        })
    }
}

/// Stops the run when it is dropped before the end, where that was wanted.
struct Hold {
    engine: Arc<Engine>,
    run: RunId,
    cancel: bool,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.cancel {
            self.engine.cancel(&self.run);
        }
    }
}

/// A run being followed.
pub(super) struct Follow {
    receiver: broadcast::Receiver<RunEvent>,
    waiting: VecDeque<RunEvent>,
    next: u64,
    over: bool,
    hold: Hold,
}

impl Follow {
    /// The next event; nothing after the terminal one.
    pub(super) async fn next(&mut self) -> Option<RunEvent> {
        while !self.over {
            if let Some(event) = self.waiting.pop_front() {
                if event.seq < self.next {
                    continue;
                }
                self.next = event.seq + 1;
                self.over = event.event.is_terminal();
                if self.over {
                    self.hold.cancel = false;
                }
                return Some(event);
            }
            match self.receiver.recv().await {
                Ok(event) if event.run == self.hold.run => self.waiting.push_back(event),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    let log = self.hold.engine.run_snapshot(&self.hold.run).await.ok()?;
                    self.waiting.extend(log);
                }
                Err(RecvError::Closed) => return None,
            }
        }
        None
    }
}
