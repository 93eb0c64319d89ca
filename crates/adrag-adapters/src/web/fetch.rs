//! Reading a page: no cookies, three redirects at most and each checked like the first, bounded in size and time, text only.

use super::guard::{PublicOnly, check};
use super::reply::{Broken, read_bounded};
use crate::parse::page_text;
use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use reqwest::{Client, Response, Url, header, redirect};
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const MAX_REDIRECTS: usize = 3;
/// Most bytes of a page, decompressed.
const MAX_PAGE: usize = 2 * 1024 * 1024;
const LIMIT: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Pages {
    client: OnceLock<Client>,
}

impl Pages {
    /// The readable text of a page.
    pub(super) async fn read(&self, url: &str, cancel: &CancellationToken) -> PortResult<String> {
        let work = tokio::time::timeout(LIMIT, self.fetch(url));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(PortError::cancelled()),
            page = work => page.unwrap_or_else(|_| Err(PortError::transient(
                ErrorCode::Timeout,
                format!("the page took longer than {} s", LIMIT.as_secs()),
            ))),
        }
    }

    async fn fetch(&self, url: &str) -> PortResult<String> {
        let client = self.client()?;
        let mut url = check(url)?;
        for _ in 0..=MAX_REDIRECTS {
            let response = client
                .get(url.clone())
                .header(header::ACCEPT, "text/html, text/plain;q=0.8")
                .send()
                .await
                .map_err(|error| unreachable_page(&error))?;
            match redirected(&url, &response)? {
                Some(next) => url = next,
                None => return text_of(response).await,
            }
        }
        Err(PortError::rejected(
            ErrorCode::BadReply,
            "the page leads on and on to other pages",
        ))
    }

    fn client(&self) -> PortResult<Client> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            // A proxy would look the name up itself, unguarded.
            .no_proxy()
            .dns_resolver(PublicOnly)
            .connect_timeout(Duration::from_secs(5))
            .user_agent(concat!("adrag/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| {
                PortError::permanent(ErrorCode::Internal, format!("cannot set up connections: {error}"))
            })?;
        Ok(self.client.get_or_init(|| client).clone())
    }
}

fn unreachable_page(error: &reqwest::Error) -> PortError {
    PortError::transient(
        ErrorCode::Unreachable,
        format!("the page cannot be reached: {error}"),
    )
}

/// Where a reply leads on, checked like the first address.
fn redirected(from: &Url, response: &Response) -> PortResult<Option<Url>> {
    if !response.status().is_redirection() {
        return Ok(None);
    }
    let target = response
        .headers()
        .get(header::LOCATION)
        .and_then(|location| location.to_str().ok())
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| PortError::rejected(ErrorCode::BadReply, "the page leads nowhere"))?;
    check(target.as_str()).map(Some)
}

async fn text_of(response: Response) -> PortResult<String> {
    let status = response.status();
    if !status.is_success() {
        return Err(PortError::rejected(
            ErrorCode::BadReply,
            format!("the page answered with status {}", status.as_u16()),
        ));
    }
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("text/html")
        .to_lowercase();
    let name = match kind.split(';').next().unwrap_or_default().trim() {
        "text/html" | "application/xhtml+xml" => "page.html",
        "text/plain" => "page.txt",
        other => {
            return Err(PortError::rejected(
                ErrorCode::BadReply,
                format!("the page is no text (`{other}`)"),
            ));
        }
    };
    match read_bounded(response, MAX_PAGE).await {
        Ok(bytes) => page_text(name, bytes).await,
        Err(Broken::TooLong) => Err(PortError::rejected(
            ErrorCode::BadReply,
            "the page is longer than 2 MB",
        )),
        Err(Broken::Cut(error)) => Err(unreachable_page(&error)),
    }
}
