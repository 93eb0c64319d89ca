//! A SearXNG instance of one's own, asked for JSON.

use super::markup::plain_text;
use super::reply::{Asked, Reply, now_ms, send};
use adrag_core::ports::{SearchFault, WebHit};
use reqwest::Url;
use serde::Deserialize;

pub(super) const ID: &str = "searxng";

#[derive(Deserialize)]
struct Found {
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    content: Option<String>,
}

pub(super) async fn ask(asked: &Asked<'_>, base: Option<&str>) -> Result<Vec<WebHit>, SearchFault> {
    let base = base
        .map(str::trim)
        .filter(|base| !base.is_empty())
        .ok_or(SearchFault::Disabled)?;
    let (client, url) = asked.at(base, "search")?;
    parse(&send(client.get(url).query(&[("q", asked.query), ("format", "json")])).await?)
}

pub(super) fn parse(reply: &Reply) -> Result<Vec<WebHit>, SearchFault> {
    match reply.fault() {
        // An instance refuses formats that its settings do not name.
        Some(SearchFault::Blocked) if reply.status == 403 => return Err(SearchFault::FormatOff),
        Some(fault) => return Err(fault),
        None => {}
    }
    let found: Found = serde_json::from_str(&reply.body).map_err(|_| reply.changed())?;
    let hits = found.results.into_iter().filter_map(|entry| {
        let url = Url::parse(&entry.url).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| WebHit {
            url: url.to_string(),
            title: plain_text(&entry.title),
            snippet: plain_text(&entry.content.unwrap_or_default()),
            providers: vec![ID.to_owned()],
            fetched_at_ms: now_ms(),
        })
    });
    Ok(hits.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_refusals_and_other_shapes() {
        let page = |status, body: &str| Reply {
            status,
            body: body.to_owned(),
            ..Reply::default()
        };
        let body = r#"{"results":[{"url":"https://example.org/","title":"<b>Pumps</b>","content":null},{"url":"javascript:x","title":"no"}]}"#;
        let hits = parse(&page(200, body)).unwrap();
        assert_eq!((hits.len(), hits[0].title.as_str()), (1, "Pumps"));
        assert_eq!(parse(&page(200, r#"{"results":[]}"#)), Ok(Vec::new()));
        assert_eq!(parse(&page(403, "")), Err(SearchFault::FormatOff));
        assert_eq!(parse(&page(500, "")), Err(SearchFault::Http(500)));
        assert!(matches!(
            parse(&page(200, "<html>")),
            Err(SearchFault::ParseChanged { .. })
        ));
        assert!(matches!(
            parse(&page(429, "")),
            Err(SearchFault::RateLimited { .. })
        ));
    }
}
