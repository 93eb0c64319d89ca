//! A language model that says what a test told it to, and the engines around it.

use crate::ports::{
    ChatDelta, ChatModel, ChatRequest, ChatStream, EngineChoice, Engines, PortError, PortResult,
};
use adrag_contract::{EngineId, EngineStatus, ErrorCode, Settings};
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// One reply of the script.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeReply {
    /// Text, in pieces of a few characters.
    Text(String),
    /// Text, in exactly these pieces.
    Pieces(Vec<String>),
    /// A JSON document, in pieces of a few characters.
    Json(Value),
    /// An error before the first byte.
    Fails(PortError),
    /// These pieces, then an error.
    BreaksOff(Vec<String>, PortError),
    /// These pieces, then nothing until the run is stopped.
    HangsAfter(Vec<String>),
    /// Nothing at all until the run is stopped.
    Hangs,
}

type Script = dyn FnMut(&ChatRequest) -> FakeReply + Send;

/// A scripted language model. It remembers what it was asked.
pub struct FakeChatModel {
    script: Mutex<Box<Script>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl FakeChatModel {
    /// Gives these replies, one a call; a call after the last is an error that says so.
    pub fn new(replies: impl IntoIterator<Item = FakeReply>) -> Self {
        let mut replies: VecDeque<FakeReply> = replies.into_iter().collect();
        Self::answering(move |_| {
            replies.pop_front().unwrap_or_else(|| {
                FakeReply::Fails(PortError::permanent(
                    ErrorCode::Internal,
                    "the script of the fake model has no further reply",
                ))
            })
        })
    }

    /// Replies to every call by a function of the request.
    pub fn answering(script: impl FnMut(&ChatRequest) -> FakeReply + Send + 'static) -> Self {
        Self {
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
        }
    }

    /// What it was asked so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl ChatModel for FakeChatModel {
    fn engine(&self) -> EngineId {
        EngineId::Openai
    }

    fn model(&self) -> String {
        "fake-1".to_owned()
    }

    async fn chat(&self, request: ChatRequest, cancel: &CancellationToken) -> PortResult<ChatStream> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        let reply = (self.script.lock().unwrap())(&request);
        let read = request
            .messages
            .iter()
            .map(|message| message.content.split_whitespace().count())
            .sum();
        self.requests.lock().unwrap().push(request);
        let (pieces, ending) = match reply {
            FakeReply::Text(text) => (cut(&text), Ending::Whole),
            FakeReply::Pieces(pieces) => (pieces, Ending::Whole),
            FakeReply::Json(value) => (cut(&value.to_string()), Ending::Whole),
            FakeReply::Fails(error) => return Err(error),
            FakeReply::BreaksOff(pieces, error) => (pieces, Ending::Error(error)),
            FakeReply::HangsAfter(pieces) => (pieces, Ending::Hang),
            FakeReply::Hangs => {
                cancel.cancelled().await;
                return Err(PortError::cancelled());
            }
        };
        Ok(stream(pieces, ending, read, cancel.clone()))
    }
}

enum Ending {
    Whole,
    Error(PortError),
    Hang,
}

fn stream(pieces: Vec<String>, ending: Ending, read: usize, cancel: CancellationToken) -> ChatStream {
    let usage = ChatDelta::Usage {
        prompt_tokens: read as u64,
        completion_tokens: pieces.len() as u64,
    };
    let state = Some((VecDeque::from(pieces), ending, cancel));
    futures::stream::unfold(state, move |state| {
        let usage = usage.clone();
        async move {
            let (mut pieces, ending, cancel) = state?;
            tokio::task::yield_now().await;
            if cancel.is_cancelled() {
                return Some((Err(PortError::cancelled()), None));
            }
            if let Some(piece) = pieces.pop_front() {
                return Some((Ok(ChatDelta::Text(piece)), Some((pieces, ending, cancel))));
            }
            match ending {
                Ending::Whole => Some((Ok(usage), None)),
                Ending::Error(error) => Some((Err(error), None)),
                Ending::Hang => {
                    cancel.cancelled().await;
                    Some((Err(PortError::cancelled()), None))
                }
            }
        }
    })
    .boxed()
}

/// Pieces as a model would send them: a few characters, cut without regard to words.
fn cut(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(7).map(|piece| piece.iter().collect()).collect()
}

/// Engines that all lead to one model; `quotes` is refused.
pub struct FakeEngines {
    model: Arc<dyn ChatModel>,
    refusal: Option<PortError>,
}

impl FakeEngines {
    /// Engines that lead to a model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self { model, refusal: None }
    }

    /// Engines none of which can be opened.
    pub fn refusing(error: PortError) -> Self {
        Self {
            model: Arc::new(FakeChatModel::new([])),
            refusal: Some(error),
        }
    }
}

#[async_trait]
impl Engines for FakeEngines {
    async fn open(
        &self,
        choice: &EngineChoice,
        _settings: &Settings,
        cancel: &CancellationToken,
    ) -> PortResult<Arc<dyn ChatModel>> {
        if cancel.is_cancelled() {
            return Err(PortError::cancelled());
        }
        match &self.refusal {
            Some(error) => Err(error.clone()),
            None if choice.engine == EngineId::Quotes => Err(PortError::rejected(
                ErrorCode::InvalidRequest,
                "the engine `quotes` has no language model",
            )),
            None => Ok(Arc::clone(&self.model)),
        }
    }

    async fn probe(&self, _settings: &Settings) -> Vec<EngineStatus> {
        let status = |engine| {
            let refusal = self.refusal.clone().filter(|_| engine != EngineId::Quotes);
            EngineStatus {
                engine,
                available: refusal.is_none(),
                model: (engine != EngineId::Quotes).then(|| self.model.model()),
                models: Vec::new(),
                about: None,
                error: refusal.map(Into::into),
                took_ms: 0,
            }
        };
        EngineId::ALL.into_iter().map(status).collect()
    }
}
