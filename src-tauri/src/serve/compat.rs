//! The eight routes of the source system, under `/api`, in its shapes, so that its own front end works.

use super::Shared;
use super::compat_shapes::{counts, file_name, knowledge_base, providers, totals};
use super::fault::Fault;
use super::read::{Named, is_of, parse};
use super::stream::{self, Watched};
use super::upload;
use adrag_contract::{
    AskRequest, CollectionName, DocumentId, DocumentReport, DocumentState, EngineId, ErrorCode, StoreCounts,
};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Largest upload it takes, bytes.
const UPLOAD_LIMIT: u64 = 50 << 20;

type Reply = Result<Json<Value>, Fault>;

/// `GET /api/health`.
pub async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy" }))
}

/// `POST /api/query`: a stream of frames. Closing it stops the run.
pub async fn query(State(served): State<Shared>, request: Request) -> Result<Response, Fault> {
    let body: Value = if is_of(request.headers(), "application/json") {
        parse(request).await?
    } else {
        Value::Null
    };
    let question = body["query"].as_str().map(str::trim).unwrap_or_default();
    if question.is_empty() {
        return Err(Fault::bad_request("Query is required"));
    }
    let engine = match &body["provider"] {
        Value::Null => None,
        Value::String(provider) if provider == "openai" => Some(EngineId::Openai),
        Value::String(provider) if provider == "ollama" => Some(EngineId::Ollama),
        other => {
            return Err(Fault::bad_request(format!(
                "Unknown provider {other}: use openai or ollama"
            )));
        }
    };
    let request = AskRequest {
        question: question.to_owned(),
        engine,
        model: body["model"].as_str().map(str::to_owned),
        ..AskRequest::default()
    };
    let passes = served.engine.settings().await.answer.passes;
    let run = served.engine.ask(request).await?;
    Ok(stream::compat(
        Watched::start(&served, run, 0, true).await?,
        passes,
    ))
}

/// `POST /api/upload`: one file, read to the end before it answers.
pub async fn upload(State(served): State<Shared>, request: Request) -> Reply {
    let (kept, _) = upload::receive(&served, request, UPLOAD_LIMIT).await?;
    let reports = upload::add(&served, kept, CollectionName::default()).await?;
    let report = reports
        .first()
        .ok_or_else(|| Fault::bad_request("No file provided"))?;
    let id = ready(report)?;
    let documents = served.engine.list_documents(None).await?;
    let document = documents
        .iter()
        .find(|document| &document.id == id)
        .ok_or_else(|| failed("the document was removed meanwhile"))?;
    let stores = stores(&served).await?;
    Ok(Json(json!({
        "success": true, "file_name": file_name(&document.path), "file_hash": id,
        "chunks_indexed": report.chunks, "kb": knowledge_base(document, &stores), "stats": totals(&stores),
    })))
}

fn ready(report: &DocumentReport) -> Result<&DocumentId, Fault> {
    let reason = report.reason.as_deref().unwrap_or("No text could be extracted");
    match (&report.id, report.state) {
        (Some(id), DocumentState::Ready) => Ok(id),
        (_, DocumentState::Empty | DocumentState::Failed) => Err(Fault::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "unreadable_file",
            reason,
            "send a file of a supported kind that holds text",
        )),
        _ => Err(failed(reason)),
    }
}

fn failed(why: &str) -> Fault {
    Fault::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "internal",
        why,
        "look into the log of `adrag serve`",
    )
}

/// `GET /api/documents`: counts.
pub async fn documents(State(served): State<Shared>) -> Reply {
    Ok(Json(counts(&stores(&served).await?)))
}

/// `GET /api/knowledge-bases`: the documents, newest first.
pub async fn knowledge_bases(State(served): State<Shared>) -> Reply {
    let mut documents = served.engine.list_documents(None).await?;
    documents.retain(|document| document.state == DocumentState::Ready);
    documents.sort_by_key(|document| std::cmp::Reverse(document.updated_at_ms));
    let stores = stores(&served).await?;
    let listed: Vec<Value> = documents
        .iter()
        .map(|document| knowledge_base(document, &stores))
        .collect();
    Ok(Json(json!({ "knowledge_bases": listed })))
}

/// `DELETE /api/knowledge-bases/{hash}`: an unknown one is no fault.
pub async fn delete_knowledge_base(State(served): State<Shared>, Named(id): Named) -> Reply {
    let id = DocumentId::new(id);
    match served.engine.document_path(&id).await {
        Ok(path) => {
            served.engine.delete_documents(&[id]).await?;
            upload::forget(&served, [PathBuf::from(path)]).await;
        }
        Err(error) if error.code == ErrorCode::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Json(
        json!({ "success": true, "stats": totals(&stores(&served).await?) }),
    ))
}

/// `DELETE /api/clear`.
pub async fn clear(State(served): State<Shared>) -> Reply {
    let documents = served.engine.list_documents(None).await?;
    let cleared = served.engine.clear_documents(None).await?;
    upload::forget(
        &served,
        documents.into_iter().map(|document| document.path.into()),
    )
    .await;
    Ok(Json(
        json!({ "success": true, "message": format!("{cleared} documents removed from all stores") }),
    ))
}

/// `GET /api/providers`.
pub async fn list_providers(State(served): State<Shared>) -> Json<Value> {
    let settings = served.engine.settings().await;
    Json(providers(&served.engine.probe_engines().await, &settings))
}

async fn stores(served: &super::Served) -> Result<StoreCounts, Fault> {
    let (counts, problems) = served.engine.store_counts().await;
    match problems.into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(counts),
    }
}
