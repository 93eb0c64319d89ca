//! A small Qdrant server for tests: the calls that the adapter makes, over the client's own server stubs.
//!
//! It scans exactly and keeps everything in memory. A call it does not know fails, so that an adapter that grows a new
//! one is seen.

use adrag_core::testing::vector::cosine;
use qdrant_client::qdrant::collections_server::{Collections, CollectionsServer};
use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::facet_value::Variant as Facet;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::points_server::{Points, PointsServer};
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{self as q, query, vector, vector_input};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

type Reply<T> = Result<Response<T>, Status>;
type Call<'call, T> = Pin<Box<dyn Future<Output = Reply<T>> + Send + 'call>>;

/// The server; it ends with its runtime.
pub struct StubServer {
    pub url: String,
    pub state: Arc<State>,
}

#[derive(Default)]
pub struct State {
    collections: Mutex<HashMap<String, Collection>>,
    /// Every call answers with this while it is set.
    pub fault: Mutex<Option<Status>>,
    /// Every call waits this long first.
    pub delay: Mutex<Duration>,
    /// Writes that did not ask to wait for their effect.
    pub hasty: Mutex<usize>,
}

#[derive(Default)]
struct Collection {
    params: q::VectorParams,
    indexed: Vec<String>,
    points: BTreeMap<String, (Vec<f32>, HashMap<String, q::Value>)>,
}

impl StubServer {
    /// Listens on a free port; wants this key when one is given.
    pub async fn start(key: Option<&'static str>) -> Self {
        let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = incoming.local_addr().unwrap();
        let state = Arc::new(State::default());
        let guard = move |request: Request<()>| {
            let given = request
                .metadata()
                .get("api-key")
                .and_then(|value| value.to_str().ok());
            match key {
                Some(key) if given != Some(key) => Err(Status::unauthenticated("Invalid API key or JWT")),
                _ => Ok(request),
            }
        };
        let server = Server::builder()
            .add_service(PointsServer::with_interceptor(Calls(Arc::clone(&state)), guard))
            .add_service(CollectionsServer::with_interceptor(
                Calls(Arc::clone(&state)),
                guard,
            ))
            .serve_with_incoming(incoming);
        tokio::spawn(server);
        Self {
            url: format!("http://{address}"),
            state,
        }
    }
}

struct Calls(Arc<State>);

impl Calls {
    async fn with<T>(
        &self,
        collection: &str,
        work: impl FnOnce(&mut Collection) -> Result<T, Status>,
    ) -> Result<T, Status> {
        self.strike().await?;
        let mut collections = self.0.collections.lock().unwrap();
        match collections.get_mut(collection) {
            Some(collection) => work(collection),
            None => Err(Status::not_found(format!(
                "Collection `{collection}` doesn't exist!"
            ))),
        }
    }

    async fn strike(&self) -> Result<(), Status> {
        let delay = *self.0.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        self.0.fault.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn note_wait(&self, wait: Option<bool>) {
        *self.0.hasty.lock().unwrap() += usize::from(wait != Some(true));
    }
}

fn text<'a>(payload: &'a HashMap<String, q::Value>, key: &str) -> Option<&'a str> {
    match payload.get(key)?.kind.as_ref()? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

fn passes(payload: &HashMap<String, q::Value>, filter: Option<&q::Filter>) -> Result<bool, Status> {
    let Some(filter) = filter else { return Ok(true) };
    if !filter.should.is_empty() || filter.min_should.is_some() {
        return Err(Status::unimplemented("should"));
    }
    let holds = |condition: &q::Condition| match &condition.condition_one_of {
        Some(ConditionOneOf::Field(field)) => {
            match field
                .r#match
                .as_ref()
                .and_then(|value| value.match_value.as_ref())
            {
                Some(MatchValue::Keyword(value)) => Ok(text(payload, &field.key) == Some(value)),
                _ => Err(Status::unimplemented("match")),
            }
        }
        _ => Err(Status::unimplemented("condition")),
    };
    for condition in &filter.must {
        if !holds(condition)? {
            return Ok(false);
        }
    }
    for condition in &filter.must_not {
        if holds(condition)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn selected(collection: &Collection, filter: Option<&q::Filter>) -> Result<Vec<String>, Status> {
    let mut ids = Vec::new();
    for (id, (_, payload)) in &collection.points {
        if passes(payload, filter)? {
            ids.push(id.clone());
        }
    }
    Ok(ids)
}

fn written() -> Reply<q::PointsOperationResponse> {
    Ok(Response::new(q::PointsOperationResponse::default()))
}

/// The calls that no adapter makes, in the form that the attribute on the `impl` gives to the others.
macro_rules! unknown {
    ($($name:ident($request:ident) -> $reply:ident;)*) => {$(
        fn $name<'a, 'call>(&'a self, _: Request<q::$request>) -> Call<'call, q::$reply>
        where
            'a: 'call,
            Self: 'call,
        {
            Box::pin(async { Err(Status::unimplemented(stringify!($name))) })
        }
    )*};
}

#[tonic::async_trait]
impl Points for Calls {
    async fn upsert(&self, request: Request<q::UpsertPoints>) -> Reply<q::PointsOperationResponse> {
        let request = request.into_inner();
        self.note_wait(request.wait);
        self.with(&request.collection_name, |collection| {
            for point in request.points {
                let id = match point.id.and_then(|id| id.point_id_options) {
                    Some(PointIdOptions::Uuid(id)) => id,
                    _ => return Err(Status::invalid_argument("id")),
                };
                let dense = match point.vectors.and_then(|vectors| vectors.vectors_options) {
                    Some(VectorsOptions::Vector(one)) => one.vector,
                    _ => None,
                };
                let Some(vector::Vector::Dense(dense)) = dense else {
                    return Err(Status::invalid_argument("vector"));
                };
                if dense.data.len() as u64 != collection.params.size {
                    return Err(Status::invalid_argument("Vector dimension error"));
                }
                collection.points.insert(id, (dense.data, point.payload));
            }
            Ok(())
        })
        .await?;
        written()
    }

    async fn delete(&self, request: Request<q::DeletePoints>) -> Reply<q::PointsOperationResponse> {
        let request = request.into_inner();
        self.note_wait(request.wait);
        self.with(&request.collection_name, |collection| {
            match request.points.and_then(|points| points.points_selector_one_of) {
                Some(PointsSelectorOneOf::Filter(filter)) => {
                    for id in selected(collection, Some(&filter))? {
                        collection.points.remove(&id);
                    }
                    Ok(())
                }
                _ => Err(Status::unimplemented("selector")),
            }
        })
        .await?;
        written()
    }

    async fn create_field_index(
        &self,
        request: Request<q::CreateFieldIndexCollection>,
    ) -> Reply<q::PointsOperationResponse> {
        let request = request.into_inner();
        self.note_wait(request.wait);
        self.with(&request.collection_name, |collection| {
            collection.indexed.push(request.field_name);
            Ok(())
        })
        .await?;
        written()
    }

    async fn query(&self, request: Request<q::QueryPoints>) -> Reply<q::QueryResponse> {
        let request = request.into_inner();
        let nearest = match request.query.and_then(|query| query.variant) {
            Some(query::Variant::Nearest(input)) => input.variant,
            _ => None,
        };
        let Some(vector_input::Variant::Dense(nearest)) = nearest else {
            return Err(Status::unimplemented("query"));
        };
        let result = self
            .with(&request.collection_name, |collection| {
                let mut result: Vec<q::ScoredPoint> = selected(collection, request.filter.as_ref())?
                    .into_iter()
                    .map(|id| q::ScoredPoint {
                        score: cosine(&nearest.data, &collection.points[&id].0),
                        id: Some(id.into()),
                        ..Default::default()
                    })
                    .collect();
                result.sort_by(|a, b| b.score.total_cmp(&a.score));
                result.truncate(request.limit.unwrap_or(10) as usize);
                Ok(result)
            })
            .await?;
        Ok(Response::new(q::QueryResponse {
            result,
            ..Default::default()
        }))
    }

    async fn count(&self, request: Request<q::CountPoints>) -> Reply<q::CountResponse> {
        let request = request.into_inner();
        let ids = self.with(&request.collection_name, |collection| {
            selected(collection, request.filter.as_ref())
        });
        let count = ids.await?.len() as u64;
        Ok(Response::new(q::CountResponse {
            result: Some(q::CountResult { count }),
            ..Default::default()
        }))
    }

    async fn facet(&self, request: Request<q::FacetCounts>) -> Reply<q::FacetResponse> {
        let request = request.into_inner();
        let counts = self
            .with(&request.collection_name, |collection| {
                if !collection.indexed.contains(&request.key) {
                    return Err(Status::invalid_argument("No appropriate index for faceting"));
                }
                let mut counts: BTreeMap<String, u64> = BTreeMap::new();
                for (_, payload) in collection.points.values() {
                    if let Some(value) = text(payload, &request.key) {
                        *counts.entry(value.to_owned()).or_default() += 1;
                    }
                }
                Ok(counts)
            })
            .await?;
        let hits = counts
            .into_iter()
            .take(request.limit.unwrap_or(10) as usize)
            .map(|(value, count)| q::FacetHit {
                value: Some(q::FacetValue {
                    variant: Some(Facet::StringValue(value)),
                }),
                count,
            })
            .collect();
        Ok(Response::new(q::FacetResponse {
            hits,
            ..Default::default()
        }))
    }

    unknown! {
        get(GetPoints) -> GetResponse;
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        scroll(ScrollPoints) -> ScrollResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_batch(QueryBatchPoints) -> QueryBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}

#[tonic::async_trait]
impl Collections for Calls {
    async fn collection_exists(
        &self,
        request: Request<q::CollectionExistsRequest>,
    ) -> Reply<q::CollectionExistsResponse> {
        self.strike().await?;
        let exists = self
            .0
            .collections
            .lock()
            .unwrap()
            .contains_key(&request.get_ref().collection_name);
        Ok(Response::new(q::CollectionExistsResponse {
            result: Some(q::CollectionExists { exists }),
            ..Default::default()
        }))
    }

    async fn create(&self, request: Request<q::CreateCollection>) -> Reply<q::CollectionOperationResponse> {
        self.strike().await?;
        let request = request.into_inner();
        let Some(Config::Params(params)) = request.vectors_config.and_then(|vectors| vectors.config) else {
            return Err(Status::invalid_argument("vectors"));
        };
        let made = Collection {
            params,
            ..Default::default()
        };
        self.0
            .collections
            .lock()
            .unwrap()
            .insert(request.collection_name, made);
        Ok(Response::new(q::CollectionOperationResponse {
            result: true,
            ..Default::default()
        }))
    }

    async fn get(
        &self,
        request: Request<q::GetCollectionInfoRequest>,
    ) -> Reply<q::GetCollectionInfoResponse> {
        let info = self
            .with(&request.get_ref().collection_name, |collection| {
                let params = q::CollectionParams {
                    vectors_config: Some(q::VectorsConfig {
                        config: Some(Config::Params(collection.params)),
                    }),
                    ..Default::default()
                };
                let schema = collection
                    .indexed
                    .iter()
                    .map(|name| (name.clone(), Default::default()));
                Ok(q::CollectionInfo {
                    config: Some(q::CollectionConfig {
                        params: Some(params),
                        ..Default::default()
                    }),
                    payload_schema: schema.collect(),
                    ..Default::default()
                })
            })
            .await?;
        Ok(Response::new(q::GetCollectionInfoResponse {
            result: Some(info),
            ..Default::default()
        }))
    }

    unknown! {
        list(ListCollectionsRequest) -> ListCollectionsResponse;
        update(UpdateCollection) -> CollectionOperationResponse;
        delete(DeleteCollection) -> CollectionOperationResponse;
        update_aliases(ChangeAliases) -> CollectionOperationResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        list_aliases(ListAliasesRequest) -> ListAliasesResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}
