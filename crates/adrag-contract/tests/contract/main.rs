//! The words on the wire: JSON that scripts and stored histories rely on, and the fold of a run.
#![allow(clippy::unwrap_used)]

mod fold;
mod wire;

use adrag_contract::{Event, RunEvent, RunId};

/// Events in their envelopes, numbered from 0.
pub fn log(events: impl IntoIterator<Item = Event>) -> Vec<RunEvent> {
    (0_u64..)
        .zip(events)
        .map(|(seq, event)| RunEvent {
            run: RunId::new("r"),
            seq,
            at_ms: 1_000 + seq as i64,
            attempt: 1,
            event,
        })
        .collect()
}
