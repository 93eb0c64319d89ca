//! The body of a reply: frames of a protocol, sent as a fault wants them.

use super::{Fault, Protocol, Shared, Waiting};
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;

/// One piece of a body.
enum Act {
    Send(Bytes),
    Pause(Duration),
    /// Keeps the connection open and says nothing more.
    Hang,
    /// Closes the connection as if the cable were cut.
    Cut,
}

/// A reply that goes as the fault says. That the other side leaves it early is counted.
pub(super) fn stream(shared: Arc<Shared>, frames: &[String], fault: &Fault) -> Response {
    let protocol = shared.protocol;
    let acts = acts(protocol, frames, fault);
    let waiting = Waiting { shared, done: false };
    let body = stream::unfold(
        (acts.into_iter(), Some(waiting)),
        |(mut acts, mut waiting)| async move {
            loop {
                match acts.next() {
                    None => {
                        if let Some(waiting) = waiting.take() {
                            waiting.done();
                        }
                        return None;
                    }
                    Some(Act::Send(bytes)) => return Some((Ok(bytes), (acts, waiting))),
                    Some(Act::Pause(time)) => tokio::time::sleep(time).await,
                    Some(Act::Hang) => std::future::pending().await,
                    Some(Act::Cut) => {
                        if let Some(waiting) = waiting.take() {
                            waiting.done();
                        }
                        return Some((Err(std::io::Error::other("cut")), (acts, waiting)));
                    }
                }
            }
        },
    );
    let kind = match protocol {
        Protocol::Openai => "text/event-stream",
        Protocol::Ollama => "application/x-ndjson",
    };
    Response::builder()
        .header("content-type", kind)
        .body(Body::from_stream(body.boxed()))
        .unwrap()
}

fn acts(protocol: Protocol, frames: &[String], fault: &Fault) -> Vec<Act> {
    // The frames of the text, without those that end the reply.
    let text = frames.len().saturating_sub(match protocol {
        Protocol::Openai => 3,
        Protocol::Ollama => 1,
    });
    let send = |frame: &String| Act::Send(Bytes::from(frame.clone()));
    let mut acts: Vec<Act> = Vec::new();
    let spaced = |acts: &mut Vec<Act>, frames: &[String]| {
        for frame in frames {
            acts.push(send(frame));
            acts.push(Act::Pause(Duration::from_millis(5)));
        }
    };
    match fault {
        Fault::HangsMidway => {
            spaced(&mut acts, &frames[..text]);
            acts.push(Act::Hang);
        }
        Fault::Trickles => {
            for byte in frames.concat().bytes() {
                acts.push(Act::Send(Bytes::from(vec![byte])));
                acts.push(Act::Pause(Duration::from_secs(1)));
            }
        }
        Fault::HalfJson => {
            spaced(&mut acts, &frames[..text]);
            let next = frames[text].as_bytes();
            acts.push(Act::Send(Bytes::copy_from_slice(&next[..next.len() / 2])));
        }
        Fault::ClosesMidway => {
            spaced(&mut acts, &frames[..text]);
            acts.push(Act::Cut);
        }
        Fault::EndsMidway => spaced(&mut acts, &frames[..text]),
        Fault::InvalidUtf8 => {
            spaced(&mut acts, &frames[..text]);
            acts.push(Act::Send(Bytes::from_static(
                b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n",
            )));
        }
        Fault::Huge => {
            let block = Bytes::from(vec![b'x'; 1024 * 1024]);
            acts.extend((0..200).map(|_| Act::Send(block.clone())));
        }
        Fault::ErrorMidway => {
            spaced(&mut acts, &frames[..text]);
            let error = match protocol {
                Protocol::Openai => "data: {\"error\":{\"message\":\"the model crashed\",\"code\":500}}\n\n",
                Protocol::Ollama => "{\"error\":\"the model crashed\"}\n",
            };
            acts.push(Act::Send(Bytes::from_static(error.as_bytes())));
        }
        _ => spaced(&mut acts, frames),
    }
    acts
}
