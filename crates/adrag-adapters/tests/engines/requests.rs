//! What is sent, and how a server that knows less of the protocol is still understood.

use crate::support::{CANARY, ask, choice, engines, request, served, settings_for};
use adrag_adapters::engines::AdapterEngines;
use adrag_adapters::testing_servers::{FakeServer, Fault, Protocol};
use adrag_contract::{EngineId, ErrorCode, Settings};
use adrag_core::ports::{EngineChoice, Engines};
use adrag_core::testing::keys::FakeKeyStore;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn openai_is_sent_messages_schema_and_limits() {
    let server = FakeServer::start(Protocol::Openai).await;
    server.require_key(CANARY);
    let mut settings = settings_for(&server.base_url());
    settings.openai.organisation = Some("org-7".to_owned());
    let cancel = CancellationToken::new();
    let model = engines()
        .open(&choice(EngineId::Openai), &settings, &cancel)
        .await
        .unwrap();
    let told = ask(&*model, request(true), &cancel).await;
    assert_eq!(told.error, None);
    assert_eq!(told.usage, Some((12, 3)));

    let sent = &server.chats()[0];
    assert_eq!(sent.header("openai-organization"), Some("org-7"));
    let roles: Vec<&str> = sent.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(sent.body["model"], "fake-1");
    assert_eq!(sent.body["stream"], true);
    assert_eq!(sent.body["stream_options"], json!({"include_usage": true}));
    assert_eq!(sent.body["max_tokens"], 64);
    assert!((sent.body["temperature"].as_f64().unwrap() - 0.2).abs() < 1e-6);
    assert_eq!(sent.body["response_format"]["type"], "json_schema");
    assert_eq!(sent.body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(sent.body["response_format"]["json_schema"]["name"], "answer");
}

#[tokio::test]
async fn ollama_is_sent_messages_schema_and_options() {
    let (server, model) = served(Protocol::Ollama).await;
    let told = ask(&*model, request(true), &CancellationToken::new()).await;
    assert_eq!(told.error, None);
    assert_eq!(told.usage, Some((12, 3)));
    let sent = &server.chats()[0];
    assert_eq!(
        sent.header("authorization"),
        None,
        "Ollama is no place for the key of another server"
    );
    assert_eq!(sent.body["format"]["type"], "object");
    assert_eq!(sent.body["options"]["num_ctx"], 8192);
    assert_eq!(sent.body["options"]["num_predict"], 64);
    assert_eq!(sent.body["messages"][3]["content"], "The heaviest.");
}

#[tokio::test]
async fn a_part_that_a_server_refuses_is_left_out_from_then_on() {
    for field in ["response_format", "stream_options", "temperature", "max_tokens"] {
        let (server, model) = served(Protocol::Openai).await;
        server.behave(Fault::RefusesField(field.to_owned()));
        for _ in 0..2 {
            let told = ask(&*model, request(true), &CancellationToken::new()).await;
            assert_eq!(told.error, None, "{field}");
        }
        let chats = server.chats();
        assert_eq!(chats.len(), 3, "{field} is refused once, not at every question");
        assert!(!chats[0].body[field].is_null(), "{field}");
        assert!(chats[1].body[field].is_null(), "{field}");
        if field == "max_tokens" {
            assert_eq!(chats[1].body["max_completion_tokens"], 64);
        }
    }
}

#[tokio::test]
async fn a_model_that_is_not_named_is_the_first_the_server_has() {
    for protocol in [Protocol::Openai, Protocol::Ollama] {
        let server = FakeServer::start(protocol).await;
        server.offer(&["first-1", "second-2"]);
        let mut settings = settings_for(&server.base_url());
        settings.openai.model = String::new();
        settings.ollama.model = String::new();
        let cancel = CancellationToken::new();
        let engine = choice(crate::support::engine_of(protocol));
        let model = engines().open(&engine, &settings, &cancel).await.unwrap();
        assert_eq!(model.model(), "first-1");
        server.offer(&[]);
        let error = engines().open(&engine, &settings, &cancel).await.err().unwrap();
        assert_eq!(error.error.code, ErrorCode::UnknownModel);
    }
}

#[tokio::test]
async fn a_question_may_choose_model_and_base_url() {
    let (server, _) = served(Protocol::Openai).await;
    let choice = EngineChoice {
        engine: EngineId::Openai,
        model: Some("fake-2".to_owned()),
        base_url: Some(server.base_url()),
    };
    let cancel = CancellationToken::new();
    let model = engines()
        .open(&choice, &Settings::default(), &cancel)
        .await
        .unwrap();
    assert_eq!(model.model(), "fake-2");
    assert_eq!(ask(&*model, request(false), &cancel).await.error, None);
    assert_eq!(server.chats()[0].body["model"], "fake-2");
}

#[tokio::test]
async fn what_cannot_be_right_is_refused_before_anything_is_sent() {
    let no_key = AdapterEngines::new(Arc::new(FakeKeyStore::default()));
    let cancel = CancellationToken::new();
    let table = [
        (
            choice(EngineId::Quotes),
            "http://127.0.0.1:1",
            ErrorCode::InvalidRequest,
        ),
        (
            choice(EngineId::Openai),
            "https://api.openai.com/v1",
            ErrorCode::Unauthorized,
        ),
        (
            choice(EngineId::Openai),
            "http://api.openai.com/v1",
            ErrorCode::InvalidRequest,
        ),
        (
            choice(EngineId::Ollama),
            "http://203.0.113.9:11434",
            ErrorCode::InvalidRequest,
        ),
        (
            choice(EngineId::Ollama),
            "file:///etc/passwd",
            ErrorCode::InvalidRequest,
        ),
    ];
    for (choice, base_url, code) in table {
        let error = no_key
            .open(&choice, &settings_for(base_url), &cancel)
            .await
            .err()
            .unwrap();
        assert_eq!(error.error.code, code, "{base_url}: {error}");
    }
}

#[tokio::test]
async fn a_server_of_this_computer_needs_no_key() {
    let server = FakeServer::start(Protocol::Openai).await;
    let engines = AdapterEngines::new(Arc::new(FakeKeyStore::default()));
    let cancel = CancellationToken::new();
    let settings = settings_for(&server.base_url());
    let model = engines
        .open(&choice(EngineId::Openai), &settings, &cancel)
        .await
        .unwrap();
    assert_eq!(ask(&*model, request(false), &cancel).await.error, None);
    assert_eq!(server.chats()[0].header("authorization"), None);
}
