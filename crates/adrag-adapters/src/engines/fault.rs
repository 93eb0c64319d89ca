//! What a failure of a language model server is called: one table for all engines, so that the same fault reads the same
//! everywhere and always says what to do.

use adrag_contract::{EngineId, ErrorCode};
use adrag_core::ports::{PortError, PortResult};
use reqwest::StatusCode;
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// Most characters of a server's own words in a message.
const MOST_WORDS: usize = 300;

/// Who is asked, as messages name it.
#[derive(Clone)]
pub(crate) struct Server {
    /// The engine.
    pub(crate) engine: EngineId,
    /// Scheme, host and port.
    pub(crate) origin: String,
    /// The model asked for; empty while it is not known.
    pub(crate) model: String,
    /// Whatever must never stand in a message.
    pub(crate) secret: Option<String>,
}

impl Server {
    fn kind(&self) -> &'static str {
        match self.engine {
            EngineId::Openai => "OpenAI-compatible server",
            EngineId::Local => "llama-server",
            EngineId::Ollama | EngineId::Quotes => self.engine.label(),
        }
    }

    fn named(&self) -> String {
        if self.model.is_empty() {
            format!("{} at `{}`", self.kind(), self.origin)
        } else {
            format!("{} at `{}` (model `{}`)", self.kind(), self.origin, self.model)
        }
    }

    /// A refusal with a status code and the body that came with it.
    pub(crate) fn refused(&self, status: StatusCode, body: &str, wait: Option<Duration>) -> PortError {
        let words = self.words(body);
        let says = |what: &str| match words.as_str() {
            "" => format!("{} {what}", self.named()),
            words => format!("{} {what}: {words}", self.named()),
        };
        if names_unknown_model(status, body) {
            return self.unknown_model();
        }
        match status.as_u16() {
            401 => PortError::rejected(
                ErrorCode::Unauthorized,
                format!("{} refused the key", self.named()),
            )
            .with_hint(self.key_hint()),
            403 => {
                PortError::rejected(ErrorCode::Unauthorized, says("denied access")).with_hint(self.key_hint())
            }
            404 => PortError::rejected(ErrorCode::BadReply, says("does not know this address"))
                .with_hint(self.address_hint()),
            408 | 504 => PortError::transient(ErrorCode::Timeout, says("gave up waiting"))
                .with_hint("try again, or choose a smaller model"),
            429 if is_out_of_quota(body) => {
                PortError::rejected(ErrorCode::RateLimited, says("has no quota left for this key"))
                    .with_hint("check the plan and the billing of the account, or choose another engine")
            }
            429 => PortError::transient(ErrorCode::RateLimited, says("asks to slow down")).with_hint(
                match wait {
                    Some(wait) => format!("try again in {} s", wait.as_secs().max(1)),
                    None => "wait a moment and try again, or choose another model".to_owned(),
                },
            ),
            502 | 503 => PortError::transient(ErrorCode::Unreachable, says("is not ready"))
                .with_hint("it may be starting or overloaded: try again in a moment"),
            500..=599 => PortError::transient(
                ErrorCode::BadReply,
                says(&format!("failed with status {}", status.as_u16())),
            )
            .with_hint("try again; if it goes on, look into the server's own log"),
            300..=399 => PortError::rejected(
                ErrorCode::BadReply,
                format!(
                    "{} sends requests on to another address, which is not followed",
                    self.named()
                ),
            )
            .with_hint("set the base URL in Settings to the final address"),
            _ => PortError::rejected(
                ErrorCode::InvalidRequest,
                says(&format!("refused the request with status {}", status.as_u16())),
            )
            .with_hint("check the model and the base URL in Settings"),
        }
    }

    /// The server does not have the model.
    pub(crate) fn unknown_model(&self) -> PortError {
        let hint = match self.engine {
            EngineId::Ollama => format!("run `ollama pull {}`, or choose an installed model", self.model),
            _ => "choose one of the models that Settings lists for this server".to_owned(),
        };
        PortError::rejected(
            ErrorCode::UnknownModel,
            format!(
                "{} at `{}` has no model `{}`",
                self.kind(),
                self.origin,
                self.model
            ),
        )
        .with_hint(hint)
    }

    /// Nothing came for too long.
    pub(crate) fn silent(&self, after: Duration) -> PortError {
        PortError::transient(
            ErrorCode::Timeout,
            format!("{} was silent for {} s", self.named(), after.as_secs()),
        )
        .with_hint("try again, choose a smaller model, or raise the time limit in Settings")
    }

    /// The reply cannot be used.
    pub(crate) fn bad_reply(&self, why: &str) -> PortError {
        PortError::transient(ErrorCode::BadReply, format!("{} {why}", self.named()))
            .with_hint("try again; if it goes on, check the base URL and the model in Settings")
    }

    /// The reply holds an error in place of text.
    pub(crate) fn reported(&self, error: &Value) -> PortError {
        let status = error
            .get("code")
            .and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
            .and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok())
            .filter(|status| status.is_client_error() || status.is_server_error());
        let body = serde_json::json!({ "error": error }).to_string();
        match status {
            Some(status) => self.refused(status, &body, None),
            None if names_unknown_model(StatusCode::NOT_FOUND, &body) => self.unknown_model(),
            None => self.bad_reply(&format!("broke off with an error: {}", self.words(&body))),
        }
    }

    /// No reply at all.
    pub(crate) fn unsent(&self, error: &reqwest::Error) -> PortError {
        if let Some(refusal) = source_of::<OpenNetwork>(error) {
            return PortError::rejected(ErrorCode::InvalidRequest, refusal.to_string())
                .with_hint("use https; http is for this computer and private networks only");
        }
        if error.is_timeout() {
            return PortError::transient(
                ErrorCode::Timeout,
                format!("{} could not be connected to in time", self.named()),
            )
            .with_hint(self.running_hint());
        }
        if !error.is_connect() {
            // It may have begun to answer, and to charge for it: this is not asked again unasked.
            return self.bad_reply("closed the connection before it answered");
        }
        let why = if source_of::<std::io::Error>(error).is_some_and(is_refusal) {
            "refused the connection".to_owned()
        } else {
            format!("cannot be reached: {}", innermost(error))
        };
        PortError::transient(ErrorCode::Unreachable, format!("{} {why}", self.named()))
            .with_hint(self.running_hint())
    }

    fn key_hint(&self) -> String {
        match self.engine {
            EngineId::Openai => "check the key in Settings".to_owned(),
            _ => "the server asks for a key: check how it was started".to_owned(),
        }
    }

    fn address_hint(&self) -> String {
        match self.engine {
            EngineId::Openai => {
                "check the base URL in Settings: it ends in the version, such as `/v1`".to_owned()
            }
            _ => "check the base URL in Settings".to_owned(),
        }
    }

    fn running_hint(&self) -> String {
        match self.engine {
            EngineId::Ollama => format!(
                "is Ollama running at `{}`? start it with `ollama serve`",
                self.origin
            ),
            EngineId::Local => "ask again: the server is started anew".to_owned(),
            _ => format!(
                "is the server running at `{}`? check the base URL and the network",
                self.origin
            ),
        }
    }

    /// What the server said, in one bounded line without the key.
    fn words(&self, body: &str) -> String {
        let said = message_of(body).unwrap_or_else(|| body.to_owned());
        let mut said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(secret) = self.secret.as_deref().filter(|secret| !secret.is_empty()) {
            said = said.replace(secret, "***");
        }
        let line: String = said.chars().filter(|c| !c.is_control()).collect();
        match line.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.trim_end_matches('.').to_owned(),
        }
    }
}

/// A name that led to an address outside private networks.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not in a private network, and http would send your question there unencrypted")]
pub(crate) struct OpenNetwork(pub(crate) String);

/// The error of a run that was stopped while `work` was under way, or what the work came to.
pub(crate) async fn unless_cancelled<T>(
    cancel: &tokio_util::sync::CancellationToken,
    work: impl Future<Output = PortResult<T>>,
) -> PortResult<T> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(PortError::cancelled()),
        done = work => done,
    }
}

/// True when a body says, in the words of any of the protocols, that the model does not exist.
fn names_unknown_model(status: StatusCode, body: &str) -> bool {
    if !matches!(status.as_u16(), 400 | 404) {
        return false;
    }
    let body = body.to_ascii_lowercase();
    body.contains("model_not_found")
        || (body.contains("model")
            && [
                "not found",
                "does not exist",
                "not exist",
                "no such model",
                "unknown model",
            ]
            .iter()
            .any(|words| body.contains(words)))
}

fn is_out_of_quota(body: &str) -> bool {
    body.contains("insufficient_quota")
}

/// The message inside `{"error": {"message": ".."}}`, `{"error": ".."}`, `{"message": ".."}` or `{"detail": ".."}`.
fn message_of(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    let error = value.get("error").unwrap_or(&value);
    error
        .as_str()
        .or_else(|| error.get("message")?.as_str())
        .or_else(|| error.get("detail")?.as_str())
        .map(str::to_owned)
}

fn source_of<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn is_refusal(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::ConnectionRefused
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        Server {
            engine: EngineId::Openai,
            origin: "https://example.com".to_owned(),
            model: "m-1".to_owned(),
            secret: Some("sk-canary-123456".to_owned()),
        }
    }

    #[test]
    fn a_key_that_a_server_echoes_never_reaches_a_message() {
        let body = r#"{"error":{"message":"Bad request for key sk-canary-123456"}}"#;
        for status in [400, 401, 403, 404, 429, 500, 503] {
            let error = server().refused(StatusCode::from_u16(status).unwrap(), body, None);
            assert!(!error.to_string().contains("canary"), "{status}: {error}");
            assert!(error.error.hint.is_some(), "{status} should come with a hint");
        }
    }

    #[test]
    fn an_unknown_model_is_told_from_an_unknown_address() {
        let model = r#"{"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}}"#;
        let error = server().refused(StatusCode::NOT_FOUND, model, None);
        assert_eq!(error.error.code, ErrorCode::UnknownModel);
        let error = server().refused(StatusCode::NOT_FOUND, "<html>Not Found</html>", None);
        assert_eq!(error.error.code, ErrorCode::BadReply);
    }

    #[test]
    fn a_server_cannot_flood_a_message() {
        let error = server().refused(StatusCode::BAD_REQUEST, &"x\n\u{1b}[2J".repeat(10_000), None);
        assert!(error.error.message.chars().count() < 500);
        assert!(!error.error.message.chars().any(char::is_control));
    }
}
