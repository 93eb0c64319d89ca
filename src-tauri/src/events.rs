//! Carries the events of every run to every window, in order, a frame at a time.
//!
//! The engine calls its listener on the thread that does the work, so the listener only queues; one task emits. A
//! frame bounds how often the window is woken, not what it is told: every event arrives as the engine made it.

use adrag_contract::RunEvent;
use adrag_core::Engine;
use std::time::Duration;
use tauri::{AppHandle, Emitter, Runtime};
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// Name under which windows hear of runs.
pub const RUN_EVENT: &str = "run-event";

/// One frame of a 60 Hz screen.
const FRAME: Duration = Duration::from_millis(16);

/// Emits the events of all runs from now on. It ends when the engine is gone.
pub fn relay<R: Runtime>(engine: &Engine, app: AppHandle<R>) {
    let queued = subscribe(engine);
    tauri::async_runtime::spawn(forward(queued, move |event| {
        if let Err(error) = app.emit(RUN_EVENT, event) {
            tracing::warn!(%error, "a window could not be told of a run");
        }
    }));
}

/// A queue of the events of all runs from now on.
pub fn subscribe(engine: &Engine) -> UnboundedReceiver<RunEvent> {
    let (queue, queued) = mpsc::unbounded_channel();
    engine.on_event(move |event| {
        // Nobody listens any more when the program ends: that is no fault of the run.
        let _ = queue.send(event.clone());
    });
    queued
}

async fn forward(mut queued: UnboundedReceiver<RunEvent>, mut emit: impl FnMut(RunEvent)) {
    while let Some(event) = queued.recv().await {
        emit(event);
        while let Ok(event) = queued.try_recv() {
            emit(event);
        }
        tokio::time::sleep(FRAME).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::Event;

    #[tokio::test]
    async fn a_thousand_events_arrive_in_order_and_complete() {
        let (queue, queued) = mpsc::unbounded_channel();
        let (sender, mut arrived) = mpsc::unbounded_channel();
        let task = tokio::spawn(forward(queued, move |event| sender.send(event.seq).unwrap()));
        for seq in 0..1_000 {
            queue
                .send(RunEvent {
                    run: "r".into(),
                    seq,
                    at_ms: 0,
                    attempt: 1,
                    event: Event::AnswerDelta { text: "x".to_owned() },
                })
                .unwrap();
            if seq % 100 == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        drop(queue);
        task.await.unwrap();
        let mut seen = Vec::new();
        while let Some(seq) = arrived.recv().await {
            seen.push(seq);
        }
        assert_eq!(seen, (0..1_000).collect::<Vec<_>>());
    }
}
