//! The switch that holds a run up between two small pieces of work.

use crate::ports::{PortError, PortResult};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Whether a run is to rest. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Pause(Arc<watch::Sender<bool>>);

impl Pause {
    /// Turns it on or off.
    pub fn set(&self, on: bool) {
        self.0.send_if_modified(|now| std::mem::replace(now, on) != on);
    }

    /// Whether it is on.
    pub fn is_on(&self) -> bool {
        *self.0.borrow()
    }

    /// Goes on at once when it is off, else when it is turned off.
    ///
    /// # Errors
    /// When the run is stopped, resting or not.
    pub async fn pass(&self, cancel: &CancellationToken) -> PortResult<()> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        if self.is_on() {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(PortError::cancelled()),
                _ = self.changed_from(true) => {}
            }
        }
        Ok(())
    }

    /// Waits until it stands otherwise, and says how.
    pub async fn changed_from(&self, was: bool) -> bool {
        let mut stands = self.0.subscribe();
        // The sender lives as long as `self`, so the wait ends with a change only.
        let _ = stands.wait_for(|on| *on != was).await;
        !was
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_resting_run_goes_on_when_it_is_resumed_and_ends_when_it_is_stopped() {
        let (pause, cancel) = (Pause::default(), CancellationToken::new());
        assert!(pause.pass(&cancel).await.is_ok(), "it is off");
        pause.set(true);
        for stops in [false, true] {
            let (waiting, token) = (pause.clone(), cancel.clone());
            let rests = tokio::spawn(async move { waiting.pass(&token).await });
            tokio::task::yield_now().await;
            assert!(!rests.is_finished());
            if stops {
                cancel.cancel();
            } else {
                pause.set(false);
            }
            let passed = rests.await.expect("it does not panic");
            assert_eq!(passed.is_err(), stops);
            pause.set(true);
        }
    }
}
