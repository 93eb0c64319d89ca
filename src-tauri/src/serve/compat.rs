//! The eight routes of the source system, with its paths, keys and frames, so that its own front end works.

use super::Door;
use super::reply::{Answered, Refused, kind_of, read_json};
use super::stream::Follow;
use super::upload;
use adrag_contract::{AppError, AskRequest, DocumentId, DocumentInfo, DocumentState, EngineId, ErrorCode};
use adrag_core::compat::CompatFrames;
use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/api/query", post(query))
        .route("/api/upload", post(upload_file))
        .route("/api/documents", get(documents))
        .route("/api/clear", delete(clear))
        .route("/api/knowledge-bases", get(knowledge_bases))
        .route("/api/knowledge-bases/{id}", delete(remove))
        .route("/api/providers", get(providers))
        .route("/api/health", get(health))
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy" }))
}

fn bad(message: &str) -> Refused {
    Refused::from(AppError::new(ErrorCode::InvalidRequest, message))
}

async fn query(State(door): State<Door>, headers: HeaderMap, body: Body) -> Answered<Response> {
    let request: Value = read_json(kind_of(&headers), body).await?;
    let question = request["query"].as_str().unwrap_or_default().trim().to_owned();
    if question.is_empty() {
        return Err(bad("query is required"));
    }
    let engine = match &request["provider"] {
        Value::Null => None,
        Value::String(name) => match name.as_str() {
            "openai" => Some(EngineId::Openai),
            "ollama" => Some(EngineId::Ollama),
            // Ours besides: the source system knows two.
            "quotes" => Some(EngineId::Quotes),
            "local" => Some(EngineId::Local),
            _ => return Err(bad("provider must be openai or ollama")),
        },
        _ => return Err(bad("provider must be a text")),
    };
    let passes = door.engine.settings().await.answer.passes;
    let run = door
        .engine
        .ask(AskRequest {
            question,
            engine,
            model: request["model"].as_str().map(str::to_owned),
            ..AskRequest::default()
        })
        .await?;
    let follow = door.events.follow(door.engine.clone(), run, 0, true).await?;
    let state = (follow, CompatFrames::new(passes), VecDeque::new());
    let frames = futures::stream::unfold(state, |(mut follow, mut frames, mut waiting)| async move {
        let follow_ref: &mut Follow = &mut follow;
        while waiting.is_empty() {
            let event = follow_ref.next().await?;
            waiting.extend(frames.push(&event));
        }
        let frame: Value = waiting.pop_front()?;
        let told = Event::default().data(frame.to_string());
        Some((Ok::<_, Infallible>(told), (follow, frames, waiting)))
    });
    let mut response = Sse::new(frames).into_response();
    response
        .headers_mut()
        .insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("keep-alive"));
    Ok(response)
}

/// A document as the source system lists its knowledge bases. Entities and edges are counted for the whole graph only, so
/// they are 0 here.
fn knowledge_base(document: &DocumentInfo) -> Value {
    let name = document.path.rsplit(['/', '\\']).next().unwrap_or(&document.path);
    json!({
        "id": document.id, "name": name, "uploaded_at": iso(document.updated_at_ms),
        "chunks": document.chunks, "vectors": document.chunks, "entities": 0, "edges": 0,
    })
}

async fn ready(door: &Door) -> Answered<Vec<DocumentInfo>> {
    let mut documents = door.engine.list_documents(None).await?;
    documents.retain(|document| document.state == DocumentState::Ready);
    documents.sort_by_key(|document| std::cmp::Reverse(document.updated_at_ms));
    Ok(documents)
}

async fn knowledge_bases(State(door): State<Door>) -> Answered {
    let documents = ready(&door).await?;
    let list: Vec<Value> = documents.iter().map(knowledge_base).collect();
    Ok(Json(json!({ "knowledge_bases": list })))
}

async fn counts(door: &Door) -> (u64, u64, Value) {
    let stores = door.engine.doctor().await.stores;
    let graph = json!({
        "documents": stores.graph.chunks, "entities": stores.graph.entities, "edges": stores.graph.edges,
    });
    (stores.vector.points, stores.keyword.chunks, graph)
}

async fn documents(State(door): State<Door>) -> Answered {
    let (vectors, words, graph) = counts(&door).await;
    Ok(Json(
        json!({ "vector_count": vectors, "bm25_count": words, "graph": graph }),
    ))
}

async fn stats(door: &Door) -> Value {
    let (vectors, words, graph) = counts(door).await;
    json!({ "vector_total": vectors, "bm25_total": words, "graph": graph })
}

async fn clear(State(door): State<Door>) -> Answered {
    door.engine.clear_documents(None).await?;
    Ok(Json(
        json!({ "success": true, "message": "All documents were removed" }),
    ))
}

async fn remove(State(door): State<Door>, Path(id): Path<String>) -> Answered {
    match door.engine.delete_documents(&[DocumentId::new(id)]).await {
        // Removing what is not there is done.
        Err(error) if error.code != ErrorCode::NotFound => return Err(error.into()),
        _ => {}
    }
    Ok(Json(json!({ "success": true, "stats": stats(&door).await })))
}

async fn upload_file(State(door): State<Door>, request: Request) -> Answered {
    let form = Multipart::from_request(request, &())
        .await
        .map_err(|error| error.body_text());
    let taken = upload::take(&door, form).await?;
    if !taken.report.state.is_searchable() {
        let reason = taken
            .report
            .reason
            .unwrap_or_else(|| format!("`{}` holds no text", taken.name));
        return Err(Refused::from(AppError::new(ErrorCode::UnreadableFile, reason)));
    }
    let document = ready(&door)
        .await?
        .into_iter()
        .find(|document| Some(&document.id) == taken.report.id.as_ref());
    Ok(Json(json!({
        "success": true,
        "file_name": taken.name,
        "file_hash": taken.report.id,
        "chunks_indexed": taken.report.chunks,
        "kb": document.as_ref().map(knowledge_base),
        "stats": stats(&door).await,
    })))
}

async fn providers(State(door): State<Door>) -> Answered {
    let settings = door.engine.settings().await;
    let mut list = Vec::new();
    for status in door.engine.probe_engines().await {
        let label = status.engine.label();
        let mut provider = json!({
            "id": status.engine, "label": label, "model": status.model, "available": status.available,
            "models": status.models,
        });
        if status.engine == EngineId::Ollama {
            provider["base_url"] = json!(settings.ollama.base_url);
        }
        if let Some(error) = status.error {
            provider["error"] = json!(error.message);
        }
        list.push(provider);
    }
    Ok(Json(json!({ "providers": list, "default": settings.engine })))
}

/// Milliseconds since the Unix epoch as UTC in ISO 8601 (days to civil date after H. Hinnant, "chrono-compatible low-level
/// date algorithms").
fn iso(at_ms: i64) -> String {
    let (days, seconds) = (at_ms.div_euclid(86_400_000), at_ms.rem_euclid(86_400_000) / 1000);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}+00:00",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn dates_are_right_across_leap_years() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00+00:00"),
            (951_782_399_000, "2000-02-28T23:59:59+00:00"),
            (951_782_400_000, "2000-02-29T00:00:00+00:00"),
            (1_704_067_200_000, "2024-01-01T00:00:00+00:00"),
            (-1_000, "1969-12-31T23:59:59+00:00"),
        ] {
            assert_eq!(iso(at), text);
        }
    }
}
