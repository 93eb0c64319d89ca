//! DuckDuckGo's pages without scripts: the usual one, and the light one as the second try.

use super::markup::{Piece, collapse, has_class, pieces};
use super::reply::{Asked, Reply, now_ms, send};
use adrag_core::ports::{SearchFault, WebHit};
use reqwest::{Url, header};

pub(super) const ID: &str = "duckduckgo";
/// What a page says when there is nothing to find.
const NOTHING: [&str; 3] = ["no-results", "No results found", "No more results"];
/// What a page holds that wants to know whether a person asks.
const CHALLENGE: [&str; 3] = ["anomaly-modal", "challenge-form", "anomaly.js"];

pub(super) async fn ask(asked: &Asked<'_>) -> Result<Vec<WebHit>, SearchFault> {
    let (client, url) = asked.at(&asked.endpoints.duckduckgo, "html/")?;
    let request = client
        .post(url)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form(&[("q", asked.query), ("b", ""), ("l", "wt-wt")]));
    let first = parse_html(&send(request).await?);
    match first {
        Err(SearchFault::ParseChanged { .. } | SearchFault::Http(_)) => {}
        settled => return settled,
    }
    let (client, url) = asked.at(&asked.endpoints.duckduckgo_lite, "lite/")?;
    parse_lite(&send(client.get(url).query(&[("q", asked.query)])).await?)
}

/// Fields as a form sends them.
fn form(fields: &[(&str, &str)]) -> String {
    Url::parse_with_params("http://form.invalid/", fields)
        .ok()
        .and_then(|url| url.query().map(str::to_owned))
        .unwrap_or_default()
}

/// The usual page: `a.result__a` is a title, `.result__snippet` its excerpt.
pub(super) fn parse_html(reply: &Reply) -> Result<Vec<WebHit>, SearchFault> {
    parse(reply, "result__a", "result__snippet")
}

/// The light page, a table: `a.result-link`, `td.result-snippet`.
pub(super) fn parse_lite(reply: &Reply) -> Result<Vec<WebHit>, SearchFault> {
    parse(reply, "result-link", "result-snippet")
}

fn parse(reply: &Reply, title_class: &str, snippet_class: &str) -> Result<Vec<WebHit>, SearchFault> {
    if let Some(fault) = reply.fault() {
        return Err(fault);
    }
    if CHALLENGE.iter().any(|sign| reply.body.contains(sign)) {
        return Err(SearchFault::Blocked);
    }
    let mut hits: Vec<WebHit> = Vec::new();
    let mut found = false;
    // What is collected, the tag that ends it, and how deep it is nested in itself.
    let mut open: Option<(bool, String, usize, String)> = None;
    for piece in pieces(&reply.body) {
        match (piece, &mut open) {
            (Piece::Open { name, class, href }, None) => {
                let title = has_class(&class, title_class);
                if title {
                    found = true;
                    let url = href.as_deref().and_then(target);
                    hits.push(WebHit {
                        url: url.unwrap_or_default(),
                        title: String::new(),
                        snippet: String::new(),
                        providers: vec![ID.to_owned()],
                        fetched_at_ms: now_ms(),
                    });
                }
                if title || has_class(&class, snippet_class) {
                    open = Some((title, name, 0, String::new()));
                }
            }
            (Piece::Open { name, .. }, Some((_, tag, depth, _))) if name == *tag => *depth += 1,
            (Piece::Text(text), Some((.., collected))) => collected.push_str(&text),
            (Piece::Close(name), Some((title, tag, depth, collected))) if name == *tag => {
                if *depth > 0 {
                    *depth -= 1;
                    continue;
                }
                if let Some(hit) = hits.last_mut() {
                    let field = if *title { &mut hit.title } else { &mut hit.snippet };
                    *field = collapse(collected);
                }
                open = None;
            }
            _ => {}
        }
    }
    // Advertisements lead back to the provider and were given no address.
    hits.retain(|hit| !hit.url.is_empty());
    if !found && !NOTHING.iter().any(|sign| reply.body.contains(sign)) {
        return Err(reply.changed());
    }
    Ok(hits)
}

/// The page a link of the results leads to: the provider's own redirection unwrapped, its advertisements left out.
fn target(href: &str) -> Option<String> {
    let absolute = match href.strip_prefix("//") {
        Some(rest) => format!("https://{rest}"),
        None => href.to_owned(),
    };
    let url = Url::parse(&absolute)
        .or_else(|_| Url::parse("https://duckduckgo.com").and_then(|base| base.join(&absolute)))
        .ok()?;
    let own = url
        .host_str()
        .is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !own {
        return is_page(&url).then(|| url.to_string());
    }
    if url.path() != "/l/" {
        return None;
    }
    let (_, wrapped) = url.query_pairs().find(|(name, _)| name == "uddg")?;
    let wrapped = Url::parse(&wrapped).ok()?;
    let advert = wrapped.host_str() == Some("duckduckgo.com");
    (is_page(&wrapped) && !advert).then(|| wrapped.to_string())
}

fn is_page(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> Reply {
        Reply {
            status: 200,
            body: body.to_owned(),
            ..Reply::default()
        }
    }

    const RESULT: &str = r#"<div class="result results_links web-result"><h2 class="result__title">
        <a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1%26c&amp;rut=abc">The <b>bilge</b> pump &amp; more</a></h2>
        <a class="result__snippet" href="x">It takes <b>SK-131-A</b>
        and nothing else.</a></div>"#;
    const ADVERT: &str = r#"<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Buy pumps</a><a class="result__snippet">cheap</a></div>"#;

    #[test]
    fn results_are_read_and_adverts_are_not() {
        let hits = parse_html(&page(&format!(
            "<html><body>{ADVERT}{RESULT}{ADVERT}</body></html>"
        )))
        .unwrap();
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].url, "https://example.org/a?b=1&c");
        assert_eq!(hits[0].title, "The bilge pump & more");
        assert_eq!(hits[0].snippet, "It takes SK-131-A and nothing else.");
    }

    #[test]
    fn the_light_page_is_read_too() {
        let body = r#"<table><tr><td>1.</td><td><a rel="nofollow" href="https://example.org/" class='result-link'>Pumps</a></td></tr>
            <tr><td></td><td class='result-snippet'>All of <table><tr><td>them</td></tr></table>.</td></tr></table>"#;
        let hits = parse_lite(&page(body)).unwrap();
        assert_eq!(
            (hits[0].title.as_str(), hits[0].snippet.as_str()),
            ("Pumps", "All of them.")
        );
    }

    #[test]
    fn other_scripts_and_directions_come_through() {
        let body = r#"<a class="result__a" href="https://例え.jp/">海の ポンプ</a><a class="result__snippet">مضخة <b>الماء</b></a>"#;
        let hits = parse_html(&page(body)).unwrap();
        assert_eq!(hits[0].title, "海の ポンプ");
        assert_eq!(hits[0].snippet, "مضخة الماء");
        assert!(hits[0].url.starts_with("https://xn--"));
    }

    #[test]
    fn nothing_found_is_not_a_page_that_changed_and_not_a_refusal() {
        assert_eq!(
            parse_html(&page("<div class=\"no-results\">No results.</div>")),
            Ok(Vec::new())
        );
        assert_eq!(parse_lite(&page("<td>No more results.</td>")), Ok(Vec::new()));
        assert!(matches!(
            parse_html(&page("<div class=\"brand-new\"><a href=\"https://example.org\">x</a></div>")),
            Err(SearchFault::ParseChanged { sha }) if sha.len() == 64
        ));
        assert_eq!(
            parse_html(&page(
                "<form id=\"challenge-form\" action=\"//duckduckgo.com/anomaly.js\">"
            )),
            Err(SearchFault::Blocked)
        );
        for (status, fault) in [
            (202, SearchFault::Blocked),
            (403, SearchFault::Blocked),
            (429, SearchFault::RateLimited { retry_after: None }),
            (500, SearchFault::Http(500)),
        ] {
            let reply = Reply {
                status,
                ..Reply::default()
            };
            assert_eq!(parse_html(&reply), Err(fault));
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_dropped() {
        for href in [
            "javascript:alert(1)",
            "//duckduckgo.com/l/?uddg=file%3A%2F%2F%2Fetc",
            "/settings",
            "//duckduckgo.com/l/",
        ] {
            assert_eq!(target(href), None, "{href}");
        }
    }
}
