//! What a run carries through all its work.

use super::Pause;
use crate::ports::{Clock, EventSink, PortError};
use adrag_contract::{ErrorCode, Event, RunEvent, RunId};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// One run's identity, clock, events, cancellation and budget.
pub struct RunContext {
    /// The run.
    pub run: RunId,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Cancelled when the person stops the run.
    pub cancel: CancellationToken,
    /// On while the run is to rest.
    pub pause: Pause,
    /// What it may still spend.
    pub budget: Budget,
    sink: Arc<dyn EventSink>,
    state: Mutex<State>,
}

struct State {
    seq: u64,
    attempt: u32,
    over: bool,
}

impl RunContext {
    /// A run that has not begun.
    pub fn new(
        run: RunId,
        clock: Arc<dyn Clock>,
        sink: Arc<dyn EventSink>,
        cancel: CancellationToken,
        budget: Budget,
    ) -> Self {
        Self {
            run,
            clock,
            cancel,
            pause: Pause::default(),
            budget,
            sink,
            state: Mutex::new(State {
                seq: 0,
                attempt: 1,
                over: false,
            }),
        }
    }

    /// The same run with a switch that others hold too.
    pub fn pausing_with(mut self, pause: Pause) -> Self {
        self.pause = pause;
        self
    }

    /// Emits the next event. Nothing follows a terminal one.
    pub fn emit(&self, event: Event) {
        // The sink is called under the lock: two threads of one run may not swap their events.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over {
            return;
        }
        if let Event::Retried { attempt, .. } = &event {
            state.attempt = *attempt;
        }
        state.over = event.is_terminal();
        let event = RunEvent {
            run: self.run.clone(),
            seq: state.seq,
            at_ms: self.clock.now_ms(),
            attempt: state.attempt,
            event,
        };
        state.seq += 1;
        self.sink.emit(&event);
    }

    /// The pass under way, 1-based.
    pub fn attempt(&self) -> u32 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).attempt
    }

    /// Milliseconds from `since` (an [`elapsed`](Clock::elapsed) of before) until now.
    pub fn ms_since(&self, since: std::time::Duration) -> u64 {
        u64::try_from(self.clock.elapsed().saturating_sub(since).as_millis()).unwrap_or(u64::MAX)
    }

    /// Rests while the run is paused.
    ///
    /// # Errors
    /// When the run was stopped.
    pub async fn pass(&self) -> Result<(), PortError> {
        self.pause.pass(&self.cancel).await
    }

    /// Fails when the run was stopped.
    pub fn check(&self) -> Result<(), PortError> {
        if self.cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        Ok(())
    }
}

/// What a run may spend.
pub struct Budget {
    llm_calls: AtomicU32,
}

impl Budget {
    /// So many calls of a language model.
    pub fn new(llm_calls: u32) -> Self {
        Self {
            llm_calls: AtomicU32::new(llm_calls),
        }
    }

    /// Takes one call of the language model.
    ///
    /// # Errors
    /// When all are spent.
    pub fn take_llm_call(&self) -> Result<(), PortError> {
        self.llm_calls
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .map(|_| ())
            .map_err(|_| {
                PortError::rejected(
                    ErrorCode::RateLimited,
                    "this question has used up its calls of the language model",
                )
                .with_hint("raise the limit of calls per question in Settings")
            })
    }
}
