//! The engines that exist, behind the port [`Engines`]: the one place that knows which adapter serves which engine.
//!
//! What all of them share lives here too: which addresses a key may go to ([`address`]), how a request is sent and
//! tried again ([`http`]), what a failure is called ([`fault`]), how a reply is read within its limits ([`reply`]). No
//! protocol is spoken here: that is `openai/`, `ollama/` and `llama_server/`.

pub(crate) mod address;
pub(crate) mod fault;
pub(crate) mod http;
pub(crate) mod probe;
pub(crate) mod reply;

use crate::llama_server::Sidecar;
use crate::ollama::Ollama;
use crate::openai::Openai;
use adrag_contract::{EngineId, EngineStatus, ErrorCode, KeyName, Settings};
use adrag_core::ports::{ChatModel, EngineChoice, Engines, KeyStore, PortError, PortResult};
use async_trait::async_trait;
use http::Clients;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// All engines of the program.
pub struct AdapterEngines {
    keys: Arc<dyn KeyStore>,
    clients: Arc<Clients>,
    sidecar: Arc<Sidecar>,
}

impl AdapterEngines {
    /// Engines that take their keys from a store. Nothing is opened or started yet.
    pub fn new(keys: Arc<dyn KeyStore>) -> Self {
        Self {
            keys,
            clients: Arc::new(Clients::default()),
            sidecar: Arc::new(Sidecar::default()),
        }
    }
}

#[async_trait]
impl Engines for AdapterEngines {
    async fn open(
        &self,
        choice: &EngineChoice,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> PortResult<Arc<dyn ChatModel>> {
        let settings = chosen(choice, settings);
        match choice.engine {
            EngineId::Quotes => Err(PortError::rejected(
                ErrorCode::InvalidRequest,
                "the engine `quotes` has no language model",
            )),
            EngineId::Openai => {
                let key = self.keys.read(KeyName::Openai).await?;
                let openai = Openai::new(&self.clients, &settings.openai, key)?;
                Ok(Arc::new(openai.named(cancel).await?))
            }
            EngineId::Ollama => {
                let ollama = Ollama::new(&self.clients, &settings.ollama)?;
                Ok(Arc::new(ollama.named(cancel).await?))
            }
            EngineId::Local => {
                let model = Sidecar::model(&self.sidecar, &self.clients, &settings.local).await?;
                model.ready(cancel).await?;
                Ok(Arc::new(model))
            }
        }
    }

    async fn probe(&self, settings: &Settings) -> Vec<EngineStatus> {
        let (openai, ollama, local) = futures::join!(
            probe::within(EngineId::Openai, async {
                let key = self.keys.read(KeyName::Openai).await?;
                Openai::new(&self.clients, &settings.openai, key)?.probe().await
            }),
            probe::within(EngineId::Ollama, async {
                Ollama::new(&self.clients, &settings.ollama)?.probe().await
            }),
            probe::within(EngineId::Local, Sidecar::probe(&settings.local)),
        );
        vec![probe::quotes(), openai, ollama, local]
    }

    /// Ends the `llama-server`, if one runs. A later question starts it again.
    async fn close(&self) {
        self.sidecar.close().await;
    }
}

/// The settings with the model and base URL of one question laid over them.
fn chosen(choice: &EngineChoice, settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let model = choice.model.clone().filter(|model| !model.trim().is_empty());
    let base_url = choice.base_url.clone().filter(|url| !url.trim().is_empty());
    match choice.engine {
        EngineId::Quotes => {}
        EngineId::Openai => {
            settings.openai.model = model.unwrap_or(settings.openai.model);
            settings.openai.base_url = base_url.unwrap_or(settings.openai.base_url);
        }
        EngineId::Ollama => {
            settings.ollama.model = model.unwrap_or(settings.ollama.model);
            settings.ollama.base_url = base_url.unwrap_or(settings.ollama.base_url);
        }
        EngineId::Local => settings.local.model_file = model.or(settings.local.model_file),
    }
    settings
}
