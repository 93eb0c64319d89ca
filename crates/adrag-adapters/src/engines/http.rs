//! Sends a request to a language model server: bounded, cancellable, tried again only where that can help, and never
//! followed to another origin.

use super::address::{Address, is_private_ip};
use super::fault::{OpenNetwork, Server, unless_cancelled};
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// A server that asks for a longer wait is not waited for: the person is told instead.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
const FIRST_WAIT: Duration = Duration::from_millis(400);
/// An error page is read for its message only.
const ERROR_BODY: usize = 64 * 1024;
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(3);
/// Most bytes of a list of models.
const LIST_BODY: usize = 4 * 1024 * 1024;

/// The connections of all engines: one pool for encrypted servers, one for those on private networks.
#[derive(Default)]
pub(crate) struct Clients {
    secure: OnceLock<Client>,
    plain: OnceLock<Client>,
}

impl Clients {
    /// The client an address is reached with.
    pub(crate) fn of(&self, address: &Address) -> PortResult<Client> {
        let cell = if address.is_plain() {
            &self.plain
        } else {
            &self.secure
        };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let builder = Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            // A followed redirect could carry question and key to a server nobody chose.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("adrag/", env!("CARGO_PKG_VERSION")));
        let builder = if address.is_plain() {
            builder.no_proxy().dns_resolver(PrivateOnly)
        } else {
            builder.https_only(true)
        };
        let client = builder.build().map_err(|error| {
            PortError::permanent(ErrorCode::Internal, format!("cannot set up connections: {error}"))
        })?;
        Ok(cell.get_or_init(|| client).clone())
    }
}

/// Resolves names to addresses of private networks only, and the connection goes to the address that was checked.
struct PrivateOnly;

impl Resolve for PrivateOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<SocketAddr> = found.filter(|address| is_private_ip(address.ip())).collect();
            if addresses.is_empty() {
                return Err(OpenNetwork(name.as_str().to_owned()).into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// How a request is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Longest silence.
    pub(crate) silence: Duration,
    /// Tries after the first.
    pub(crate) retries: u32,
}

/// A reply that was no success.
pub(crate) struct Refusal {
    /// Its status.
    pub(crate) status: StatusCode,
    /// The beginning of its body.
    pub(crate) body: String,
    wait: Option<Duration>,
}

/// The server's answer to a request: the head of a reply, or why not.
pub(crate) enum Sent {
    /// A successful head; the body is still to come.
    Reply(Response),
    /// The server refused.
    Refused(Refusal),
}

impl Refusal {
    /// The error it means.
    pub(crate) fn error(&self, server: &Server) -> PortError {
        server.refused(self.status, &self.body, self.wait)
    }
}

/// Sends until a head arrives, trying again after refused connections, rate limits and server faults. Cancelling ends it
/// at once, also between two tries.
pub(crate) async fn send(
    server: &Server,
    patience: Patience,
    cancel: &CancellationToken,
    request: impl Fn() -> RequestBuilder,
) -> PortResult<Sent> {
    let mut tried = 0;
    loop {
        let outcome = unless_cancelled(cancel, once(server, patience.silence, request())).await;
        let wait = match &outcome {
            Ok(Sent::Refused(refusal)) if may_pass(refusal) => refusal.wait,
            Err(error) if error.error.code == ErrorCode::Unreachable => None,
            _ => return outcome,
        };
        if tried >= patience.retries || wait.is_some_and(|wait| wait > LONGEST_WAIT) {
            return outcome;
        }
        let pause = wait.unwrap_or_else(|| back_off(tried));
        tracing::debug!(engine = %server.engine, tried, ?pause, "trying again");
        unless_cancelled(cancel, async {
            tokio::time::sleep(pause).await;
            Ok(())
        })
        .await?;
        tried += 1;
    }
}

async fn once(server: &Server, silence: Duration, request: RequestBuilder) -> PortResult<Sent> {
    let sent = tokio::time::timeout(silence, request.send()).await;
    let response = match sent {
        Err(_) => return Err(server.silent(silence)),
        Ok(Err(error)) if error.is_builder() => {
            return Err(PortError::permanent(
                ErrorCode::Internal,
                format!("cannot make the request: {error}"),
            ));
        }
        Ok(Err(error)) => return Err(server.unsent(&error)),
        Ok(Ok(response)) => response,
    };
    if response.status().is_success() {
        return Ok(Sent::Reply(response));
    }
    let status = response.status();
    let wait = response
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.trim().parse::<u32>().ok())
        .map(|seconds| Duration::from_secs(seconds.into()));
    let body = tokio::time::timeout(ERROR_BODY_LIMIT, beginning(response, ERROR_BODY)).await;
    let body = match body {
        Ok((bytes, _)) => String::from_utf8_lossy(&bytes).into_owned(),
        // The status alone says what happened.
        Err(_) => String::new(),
    };
    Ok(Sent::Refused(Refusal { status, body, wait }))
}

/// The beginning of a body, and whether that is all of it.
async fn beginning(mut response: Response, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > most => {
                bytes.extend_from_slice(&chunk[..most - bytes.len()]);
                return (bytes, false);
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return (bytes, true),
            Err(_) => return (bytes, false),
        }
    }
}

/// A small JSON document, such as a list of models.
pub(crate) async fn get_json(server: &Server, request: RequestBuilder) -> PortResult<Result<Value, Refusal>> {
    // Callers set the limit for the whole of it; this one only ends a caller without.
    let limit = Duration::from_secs(10);
    let response = match once(server, limit, request).await? {
        Sent::Reply(response) => response,
        Sent::Refused(refusal) => return Ok(Err(refusal)),
    };
    let read = tokio::time::timeout(limit, beginning(response, LIST_BODY)).await;
    let (bytes, whole) = read.map_err(|_| server.silent(limit))?;
    match serde_json::from_slice(&bytes) {
        Ok(value) if whole => Ok(Ok(value)),
        _ => Err(server.bad_reply("answered something that is not the JSON of this protocol")),
    }
}

/// Refusals that another try may turn into a reply.
fn may_pass(refusal: &Refusal) -> bool {
    match refusal.status.as_u16() {
        429 => !refusal.body.contains("insufficient_quota"),
        status => (500..=599).contains(&status),
    }
}

/// Doubling waits with jitter, so that many programs do not come back in step.
fn back_off(tried: u32) -> Duration {
    let longest = FIRST_WAIT.saturating_mul(1 << tried.min(5)).min(LONGEST_WAIT);
    let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    let jitter = uuid::Uuid::new_v4().as_u64_pair().0 % (millis / 2 + 1);
    Duration::from_millis(millis / 2 + jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        for tried in 0..40 {
            let wait = back_off(tried);
            assert!(wait >= FIRST_WAIT / 2, "try {tried} waits {wait:?}");
            assert!(wait <= LONGEST_WAIT, "try {tried} waits {wait:?}");
        }
        assert!(back_off(4) > back_off(0));
    }
}
