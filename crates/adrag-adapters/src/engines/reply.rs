//! Reads a streamed reply line by line within its limits and hands it on as the stream of the port.
//!
//! What a line means is the protocol's business ([`Decode`]); that a reply is bounded in size, in silence, is valid UTF-8
//! and ends when it should is decided here, for all engines alike.

use super::fault::Server;
use adrag_core::ports::{ChatDelta, ChatStream, PortError, PortResult};
use futures::StreamExt;
use reqwest::Response;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Most bytes of one reply: far above what any model writes for a question.
pub(crate) const MOST_BYTES: usize = 8 * 1024 * 1024;
/// After the model said it is done, what is left to come is not waited for longer.
const AFTERWORD: Duration = Duration::from_secs(2);

/// What a line of a reply meant.
pub(crate) enum Meaning {
    /// Nothing to hand on.
    Nothing,
    /// Text of the answer.
    Text(String),
    /// Nothing more will come.
    End,
}

/// Understands the lines of one protocol.
pub(crate) trait Decode: Send + 'static {
    /// Takes a line without its end.
    fn line(&mut self, line: &str, server: &Server) -> PortResult<Meaning>;

    /// Takes the end of the body: whatever was still held back.
    fn end(&mut self, server: &Server) -> PortResult<Meaning>;

    /// True once the model said that it is done; counts may still come.
    fn is_complete(&self) -> bool;

    /// What the call cost, once the reply is over.
    fn usage(&mut self) -> Option<ChatDelta>;
}

/// The stream of a reply. It owns the connection: dropping it closes it.
pub(crate) fn stream(
    response: Response,
    decoder: impl Decode,
    server: Server,
    silence: Duration,
    cancel: CancellationToken,
) -> ChatStream {
    let reading = Reading {
        lines: Lines {
            response,
            buffer: Vec::new(),
            scanned: 0,
            received: 0,
            over: false,
        },
        decoder,
        server,
        silence,
        cancel,
        ready: VecDeque::new(),
        over: false,
    };
    futures::stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Some(Ok(delta)) => Some((Ok(delta), Some(reading))),
            // The connection goes with the state.
            Some(Err(error)) => Some((Err(error), None)),
            None => None,
        }
    })
    .boxed()
}

struct Reading<D> {
    lines: Lines,
    decoder: D,
    server: Server,
    silence: Duration,
    cancel: CancellationToken,
    ready: VecDeque<ChatDelta>,
    over: bool,
}

impl<D: Decode> Reading<D> {
    async fn next(&mut self) -> Option<PortResult<ChatDelta>> {
        loop {
            if self.cancel.is_cancelled() && !self.over {
                return Some(Err(PortError::cancelled()));
            }
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.read_on().await {
                return Some(Err(error));
            }
        }
    }

    async fn read_on(&mut self) -> PortResult<()> {
        let limit = if self.decoder.is_complete() {
            AFTERWORD.min(self.silence)
        } else {
            self.silence
        };
        let line = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(PortError::cancelled()),
            line = self.lines.next(&self.server, limit) => line,
        };
        let meaning = match line {
            Ok(Some(line)) => self.decoder.line(&line, &self.server),
            Ok(None) => self.finish_body(),
            Err(error) => Err(error),
        };
        match meaning {
            Ok(Meaning::Nothing) => {}
            Ok(Meaning::Text(text)) if text.is_empty() => {}
            Ok(Meaning::Text(text)) => self.ready.push_back(ChatDelta::Text(text)),
            Ok(Meaning::End) => self.conclude(),
            // The answer is whole; only its counts were lost.
            Err(error) if self.decoder.is_complete() => {
                tracing::debug!(%error, "the reply ended untidily after the answer was complete");
                self.conclude();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn finish_body(&mut self) -> PortResult<Meaning> {
        match self.decoder.end(&self.server)? {
            // The text of a reply that came in one piece: the next read finds the end again.
            Meaning::Text(text) => Ok(Meaning::Text(text)),
            Meaning::End => Ok(Meaning::End),
            Meaning::Nothing if self.decoder.is_complete() => Ok(Meaning::End),
            Meaning::Nothing => Err(self.server.bad_reply("broke off in the middle of its answer")),
        }
    }

    fn conclude(&mut self) {
        self.over = true;
        self.ready.extend(self.decoder.usage());
    }
}

struct Lines {
    response: Response,
    buffer: Vec<u8>,
    /// Bytes of `buffer` known to hold no line end.
    scanned: usize,
    received: usize,
    over: bool,
}

impl Lines {
    /// The next line, nothing at the end. Silence is counted between lines, so that a server that sends a byte now and
    /// then is as silent as one that sends none.
    async fn next(&mut self, server: &Server, silence: Duration) -> PortResult<Option<String>> {
        let deadline = Instant::now() + silence;
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.scanned + at + 1);
                let line = std::mem::replace(&mut self.buffer, rest);
                self.scanned = 0;
                return text(line, server).map(Some);
            }
            self.scanned = self.buffer.len();
            if self.over {
                self.scanned = 0;
                let line = std::mem::take(&mut self.buffer);
                return if line.is_empty() {
                    Ok(None)
                } else {
                    text(line, server).map(Some)
                };
            }
            match tokio::time::timeout_at(deadline, self.response.chunk()).await {
                Err(_) => return Err(server.silent(silence)),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the connection was cut");
                    return Err(server.bad_reply("closed the connection in the middle of its answer"));
                }
                Ok(Ok(None)) => self.over = true,
                Ok(Ok(Some(bytes))) => {
                    self.received += bytes.len();
                    if self.received > MOST_BYTES {
                        return Err(server.bad_reply("sent more than any answer can be"));
                    }
                    self.buffer.extend_from_slice(&bytes);
                }
            }
        }
    }
}

fn text(mut line: Vec<u8>, server: &Server) -> PortResult<String> {
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| server.bad_reply("sent bytes that are not UTF-8 text"))
}
