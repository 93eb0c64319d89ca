//! Which pages may be read: public addresses on the usual ports, looked up before and pinned while they are read.

use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Parameters that tell where a reader came from and not what is read.
const TRACKING: [&str; 4] = ["fbclid", "gclid", "ref", "rut"];

/// A URL as one name of its page: no fragment, no tracking, no closing slash.
pub(super) fn canonical(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        return url.to_owned();
    };
    parsed.set_fragment(None);
    let kept: Vec<(String, String)> = parsed
        .query_pairs()
        .filter(|(name, _)| !name.starts_with("utm_") && !TRACKING.contains(&name.as_ref()))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    parsed.set_query(None);
    if !kept.is_empty() {
        parsed.query_pairs_mut().extend_pairs(kept);
    }
    parsed.as_str().trim_end_matches('/').to_owned()
}

/// Checks everything about a URL that needs no look-up.
///
/// # Errors
/// When it is no page of a public host on a usual port.
pub(super) fn check(url: &str) -> PortResult<Url> {
    let refuse = |why: &str| {
        Err(PortError::rejected(
            ErrorCode::InvalidRequest,
            format!("the page is not read: {why}"),
        ))
    };
    let Ok(parsed) = Url::parse(url) else {
        return refuse("its address is not a URL");
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return refuse("only http and https are");
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return refuse("its address holds a user name");
    }
    if !matches!(parsed.port_or_known_default(), Some(80 | 443)) {
        return refuse("its port is not the usual one");
    }
    match host(&parsed) {
        Some(Host::Address(address)) if !is_public(address) => refuse("its address is not public"),
        Some(Host::Name(name)) if is_inner(&name) => refuse("its host is not public"),
        Some(_) => Ok(parsed),
        None => refuse("it names no host"),
    }
}

/// The host of a URL, told apart.
enum Host {
    Address(IpAddr),
    Name(String),
}

fn host(url: &Url) -> Option<Host> {
    let host = url.host_str()?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    Some(match bare.parse::<IpAddr>() {
        Ok(address) => Host::Address(address),
        Err(_) => Host::Name(host.trim_end_matches('.').to_lowercase()),
    })
}

/// Names that mean this machine or its network.
fn is_inner(name: &str) -> bool {
    name.is_empty()
        || !name.contains('.')
        || [
            ".localhost",
            ".local",
            ".lan",
            ".home",
            ".internal",
            ".home.arpa",
            ".intranet",
            ".corp",
            ".onion",
        ]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Whether an address belongs to the open internet (IANA special-purpose registries).
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let [a, b, ..] = address.segments();
    // Only global unicast is public; of it, tunnels and documentation are not.
    (a & 0xe000) == 0x2000 && !(a == 0x2002 || (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || a == 0x3fff)
}

/// Resolves names to public addresses only; the connection goes to the address that was checked, so that a name which
/// changes its mind gains nothing.
pub(super) struct PublicOnly;

/// Marks an error of the look-up as a refusal.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a public host")]
pub(super) struct NotPublic(String);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // One inner address among public ones is a trick, not a choice.
            if found.is_empty() || found.iter().any(|address| !is_public(address.ip())) {
                return Err(NotPublic(name.as_str().to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_networks_are_refused_however_they_are_written() {
        let refused = [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0/",
            "http://0.0.0.0/",
            "http://10.0.0.1/",
            "http://10.255.255.255/",
            "http://172.16.0.1/",
            "http://172.31.255.255/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.64.0.1/",
            "http://100.127.255.255/",
            "http://192.0.0.1/",
            "http://192.0.2.1/",
            "http://198.18.0.1/",
            "http://198.19.255.255/",
            "http://198.51.100.1/",
            "http://203.0.113.1/",
            "http://224.0.0.1/",
            "http://239.1.1.1/",
            "http://240.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[fe80::1]/",
            "http://[fc00::1]/",
            "http://[fd12::1]/",
            "http://[ff02::1]/",
            "http://[2001:db8::1]/",
            "http://[2002:7f00:1::]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2001::1]/",
            "http://localhost/",
            "http://LOCALHOST/",
            "http://localhost./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://router.lan/",
            "http://metadata.google.internal/",
            "http://intranet/",
            "http://nas.home.arpa/",
            "http://user@example.org/",
            "http://user:pass@example.org/",
            "http://example.org:22/",
            "http://example.org:8080/",
            "https://example.org:6379/",
            "file:///etc/passwd",
            "gopher://example.org/",
            "ftp://example.org/",
            "data:text/html,x",
            "javascript:alert(1)",
            "unix:/run/x",
            "about:blank",
            "http://",
            "//example.org/",
            "example.org",
            "",
            "http://127.0.0.1:80@example.org/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
        ];
        assert!(refused.len() >= 60);
        for url in refused {
            assert!(check(url).is_err(), "{url}");
        }
    }

    #[test]
    fn public_pages_are_let_through() {
        for url in [
            "https://example.org/",
            "http://example.org:80/a?b",
            "https://93.184.216.34/",
            "https://[2606:2800:220:1::1]/",
            "https://例え.jp/",
            "http://172.32.0.1/",
            "http://100.128.0.1/",
        ] {
            assert!(check(url).is_ok(), "{url}");
        }
    }
}
