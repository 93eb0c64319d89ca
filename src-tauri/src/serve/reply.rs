//! Replies: JSON on every status, errors in one shape.

use adrag_contract::{AppError, ErrorCode};
use axum::Json;
use axum::body::Body;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Most bytes of a JSON request.
const MAX_JSON: usize = 1 << 20;

/// An error as it leaves: its status and `{"error": {code, message, hint}}`.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: AppError,
}

pub(super) type Answered<T = Json<Value>> = Result<T, Refused>;

impl Refused {
    pub(super) fn new(status: StatusCode, error: AppError) -> Self {
        Self { status, error }
    }
}

impl From<AppError> for Refused {
    fn from(error: AppError) -> Self {
        let status = match error.code {
            ErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
            ErrorCode::UnreadableFile => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::NotFound | ErrorCode::UnknownModel => StatusCode::NOT_FOUND,
            ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            ErrorCode::Unauthorized | ErrorCode::Unreachable | ErrorCode::BadReply => StatusCode::BAD_GATEWAY,
            ErrorCode::ModelMissing | ErrorCode::StoreFailed | ErrorCode::DataFolderInUse => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorCode::Disk => StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::Cancelled => StatusCode::CONFLICT,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, error }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.error }))).into_response()
    }
}

/// A body as JSON of a type.
pub(super) async fn read_json<T: DeserializeOwned>(kind: Option<&str>, body: Body) -> Answered<T> {
    let is_json = kind
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        return Err(Refused::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            AppError::new(ErrorCode::InvalidRequest, "the request must be JSON")
                .with_hint("send it with `Content-Type: application/json`"),
        ));
    }
    let bytes = axum::body::to_bytes(body, MAX_JSON).await.map_err(|_| {
        Refused::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            AppError::new(
                ErrorCode::InvalidRequest,
                format!("the request is longer than {MAX_JSON} bytes"),
            ),
        )
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Refused::from(AppError::new(
            ErrorCode::InvalidRequest,
            format!("the request cannot be read: {error}"),
        ))
    })
}

/// The content type of a request.
pub(super) fn kind_of(headers: &axum::http::HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE)?.to_str().ok()
}

pub(super) async fn no_such_path(uri: Uri) -> Refused {
    Refused::from(AppError::new(
        ErrorCode::NotFound,
        format!("there is nothing at `{}`", uri.path()),
    ))
}

pub(super) async fn no_such_method(method: Method, uri: Uri) -> Refused {
    Refused::new(
        StatusCode::METHOD_NOT_ALLOWED,
        AppError::new(
            ErrorCode::InvalidRequest,
            format!("`{}` does not answer {method}", uri.path()),
        ),
    )
}
