//! The engine while it is being opened, open, or not to be had: the window is there before the engine is.

use adrag_contract::{AppError, ErrorCode};
use adrag_core::Engine;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Longest wait of a command for the engine. Opening may have to rebuild an index.
const OPENING_LIMIT: Duration = Duration::from_secs(300);

/// Longest wait for the engine's end when the program ends.
pub const CLOSING_LIMIT: Duration = Duration::from_secs(3);

type Opened = Result<Arc<Engine>, AppError>;

/// The one engine of the program, shared by all commands.
#[derive(Clone)]
pub struct Session {
    opened: Arc<watch::Sender<Option<Opened>>>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            opened: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl Session {
    /// Says how opening ended; every waiting command goes on.
    pub fn opened(&self, engine: Opened) {
        self.opened.send_replace(Some(engine));
    }

    /// The engine, as soon as it is open.
    ///
    /// # Errors
    /// Why it could not be opened, or that opening takes too long.
    pub async fn engine(&self) -> Opened {
        let mut opened = self.opened.subscribe();
        let waited = tokio::time::timeout(OPENING_LIMIT, opened.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(state)) => state.clone().unwrap_or_else(|| Err(still_opening())),
            Ok(Err(_)) | Err(_) => Err(still_opening()),
        }
    }

    /// Ends the engine within [`CLOSING_LIMIT`]; nothing when it was never open.
    pub async fn close(&self) {
        let opened = self.opened.send_replace(Some(Err(closing())));
        if let Some(Ok(engine)) = opened
            && tokio::time::timeout(CLOSING_LIMIT, engine.close()).await.is_err()
        {
            tracing::warn!("the engine did not end in time; what is unfinished goes on at the next start");
        }
    }
}

fn still_opening() -> AppError {
    AppError::new(ErrorCode::Timeout, "adRAG is still opening its data folder")
        .with_hint("wait a moment and try again")
}

fn closing() -> AppError {
    AppError::new(ErrorCode::Cancelled, "adRAG is closing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_given_early_waits_and_then_learns_why_the_engine_is_not_there() {
        let session = Session::default();
        let early = tokio::spawn({
            let session = session.clone();
            async move { session.engine().await.err() }
        });
        tokio::task::yield_now().await;
        assert!(!early.is_finished());
        session.opened(Err(AppError::new(ErrorCode::DataFolderInUse, "in use")));
        assert_eq!(
            early.await.unwrap().map(|error| error.code),
            Some(ErrorCode::DataFolderInUse)
        );
    }

    #[tokio::test]
    async fn a_closed_session_refuses_politely() {
        let session = Session::default();
        session.close().await;
        assert_eq!(
            session.engine().await.err().map(|error| error.code),
            Some(ErrorCode::Cancelled)
        );
    }
}
