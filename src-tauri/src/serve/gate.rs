//! What a request passes before any handler: its `Host` (a page that rebinds its name to this machine is sent away), its
//! `Origin` (other web pages are, unless they were named), its token. No page may read an answer unless it was named.

use super::Options;
use super::fault::Fault;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Where the source system's front end runs while it is developed; its proxy passes the header on.
const COMPAT_ORIGINS: [&str; 2] = ["http://localhost:8080", "http://127.0.0.1:8080"];

/// The rules.
pub struct Gate {
    token: String,
    compat: bool,
    origins: Vec<String>,
    address: SocketAddr,
}

impl Gate {
    /// The rules for a server that listens on `address`.
    pub fn new(options: Options, address: SocketAddr) -> Self {
        let mut origins: Vec<String> = options
            .origins
            .iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        if options.compat {
            origins.extend(COMPAT_ORIGINS.map(str::to_owned));
        }
        Self {
            token: options.token,
            compat: options.compat,
            origins,
            address,
        }
    }

    /// The name a request may call us by: an address, or `localhost`. Any other name may have been pointed here by
    /// whoever owns it.
    fn knows_host(&self, host: &str) -> bool {
        let (name, port) = split_port(host);
        if port.unwrap_or(80) != self.address.port() {
            return false;
        }
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || !self.address.ip().is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a page of this origin may ask; ours may, should there ever be one.
    fn knows_origin(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        origin == format!("http://{}", host.to_ascii_lowercase()) || self.origins.contains(&origin)
    }

    fn is_compat(&self, path: &str) -> bool {
        self.compat && (path == "/api" || path.starts_with("/api/"))
    }

    fn check(&self, method: &Method, path: &str, headers: &HeaderMap, host: &str) -> Result<(), Fault> {
        if !self.knows_host(host) {
            return Err(Fault::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "the request is addressed to another host",
                "address it to the URL that `adrag serve` printed",
            ));
        }
        if let Some(origin) = headers.get(header::ORIGIN)
            && !origin
                .to_str()
                .is_ok_and(|origin| self.knows_origin(origin, host))
        {
            return Err(Fault::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "web pages of this origin may not ask",
                "name it with `adrag serve --allow-origin URL`",
            ));
        }
        let asks_first = method == Method::OPTIONS && headers.contains_key(header::ORIGIN);
        if asks_first || self.is_compat(path) || self.has_token(headers) {
            return Ok(());
        }
        Err(Fault::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "the token is missing or wrong",
            "send `Authorization: Bearer TOKEN` with the token of `adrag serve`",
        ))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let shown = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        shown.is_some_and(|(_, token)| same(token.trim(), &self.token))
    }
}

/// Compares without telling by the time it takes how much was right.
fn same(shown: &str, token: &str) -> bool {
    let differs = shown
        .bytes()
        .zip(token.bytes())
        .fold(0, |differs, (a, b)| differs | (a ^ b));
    differs == 0 && shown.len() == token.len() && !token.is_empty()
}

fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && !port.ends_with(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            // Port 0 is nobody's: it fails the comparison.
            Err(_) => (name, Some(0)),
        },
        _ => (host, None),
    }
}

/// The middleware.
pub async fn pass(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let checked = gate.check(request.method(), &path, &headers, host);
    let allowed = checked.is_ok();
    let asks_first =
        request.method() == Method::OPTIONS && headers.contains_key("access-control-request-method");
    let mut response = match checked {
        Err(fault) => fault.into_response(),
        Ok(()) if asks_first => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
    };
    if gate.is_compat(&path)
        && let Some(fault) = response.extensions().get::<Fault>().cloned()
    {
        response = (fault.status, Json(fault.compat_body())).into_response();
    }
    dress(&mut response, headers.get(header::ORIGIN).filter(|_| allowed));
    response
}

/// Headers of every answer; those that let a page of a known origin read it.
fn dress(response: &mut Response<Body>, origin: Option<&HeaderValue>) {
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, Last-Event-ID",
            ),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str, compat: bool) -> Gate {
        let address = address.parse().unwrap();
        let options = Options {
            address,
            token: "secret".to_owned(),
            compat,
            origins: vec!["https://notes.example/".to_owned()],
        };
        Gate::new(options, address)
    }

    #[test]
    fn a_name_that_was_pointed_at_this_machine_is_no_host_of_ours() {
        let local = gate("127.0.0.1:8321", false);
        for host in ["127.0.0.1:8321", "localhost:8321", "LOCALHOST:8321", "[::1]:8321"] {
            assert!(local.knows_host(host), "{host}");
        }
        for host in [
            "evil.example:8321",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost.evil.example:8321",
            "",
            "192.168.0.7:8321",
            "127.0.0.1:8321@evil",
            "127.0.0.1.nip.example:8321",
            "[::1]",
            ":8321",
        ] {
            assert!(!local.knows_host(host), "{host}");
        }
        let open = gate("0.0.0.0:8321", false);
        assert!(open.knows_host("192.168.0.7:8321") && !open.knows_host("evil.example:8321"));
    }

    #[test]
    fn only_named_pages_may_ask() {
        let gate = gate("127.0.0.1:8321", false);
        let host = "127.0.0.1:8321";
        for origin in [
            "http://127.0.0.1:8321",
            "https://notes.example",
            "HTTPS://NOTES.example",
        ] {
            assert!(gate.knows_origin(origin, host), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "https://notes.example.evil",
            "http://notes.example",
            "http://localhost:8080",
        ] {
            assert!(!gate.knows_origin(origin, host), "{origin}");
        }
    }

    #[test]
    fn only_the_whole_token_opens() {
        for (shown, opens) in [
            ("Bearer secret", true),
            ("bearer secret", true),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer ", false),
            ("Basic secret", false),
            ("secret", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(shown));
            assert_eq!(gate("127.0.0.1:1", false).has_token(&headers), opens, "{shown}");
        }
        assert!(!same("", ""));
    }

    #[test]
    fn the_routes_of_the_source_system_alone_are_open_and_only_where_they_are_there() {
        let check = |gate: &Gate, path: &str| {
            gate.check(&Method::GET, path, &HeaderMap::new(), "127.0.0.1:8321")
                .is_ok()
        };
        let (normal, compat) = (gate("127.0.0.1:8321", false), gate("127.0.0.1:8321", true));
        assert!(!check(&normal, "/api/health") && check(&compat, "/api/health"));
        for path in ["/v1/health", "/", "/apis", "/api%2fhealth"] {
            assert!(!check(&normal, path) && !check(&compat, path), "{path}");
        }
    }
}
