//! Ctrl-C: the first stops the work in an orderly way, the second ends the program at once.

use super::exit::{Ended, Exit};
use adrag_contract::{AppError, ErrorCode};
use std::future::Future;
use tokio_util::sync::CancellationToken;

/// Whether the person wants to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    wanted: CancellationToken,
}

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Self {
        let wanted = CancellationToken::new();
        tokio::spawn(watch(wanted.clone()));
        Self { wanted }
    }

    /// Returns once the person wants to stop.
    pub async fn given(&self) {
        self.wanted.cancelled().await;
    }

    /// A short command, dropped when the person wants to stop.
    pub async fn or(&self, command: impl Future<Output = Ended>) -> Ended {
        tokio::select! {
            ended = command => ended,
            () = self.given() => Err(stopped().into()),
        }
    }
}

/// The error of a command that was stopped.
pub fn stopped() -> AppError {
    AppError::new(ErrorCode::Cancelled, "stopped")
}

async fn watch(wanted: CancellationToken) {
    if signal().await.is_err() {
        tracing::warn!("Ctrl-C cannot be heard; it ends the program at once");
        return;
    }
    wanted.cancel();
    if signal().await.is_ok() {
        std::process::exit(Exit::Failed as i32);
    }
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix;
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
