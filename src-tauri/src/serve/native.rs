//! The routes in our words, under `/v1`.

use super::Shared;
use super::fault::Fault;
use super::read::{Asked, Body, Named, is_of, parse};
use super::stream::{self, Watched};
use super::{openapi, upload};
use adrag_contract::{
    AddFilesRequest, AskRequest, CollectionName, DoctorReport, DocumentId, DocumentReport, EngineId, RunId,
    SearchReply, Store, ThreadId, Turn,
};
use adrag_core::engine::{SearchRequest, reports_of};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

type Reply = Result<Json<Value>, Fault>;

/// Whether it answers at all.
pub async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// What there is to ask.
pub async fn describe(State(served): State<Shared>) -> Json<Value> {
    Json(openapi::document(served.compat))
}

/// What is there, what is wrong, what to do.
pub async fn doctor(State(served): State<Shared>) -> Json<DoctorReport> {
    Json(served.engine.doctor().await)
}

/// The engines, asked now.
pub async fn providers(State(served): State<Shared>) -> Json<Value> {
    let settings = served.engine.settings().await;
    Json(json!({ "engines": served.engine.probe_engines().await, "default": settings.engine }))
}

/// A collection, or all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    collection: Option<CollectionName>,
    #[serde(default)]
    all: bool,
}

/// The documents.
pub async fn list_documents(State(served): State<Shared>, Asked(which): Asked<Which>) -> Reply {
    let documents = served.engine.list_documents(which.collection.as_ref()).await?;
    Ok(Json(json!({ "documents": documents })))
}

/// The collections.
pub async fn list_collections(State(served): State<Shared>) -> Reply {
    Ok(Json(
        json!({ "collections": served.engine.list_collections().await? }),
    ))
}

/// Paths to add.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    paths: Vec<String>,
    #[serde(default)]
    collection: CollectionName,
}

/// Adds uploaded files, or files and folders of this machine by their path, and answers when they are read.
pub async fn add_documents(State(served): State<Shared>, request: Request) -> Reply {
    if is_of(request.headers(), "multipart/form-data") {
        let (kept, collection) = upload::receive(&served, request, upload::LIMIT).await?;
        let reports = upload::add(&served, kept, collection.unwrap_or_default()).await?;
        return Ok(added(&reports));
    }
    if !is_of(request.headers(), "application/json") {
        return Err(Fault::media_type("multipart/form-data` or `application/json"));
    }
    let Paths { paths, collection } = parse(request).await?;
    if let Some(relative) = paths.iter().find(|path| !PathBuf::from(path).is_absolute()) {
        return Err(Fault::bad_request(format!(
            "the path `{relative}` is not absolute"
        )));
    }
    let run = served
        .engine
        .add_files(AddFilesRequest { paths, collection })
        .await?;
    Ok(added(reports_of(&served.engine.wait(&run).await?)))
}

fn added(reports: &[DocumentReport]) -> Json<Value> {
    Json(json!({ "documents": reports }))
}

/// Removes a document from all stores.
pub async fn delete_document(State(served): State<Shared>, Named(id): Named) -> Reply {
    let id = DocumentId::new(id);
    let path = served.engine.document_path(&id).await?;
    served.engine.delete_documents(&[id]).await?;
    upload::forget(&served, [PathBuf::from(path)]).await;
    Ok(Json(json!({ "deleted": 1 })))
}

/// Removes the documents of a collection, or all when that is said.
pub async fn clear_documents(State(served): State<Shared>, Asked(which): Asked<Which>) -> Reply {
    if which.collection.is_some() == which.all {
        return Err(Fault::bad_request("name one: `collection=NAME` or `all=true`"));
    }
    let paths: Vec<PathBuf> = served
        .engine
        .list_documents(which.collection.as_ref())
        .await?
        .into_iter()
        .map(|document| document.path.into())
        .collect();
    let deleted = served.engine.clear_documents(which.collection.as_ref()).await?;
    upload::forget(&served, paths).await;
    Ok(Json(json!({ "deleted": deleted })))
}

/// A search.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    question: String,
    #[serde(default = "all_stores")]
    stores: Vec<Store>,
    rerank: Option<bool>,
    #[serde(default = "ten")]
    top: usize,
    collection: Option<CollectionName>,
}

fn all_stores() -> Vec<Store> {
    Store::LOCAL.to_vec()
}

fn ten() -> usize {
    10
}

/// Passages for a question.
pub async fn search(
    State(served): State<Shared>,
    Body(search): Body<Search>,
) -> Result<Json<SearchReply>, Fault> {
    if search.stores.contains(&Store::Web) {
        return Err(Fault::bad_request("the web is searched for answers only"));
    }
    let request = SearchRequest {
        question: search.question,
        stores: search.stores,
        rerank: search.rerank,
        top: search.top,
        collection: search.collection,
    };
    Ok(Json(served.engine.search(request).await?))
}

/// A question. The server of an engine cannot be named here: its key would go there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    question: String,
    #[serde(default)]
    history: Vec<Turn>,
    engine: Option<EngineId>,
    model: Option<String>,
    collection: Option<CollectionName>,
    web: Option<bool>,
    thread: Option<ThreadId>,
    replaces: Option<RunId>,
    /// Whether the run goes on when the stream is closed.
    #[serde(default)]
    keep: bool,
}

/// Answers a question as a stream of events. Closing it stops the run, unless `keep` is set.
pub async fn ask(State(served): State<Shared>, Body(ask): Body<Ask>) -> Result<Response, Fault> {
    let request = AskRequest {
        question: ask.question,
        history: ask.history,
        engine: ask.engine,
        model: ask.model,
        base_url: None,
        collection: ask.collection,
        web: ask.web,
        thread: ask.thread,
        replaces: ask.replaces,
    };
    let run = served.engine.ask(request).await?;
    Ok(stream::native(Watched::start(&served, run, 0, !ask.keep).await?))
}

/// Words to look for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    #[serde(default)]
    find: String,
}

/// The threads.
pub async fn list_threads(State(served): State<Shared>, Asked(words): Asked<Find>) -> Reply {
    Ok(Json(
        json!({ "threads": served.engine.list_threads(&words.find).await? }),
    ))
}

/// The latest questions.
pub async fn list_runs(State(served): State<Shared>) -> Reply {
    Ok(Json(json!({ "runs": served.engine.list_runs().await? })))
}

/// The events of a run from the one after `Last-Event-ID` on; all of them without it. Watching owns nothing.
pub async fn run_events(
    State(served): State<Shared>,
    Named(run): Named,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let from = match headers.get("last-event-id") {
        None => 0,
        Some(last) => last
            .to_str()
            .ok()
            .and_then(|last| last.trim().parse::<u64>().ok()?.checked_add(1))
            .ok_or_else(|| Fault::bad_request("`Last-Event-ID` is no number of an event"))?,
    };
    Ok(stream::native(
        Watched::start(&served, RunId::new(run), from, false).await?,
    ))
}

/// Stops a run; false when it was over.
pub async fn cancel_run(State(served): State<Shared>, Named(run): Named) -> Result<Response, Fault> {
    let run = RunId::new(run);
    let cancelled = served.engine.cancel(&run);
    if !cancelled {
        served.engine.run_snapshot(&run).await?;
    }
    Ok((StatusCode::OK, Json(json!({ "cancelled": cancelled }))).into_response())
}
