//! Reads requests: bodies, queries and names, with an answer in our words when they make no sense.

use super::fault::Fault;
use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

/// Largest JSON body that is read, bytes. A history may be long; documents are not sent this way.
const JSON_LIMIT: usize = 2 << 20;

/// A JSON body.
pub struct Body<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        if !is_of(request.headers(), "application/json") {
            return Err(Fault::media_type("application/json"));
        }
        parse(request).await.map(Self)
    }
}

/// The body as JSON, whatever it calls itself.
///
/// # Errors
/// When it is too large or no such JSON.
pub async fn parse<T: DeserializeOwned>(request: Request) -> Result<T, Fault> {
    announced_within(request.headers(), JSON_LIMIT as u64)?;
    let bytes = to_bytes(request.into_body(), JSON_LIMIT)
        .await
        .map_err(|_| Fault::too_large(JSON_LIMIT as u64))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Fault::bad_request(format!("the body cannot be used: {error}")))
}

/// Refuses a body that says it is larger, before any of it is read.
///
/// # Errors
/// When it does.
pub fn announced_within(headers: &HeaderMap, limit: u64) -> Result<(), Fault> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match announced {
        Some(length) if length > limit => Err(Fault::too_large(limit)),
        _ => Ok(()),
    }
}

/// Whether the body says that it is of this kind.
pub fn is_of(headers: &HeaderMap, kind: &str) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case(kind))
}

/// What follows the `?`.
pub struct Asked<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(asked)| Self(asked))
            .map_err(|error| Fault::bad_request(format!("the query cannot be used: {}", error.body_text())))
    }
}

/// The id in the path.
pub struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        Path::from_request_parts(parts, state)
            .await
            .map(|Path(id)| Self(id))
            .map_err(|error| Fault::bad_request(error.body_text()))
    }
}
