//! Vectors in Qdrant, behind one port and in three ways: [`embedded`] runs Qdrant's own engine inside the program,
//! [`sidecar`] starts the official `qdrant` program, [`server`] speaks to a Qdrant server, the sidecar's or a remote
//! one.
//!
//! All three keep the same flat payload, so that what one wrote another could read: `document`, `collection`, and
//! `held`, which is `document@generation`. It does not know which generation is current.

pub mod embedded;
pub mod server;
pub mod sidecar;

pub use embedded::EmbeddedVectorIndex;
pub use server::ServerVectorIndex;
pub use sidecar::QdrantSidecar;

use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult, VectorPoint};
use uuid::Uuid;

const DOCUMENT: &str = "document";
const COLLECTION: &str = "collection";
const HELD: &str = "held";
/// The store in messages.
const WHAT: &str = "vector index";
/// Keys that are filtered by.
const INDEXED: [&str; 3] = [DOCUMENT, COLLECTION, HELD];

/// Generations listed by one `held`; more than a shard of this program ever holds.
const HELD_LIMIT: usize = 10_000_000;

/// Refuses a vector that would spoil an index: one of another length, or with a component that is no number.
fn check_vector(vector: &[f32], dim: usize) -> PortResult<()> {
    let fault = if vector.len() != dim {
        format!(
            "a vector has {} components where the index has {dim}",
            vector.len()
        )
    } else if !vector.iter().all(|component| component.is_finite()) {
        "a vector has a component that is no number".to_owned()
    } else {
        return Ok(());
    };
    Err(PortError::rejected(ErrorCode::InvalidRequest, fault))
}

/// The id of a point; refuses the whole point when index or id cannot take it.
fn check_point(point: &VectorPoint, dim: usize) -> PortResult<Uuid> {
    check_vector(&point.vector, dim)?;
    Uuid::parse_str(point.chunk.as_str()).map_err(|_| {
        PortError::rejected(
            ErrorCode::InvalidRequest,
            format!("the id of a chunk is a UUID, not `{}`", point.chunk),
        )
    })
}
