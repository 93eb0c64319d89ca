//! Wikipedia's search, in the language of the question's script.

use super::markup::plain_text;
use super::reply::{Asked, Reply, now_ms, send};
use adrag_core::ports::{SearchFault, WebHit};
use reqwest::Url;
use serde::Deserialize;

pub(super) const ID: &str = "wikipedia";

#[derive(Deserialize)]
struct Found {
    query: Option<Query>,
}

#[derive(Deserialize)]
struct Query {
    search: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    title: String,
    #[serde(default)]
    snippet: String,
}

pub(super) async fn ask(asked: &Asked<'_>) -> Result<Vec<WebHit>, SearchFault> {
    let language = language_of(asked.query);
    let base = asked.endpoints.wikipedia.replace("{language}", language);
    let (client, url) = asked.at(&base, "w/api.php")?;
    let limit = asked.limit.clamp(1, 20).to_string();
    let request = client.get(url).query(&[
        ("action", "query"),
        ("list", "search"),
        ("format", "json"),
        ("srsearch", asked.query),
        ("srlimit", limit.as_str()),
    ]);
    parse(&send(request).await?, language)
}

/// The edition by the script of the words: a guess, and a wrong one still finds.
fn language_of(query: &str) -> &'static str {
    let any = |test: fn(char) -> bool| query.chars().any(test);
    if any(|c| matches!(c, '\u{3040}'..='\u{30ff}')) {
        "ja"
    } else if any(|c| matches!(c, '\u{ac00}'..='\u{d7af}')) {
        "ko"
    } else if any(|c| matches!(c, '\u{4e00}'..='\u{9fff}')) {
        "zh"
    } else if any(|c| matches!(c, '\u{400}'..='\u{4ff}')) {
        "ru"
    } else if any(|c| matches!(c, '\u{600}'..='\u{6ff}')) {
        "ar"
    } else {
        "en"
    }
}

pub(super) fn parse(reply: &Reply, language: &str) -> Result<Vec<WebHit>, SearchFault> {
    if let Some(fault) = reply.fault() {
        return Err(fault);
    }
    let found: Found = serde_json::from_str(&reply.body).map_err(|_| reply.changed())?;
    let entries = found.query.ok_or_else(|| reply.changed())?.search;
    entries
        .into_iter()
        .map(|entry| {
            let mut url = Url::parse(&format!("https://{language}.wikipedia.org/wiki/"))
                .map_err(|_| reply.changed())?;
            if let Ok(mut path) = url.path_segments_mut() {
                path.pop_if_empty().push(&entry.title.replace(' ', "_"));
            }
            Ok(WebHit {
                url: url.to_string(),
                title: entry.title,
                snippet: plain_text(&entry.snippet),
                providers: vec![ID.to_owned()],
                fetched_at_ms: now_ms(),
            })
        })
        .collect()
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

    #[test]
    fn results_are_read_as_text() {
        let body = r#"{"query":{"search":[{"title":"Bilge pump","snippet":"A <span class=\"searchmatch\">bilge</span> pump &quot;x&quot; <script>alert(1)</script>"},{"title":"AC/DC?"}]}}"#;
        let hits = parse(&page(body), "en").unwrap();
        assert_eq!(hits[0].url, "https://en.wikipedia.org/wiki/Bilge_pump");
        assert!(
            hits[0].snippet.starts_with("A bilge pump \"x\""),
            "{}",
            hits[0].snippet
        );
        assert_eq!(hits[1].url, "https://en.wikipedia.org/wiki/AC%2FDC%3F");
        assert_eq!(parse(&page(r#"{"query":{"search":[]}}"#), "en"), Ok(Vec::new()));
    }

    #[test]
    fn a_reply_of_another_shape_is_no_empty_list() {
        for body in ["", "<html>", "{}", r#"{"error":{"code":"x"}}"#, r#"{"query":{}}"#] {
            assert!(
                matches!(parse(&page(body), "en"), Err(SearchFault::ParseChanged { .. })),
                "{body}"
            );
        }
        let limited = Reply {
            status: 429,
            retry_after: Some(std::time::Duration::from_secs(7)),
            body: String::new(),
        };
        assert_eq!(
            parse(&limited, "en"),
            Err(SearchFault::RateLimited {
                retry_after: Some(std::time::Duration::from_secs(7))
            })
        );
    }

    #[test]
    fn the_edition_follows_the_script() {
        for (query, language) in [
            ("bilge pump", "en"),
            ("ポンプ 水", "ja"),
            ("水泵", "zh"),
            ("насос", "ru"),
            ("مضخة", "ar"),
            ("펌프", "ko"),
        ] {
            assert_eq!(language_of(query), language);
        }
    }
}
