//! Whether an engine could answer, asked within three seconds.

use adrag_contract::{EngineId, EngineStatus, ErrorCode};
use adrag_core::ports::{PortError, PortResult};
use std::future::Future;
use std::time::{Duration, Instant};

/// Longest wait for one engine.
const LIMIT: Duration = Duration::from_secs(3);
/// Most names shown of a server's list, and most characters of one.
const MOST_MODELS: usize = 500;
const LONGEST_NAME: usize = 200;

/// What an engine told.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    /// The model it would use.
    pub(crate) model: Option<String>,
    /// Models it offers.
    pub(crate) models: Vec<String>,
    /// Version or address.
    pub(crate) about: Option<String>,
    /// Why it cannot answer although it was found.
    pub(crate) error: Option<PortError>,
}

/// The status that a probe comes to; one that takes too long is not available.
pub(crate) async fn within(
    engine: EngineId,
    probe: impl Future<Output = PortResult<Finding>>,
) -> EngineStatus {
    let started = Instant::now();
    let found = tokio::time::timeout(LIMIT, probe).await.unwrap_or_else(|_| {
        Err(PortError::transient(
            ErrorCode::Timeout,
            format!("{} did not answer within {} s", engine.label(), LIMIT.as_secs()),
        )
        .with_hint("check that the server runs and that its address in Settings is right"))
    });
    let finding = found.unwrap_or_else(|error| Finding {
        error: Some(error),
        ..Finding::default()
    });
    EngineStatus {
        engine,
        available: finding.error.is_none(),
        model: finding.model,
        models: shown(finding.models),
        about: finding.about,
        error: finding.error.map(Into::into),
        took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// The engine without a model is always there.
pub(crate) fn quotes() -> EngineStatus {
    EngineStatus {
        engine: EngineId::Quotes,
        available: true,
        model: None,
        models: Vec::new(),
        about: Some("verbatim sentences, no language model".to_owned()),
        error: None,
        took_ms: 0,
    }
}

/// Names come from a server: bounded and free of control characters.
fn shown(models: Vec<String>) -> Vec<String> {
    models
        .into_iter()
        .take(MOST_MODELS)
        .map(|name| {
            name.chars()
                .filter(|c| !c.is_control())
                .take(LONGEST_NAME)
                .collect()
        })
        .filter(|name: &String| !name.is_empty())
        .collect()
}
