//! Who may come in: the right host, no page of another origin, and the token.

use super::reply::Refused;
use adrag_contract::{AppError, ErrorCode};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// What is asked of every request.
pub(super) struct Guard {
    hosts: [String; 3],
    token: Option<String>,
    allow_origins: Vec<String>,
}

/// A token nobody can guess.
pub(super) fn new_token() -> String {
    format!(
        "{}{}",
        uuid::Uuid::new_v4().simple(),
        uuid::Uuid::new_v4().simple()
    )
}

impl Guard {
    pub(super) fn new(port: u16, token: Option<String>, allow_origins: Vec<String>) -> Self {
        Self {
            hosts: ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")),
            token,
            allow_origins: allow_origins
                .into_iter()
                .map(|origin| origin.trim_end_matches('/').to_owned())
                .collect(),
        }
    }

    /// The origin of a page that was named at start.
    fn allowed(&self, origin: &str) -> bool {
        self.allow_origins.iter().any(|known| known == origin)
    }

    fn refusal(&self, headers: &HeaderMap, preflight: bool) -> Option<Refused> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let refuse =
            |status, why: &str| Some(Refused::new(status, AppError::new(ErrorCode::Unauthorized, why)));
        // A name of the web that was made to lead here would let its pages in.
        let host = text(header::HOST).unwrap_or_default();
        if !self.hosts.iter().any(|known| known == host) {
            return refuse(StatusCode::FORBIDDEN, "this host is not served");
        }
        if let Some(origin) = text(header::ORIGIN) {
            let own = origin
                .strip_prefix("http://")
                .is_some_and(|origin| self.hosts.iter().any(|known| known == origin));
            if !own && !self.allowed(origin) {
                return refuse(StatusCode::FORBIDDEN, "pages of this origin may not call");
            }
        }
        let Some(token) = &self.token else { return None };
        if preflight {
            return None;
        }
        let given = text(header::AUTHORIZATION)
            .and_then(|value| value.strip_prefix("Bearer "))
            .unwrap_or_default();
        if !same(token, given.trim()) {
            let error = AppError::new(ErrorCode::Unauthorized, "the token is missing or wrong")
                .with_hint("send `Authorization: Bearer TOKEN` with the token that `adrag serve` printed");
            return Some(Refused::new(StatusCode::UNAUTHORIZED, error));
        }
        None
    }
}

/// Compares without telling by time how much was right.
fn same(token: &str, given: &str) -> bool {
    token.len() == given.len()
        && token
            .bytes()
            .zip(given.bytes())
            .fold(0, |differs, (a, b)| differs | (a ^ b))
            == 0
}

/// Lets a request through, or says why not. Pages of named origins are told that they may read the reply.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let origin = request
        .headers()
        .get(header::ORIGIN)
        .and_then(|value| value.to_str().ok())
        .filter(|origin| guard.allowed(origin))
        .map(str::to_owned);
    let preflight = request.method() == Method::OPTIONS && origin.is_some();
    let mut response = match guard.refusal(request.headers(), preflight) {
        Some(refused) => refused.into_response(),
        None if preflight => StatusCode::NO_CONTENT.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(&origin).ok()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        if preflight {
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_METHODS,
                HeaderValue::from_static("GET, POST, DELETE"),
            );
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type, last-event-id"),
            );
        }
    }
    response
}
