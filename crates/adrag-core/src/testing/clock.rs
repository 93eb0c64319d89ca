//! A clock that moves when told to, and a sink that keeps what it is given.

use crate::ports::{Clock, EventSink};
use adrag_contract::{Event, RunEvent, RunId};
use futures::future::BoxFuture;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Starts at 1,000,000 ms and moves one millisecond with every look, so durations are never zero and never random. Who
/// sleeps is woken by [`advance`](Self::advance) alone.
#[derive(Default)]
pub struct FakeClock {
    looks: AtomicU64,
    runs: AtomicU64,
    moved: watch::Sender<Duration>,
}

impl FakeClock {
    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.moved.send_modify(|moved| *moved += by);
    }

    /// How many sleep.
    pub fn sleepers(&self) -> usize {
        self.moved.receiver_count()
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> i64 {
        1_000_000 + i64::try_from(self.elapsed().as_millis()).unwrap()
    }

    fn elapsed(&self) -> Duration {
        *self.moved.borrow() + Duration::from_millis(self.looks.fetch_add(1, Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut moved = self.moved.subscribe();
        let until = *moved.borrow() + duration;
        Box::pin(async move {
            if moved.wait_for(|now| *now >= until).await.is_err() {
                // The clock is gone, and time with it.
                std::future::pending::<()>().await;
            }
        })
    }

    fn new_run_id(&self) -> RunId {
        RunId::new(format!("run-{}", self.runs.fetch_add(1, Ordering::SeqCst) + 1))
    }
}

/// Keeps every event.
#[derive(Default)]
pub struct EventLog(Mutex<Vec<RunEvent>>);

impl EventLog {
    /// What came so far.
    pub fn events(&self) -> Vec<RunEvent> {
        self.0.lock().unwrap().clone()
    }
}

impl EventSink for EventLog {
    fn emit(&self, event: &RunEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// Every event log: one run, `seq` without gaps from 0, the start first, exactly one terminal event, and it is last.
pub fn assert_well_formed(events: &[RunEvent]) {
    assert!(!events.is_empty(), "a run has events");
    for (expected, event) in (0_u64..).zip(events) {
        assert_eq!(event.seq, expected, "seq has no gap");
        assert_eq!(event.run, events[0].run, "one log, one run");
    }
    assert!(
        matches!(events[0].event, Event::RunStarted { .. }),
        "a run begins with its start"
    );
    let terminals = events.iter().filter(|event| event.event.is_terminal()).count();
    assert_eq!(terminals, 1, "exactly one terminal event");
    assert!(
        events[events.len() - 1].event.is_terminal(),
        "the terminal event is last"
    );
}
