//! Our own routes, under `/v1`.

use super::Door;
use super::reply::{Answered, Refused, kind_of, read_json};
use super::stream::Follow;
use super::upload;
use adrag_contract::{
    AddFilesRequest, AppError, AskRequest, CollectionName, DocumentId, ErrorCode, RunId, Store,
};
use adrag_core::engine::SearchRequest;
use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;

/// A comment now and then keeps a silent stream from being cut on the way.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/v1/health", get(health))
        .route("/v1/openapi.json", get(openapi))
        .route("/v1/doctor", get(doctor))
        .route("/v1/engines", get(engines))
        .route("/v1/documents", get(documents).post(add).delete(clear))
        .route("/v1/documents/{id}", delete(remove))
        .route("/v1/uploads", post(upload_file))
        .route("/v1/search", post(search))
        .route("/v1/ask", post(ask))
        .route("/v1/runs/{id}/events", get(events))
        .route("/v1/runs/{id}/cancel", post(cancel))
        .route("/v1/threads", get(threads))
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy", "version": env!("CARGO_PKG_VERSION") }))
}

async fn openapi() -> Json<Value> {
    Json(super::openapi::description())
}

async fn doctor(State(door): State<Door>) -> Answered {
    Ok(Json(json!(door.engine.doctor().await)))
}

async fn engines(State(door): State<Door>) -> Answered {
    Ok(Json(json!({ "engines": door.engine.probe_engines().await })))
}

#[derive(Deserialize)]
struct Scope {
    collection: Option<String>,
    #[serde(default)]
    find: String,
}

async fn documents(State(door): State<Door>, Query(scope): Query<Scope>) -> Answered {
    let collection = scope.collection.map(CollectionName::new);
    let documents = door.engine.list_documents(collection.as_ref()).await?;
    Ok(Json(json!({ "documents": documents })))
}

#[derive(Deserialize)]
struct Paths {
    paths: Vec<String>,
    #[serde(default)]
    collection: Option<String>,
}

/// Adds files of this computer by their paths; the events follow.
async fn add(State(door): State<Door>, headers: HeaderMap, body: Body) -> Answered<Response> {
    let paths: Paths = read_json(kind_of(&headers), body).await?;
    let request = AddFilesRequest {
        paths: paths.paths,
        collection: paths.collection.map(CollectionName::new).unwrap_or_default(),
    };
    let run = door.engine.add_files(request).await?;
    // Closing this stream does not stop an ingestion: it is work of its own.
    stream(&door, run, 0, false).await
}

async fn clear(State(door): State<Door>, Query(scope): Query<Scope>) -> Answered {
    let collection = scope.collection.map(CollectionName::new);
    let deleted = door.engine.clear_documents(collection.as_ref()).await?;
    Ok(Json(json!({ "deleted": deleted })))
}

async fn remove(State(door): State<Door>, Path(id): Path<String>) -> Answered {
    door.engine.delete_documents(&[DocumentId::new(id)]).await?;
    Ok(Json(json!({ "deleted": 1 })))
}

async fn upload_file(State(door): State<Door>, request: Request) -> Answered {
    let form = Multipart::from_request(request, &())
        .await
        .map_err(|error| error.body_text());
    let taken = upload::take(&door, form).await?;
    if !taken.report.state.is_searchable() {
        return Err(Refused::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            AppError::new(
                ErrorCode::UnreadableFile,
                taken
                    .report
                    .reason
                    .unwrap_or_else(|| format!("`{}` holds no text", taken.name)),
            ),
        ));
    }
    Ok(Json(json!({ "document": taken.report })))
}

#[derive(Deserialize)]
struct Search {
    question: String,
    #[serde(default)]
    stores: Vec<Store>,
    top: Option<usize>,
    rerank: Option<bool>,
    collection: Option<String>,
}

async fn search(State(door): State<Door>, headers: HeaderMap, body: Body) -> Answered {
    let search: Search = read_json(kind_of(&headers), body).await?;
    let stores = if search.stores.is_empty() {
        Store::LOCAL.to_vec()
    } else {
        search.stores
    };
    let reply = door
        .engine
        .search(SearchRequest {
            question: search.question,
            stores,
            rerank: search.rerank,
            top: search.top.unwrap_or(10).clamp(1, 200),
            collection: search.collection.map(CollectionName::new),
        })
        .await?;
    Ok(Json(json!(reply)))
}

/// Answers a question; closing the stream stops it.
async fn ask(State(door): State<Door>, headers: HeaderMap, body: Body) -> Answered<Response> {
    let request: AskRequest = read_json(kind_of(&headers), body).await?;
    let run = door.engine.ask(request).await?;
    stream(&door, run, 0, true).await
}

/// Attaches to a run; `Last-Event-ID` goes on behind that event.
async fn events(State(door): State<Door>, Path(id): Path<String>, headers: HeaderMap) -> Answered<Response> {
    let from = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok())
        .map_or(0, |last| last + 1);
    stream(&door, RunId::new(id), from, false).await
}

async fn cancel(State(door): State<Door>, Path(id): Path<String>) -> Answered {
    let run = RunId::new(id);
    door.engine.run_snapshot(&run).await?;
    Ok(Json(json!({ "cancelled": door.engine.cancel(&run) })))
}

async fn threads(State(door): State<Door>, Query(scope): Query<Scope>) -> Answered {
    Ok(Json(
        json!({ "threads": door.engine.list_threads(&scope.find).await? }),
    ))
}

async fn stream(door: &Door, run: RunId, from: u64, cancel: bool) -> Answered<Response> {
    let follow = door.events.follow(door.engine.clone(), run, from, cancel).await?;
    let events = futures::stream::unfold(follow, |mut follow: Follow| async {
        let event = follow.next().await?;
        let data = serde_json::to_string(&event).unwrap_or_default();
        let told = Event::default().id(event.seq.to_string()).data(data);
        Some((Ok::<_, Infallible>(told), follow))
    });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response())
}
