//! A run as a stream of events: ours, which can be resumed, and that of the source system.
//!
//! Whoever asked owns the run: when they close the stream, the run is cancelled, unless they said that it shall be kept.

use super::hub::Follow;
use super::{Served, Shared};
use adrag_contract::{AppError, RunEvent, RunId};
use adrag_core::compat::Frames;
use axum::http::{HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, Stream};
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;

/// Between two signs of life while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a run that is stopped because the server ends may take to say so.
const STOPPING_LIMIT: Duration = Duration::from_secs(2);

/// Someone who follows a run, and may own it.
pub struct Watched {
    shared: Shared,
    run: RunId,
    follow: Follow,
    owned: bool,
    stopping: bool,
}

impl Watched {
    /// Follows a run from event number `from` on.
    ///
    /// # Errors
    /// When the run is unknown or the history cannot be read.
    pub async fn start(shared: &Shared, run: RunId, from: u64, owned: bool) -> Result<Self, AppError> {
        let served: &Served = shared;
        let follow = match served.hub.follow(&served.engine, &run, from).await {
            Ok(follow) => follow,
            Err(error) => {
                if owned {
                    served.engine.cancel(&run);
                }
                return Err(error);
            }
        };
        Ok(Self {
            shared: shared.clone(),
            run,
            follow,
            owned,
            stopping: false,
        })
    }

    /// The next event; nothing after the terminal one, or when the server ends.
    pub async fn next(&mut self) -> Option<RunEvent> {
        if !self.stopping {
            let closing = self.shared.closing.clone();
            tokio::select! {
                biased;
                event = self.follow.next() => return event,
                () = closing.cancelled() => self.stopping = true,
            }
            if !self.owned {
                return None;
            }
            self.shared.engine.cancel(&self.run);
        }
        tokio::time::timeout(STOPPING_LIMIT, self.follow.next())
            .await
            .ok()
            .flatten()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.follow.leave();
        self.shared.hub.sweep(&self.run);
        if self.owned && !self.follow.is_over() && self.shared.engine.cancel(&self.run) {
            tracing::info!(run = %self.run, "nobody reads the answer any more: the run is stopped");
        }
    }
}

fn events(watched: Watched) -> impl Stream<Item = RunEvent> {
    stream::unfold(watched, |mut watched| async move {
        let event = watched.next().await?;
        Some((event, watched))
    })
}

/// Our events; `id` is their number, so that `Last-Event-ID` resumes.
pub fn native(watched: Watched) -> Response {
    let stream = events(watched).map(|event| {
        let told = Event::default().id(event.seq.to_string());
        Ok::<_, Infallible>(told.json_data(&event).unwrap_or_else(|error| {
            tracing::error!(%error, "an event cannot be written");
            Event::default().comment("an event cannot be written")
        }))
    });
    unbuffered(Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// The frames of the source system: `data` lines alone, no signs of life, for its front end splits them by hand.
pub fn compat(watched: Watched, passes: u32) -> Response {
    let mut frames = Frames::new(passes);
    let stream = events(watched)
        .flat_map(move |event| stream::iter(frames.after(&event)))
        .map(|frame: Value| Ok::<_, Infallible>(Event::default().data(frame.to_string())));
    unbuffered(Sse::new(stream))
}

fn unbuffered(stream: impl IntoResponse) -> Response {
    let mut response = stream.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
