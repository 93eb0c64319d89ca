//! A `llama-server` that the program starts itself: found, started, watched, started again after a crash, and ended with
//! the program. What it says is OpenAI's protocol, so `openai/` speaks to it.
//!
//! It listens on this computer only, at a random port, with a key made for each run that stands in no command line. It is
//! no downloader: the program and the GGUF file are the person's.

mod child;
mod find;

use crate::engines::fault::unless_cancelled;
use crate::engines::http::Clients;
use crate::engines::probe::Finding;
use crate::openai::Openai;
use adrag_contract::{EngineId, ErrorCode, LocalSettings, OpenaiSettings};
use adrag_core::ports::{ChatModel, ChatRequest, ChatStream, PortError, PortResult};
use async_trait::async_trait;
use child::Child;
use find::Launch;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// More ends than this within [`WINDOW`] and the server is not started again.
const MOST_CRASHES: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The one server of the program; none until a question needs it.
#[derive(Default)]
pub(crate) struct Sidecar {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<Running>,
    /// When a server ended that nobody had told to end.
    crashes: VecDeque<Instant>,
}

struct Running {
    launch: Launch,
    child: Child,
    openai: Arc<Openai>,
}

impl Sidecar {
    /// A model as the settings name it. Nothing is started yet.
    pub(crate) async fn model(
        sidecar: &Arc<Self>,
        clients: &Arc<Clients>,
        settings: &LocalSettings,
    ) -> PortResult<LocalModel> {
        Ok(LocalModel {
            sidecar: Arc::clone(sidecar),
            clients: Arc::clone(clients),
            launch: Launch::of(settings).await?,
            settings: settings.clone(),
        })
    }

    /// Whether program and model are there. Nothing is started for it.
    pub(crate) async fn probe(settings: &LocalSettings) -> PortResult<Finding> {
        let launch = Launch::of(settings).await?;
        let version = launch.version().await?;
        Ok(Finding {
            model: Some(launch.model_name()),
            models: vec![launch.model_name()],
            about: Some(version),
            error: None,
        })
    }

    /// Ends the server, if one runs.
    pub(crate) async fn close(&self) {
        let running = self.state.lock().await.running.take();
        if let Some(running) = running {
            running.child.stop().await;
        }
    }

    /// The running server for a launch: the one that runs, if it is the same, else a new one.
    async fn serve(&self, model: &LocalModel, cancel: &CancellationToken) -> PortResult<Arc<Openai>> {
        // One start at a time: a second question waits here for the first one's server.
        let mut state = unless_cancelled(cancel, async { Ok(self.state.lock().await) }).await?;
        if let Some(running) = state.running.take() {
            if running.launch != model.launch {
                running.child.stop().await;
            } else if running.child.is_alive() {
                let openai = Arc::clone(&running.openai);
                state.running = Some(running);
                return Ok(openai);
            } else {
                let tail = running.child.tail();
                tracing::warn!(%tail, "llama-server ended by itself");
                state.crashes.push_back(Instant::now());
            }
        }
        state.crashes.retain(|at| at.elapsed() < WINDOW);
        if state.crashes.len() >= MOST_CRASHES {
            return Err(PortError::transient(
                ErrorCode::Unreachable,
                format!(
                    "llama-server ended {MOST_CRASHES} times within a minute and is not started again yet"
                ),
            )
            .with_hint(
                "wait a minute; check that the GGUF file suits this llama-server and fits the memory",
            ));
        }
        unless_cancelled(cancel, async {
            tokio::time::sleep(pause(state.crashes.len())).await;
            Ok(())
        })
        .await?;
        let running = model.start(cancel).await.inspect_err(|error| {
            if !error.is_cancelled() {
                state.crashes.push_back(Instant::now());
            }
        })?;
        let openai = Arc::clone(&running.openai);
        state.running = Some(running);
        Ok(openai)
    }

    /// What the server said last, if it has ended.
    async fn last_words(&self) -> Option<String> {
        let state = self.state.lock().await;
        let running = state.running.as_ref()?;
        (!running.child.is_alive()).then(|| running.child.tail())
    }
}

/// Doubling with every crash of the last minute.
fn pause(crashes: usize) -> Duration {
    match u32::try_from(crashes) {
        Ok(0) => Duration::ZERO,
        Ok(crashes) => FIRST_PAUSE * (1 << (crashes - 1).min(4)),
        Err(_) => FIRST_PAUSE * 16,
    }
}

/// A GGUF file served by the sidecar.
pub(crate) struct LocalModel {
    sidecar: Arc<Sidecar>,
    clients: Arc<Clients>,
    launch: Launch,
    settings: LocalSettings,
}

impl LocalModel {
    /// Starts the server where it does not run yet.
    pub(crate) async fn ready(&self, cancel: &CancellationToken) -> PortResult<()> {
        self.sidecar.serve(self, cancel).await.map(drop)
    }

    async fn start(&self, cancel: &CancellationToken) -> PortResult<Running> {
        let limit = Duration::from_secs(self.settings.start_timeout_s.max(1));
        let (child, key) = Child::start(&self.launch)?;
        child.wait_until_healthy(limit, cancel).await?;
        let settings = OpenaiSettings {
            base_url: format!("http://127.0.0.1:{}/v1", child.port()),
            model: self.launch.model_name(),
            organisation: None,
            timeout_s: self.settings.timeout_s,
            retries: 1,
        };
        let openai = Openai::as_engine(EngineId::Local, &self.clients, &settings, Some(key))?;
        Ok(Running {
            launch: self.launch.clone(),
            child,
            openai: Arc::new(openai),
        })
    }
}

#[async_trait]
impl ChatModel for LocalModel {
    fn engine(&self) -> EngineId {
        EngineId::Local
    }

    fn model(&self) -> String {
        self.launch.model_name()
    }

    async fn chat(&self, request: ChatRequest, cancel: &CancellationToken) -> PortResult<ChatStream> {
        let openai = self.sidecar.serve(self, cancel).await?;
        match openai.chat(request, cancel).await {
            Err(mut error) if error.error.code == ErrorCode::Unreachable => {
                if let Some(words) = self.sidecar.last_words().await {
                    error.error.message = format!("llama-server ended while it was asked: {words}");
                }
                Err(error)
            }
            outcome => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_keeps_crashing_is_started_ever_more_slowly() {
        assert_eq!(pause(0), Duration::ZERO);
        assert!(pause(2) > pause(1));
        assert_eq!(pause(usize::MAX), pause(1_000));
    }
}
