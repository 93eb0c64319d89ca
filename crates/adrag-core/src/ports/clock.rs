//! Time and identity, so that nothing in the logic depends on when or where it runs.

use adrag_contract::{RunEvent, RunId};
use futures::future::BoxFuture;
use std::time::Duration;

/// Tells the time and makes ids.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch. May jump; never used for durations.
    fn now_ms(&self) -> i64;

    /// Time since some fixed moment. Never goes back.
    fn elapsed(&self) -> Duration;

    /// Ends when this much time has passed since the call.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// A run id that was never given before.
    fn new_run_id(&self) -> RunId;
}

/// Receives the events of runs, in order, on the thread that made them. Must not block.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: &RunEvent);
}
