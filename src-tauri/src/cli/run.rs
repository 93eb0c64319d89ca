//! Follows a run to its terminal event.

use super::interrupt::Interrupt;
use adrag_contract::{AppError, ErrorCode, RunEvent, RunId};
use adrag_core::Engine;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Longest wait for a stopped run to say so.
const STOPPING_LIMIT: Duration = Duration::from_secs(10);

/// Hands every event of a run to `heed`, in order, and returns the terminal one. Ctrl-C cancels the run.
///
/// # Errors
/// When `heed` cannot write, or the engine ends without a terminal event.
pub async fn follow(
    engine: &Engine,
    run: &RunId,
    events: &mut UnboundedReceiver<RunEvent>,
    interrupt: &Interrupt,
    mut heed: impl FnMut(&RunEvent) -> io::Result<()>,
) -> Result<RunEvent, super::Stop> {
    let mut stopping = false;
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = interrupt.given(), if !stopping => {
                stopping = true;
                engine.cancel(run);
                continue;
            }
            () = tokio::time::sleep(STOPPING_LIMIT), if stopping => return Err(super::interrupt::stopped().into()),
        };
        let Some(event) = event else {
            return Err(AppError::new(ErrorCode::Internal, "the run ended without a word").into());
        };
        if event.run != *run {
            continue;
        }
        if let Err(error) = heed(&event) {
            engine.cancel(run);
            return Err(error.into());
        }
        if event.event.is_terminal() {
            return Ok(event);
        }
    }
}
