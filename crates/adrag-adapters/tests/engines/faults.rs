//! Every fault of a server ends in an error that says what to do, in time, with what came before it kept.

use crate::support::{CANARY, ask, choice, engine_of, engines, model_at, request, served, settings_for};
use adrag_adapters::testing_servers::{FakeServer, Fault, Protocol};
use adrag_contract::ErrorCode;
use adrag_core::ports::Engines;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const BOTH: [Protocol; 2] = [Protocol::Openai, Protocol::Ollama];
const WHOLE: &str = "Blue whales weigh 150 tonnes.";

struct Case {
    fault: Fault,
    code: ErrorCode,
    /// The text that must have been kept.
    kept: &'static str,
    /// How often the server may be asked: it is asked no more where another try cannot help.
    asked: usize,
}

fn cases() -> Vec<Case> {
    let case = |fault, code, kept, asked| Case {
        fault,
        code,
        kept,
        asked,
    };
    vec![
        case(Fault::Status(400, None), ErrorCode::InvalidRequest, "", 1),
        case(Fault::Status(401, None), ErrorCode::Unauthorized, "", 1),
        case(Fault::Status(403, None), ErrorCode::Unauthorized, "", 1),
        case(Fault::Status(404, None), ErrorCode::BadReply, "", 1),
        case(Fault::UnknownModel, ErrorCode::UnknownModel, "", 1),
        case(Fault::Status(429, None), ErrorCode::RateLimited, "", 3),
        case(Fault::Status(429, Some(3600)), ErrorCode::RateLimited, "", 1),
        case(Fault::Status(500, None), ErrorCode::BadReply, "", 3),
        case(Fault::Status(503, None), ErrorCode::Unreachable, "", 3),
        case(Fault::Hangs, ErrorCode::Timeout, "", 1),
        case(Fault::HangsMidway, ErrorCode::Timeout, WHOLE, 1),
        case(Fault::Trickles, ErrorCode::Timeout, "", 1),
        case(Fault::HalfJson, ErrorCode::BadReply, WHOLE, 1),
        case(Fault::ClosesMidway, ErrorCode::BadReply, WHOLE, 1),
        case(Fault::EndsMidway, ErrorCode::BadReply, WHOLE, 1),
        case(Fault::InvalidUtf8, ErrorCode::BadReply, WHOLE, 1),
        case(Fault::ErrorMidway, ErrorCode::BadReply, WHOLE, 1),
        case(Fault::Html, ErrorCode::BadReply, "", 1),
    ]
}

#[tokio::test]
async fn every_fault_is_named_in_time_and_keeps_what_came_before() {
    for protocol in BOTH {
        for case in cases() {
            let name = format!("{protocol:?} {:?}", case.fault);
            let (server, model) = served(protocol).await;
            server.behave(case.fault.clone());
            let started = Instant::now();
            let told = ask(&*model, request(false), &CancellationToken::new()).await;
            let took = started.elapsed();
            let error = told
                .error
                .unwrap_or_else(|| panic!("{name}: no error, but `{}`", told.text));
            println!("{name}: {error}");
            assert_eq!(error.error.code, case.code, "{name}: {error}");
            assert_eq!(told.text, case.kept, "{name}");
            assert_eq!(server.chats().len(), case.asked, "{name}: tries");
            assert!(error.error.hint.is_some(), "{name}: {error}");
            assert!(!error.error.message.ends_with('.'), "{name}: {error}");
            assert!(
                !format!("{error:?}").contains("canary"),
                "{name}: the key is in the error"
            );
            // The limit of silence is one second; two waits between tries and a busy machine come on top.
            assert!(took < Duration::from_secs(8), "{name} took {took:?}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_does_not_end_is_cut_at_its_limit() {
    for protocol in BOTH {
        let server = FakeServer::start(protocol).await;
        server.behave(Fault::Huge);
        let mut settings = settings_for(&server.base_url());
        // Eight megabytes may take a busy machine more than the second that the other faults have.
        settings.openai.timeout_s = 30;
        settings.ollama.timeout_s = 30;
        let cancel = CancellationToken::new();
        let model = engines()
            .open(&choice(engine_of(protocol)), &settings, &cancel)
            .await
            .unwrap();
        let error = ask(&*model, request(false), &cancel).await.error.unwrap();
        assert_eq!(error.error.code, ErrorCode::BadReply, "{error}");
        assert!(
            server.sees_closed(1).await,
            "{protocol:?}: the rest was not declined"
        );
    }
}

#[tokio::test]
async fn a_message_names_server_and_model() {
    for protocol in BOTH {
        let (server, model) = served(protocol).await;
        let origin = server.base_url().trim_end_matches("/v1").to_owned();
        for fault in [Fault::Status(500, None), Fault::HangsMidway, Fault::UnknownModel] {
            server.behave(fault);
            let told = ask(&*model, request(false), &CancellationToken::new()).await;
            let message = told.error.unwrap().error.message;
            assert!(
                message.contains(&origin) && message.contains("fake-1"),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn a_missing_ollama_model_comes_with_the_command_that_gets_it() {
    let (server, model) = served(Protocol::Ollama).await;
    server.behave(Fault::UnknownModel);
    let told = ask(&*model, request(false), &CancellationToken::new()).await;
    let hint = told.error.unwrap().error.hint.unwrap();
    assert!(hint.contains("`ollama pull fake-1`"), "{hint}");
}

#[tokio::test]
async fn nobody_listening_is_told_with_the_address() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for protocol in BOTH {
        let base = format!("http://{closed}");
        let model = model_at(protocol, &base).await.unwrap();
        let told = ask(&*model, request(false), &CancellationToken::new()).await;
        let error = told.error.unwrap();
        assert_eq!(error.error.code, ErrorCode::Unreachable, "{error}");
        assert!(error.error.hint.as_deref().unwrap().contains(&base), "{error}");
    }
}

#[tokio::test]
async fn a_question_that_was_taken_is_not_asked_twice_unasked() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::AsyncReadExt;
    for protocol in BOTH {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let taken = std::sync::Arc::new(AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&taken);
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let mut bytes = [0; 64 * 1024];
                assert!(connection.read(&mut bytes).await.unwrap() > 0);
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let model = model_at(protocol, &base).await.unwrap();
        let told = ask(&*model, request(false), &CancellationToken::new()).await;
        assert_eq!(told.error.unwrap().error.code, ErrorCode::BadReply);
        assert_eq!(taken.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_fault_that_passes_is_not_seen() {
    for protocol in BOTH {
        let (server, model) = served(protocol).await;
        server.behave_in_turn([Fault::Status(503, None), Fault::Status(500, None), Fault::None]);
        let told = ask(&*model, request(false), &CancellationToken::new()).await;
        assert_eq!(told.error, None);
        assert_eq!(told.text, WHOLE);
        assert_eq!(server.chats().len(), 3);
    }
}

#[tokio::test]
async fn a_wish_to_wait_is_honoured() {
    let (server, model) = served(Protocol::Openai).await;
    server.behave_in_turn([Fault::Status(429, Some(1)), Fault::None]);
    let started = Instant::now();
    let told = ask(&*model, request(false), &CancellationToken::new()).await;
    assert_eq!(told.error, None);
    assert!(
        started.elapsed() >= Duration::from_secs(1),
        "asked again after {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_stop_ends_the_wait_between_two_tries() {
    let (server, model) = served(Protocol::Openai).await;
    server.behave(Fault::Status(429, Some(15)));
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stop.cancel();
    });
    let started = Instant::now();
    let told = ask(&*model, request(false), &cancel).await;
    assert!(told.error.unwrap().is_cancelled());
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "took {:?}",
        started.elapsed()
    );
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn the_key_does_not_follow_a_redirect() {
    for protocol in BOTH {
        let elsewhere = FakeServer::start(protocol).await;
        let (server, model) = served(protocol).await;
        server.behave(Fault::RedirectsTo(format!(
            "{}/chat/completions",
            elsewhere.base_url()
        )));
        let told = ask(&*model, request(false), &CancellationToken::new()).await;
        assert_eq!(told.error.unwrap().error.code, ErrorCode::BadReply);
        assert_eq!(
            elsewhere.requests().len(),
            0,
            "{protocol:?}: the other server was asked"
        );
        assert_eq!(server.chats().len(), 1);
        if protocol == Protocol::Openai {
            let sent = format!("Bearer {CANARY}");
            assert_eq!(server.chats()[0].header("authorization"), Some(sent.as_str()));
        }
    }
}

#[tokio::test]
async fn a_next_question_runs_at_once_after_a_stopped_one() {
    for protocol in BOTH {
        let (server, model) = served(protocol).await;
        server.behave_in_turn([Fault::HangsMidway, Fault::None]);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stop.cancel();
        });
        let told = ask(&*model, request(false), &cancel).await;
        assert!(told.error.unwrap().is_cancelled());
        assert_eq!(told.text, WHOLE, "what came before the stop is kept");
        assert!(server.sees_closed(1).await, "the server went on");
        let told = ask(&*model, request(false), &CancellationToken::new()).await;
        assert_eq!((told.text.as_str(), told.error), (WHOLE, None));
    }
}
