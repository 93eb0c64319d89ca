//! The suites of core on the real adapters.

use crate::support::model_at;
use adrag_adapters::keychain::Keychain;
use adrag_adapters::testing_servers::{FakeServer, Fault, Protocol};
use adrag_core::ports::ChatModel;
use adrag_core::testing::{chat, keys};
use async_trait::async_trait;
use chat::{Behaviour, ChatFixture};
use std::sync::Arc;
use tokio::sync::Mutex;

struct Fixture {
    protocol: Protocol,
    latest: Mutex<Option<FakeServer>>,
}

#[async_trait]
impl ChatFixture for Fixture {
    async fn model(&self, behaviour: Behaviour) -> Arc<dyn ChatModel> {
        let server = FakeServer::start(self.protocol).await;
        let say = |pieces: &[String]| {
            let pieces = pieces.to_vec();
            server.answer_by(move |_| pieces.clone());
        };
        match &behaviour {
            Behaviour::Answers(pieces) => say(pieces),
            Behaviour::RefusesKey => server.behave(Fault::Status(401, None)),
            Behaviour::UnknownModel => server.behave(Fault::UnknownModel),
            Behaviour::RateLimited => server.behave(Fault::Status(429, None)),
            Behaviour::Fails => server.behave(Fault::Status(500, None)),
            Behaviour::FailsThenAnswers(pieces) => {
                say(pieces);
                server.behave_in_turn([Fault::Status(500, None), Fault::None]);
            }
            Behaviour::Hangs => server.behave(Fault::Hangs),
            Behaviour::HangsAfter(pieces) => {
                say(pieces);
                server.behave(Fault::HangsMidway);
            }
            Behaviour::ClosesAfter(pieces) => {
                say(pieces);
                server.behave(Fault::ClosesMidway);
            }
            Behaviour::SendsHalfAPieceAfter(pieces) => {
                say(pieces);
                server.behave(Fault::HalfJson);
            }
            Behaviour::SendsGarbageAfter(pieces) => {
                say(pieces);
                server.behave(Fault::InvalidUtf8);
            }
        }
        let model = model_at(self.protocol, &server.base_url()).await.unwrap();
        *self.latest.lock().await = Some(server);
        model
    }

    async fn saw_the_connection_close(&self) -> bool {
        match &*self.latest.lock().await {
            Some(server) => server.sees_closed(1).await,
            None => false,
        }
    }
}

async fn conforms(protocol: Protocol) {
    let fixture = Fixture {
        protocol,
        latest: Mutex::new(None),
    };
    chat::conforms(&fixture).await;
}

#[tokio::test]
async fn openai_conforms() {
    conforms(Protocol::Openai).await;
}

#[tokio::test]
async fn ollama_conforms() {
    conforms(Protocol::Ollama).await;
}

#[tokio::test]
async fn the_keychain_or_the_memory_behind_it_conforms() {
    let service = format!("adrag-test-{}", uuid::Uuid::new_v4());
    keys::conforms(&Keychain::with_environment(service, |_| None)).await;
}
