//! Web providers that behave and misbehave, on a port of this computer: each ends typed and in time, and what another found is
//! kept. Pages of this computer are never read.

use adrag_adapters::web::{Endpoints, GuardedWeb};
use adrag_contract::WebSettings;
use adrag_core::ports::{SearchFault, WebResults, WebSearch};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const RESULTS: &str = r#"<html><body><div class="result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fpump">Pumps</a>
    <a class="result__snippet">It takes <b>SK-131-A</b>.</a></div></body></html>"#;
const ENTRIES: &str = r#"{"query":{"search":[{"title":"Bilge pump","snippet":"A pump"}]}}"#;

/// What a provider does with a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Good(&'static str),
    Status(u16, &'static str),
    Hangs,
    HalfBody,
    InvalidUtf8,
    Huge,
    Trickles,
    ClosesAtOnce,
    RedirectsAway,
}

struct Provider {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Provider {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                counted.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || answer(stream, manner));
            }
        });
        Self { port, asked }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Writes until the other side has enough of it.
fn answer(mut stream: TcpStream, manner: Manner) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let head = |status: &str, length: usize, more: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n"
        )
    };
    let text = match manner {
        Manner::Good(body) => head("200 OK", body.len(), "") + body,
        Manner::Status(code, more) => head(&format!("{code} X"), 0, more),
        Manner::Hangs => {
            std::thread::sleep(Duration::from_secs(30));
            return;
        }
        Manner::HalfBody => head("200 OK", RESULTS.len(), "") + &RESULTS[..RESULTS.len() / 2],
        Manner::ClosesAtOnce => return,
        Manner::RedirectsAway => head("302 Found", 0, "Location: http://127.0.0.1:9/\r\n"),
        Manner::InvalidUtf8 => {
            let body = RESULTS.replace("Pumps", "PumpX");
            let mut bytes = (head("200 OK", body.len(), "") + &body).into_bytes();
            let at = bytes.len() - body.len() + body.find("PumpX").unwrap() + 4;
            bytes[at] = 0xff;
            let _ = stream.write_all(&bytes);
            return;
        }
        Manner::Huge => {
            let _ = stream.write_all(head("200 OK", 200_000_000, "").as_bytes());
            let piece = vec![b' '; 1 << 20];
            for _ in 0..200 {
                if stream.write_all(&piece).is_err() {
                    return;
                }
            }
            return;
        }
        Manner::Trickles => {
            let _ = stream.write_all(head("200 OK", RESULTS.len(), "").as_bytes());
            for byte in RESULTS.bytes() {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_secs(1));
            }
            return;
        }
    };
    let _ = stream.write_all(text.as_bytes());
}

fn settings(providers: &[&str]) -> WebSettings {
    WebSettings {
        enabled: true,
        providers: providers.iter().map(|id| (*id).to_owned()).collect(),
        timeout_ms: 700,
        ..WebSettings::default()
    }
}

async fn search(manner: Manner) -> (WebResults, Duration) {
    let bad = Provider::start(manner);
    let good = Provider::start(Manner::Good(ENTRIES));
    let web = GuardedWeb::at(Endpoints {
        duckduckgo: bad.url(),
        duckduckgo_lite: bad.url(),
        wikipedia: good.url(),
    });
    let began = Instant::now();
    let found = web
        .search(
            &settings(&["duckduckgo", "wikipedia"]),
            "bilge pump",
            &CancellationToken::new(),
        )
        .await;
    (found, began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_typed_and_the_next_provider_answers() {
    type Expected = fn(&SearchFault) -> bool;
    let cases: [(Manner, Expected); 10] = [
        (Manner::Status(403, ""), |fault| *fault == SearchFault::Blocked),
        (Manner::Status(202, ""), |fault| *fault == SearchFault::Blocked),
        (Manner::Status(429, "Retry-After: 7\r\n"), |fault| {
            *fault
                == SearchFault::RateLimited {
                    retry_after: Some(Duration::from_secs(7)),
                }
        }),
        (Manner::Status(500, ""), |fault| *fault == SearchFault::Http(500)),
        (Manner::Hangs, |fault| *fault == SearchFault::Timeout),
        (Manner::Trickles, |fault| *fault == SearchFault::Timeout),
        (Manner::HalfBody, |fault| *fault == SearchFault::Offline),
        (Manner::ClosesAtOnce, |fault| *fault == SearchFault::Offline),
        (Manner::Huge, |fault| {
            matches!(fault, SearchFault::ParseChanged { .. })
        }),
        (Manner::RedirectsAway, |fault| *fault == SearchFault::Http(302)),
    ];
    for (manner, expected) in cases {
        let (found, took) = search(manner).await;
        let [(provider, fault)] = found.faults.as_slice() else {
            panic!("{manner:?}: {:?}", found.faults);
        };
        assert_eq!(provider, "duckduckgo");
        assert!(expected(fault), "{manner:?}: {fault:?}");
        assert_eq!(
            found.hits.len(),
            1,
            "{manner:?}: the other provider's page is kept"
        );
        // Not a measurement: a search without an end of its own would wait for the server's half minute.
        assert!(took < Duration::from_secs(15), "{manner:?} took {took:?}");
    }
}

#[tokio::test]
async fn results_come_through_and_bytes_that_are_no_text_do_no_harm() {
    let (found, _) = search(Manner::Good(RESULTS)).await;
    assert_eq!(found.hits[0].url, "https://example.org/pump");
    assert_eq!(found.hits[0].snippet, "It takes SK-131-A.");
    assert!(found.faults.is_empty());
    let (found, _) = search(Manner::InvalidUtf8).await;
    assert_eq!(found.hits[0].title, "Pump\u{fffd}");
}

#[tokio::test]
async fn a_search_that_is_switched_off_asks_nobody() {
    let provider = Provider::start(Manner::Good(RESULTS));
    let web = GuardedWeb::at(Endpoints {
        duckduckgo: provider.url(),
        duckduckgo_lite: provider.url(),
        wikipedia: provider.url(),
    });
    let off = WebSettings {
        enabled: false,
        ..settings(&["duckduckgo", "wikipedia"])
    };
    let found = web.search(&off, "pump", &CancellationToken::new()).await;
    assert_eq!(found.faults, [("web".to_owned(), SearchFault::Disabled)]);
    assert_eq!(provider.asked(), 0);
}

#[tokio::test]
async fn a_stop_ends_a_search_that_hangs() {
    let provider = Provider::start(Manner::Hangs);
    let web = GuardedWeb::at(Endpoints {
        duckduckgo: provider.url(),
        duckduckgo_lite: provider.url(),
        wikipedia: provider.url(),
    });
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    let patient = WebSettings {
        timeout_ms: 25_000,
        ..settings(&["duckduckgo"])
    };
    let found = web.search(&patient, "pump", &cancel).await;
    assert!(found.hits.is_empty() && found.faults.is_empty());
}

#[tokio::test]
async fn a_page_of_this_computer_is_never_read() {
    let provider = Provider::start(Manner::Good("<p>secret</p>"));
    let web = GuardedWeb::default();
    for url in [
        provider.url(),
        format!("http://localhost:{}/", provider.port),
        format!("http://127.0.0.1.nip.example:{}/", provider.port),
        "http://localhost/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        assert!(web.read(&url, &CancellationToken::new()).await.is_err(), "{url}");
    }
    assert_eq!(provider.asked(), 0);
}
