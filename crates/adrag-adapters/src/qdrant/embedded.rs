//! Qdrant's engine inside the program: one shard in one folder.
//!
//! Search is exact until about twenty thousand points have no HNSW graph; then one is built on a thread of its own,
//! while reads and writes go on. Writes go through the engine's log, which survives the loss of the process; `flush`
//! makes them survive the loss of power too. No other process can open the folder meanwhile.

use super::{COLLECTION, DOCUMENT, HELD, HELD_LIMIT, INDEXED, WHAT, check_point, check_vector};
use crate::projection::{
    FolderLock, blocking, disk_error, guarded, held_document, held_key, is_vacant, set_aside,
};
use adrag_contract::{ChunkId, DocumentId, ErrorCode};
use adrag_core::ports::{
    DocumentKey, HeldDocument, PortError, PortResult, Scope, StoreHit, VectorIndex, VectorPoint,
};
use async_trait::async_trait;
use qdrant_edge::{
    Condition, CountRequest, CreateIndex, DEFAULT_VECTOR_NAME, Distance, EdgeConfig, EdgeOptimizersConfig,
    EdgeShard, EdgeVectorParams, EdgeVectorParamsBuilder, FacetRequestBuilder, FacetValue, FieldCondition,
    FieldIndexOperations, Filter, JsonPath, Match, MatchValue, NamedQuery, OperationError,
    PayloadFieldSchema, PayloadSchemaType, PointId, PointInsertOperations, PointOperations, PointStruct,
    QueryEnum, QueryRequestBuilder, ResourceBudget, RetrieveRequestBuilder, ScoringQuery, UpdateOperation,
    ValueVariants, VectorStructInternal, WalOptions, WithPayloadInterface, WithVector,
};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use uuid::Uuid;

/// Points without a graph from which a graph is worth its building.
const GRAPH_FROM: usize = 20_000;

/// Deleted points from which the engine can be asked to reclaim their room.
const RECLAIM_FROM: u64 = 1_000;

/// A [`VectorIndex`] in a folder of this program.
#[derive(Debug)]
pub struct EmbeddedVectorIndex {
    shard: Arc<Shard>,
    dim: usize,
}

/// The shard and what may outlive the index while a graph is being built.
#[derive(Debug)]
struct Shard {
    engine: EdgeShard,
    optimizing: AtomicBool,
    /// Points deleted since room was last reclaimed.
    deleted: AtomicU64,
    _lock: FolderLock,
}

impl EmbeddedVectorIndex {
    /// Opens the index in a folder for vectors of `dim` components, or makes it.
    ///
    /// A folder that cannot be read, or was made for vectors of another length, is renamed and an empty index takes its
    /// place; the text says so.
    ///
    /// # Errors
    /// `DataFolderInUse` when another instance has it open; `Disk` when the folder cannot be made or renamed.
    pub async fn open(folder: impl Into<PathBuf>, dim: usize) -> PortResult<(Self, Option<String>)> {
        let folder = folder.into();
        blocking("vector index", move || Self::open_now(&folder, dim)).await
    }

    fn open_now(folder: &Path, dim: usize) -> PortResult<(Self, Option<String>)> {
        let lock = FolderLock::take(folder)?;
        let (engine, note) = match load(folder, dim) {
            Ok(engine) => (engine, None),
            Err(Unloadable::InUse) => return Err(crate::projection::in_use(folder)),
            Err(Unloadable::Because(why)) => {
                let note = set_aside(folder, "the vector index", &why)?;
                let engine = guarded(|| create(folder, dim)).map_err(|why| {
                    PortError::permanent(
                        ErrorCode::StoreFailed,
                        format!("cannot make a vector index in `{}`: {why}", folder.display()),
                    )
                })?;
                (engine, Some(note))
            }
            Err(Unloadable::Disk(error)) => return Err(error),
        };
        let shard = Arc::new(Shard {
            engine,
            optimizing: AtomicBool::new(false),
            deleted: AtomicU64::new(0),
            _lock: lock,
        });
        Ok((Self { shard, dim }, note))
    }

    /// True when no graph is being built and none is due: searches are as fast as they get.
    ///
    /// # Errors
    /// `StoreFailed` when the index cannot be asked.
    pub async fn is_graph_built(&self) -> PortResult<bool> {
        self.with(|shard| {
            let info = shard.engine.info()?;
            let without_graph = info.points_count.saturating_sub(info.indexed_vectors_count);
            Ok(!shard.optimizing.load(Ordering::Acquire) && without_graph < GRAPH_FROM)
        })
        .await
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shard) -> Result<T, OperationError> + Send + 'static,
    ) -> PortResult<T> {
        let shard = Arc::clone(&self.shard);
        blocking("vector index", move || work(&shard).map_err(port_error)).await
    }

    async fn remove(&self, filter: Filter) -> PortResult<()> {
        self.with(move |shard| {
            let before = shard.engine.count(CountRequest::new())?;
            let operation = PointOperations::DeletePointsByFilter(filter);
            shard.engine.update(UpdateOperation::PointOperation(operation))?;
            let after = shard.engine.count(CountRequest::new())?;
            let deleted = before.saturating_sub(after) as u64;
            shard.deleted.fetch_add(deleted, Ordering::Relaxed);
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl VectorIndex for EmbeddedVectorIndex {
    async fn upsert(&self, points: Vec<VectorPoint>) -> PortResult<()> {
        if points.is_empty() {
            return Ok(());
        }
        let mut structs = Vec::with_capacity(points.len());
        for point in points {
            let id = check_point(&point, self.dim)?;
            let payload = json!({
                DOCUMENT: point.key.document.as_str(),
                COLLECTION: point.collection.as_str(),
                HELD: held_key(&point.key),
            });
            structs.push(PointStruct::new(PointId::Uuid(id), point.vector, payload).into());
        }
        self.with(move |shard| {
            let points = PointInsertOperations::PointsList(structs);
            let operation = PointOperations::UpsertPoints(points);
            shard.engine.update(UpdateOperation::PointOperation(operation))
        })
        .await
    }

    async fn search(&self, vector: Vec<f32>, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        check_vector(&vector, self.dim)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let nearest = ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery {
            query: vector.into(),
            using: None,
        }));
        let mut request = QueryRequestBuilder::new(limit)
            .query(nearest)
            .with_payload(WithPayloadInterface::Bool(false));
        if let Scope::Collection(name) = scope {
            request = request.filter(Filter::new_must(equals(COLLECTION, name.as_str())?));
        }
        let request = request.build();
        let found = self.with(move |shard| shard.engine.query(request)).await?;
        Ok(found
            .into_iter()
            .filter_map(|point| match point.id {
                PointId::Uuid(id) => Some(StoreHit {
                    chunk: ChunkId::new(id.to_string()),
                    score: point.score,
                }),
                PointId::NumId(_) => None,
            })
            .collect())
    }

    async fn vectors(&self, chunks: &[ChunkId]) -> PortResult<Vec<Option<Vec<f32>>>> {
        let ids: Vec<Option<PointId>> = chunks
            .iter()
            .map(|chunk| Uuid::parse_str(chunk.as_str()).ok().map(PointId::Uuid))
            .collect();
        let request = RetrieveRequestBuilder::new(ids.iter().copied().flatten().collect())
            .with_payload(WithPayloadInterface::Bool(false))
            .with_vector(WithVector::Bool(true))
            .build();
        let found = self.with(move |shard| shard.engine.retrieve(request)).await?;
        let held: HashMap<PointId, Vec<f32>> = found
            .into_iter()
            .filter_map(|record| match record.vector {
                Some(VectorStructInternal::Single(vector)) => Some((record.id, vector)),
                _ => None,
            })
            .collect();
        Ok(ids
            .into_iter()
            .map(|id| id.and_then(|id| held.get(&id).cloned()))
            .collect())
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        let mut filter = Filter::new_must(equals(DOCUMENT, document.as_str())?);
        if let Some(generation) = keep {
            let kept = DocumentKey {
                document: document.clone(),
                generation,
            };
            filter.must_not = Some(vec![equals(HELD, &held_key(&kept))?]);
        }
        self.remove(filter).await
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.remove(Filter::new_must(equals(HELD, &held_key(key))?)).await
    }

    async fn clear(&self) -> PortResult<()> {
        self.remove(Filter::default()).await
    }

    async fn flush(&self) -> PortResult<()> {
        let shard = Arc::clone(&self.shard);
        blocking("vector index", move || {
            shard.engine.flush().map_err(port_error)?;
            optimize_if_due(&shard);
            Ok(())
        })
        .await
    }

    async fn count(&self) -> PortResult<u64> {
        let count = self.with(|shard| shard.engine.count(CountRequest::new())).await?;
        Ok(count as u64)
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        let request = FacetRequestBuilder::new(path(HELD)?)
            .limit(HELD_LIMIT)
            .exact(true)
            .build();
        let facet = self.with(move |shard| shard.engine.facet(request)).await?;
        facet
            .hits
            .into_iter()
            .filter(|hit| hit.count > 0)
            .map(|hit| match hit.value {
                FacetValue::Keyword(value) => held_document(&value, hit.count as u64, WHAT),
                other => held_document(&format!("{other:?}"), 0, WHAT),
            })
            .collect()
    }
}

enum Unloadable {
    InUse,
    Disk(PortError),
    Because(String),
}

fn load(folder: &Path, dim: usize) -> Result<EdgeShard, Unloadable> {
    if is_vacant(folder) {
        return guarded(|| create(folder, dim)).map_err(Unloadable::Because);
    }
    // Left by an end in the middle of building a graph; the engine itself never looks at it again.
    let unfinished = folder.join("temp_segments");
    if unfinished.is_dir() {
        fs::remove_dir_all(&unfinished)
            .map_err(|error| Unloadable::Disk(disk_error("remove", &unfinished, &error)))?;
    }
    if let Some(made_for) = stored_dim(folder)
        && made_for != dim
    {
        let why = format!("it was made for vectors of {made_for} components, the embedder has {dim}");
        return Err(Unloadable::Because(why));
    }
    let loaded = guarded(|| {
        let engine = EdgeShard::load(folder, Some(config(dim))).map_err(|error| error.to_string())?;
        create_indexes(&engine).map_err(|error| error.to_string())?;
        Ok(engine)
    });
    loaded.map_err(|why| match why.contains("WouldBlock") {
        true => Unloadable::InUse,
        false => Unloadable::Because(format!("it could not be read ({})", first_line(&why))),
    })
}

fn create(folder: &Path, dim: usize) -> Result<EdgeShard, String> {
    let engine = EdgeShard::new(folder, config(dim)).map_err(|error| error.to_string())?;
    create_indexes(&engine).map_err(|error| error.to_string())?;
    Ok(engine)
}

fn config(dim: usize) -> EdgeConfig {
    let graph_from_kilobytes = GRAPH_FROM * dim * size_of::<f32>() / 1_024;
    EdgeConfig::builder()
        .vector(DEFAULT_VECTOR_NAME, vector_params(dim))
        .optimizers(EdgeOptimizersConfig {
            indexing_threshold: Some(graph_from_kilobytes.max(1)),
            ..EdgeOptimizersConfig::default()
        })
        // The default of 32 MiB is laid out on disk at once, two or three times.
        .wal_options(WalOptions {
            segment_capacity: 4 * 1_024 * 1_024,
            ..WalOptions::default()
        })
        .build()
}

fn vector_params(dim: usize) -> EdgeVectorParams {
    EdgeVectorParamsBuilder::new(dim, Distance::Cosine).build()
}

/// Components of the vectors a folder was made for, if its configuration can be read.
fn stored_dim(folder: &Path) -> Option<usize> {
    let text = fs::read(folder.join("edge_config.json")).ok()?;
    let config: EdgeConfig = serde_json::from_slice(&text).ok()?;
    config.vectors.get(DEFAULT_VECTOR_NAME).map(|params| params.size)
}

fn create_indexes(engine: &EdgeShard) -> Result<(), OperationError> {
    let schema = engine.info()?.payload_schema;
    for name in INDEXED {
        let field_name: JsonPath = name
            .parse()
            .map_err(|()| OperationError::service_error(format!("`{name}` is no path")))?;
        if schema.contains_key(&field_name) {
            continue;
        }
        let create = CreateIndex {
            field_name,
            field_schema: Some(PayloadFieldSchema::FieldType(PayloadSchemaType::Keyword)),
        };
        let operation = FieldIndexOperations::CreateIndex(create);
        engine.update(UpdateOperation::FieldIndexOperation(operation))?;
    }
    Ok(())
}

fn path(name: &str) -> PortResult<JsonPath> {
    name.parse()
        .map_err(|()| PortError::permanent(ErrorCode::Internal, format!("`{name}` is no path")))
}

fn equals(name: &str, value: &str) -> PortResult<Condition> {
    let value = MatchValue {
        value: ValueVariants::String(value.to_owned()),
    };
    let condition = FieldCondition::new_match(path(name)?, Match::Value(value));
    Ok(Condition::Field(condition))
}

/// Builds the graph, or reclaims the room of deleted points, on a thread of its own when either is due.
fn optimize_if_due(shard: &Arc<Shard>) {
    let Ok(info) = shard.engine.info() else { return };
    let without_graph = info.points_count.saturating_sub(info.indexed_vectors_count);
    let deleted = shard.deleted.load(Ordering::Relaxed);
    let reclaim = deleted >= RECLAIM_FROM && deleted * 5 > info.points_count as u64;
    if without_graph < GRAPH_FROM && !reclaim {
        return;
    }
    if shard.optimizing.swap(true, Ordering::AcqRel) {
        return;
    }
    let worker = Arc::clone(shard);
    let spawned = std::thread::Builder::new()
        .name("vector-optimize".to_owned())
        .spawn(move || {
            worker.deleted.store(0, Ordering::Relaxed);
            let done = guarded(|| {
                let budget = ResourceBudget::new(1, 1);
                worker
                    .engine
                    .optimize_with_budget(budget)
                    .map_err(|error| error.to_string())
            });
            if let Err(why) = done {
                tracing::warn!(why, "the vector index could not be optimized; search stays exact");
            }
            worker.optimizing.store(false, Ordering::Release);
        });
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread to optimize the vector index");
        shard.optimizing.store(false, Ordering::Release);
    }
}

fn port_error(error: OperationError) -> PortError {
    let text = error.to_string();
    let message = format!("the vector index failed: {}", first_line(&text));
    match error {
        OperationError::Timeout { .. } | OperationError::Cancelled { .. } => {
            PortError::transient(ErrorCode::StoreFailed, message)
        }
        OperationError::WrongVectorDimension { .. } | OperationError::ValidationError { .. } => {
            PortError::rejected(ErrorCode::InvalidRequest, message)
        }
        _ if text.contains("No space left") => {
            PortError::permanent(ErrorCode::Disk, message).with_hint("make room on the disk and try again")
        }
        _ => PortError::permanent(ErrorCode::StoreFailed, message),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
