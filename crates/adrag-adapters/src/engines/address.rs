//! Which addresses an engine may be asked at: `https` anywhere, `http` only on this machine and in private networks,
//! so that neither a key nor a document crosses an open network in the clear.

use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Endings of names that only exist inside private networks.
const PRIVATE_ENDINGS: [&str; 6] = [".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa"];

/// The base URL of a server, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    base: Url,
}

impl Address {
    /// Checks a base URL as a person typed it.
    pub(crate) fn parse(text: &str) -> PortResult<Self> {
        let text = text.trim();
        let refuse = |why: &str, hint: &str| {
            Err(PortError::rejected(ErrorCode::InvalidRequest, format!("the base URL {why}")).with_hint(hint))
        };
        let example = "write it like `https://api.openai.com/v1` or `http://127.0.0.1:11434`";
        let Ok(base) = Url::parse(text) else {
            return refuse("is not a URL", example);
        };
        if base.host_str().is_none_or(str::is_empty) {
            return refuse("names no server", example);
        }
        if !base.username().is_empty() || base.password().is_some() {
            return refuse(
                "holds a user name or password",
                "keep the key in Settings, not in the URL",
            );
        }
        if base.query().is_some() || base.fragment().is_some() {
            return refuse("has a query or fragment", example);
        }
        match base.scheme() {
            "https" => Ok(Self { base }),
            "http" if may_be_private(&base) => Ok(Self { base }),
            "http" => refuse(
                &format!("`{text}` would send your question over the internet unencrypted"),
                "use https; http is for this computer and private networks only",
            ),
            _ => refuse("must begin with `https://` or `http://`", example),
        }
    }

    /// The URL of a path below the base.
    pub(crate) fn join(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&joined);
        url
    }

    /// Scheme, host and port: what messages name.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// True when it is reached without encryption, so only private addresses may be connected to.
    pub(crate) fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// True when it is this computer, or by its form part of a private network: such a server may need no key.
    pub(crate) fn is_private(&self) -> bool {
        may_be_private(&self.base)
    }

    /// True for a host name.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.base.host_str() == Some(host)
    }
}

/// By its form; a name is checked again when it is resolved.
fn may_be_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return is_private_ip(ip);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    !name.is_empty() && (!name.contains('.') || PRIVATE_ENDINGS.iter().any(|ending| name.ends_with(ending)))
}

/// This computer or a private network (RFC 1918, RFC 4193). Link-local addresses are not: cloud machines serve secrets
/// there.
pub(crate) fn is_private_ip(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(mapped) => is_private_v4(mapped),
            None => ip == Ipv6Addr::LOCALHOST || ip.is_unique_local(),
        },
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_goes_anywhere_and_http_only_to_this_computer_and_private_networks() {
        for url in [
            "https://api.openai.com/v1",
            "http://127.0.0.1:8080/v1",
            "http://localhost:1234/v1",
            "http://[::1]:8080",
            "http://192.168.1.7:11434",
            "http://10.0.0.2",
            "http://[fd00::1]/v1",
            "http://nas:11434",
            "http://box.local:11434",
            "http://127.1:80",
        ] {
            assert!(Address::parse(url).is_ok(), "{url} should be allowed");
        }
        for url in [
            "http://api.openai.com/v1",
            "http://8.8.8.8",
            "http://169.254.169.254/latest",
            "http://[2001:db8::1]",
            "http://[fe80::1]",
            "http://[::ffff:8.8.8.8]",
            "http://172.32.0.1",
            "http://localhost.example.com",
            "ftp://127.0.0.1",
            "file:///etc/passwd",
            "https://user:pass@example.com",
            "https://example.com/v1?key=1",
            "127.0.0.1:8080",
            "",
        ] {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error.error.code, ErrorCode::InvalidRequest, "{url}");
            assert!(error.error.hint.is_some(), "{url} should come with a hint");
        }
    }

    #[test]
    fn paths_are_joined_with_one_slash() {
        let with_slash = Address::parse("https://example.com/v1/").unwrap();
        let without = Address::parse("https://example.com/v1").unwrap();
        assert_eq!(
            with_slash.join("models").as_str(),
            "https://example.com/v1/models"
        );
        assert_eq!(without.join("models").as_str(), "https://example.com/v1/models");
    }
}
