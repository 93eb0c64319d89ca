//! What a run carries through all its work.

use super::Pause;
use crate::ports::{Clock, EventSink, PortError};
use adrag_contract::{ErrorCode, Event, RunEvent, RunId, Spent};
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

/// What a run may spend, and what it has spent.
pub struct Budget {
    llm_calls: AtomicU32,
    llm_tokens: u64,
    spent: Mutex<Spent>,
}

impl Budget {
    /// So many calls of a language model.
    pub fn new(llm_calls: u32) -> Self {
        Self {
            llm_calls: AtomicU32::new(llm_calls),
            llm_tokens: 0,
            spent: Mutex::new(Spent::default()),
        }
    }

    /// So many tokens besides; 0 for no limit.
    pub fn with_tokens(mut self, llm_tokens: u64) -> Self {
        self.llm_tokens = llm_tokens;
        self
    }

    /// Counts what a call of the language model read and wrote.
    pub fn spend(&self, prompt_tokens: u64, completion_tokens: u64, estimated: bool) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.prompt_tokens += prompt_tokens;
        spent.completion_tokens += completion_tokens;
        spent.estimated |= estimated;
    }

    /// What was spent so far; passes are for the caller to count.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one call of the language model.
    ///
    /// # Errors
    /// When all are spent, or the tokens are.
    pub fn take_llm_call(&self) -> Result<(), PortError> {
        let spent = self.spent();
        if self.llm_tokens > 0 && spent.prompt_tokens + spent.completion_tokens >= self.llm_tokens {
            return Err(PortError::rejected(
                ErrorCode::RateLimited,
                "this question has used up its tokens of the language model",
            )
            .with_hint("raise the limit of tokens per question in Settings"));
        }
        self.llm_calls
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .map(|_| {
                let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
                spent.llm_calls += 1;
            })
            .map_err(|_| {
                PortError::rejected(
                    ErrorCode::RateLimited,
                    "this question has used up its calls of the language model",
                )
                .with_hint("raise the limit of calls per question in Settings")
            })
    }
}
