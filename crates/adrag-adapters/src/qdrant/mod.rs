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
use adrag_core::ports::{DocumentKey, HeldDocument, PortError, PortResult, VectorPoint};
use uuid::Uuid;

const DOCUMENT: &str = "document";
const COLLECTION: &str = "collection";
const HELD: &str = "held";
/// Keys that are filtered by.
const INDEXED: [&str; 3] = [DOCUMENT, COLLECTION, HELD];

/// Generations listed by one `held`; more than a shard of this program ever holds.
const HELD_LIMIT: usize = 10_000_000;

fn held_key(key: &DocumentKey) -> String {
    format!("{}@{}", key.document, key.generation)
}

fn held_document(value: &str, chunks: u64) -> PortResult<HeldDocument> {
    let parsed = value
        .rsplit_once('@')
        .and_then(|(document, generation)| Some((document, generation.parse().ok()?)));
    let Some((document, generation)) = parsed else {
        return Err(PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the vector index holds an entry that is not ours: `{value}`"),
        ));
    };
    Ok(HeldDocument {
        key: DocumentKey {
            document: document.into(),
            generation,
        },
        chunks,
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_survives_its_key() {
        for name in ["doc", "a@b@3", "", "@"] {
            let key = DocumentKey {
                document: name.into(),
                generation: 12,
            };
            assert_eq!(held_document(&held_key(&key), 4).unwrap().key, key);
        }
        assert!(held_document("no generation", 1).is_err());
        assert!(held_document("doc@x", 1).is_err());
    }
}
