//! A Qdrant server over gRPC: the sidecar's on this machine, or a remote one.
//!
//! One collection of the server holds one vector space. A collection made for other vectors is never emptied or
//! replaced here: it may be someone's. Every write waits until the server has applied it; when that reaches the disk is
//! the server's affair (its log survives its own end at once, the loss of power within seconds).

use super::{COLLECTION, DOCUMENT, HELD, HELD_LIMIT, INDEXED, WHAT, check_point, check_vector};
use crate::projection::{held_document, held_key};
use adrag_contract::{ChunkId, DocumentId, ErrorCode};
use adrag_core::ports::{
    DocumentKey, HeldDocument, PortError, PortResult, Scope, StoreHit, VectorIndex, VectorPoint,
};
use async_trait::async_trait;
use qdrant_client::qdrant::facet_value::Variant;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CollectionInfo, Condition, CountPointsBuilder, CreateCollectionBuilder,
    CreateFieldIndexCollectionBuilder, DeletePointsBuilder, Distance, FacetCountsBuilder, FieldType, Filter,
    PointStruct, Query, QueryPointsBuilder, UpsertPointsBuilder, VectorParamsBuilder,
};
use qdrant_client::{Qdrant, QdrantError};
use std::time::Duration;

/// Patience for one call; a search takes milliseconds, a large write seconds.
const CALL: Duration = Duration::from_secs(30);
/// Patience for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Points sent in one message, which stays well below the 4 MiB a server takes at once.
const BATCH: usize = 256;

/// A [`VectorIndex`] in a collection of a Qdrant server.
pub struct ServerVectorIndex {
    client: Qdrant,
    url: String,
    collection: String,
    dim: usize,
}

impl std::fmt::Debug for ServerVectorIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerVectorIndex")
            .field("url", &self.url)
            .field("collection", &self.collection)
            .finish_non_exhaustive()
    }
}

impl ServerVectorIndex {
    /// Connects to the gRPC port at `url` and opens the collection for vectors of `dim` components, or makes it.
    ///
    /// # Errors
    /// `InvalidRequest` for a URL that is none, `Unreachable` or `Timeout` without an answer, `Unauthorized` when the
    /// key is missing or refused, `StoreFailed` when the collection was made for other vectors.
    pub async fn connect(
        url: &str,
        key: Option<String>,
        collection: impl Into<String>,
        dim: usize,
    ) -> PortResult<Self> {
        let client = Qdrant::from_url(url)
            .api_key(key)
            .timeout(CALL)
            .connect_timeout(CONNECT)
            .skip_compatibility_check()
            .build()
            .map_err(|error| port_error(url, error))?;
        let index = Self {
            client,
            url: url.to_owned(),
            collection: collection.into(),
            dim,
        };
        index.ensure_collection().await?;
        Ok(index)
    }

    async fn ensure_collection(&self) -> PortResult<()> {
        if !self.call(self.client.collection_exists(&self.collection)).await? {
            let create = CreateCollectionBuilder::new(&self.collection)
                .vectors_config(VectorParamsBuilder::new(self.dim as u64, Distance::Cosine));
            self.call(self.client.create_collection(create)).await?;
        }
        let info = self.call(self.client.collection_info(&self.collection)).await?;
        let info = info.result.unwrap_or_default();
        self.check_vectors(&info)?;
        for name in INDEXED {
            if info.payload_schema.contains_key(name) {
                continue;
            }
            let create =
                CreateFieldIndexCollectionBuilder::new(&self.collection, name, FieldType::Keyword).wait(true);
            self.call(self.client.create_field_index(create)).await?;
        }
        Ok(())
    }

    fn check_vectors(&self, info: &CollectionInfo) -> PortResult<()> {
        let config = info
            .config
            .as_ref()
            .and_then(|config| config.params.as_ref())
            .and_then(|params| params.vectors_config.as_ref())
            .and_then(|vectors| vectors.config.as_ref());
        let Some(Config::Params(params)) = config else {
            return Err(self.foreign("named vectors"));
        };
        if params.distance != Distance::Cosine as i32 {
            return Err(self.foreign("another distance than cosine"));
        }
        if params.size != self.dim as u64 {
            return Err(self.foreign(&format!(
                "vectors of {} components where the embedder has {}",
                params.size, self.dim
            )));
        }
        Ok(())
    }

    fn foreign(&self, what: &str) -> PortError {
        PortError::permanent(
            ErrorCode::StoreFailed,
            format!("collection `{}` at {} is for {what}", self.collection, self.url),
        )
        .with_hint("delete that collection on the server if it is not needed, or choose another server")
    }

    async fn remove(&self, filter: Filter) -> PortResult<()> {
        let delete = DeletePointsBuilder::new(&self.collection)
            .points(filter)
            .wait(true);
        self.call(self.client.delete_points(delete)).await?;
        Ok(())
    }

    /// The client's own time-out covers the server's answer, not the wait for a connection out of its pool.
    async fn call<T>(&self, work: impl Future<Output = Result<T, QdrantError>>) -> PortResult<T> {
        match tokio::time::timeout(CALL + CONNECT, work).await {
            Ok(result) => result.map_err(|error| port_error(&self.url, error)),
            Err(_) => Err(no_answer(&self.url)),
        }
    }
}

#[async_trait]
impl VectorIndex for ServerVectorIndex {
    async fn upsert(&self, points: Vec<VectorPoint>) -> PortResult<()> {
        let mut structs = Vec::with_capacity(points.len());
        for point in points {
            let id = check_point(&point, self.dim)?;
            let payload: [(&str, qdrant_client::qdrant::Value); 3] = [
                (DOCUMENT, point.key.document.as_str().into()),
                (COLLECTION, point.collection.as_str().into()),
                (HELD, held_key(&point.key).into()),
            ];
            structs.push(PointStruct::new(id.to_string(), point.vector, payload));
        }
        for batch in structs.chunks(BATCH) {
            let upsert = UpsertPointsBuilder::new(&self.collection, batch.to_vec()).wait(true);
            self.call(self.client.upsert_points(upsert)).await?;
        }
        Ok(())
    }

    async fn search(&self, vector: Vec<f32>, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        check_vector(&vector, self.dim)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut query = QueryPointsBuilder::new(&self.collection)
            .query(Query::new_nearest(vector))
            .limit(limit as u64)
            .with_payload(false);
        if let Scope::Collection(name) = scope {
            query = query.filter(Filter::must([equals(COLLECTION, name.as_str())]));
        }
        let found = self.call(self.client.query(query)).await?;
        Ok(found
            .result
            .into_iter()
            .filter_map(|point| match point.id?.point_id_options? {
                PointIdOptions::Uuid(id) => Some(StoreHit {
                    chunk: ChunkId::new(id),
                    score: point.score,
                }),
                PointIdOptions::Num(_) => None,
            })
            .collect())
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        let mut filter = Filter::must([equals(DOCUMENT, document.as_str())]);
        if let Some(generation) = keep {
            let kept = DocumentKey {
                document: document.clone(),
                generation,
            };
            filter.must_not = vec![equals(HELD, &held_key(&kept))];
        }
        self.remove(filter).await
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.remove(Filter::must([equals(HELD, &held_key(key))])).await
    }

    async fn clear(&self) -> PortResult<()> {
        self.remove(Filter::default()).await
    }

    async fn flush(&self) -> PortResult<()> {
        // The protocol has no call for it; every write was waited for.
        Ok(())
    }

    async fn count(&self) -> PortResult<u64> {
        let count = CountPointsBuilder::new(&self.collection).exact(true);
        let reply = self.call(self.client.count(count)).await?;
        Ok(reply.result.unwrap_or_default().count)
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        let facet = FacetCountsBuilder::new(&self.collection, HELD)
            .limit(HELD_LIMIT as u64)
            .exact(true);
        let reply = self.call(self.client.facet(facet)).await?;
        reply
            .hits
            .into_iter()
            .filter(|hit| hit.count > 0)
            .map(|hit| match hit.value.and_then(|value| value.variant) {
                Some(Variant::StringValue(value)) => held_document(&value, hit.count, WHAT),
                other => held_document(&format!("{other:?}"), 0, WHAT),
            })
            .collect()
    }
}

/// The client's own conversion from text turns a value with a space into a search for words.
fn equals(name: &str, value: &str) -> Condition {
    Condition::matches(name, MatchValue::Keyword(value.to_owned()))
}

fn no_answer(url: &str) -> PortError {
    PortError::transient(
        ErrorCode::Timeout,
        format!("the Qdrant server at {url} did not answer in time"),
    )
}

fn unreachable_server(url: &str) -> PortError {
    PortError::transient(
        ErrorCode::Unreachable,
        format!("the Qdrant server at {url} cannot be reached"),
    )
    .with_hint("check that the server runs and that the URL names its gRPC port (6334 by default)")
}

/// gRPC status codes, from the protocol's list.
mod code {
    pub const CANCELLED: i32 = 1;
    pub const INVALID_ARGUMENT: i32 = 3;
    pub const DEADLINE_EXCEEDED: i32 = 4;
    pub const PERMISSION_DENIED: i32 = 7;
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    pub const INTERNAL: i32 = 13;
    pub const UNAVAILABLE: i32 = 14;
    pub const UNAUTHENTICATED: i32 = 16;
}

fn port_error(url: &str, error: QdrantError) -> PortError {
    let status = match &error {
        QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => status,
        QdrantError::InvalidUri(_) => {
            return PortError::rejected(ErrorCode::InvalidRequest, format!("`{url}` is no URL"))
                .with_hint("give the URL of the server's gRPC port, like `http://localhost:6334`");
        }
        other => {
            return PortError::permanent(
                ErrorCode::StoreFailed,
                format!("the Qdrant server at {url} failed: {other}"),
            );
        }
    };
    let said = status.message();
    match i32::from(status.code()) {
        code::UNAUTHENTICATED | code::PERMISSION_DENIED => PortError::rejected(
            ErrorCode::Unauthorized,
            format!("the Qdrant server at {url} refuses the key"),
        )
        .with_hint("enter the server's API key in Settings, under Storage"),
        code::CANCELLED | code::DEADLINE_EXCEEDED => no_answer(url),
        code::UNAVAILABLE => unreachable_server(url),
        // How the client words a connection that was never made.
        code::INTERNAL if said.starts_with("Failed to connect") => unreachable_server(url),
        code::RESOURCE_EXHAUSTED => PortError::transient(
            ErrorCode::RateLimited,
            format!("the Qdrant server at {url} is busy: {said}"),
        ),
        code::INVALID_ARGUMENT => PortError::rejected(
            ErrorCode::InvalidRequest,
            format!("the Qdrant server at {url} refuses the request: {said}"),
        ),
        _ => PortError::permanent(
            ErrorCode::StoreFailed,
            format!("the Qdrant server at {url} failed: {said}"),
        ),
    }
}
