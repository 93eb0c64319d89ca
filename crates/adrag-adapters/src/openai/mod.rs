//! OpenAI and every server that speaks its chat protocol, streamed.
//!
//! Requests are built from the types of `async-openai`; they are sent and read by our own code. Its client (0.43) hands
//! the stream on through an unbounded channel, ends it the same way for `[DONE]` as for a connection that was closed
//! early, knows no limit of silence or of size, logs bodies of server errors, and its reply types insist on fields and
//! on five values of `finish_reason` that compatible servers do not keep to. Every one of these is a fault we must name.

mod decode;
mod request;

use crate::engines::address::Address;
use crate::engines::fault::{Server, unless_cancelled};
use crate::engines::http::{self, Clients, Patience, Sent};
use crate::engines::{probe::Finding, reply};
use adrag_contract::{EngineId, ErrorCode, OpenaiSettings};
use adrag_core::ports::{ChatModel, ChatRequest, ChatStream, PortError, PortResult};
use async_trait::async_trait;
use decode::EventDecoder;
use request::Dialect;
use reqwest::{Client, RequestBuilder, header::HeaderValue};
use std::sync::Mutex;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model of an OpenAI-compatible server.
pub struct Openai {
    client: Client,
    address: Address,
    server: Server,
    key: Option<HeaderValue>,
    organisation: Option<HeaderValue>,
    patience: Patience,
    dialect: Mutex<Dialect>,
}

impl Openai {
    /// A model as the settings name it. Nothing is sent yet.
    pub(crate) fn new(clients: &Clients, settings: &OpenaiSettings, key: Option<String>) -> PortResult<Self> {
        Self::as_engine(EngineId::Openai, clients, settings, key)
    }

    /// The same protocol spoken for another engine.
    pub(crate) fn as_engine(
        engine: EngineId,
        clients: &Clients,
        settings: &OpenaiSettings,
        key: Option<String>,
    ) -> PortResult<Self> {
        let address = Address::parse(&settings.base_url)?;
        let key = key.filter(|key| !key.trim().is_empty());
        let server = Server {
            engine,
            origin: address.origin(),
            model: settings.model.trim().to_owned(),
            secret: key.clone(),
        };
        if key.is_none() && !address.is_private() {
            return Err(PortError::rejected(
                ErrorCode::Unauthorized,
                format!("there is no key for `{}`", server.origin),
            )
            .with_hint("enter the key in Settings, or choose an engine that needs none"));
        }
        let organisation = settings
            .organisation
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        Ok(Self {
            client: clients.of(&address)?,
            key: key.map(|key| bearer(&key)).transpose()?,
            organisation: organisation.map(organisation_header).transpose()?,
            dialect: Mutex::new(Dialect::of(&address)),
            address,
            server,
            patience: Patience {
                silence: Duration::from_secs(settings.timeout_s.max(1)),
                retries: settings.retries.min(3),
            },
        })
    }

    /// The model itself where the settings name none: the first that the server lists.
    pub(crate) async fn named(mut self, cancel: &CancellationToken) -> PortResult<Self> {
        if self.server.model.is_empty() {
            let models = unless_cancelled(cancel, self.models()).await?;
            self.server.model = models
                .and_then(|models| models.into_iter().next())
                .ok_or_else(|| {
                    PortError::rejected(
                        ErrorCode::UnknownModel,
                        format!(
                            "no model is chosen for `{}`, and it lists none",
                            self.server.origin
                        ),
                    )
                    .with_hint("enter the name of the model in Settings")
                })?;
        }
        Ok(self)
    }

    /// Whether the server would answer, by its list of models.
    pub(crate) async fn probe(&self) -> PortResult<Finding> {
        let models = self.models().await?;
        let listed = models.unwrap_or_default();
        let model = match self.server.model.as_str() {
            "" => listed.first().cloned(),
            name => Some(name.to_owned()),
        };
        Ok(Finding {
            model,
            models: listed,
            about: Some(self.server.origin.clone()),
            error: None,
        })
    }

    /// The models of the server; none where it keeps no list.
    async fn models(&self) -> PortResult<Option<Vec<String>>> {
        let request = self.signed(self.client.get(self.address.join("models")));
        match http::get_json(&self.server, request).await? {
            Err(refusal) if matches!(refusal.status.as_u16(), 404 | 405 | 501) => Ok(None),
            Err(refusal) => Err(refusal.error(&self.server)),
            Ok(list) => {
                let entries = list
                    .get("data")
                    .or_else(|| list.get("models"))
                    .and_then(|data| data.as_array());
                let Some(entries) = entries else {
                    return Err(self.server.bad_reply("lists its models in an unknown form"));
                };
                let name = |entry: &serde_json::Value| {
                    let id = entry.get("id").or_else(|| entry.get("name"))?;
                    id.as_str().map(str::to_owned)
                };
                Ok(Some(entries.iter().filter_map(name).collect()))
            }
        }
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        let request = match &self.key {
            Some(key) => request.header(reqwest::header::AUTHORIZATION, key.clone()),
            None => request,
        };
        match &self.organisation {
            Some(name) => request.header("OpenAI-Organization", name.clone()),
            None => request,
        }
    }

    fn dialect(&self) -> Dialect {
        match self.dialect.lock() {
            Ok(dialect) => *dialect,
            Err(poisoned) => *poisoned.into_inner(),
        }
    }

    fn learn(&self, learned: Dialect) {
        match self.dialect.lock() {
            Ok(mut dialect) => *dialect = learned,
            Err(poisoned) => *poisoned.into_inner() = learned,
        }
    }
}

#[async_trait]
impl ChatModel for Openai {
    fn engine(&self) -> EngineId {
        self.server.engine
    }

    fn model(&self) -> String {
        self.server.model.clone()
    }

    async fn chat(&self, request: ChatRequest, cancel: &CancellationToken) -> PortResult<ChatStream> {
        loop {
            let dialect = self.dialect();
            let body = dialect.body(&self.server.model, &request);
            let url = self.address.join("chat/completions");
            let sent = http::send(&self.server, self.patience, cancel, || {
                self.signed(self.client.post(url.clone()).json(&body))
            })
            .await?;
            match sent {
                Sent::Reply(response) => {
                    return Ok(reply::stream(
                        response,
                        EventDecoder::default(),
                        self.server.clone(),
                        self.patience.silence,
                        cancel.clone(),
                    ));
                }
                Sent::Refused(refusal) => match dialect.without_what_was_refused(&refusal, &request) {
                    Some(simpler) => {
                        tracing::info!(model = %self.server.model, ?simpler, "the server knows less of the protocol");
                        self.learn(simpler);
                    }
                    None => return Err(refusal.error(&self.server)),
                },
            }
        }
    }
}

fn bearer(key: &str) -> PortResult<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(|_| {
        PortError::rejected(
            ErrorCode::Unauthorized,
            "the key holds characters that no key has",
        )
        .with_hint("enter the key in Settings again")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn organisation_header(name: &str) -> PortResult<HeaderValue> {
    HeaderValue::from_str(name).map_err(|_| {
        PortError::rejected(
            ErrorCode::InvalidRequest,
            "the organisation holds characters that no name has",
        )
        .with_hint("correct the organisation in Settings")
    })
}
