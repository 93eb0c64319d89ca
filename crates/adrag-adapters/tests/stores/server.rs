//! The server adapter: its promises over a stub server, how its failures are classed, and the same promises over a
//! real server where there is one (`ADRAG_QDRANT_URL` with `ADRAG_QDRANT_KEY`, or `ADRAG_QDRANT_BIN`).

use crate::stub::StubServer;
use adrag_adapters::qdrant::{QdrantSidecar, ServerVectorIndex};
use adrag_contract::ErrorCode;
use adrag_core::ports::{ErrorClass, Scope, VectorIndex};
use adrag_core::testing::vector::{DIM, conformance, point, unit_vector};
use std::cell::Cell;
use std::path::Path;
use tonic::Status;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeps_every_promise_of_the_port() {
    let server = StubServer::start(Some("secret")).await;
    let number = Cell::new(0);
    conformance(async || {
        number.set(number.get() + 1);
        let name = format!("conformance-{}", number.get());
        ServerVectorIndex::connect(&server.url, Some("secret".to_owned()), name, DIM)
            .await
            .unwrap()
    })
    .await;
    assert_eq!(
        *server.state.hasty.lock().unwrap(),
        0,
        "every write waits for its effect"
    );
}

#[tokio::test]
async fn a_collection_outlives_its_connection() {
    let server = StubServer::start(None).await;
    let connect = || ServerVectorIndex::connect(&server.url, None, "kept", DIM);
    let first = connect().await.unwrap();
    first.upsert(vec![point("doc", 1, "a", 0)]).await.unwrap();
    drop(first);
    assert_eq!(connect().await.unwrap().count().await.unwrap(), 1);
}

#[tokio::test]
async fn a_collection_for_other_vectors_is_refused_and_left_alone() {
    let server = StubServer::start(None).await;
    let theirs = ServerVectorIndex::connect(&server.url, None, "theirs", DIM)
        .await
        .unwrap();
    theirs.upsert(vec![point("doc", 1, "a", 0)]).await.unwrap();
    let refused = ServerVectorIndex::connect(&server.url, None, "theirs", DIM + 8)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.class, refused.error.code),
        (ErrorClass::Permanent, ErrorCode::StoreFailed)
    );
    assert!(
        refused.error.message.contains("theirs") && refused.error.hint.is_some(),
        "{refused}"
    );
    assert_eq!(theirs.count().await.unwrap(), 1);
}

#[tokio::test]
async fn a_wrong_or_missing_key_is_named_as_such() {
    let server = StubServer::start(Some("secret")).await;
    for key in [None, Some("guess".to_owned())] {
        let refused = ServerVectorIndex::connect(&server.url, key, "any", DIM)
            .await
            .unwrap_err();
        assert_eq!(
            (refused.class, refused.error.code),
            (ErrorClass::Rejected, ErrorCode::Unauthorized)
        );
        assert!(
            refused.error.hint.as_deref().unwrap_or_default().contains("key"),
            "{refused}"
        );
        assert!(!refused.to_string().contains("guess"), "a key is never shown");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_may_come_back() {
    let refused = ServerVectorIndex::connect("http://127.0.0.1:9", None, "any", DIM)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.class, refused.error.code),
        (ErrorClass::Transient, ErrorCode::Unreachable)
    );
    assert!(refused.error.hint.is_some());
    let refused = ServerVectorIndex::connect("not a url", None, "any", DIM)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.class, refused.error.code),
        (ErrorClass::Rejected, ErrorCode::InvalidRequest)
    );
}

#[tokio::test]
async fn failures_are_classed_where_they_happen() {
    let server = StubServer::start(None).await;
    let index = ServerVectorIndex::connect(&server.url, None, "any", DIM)
        .await
        .unwrap();
    for (fault, class, code) in [
        (
            Status::unavailable("restarting"),
            ErrorClass::Transient,
            ErrorCode::Unreachable,
        ),
        (
            Status::deadline_exceeded("slow"),
            ErrorClass::Transient,
            ErrorCode::Timeout,
        ),
        (
            Status::resource_exhausted("busy"),
            ErrorClass::Transient,
            ErrorCode::RateLimited,
        ),
        (
            Status::permission_denied("read only"),
            ErrorClass::Rejected,
            ErrorCode::Unauthorized,
        ),
        (
            Status::invalid_argument("no"),
            ErrorClass::Rejected,
            ErrorCode::InvalidRequest,
        ),
        (
            Status::internal("wal is broken"),
            ErrorClass::Permanent,
            ErrorCode::StoreFailed,
        ),
        (
            Status::not_found("gone"),
            ErrorClass::Permanent,
            ErrorCode::StoreFailed,
        ),
    ] {
        *server.state.fault.lock().unwrap() = Some(fault.clone());
        let error = index
            .search(unit_vector(1, DIM), 3, &Scope::Everything)
            .await
            .unwrap_err();
        assert_eq!(
            (error.class, error.error.code),
            (class, code),
            "{fault:?} became {error}"
        );
        let error = index.upsert(vec![point("doc", 1, "a", 0)]).await.unwrap_err();
        assert_eq!((error.class, error.error.code), (class, code));
    }
    *server.state.fault.lock().unwrap() = None;
    assert_eq!(
        index.count().await.unwrap(),
        0,
        "and it goes on when the server does"
    );
}

#[tokio::test]
async fn a_large_write_is_sent_in_parts() {
    let server = StubServer::start(None).await;
    let index = ServerVectorIndex::connect(&server.url, None, "wide", 1_024)
        .await
        .unwrap();
    let points = (0..2_000).map(|number| {
        let mut point = point("doc", 1, "a", number);
        point.vector = unit_vector(number as u64 + 1, 1_024);
        point
    });
    // Eight megabytes, twice what a server takes in one message.
    index.upsert(points.collect()).await.unwrap();
    assert_eq!(index.count().await.unwrap(), 2_000);
}

/// Runs the suite on a real server and removes what it made.
async fn suite_on(server: impl AsyncFn(String) -> ServerVectorIndex) {
    let number = Cell::new(0);
    conformance(async || {
        number.set(number.get() + 1);
        let index = server(format!(
            "adrag-conformance-{}-{}",
            std::process::id(),
            number.get()
        ))
        .await;
        index.clear().await.unwrap();
        index
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_keeps_every_promise() {
    let Ok(url) = std::env::var("ADRAG_QDRANT_URL") else {
        println!("skipped: no qdrant server (ADRAG_QDRANT_URL)");
        return;
    };
    let key = std::env::var("ADRAG_QDRANT_KEY").ok();
    suite_on(async |name| {
        ServerVectorIndex::connect(&url, key.clone(), name, DIM)
            .await
            .unwrap()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sidecar_keeps_every_promise_and_ends() {
    let Ok(binary) = std::env::var("ADRAG_QDRANT_BIN") else {
        println!("skipped: no qdrant server (ADRAG_QDRANT_BIN)");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join("vectors");
    let binary = QdrantSidecar::find(Some(Path::new(&binary))).unwrap();
    let mut sidecar = QdrantSidecar::start(&binary, &storage).await.unwrap();
    suite_on(async |name| sidecar.connect(&name, DIM).await.unwrap()).await;
    assert!(sidecar.is_alive());
    let url = sidecar.url();
    let keyless = ServerVectorIndex::connect(&url, None, "any", DIM)
        .await
        .unwrap_err();
    assert_eq!(keyless.error.code, ErrorCode::Unauthorized);
    let second = QdrantSidecar::start(&binary, &storage).await.unwrap_err();
    assert_eq!(second.error.code, ErrorCode::DataFolderInUse);
    sidecar.stop().await;
    let gone = ServerVectorIndex::connect(&url, None, "any", DIM)
        .await
        .unwrap_err();
    assert_eq!(gone.error.code, ErrorCode::Unreachable);
}
