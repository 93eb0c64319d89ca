//! Errors as a program on the other side reads them: `{"error": {"code", "message", "hint"}}`, on every status.

use adrag_contract::{AppError, ErrorCode};
use axum::Json;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An error with its status. The gate turns it into the words of the source system on its routes.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The status.
    pub status: StatusCode,
    /// What a program may branch on.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Fault {
    /// An error of the door itself.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.into(),
            hint: hint.to_owned(),
        }
    }

    /// The request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "invalid_request",
            message,
            "`GET /v1/openapi.json` describes every request",
        )
    }

    /// The body is larger than is read.
    pub fn too_large(limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is larger than {} MB", limit >> 20),
            "send less at once, or add large files by their path",
        )
    }

    /// The body is of another kind than is read.
    pub fn media_type(wanted: &str) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            format!("the body must be `{wanted}`"),
            "set the header `Content-Type`",
        )
    }

    /// The body of the error.
    pub fn body(&self) -> Value {
        json!({ "error": { "code": self.code, "message": self.message, "hint": self.hint } })
    }

    /// The body in the words of the source system.
    pub fn compat_body(&self) -> Value {
        json!({ "error": self.message })
    }
}

impl From<AppError> for Fault {
    fn from(error: AppError) -> Self {
        let status = match error.code {
            ErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::UnreadableFile => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            ErrorCode::Unauthorized
            | ErrorCode::UnknownModel
            | ErrorCode::RateLimited
            | ErrorCode::Unreachable
            | ErrorCode::BadReply => StatusCode::BAD_GATEWAY,
            ErrorCode::ModelMissing
            | ErrorCode::StoreFailed
            | ErrorCode::DataFolderInUse
            | ErrorCode::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::Disk => StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let code = serde_json::to_value(error.code).ok();
        Self {
            status,
            code: code
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or("internal")
                .to_owned(),
            message: error.message,
            hint: error.hint.unwrap_or_else(|| next_step(error.code).to_owned()),
        }
    }
}

/// What to do where the engine did not say.
fn next_step(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidRequest => "`GET /v1/openapi.json` describes every request",
        ErrorCode::NotFound => "`GET /v1/documents`, `/v1/collections` and `/v1/runs` list what is there",
        _ => "`GET /v1/doctor` says what is wrong",
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static("Bearer"),
            );
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// 404.
pub async fn no_such_route(uri: Uri) -> Fault {
    Fault::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("there is no route `{}`", uri.path()),
        "`GET /v1/openapi.json` lists the routes",
    )
}

/// 405.
pub async fn no_such_method(method: Method, uri: Uri) -> Fault {
    Fault::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        format!("`{}` does not take {method}", uri.path()),
        "`GET /v1/openapi.json` lists the routes",
    )
}
