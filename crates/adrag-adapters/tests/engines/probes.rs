//! Whether an engine could answer, in three seconds at most.

use crate::support::{CANARY, engines, settings_for};
use adrag_adapters::testing_servers::{FakeServer, Protocol};
use adrag_contract::{EngineId, EngineStatus, ErrorCode};
use adrag_core::ports::Engines;
use std::time::{Duration, Instant};

fn status(statuses: &[EngineStatus], engine: EngineId) -> &EngineStatus {
    statuses.iter().find(|status| status.engine == engine).unwrap()
}

fn code(status: &EngineStatus) -> Option<ErrorCode> {
    status.error.as_ref().map(|error| error.code)
}

#[tokio::test]
async fn servers_that_run_are_available_and_say_what_they_have() {
    let openai = FakeServer::start(Protocol::Openai).await;
    let ollama = FakeServer::start(Protocol::Ollama).await;
    ollama.offer(&["fake-1:latest", "other-3"]);
    openai.require_key(CANARY);
    let mut settings = settings_for(&openai.base_url());
    settings.ollama.base_url = ollama.base_url();
    let statuses = engines().probe(&settings).await;
    assert_eq!(
        statuses.iter().map(|status| status.engine).collect::<Vec<_>>(),
        EngineId::ALL
    );
    assert!(status(&statuses, EngineId::Quotes).available);

    let seen = status(&statuses, EngineId::Openai);
    assert!(seen.available, "{seen:?}");
    assert_eq!(seen.models, ["fake-1", "fake-2"]);
    let seen = status(&statuses, EngineId::Ollama);
    assert!(seen.available, "{seen:?}");
    assert!(seen.about.as_deref().unwrap().starts_with("0.12.3"), "{seen:?}");

    let seen = status(&statuses, EngineId::Local);
    assert!(!seen.available);
    assert_eq!(code(seen), Some(ErrorCode::ModelMissing));
}

#[tokio::test]
async fn a_wrong_key_a_missing_model_and_a_missing_key_are_told_apart() {
    let openai = FakeServer::start(Protocol::Openai).await;
    openai.require_key("sk-another-key-0000");
    let ollama = FakeServer::start(Protocol::Ollama).await;
    ollama.offer(&["other-3"]);
    let mut settings = settings_for(&openai.base_url());
    settings.ollama.base_url = ollama.base_url();
    let statuses = engines().probe(&settings).await;
    assert_eq!(
        code(status(&statuses, EngineId::Openai)),
        Some(ErrorCode::Unauthorized)
    );
    assert_eq!(
        code(status(&statuses, EngineId::Ollama)),
        Some(ErrorCode::UnknownModel)
    );
    assert_eq!(
        status(&statuses, EngineId::Ollama).models,
        ["other-3"],
        "the list is shown all the same"
    );

    let keyless = adrag_adapters::engines::AdapterEngines::new(std::sync::Arc::new(
        adrag_core::testing::keys::FakeKeyStore::default(),
    ));
    settings.openai.base_url = "https://api.openai.com/v1".to_owned();
    let statuses = keyless.probe(&settings).await;
    assert_eq!(
        code(status(&statuses, EngineId::Openai)),
        Some(ErrorCode::Unauthorized)
    );
}

#[tokio::test]
async fn silent_servers_cost_three_seconds_together() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", silent.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = silent.accept().await {
            held.push(connection);
        }
    });
    let started = Instant::now();
    let statuses = engines().probe(&settings_for(&base)).await;
    assert!(
        started.elapsed() < Duration::from_millis(5_800),
        "took {:?}",
        started.elapsed()
    );
    for engine in [EngineId::Openai, EngineId::Ollama] {
        let seen = status(&statuses, engine);
        assert_eq!(code(seen), Some(ErrorCode::Timeout), "{seen:?}");
        assert!(seen.took_ms >= 2_900, "{seen:?}");
    }
}
