//! Where the log goes: standard error, at the level of `ADRAG_LOG`. Never to a file, never to another machine.

use tracing_subscriber::EnvFilter;

/// One vendor tells its life at `warn`; people did not ask for it.
const DEFAULT: &str = "warn,qdrant_edge=error";

/// Starts the log; a second call changes nothing.
pub fn start() {
    let filter = EnvFilter::try_from_env("ADRAG_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(true)
        .try_init();
    if started.is_err() {
        tracing::debug!("the log was started before");
    }
}
