//! Puts the adapters together: the one place that knows which vendor serves which port.

use crate::engines::AdapterEngines;
use crate::judges;
use crate::keychain::Keychain;
use crate::models::Models;
use crate::notify::NotifyFolderWatcher;
use crate::ort::{ApproximateTokenizer, OrtEmbedder, WordPieces};
use crate::parse::FileParser;
use crate::qdrant::{EmbeddedVectorIndex, QdrantSidecar, ServerVectorIndex};
use crate::sled::SledEntityGraph;
use crate::sqlite::SqliteCatalog;
use crate::system::SystemClock;
use crate::tantivy::TantivyKeywordIndex;
use crate::web::GuardedWeb;
use adrag_contract::{AppError, ErrorCode, KeyName, Settings, VectorStoreSettings};
use adrag_core::Engine;
use adrag_core::engine::{Ports, Surroundings};
use adrag_core::ports::{Catalog, Embedder, KeyStore, PortError, PortResult, Tokenizer, VectorIndex};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name under which keys stand in the keychain.
const KEYCHAIN_SERVICE: &str = "org.adrag.desktop";
/// Components of the vectors where no embedder says otherwise.
const USUAL_DIM: usize = 384;
/// Note of the catalogue that names the embedding space in use and its dimension.
const SPACE_NOTE: &str = "vector_space";

/// Where things are.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder; made when absent.
    pub data_dir: PathBuf,
    /// The folder of the local models.
    pub models_dir: PathBuf,
    /// The program and first argument that run the extraction worker; in-process when absent (tests).
    pub extract_worker: Option<(PathBuf, String)>,
}

/// Opens all stores and the engine over them.
///
/// # Errors
/// When the data folder is in use by another adRAG, cannot be written, or was made by a newer version. A damaged
/// projection or a missing model is no error: it is mended or named in `doctor`.
pub async fn open(options: Options) -> Result<Arc<Engine>, AppError> {
    let lock = take_lock(&options.data_dir)?;
    let mut around = Surroundings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: options.data_dir.display().to_string(),
        ..Surroundings::default()
    };
    around.kept.push(Arc::new(lock));
    let models = Models::new(options.models_dir.clone())?;
    (around.models, around.problems) = models.look();

    let catalog_file = options.data_dir.join("catalog.sqlite");
    let sqlite = Arc::new(blocking(move || SqliteCatalog::open(&catalog_file)).await?);
    let catalog: Arc<dyn Catalog> = sqlite.clone();
    let settings = catalog.settings().await?;
    let keys: Arc<dyn KeyStore> = Arc::new(Keychain::new(KEYCHAIN_SERVICE));

    let models = Arc::new(models);
    let (tokenizer, embedder) = open_embedder(models.clone(), &mut around).await?;
    let (chosen, with) = (settings.clone(), embedder.clone());
    let judges = blocking(move || Ok(judges::open(&models, &chosen, with.as_ref()))).await?;
    around.problems.extend(judges.problems);
    let space = space(catalog.as_ref(), embedder.as_deref()).await?;
    let vectors = open_vectors(&options.data_dir, &settings, keys.as_ref(), &space, &mut around).await?;
    let (keywords, mended) = TantivyKeywordIndex::open(options.data_dir.join("keywords")).await?;
    around.repaired.extend(mended);
    let graph_folder = options.data_dir.join("graph");
    let (graph, mended) = blocking(move || SledEntityGraph::open(&graph_folder)).await?;
    around.repaired.extend(mended);

    let ports = Ports {
        parser: Arc::new(FileParser::new(options.extract_worker)),
        tokenizer,
        reranker: judges.reranker,
        support: judges.support,
        abstention: judges.abstention,
        fold: judges.fold,
        embedder,
        vectors,
        keywords: Arc::new(keywords),
        graph: Arc::new(graph),
        catalog,
        watcher: Arc::new(NotifyFolderWatcher::default()),
        watch_list: sqlite,
        engines: Arc::new(AdapterEngines::new(keys.clone())),
        web: Arc::new(GuardedWeb::default()),
        keys,
        clock: Arc::new(SystemClock::default()),
    };
    Engine::open(ports, around).await
}

/// Holds the data folder for this process. The file names the process, for whoever finds it locked.
fn take_lock(data_dir: &Path) -> Result<File, AppError> {
    let disk = |error: std::io::Error| {
        AppError::new(
            ErrorCode::Disk,
            format!("the data folder `{}` cannot be used: {error}", data_dir.display()),
        )
        .with_hint("check its permissions and the space left, or choose another with --data-dir")
    };
    std::fs::create_dir_all(data_dir).map_err(disk)?;
    let path = data_dir.join("adrag.lock");
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only for the message: an unreadable file changes nothing.
            let _ = file.read_to_string(&mut holder);
            return Err(AppError::new(
                ErrorCode::DataFolderInUse,
                format!(
                    "the data folder `{}` is in use by another adRAG (process {})",
                    data_dir.display(),
                    holder.trim()
                ),
            )
            .with_hint("use that window, or close it first"));
        }
        Err(TryLockError::Error(error)) => return Err(disk(error)),
    }
    let write = || -> std::io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{}", std::process::id())
    };
    let mut write = write;
    write().map_err(disk)?;
    Ok(file)
}

type Words = (Arc<dyn Tokenizer>, Option<Arc<dyn Embedder>>);

/// The embedder and its tokenizer, or what serves without them.
async fn open_embedder(models: Arc<Models>, around: &mut Surroundings) -> Result<Words, AppError> {
    let opened = blocking(move || {
        let model = models.default_of("embedder").ok_or_else(|| {
            PortError::permanent(ErrorCode::ModelMissing, "the list of models names no embedder")
        })?;
        let tokenizer = Arc::new(WordPieces::open(&models.whole(model, "tokenizer.json")?)?);
        let embedder = OrtEmbedder::open(
            &models.runtime()?,
            &models.whole(model, "*.onnx")?,
            tokenizer.clone(),
            &model.id,
            model.checksum_of(".onnx").unwrap_or("unknown"),
            model.max_tokens.unwrap_or(256),
        )?;
        Ok((tokenizer, embedder))
    });
    match opened.await {
        Ok((tokenizer, embedder)) => Ok((tokenizer, Some(Arc::new(embedder)))),
        Err(error) => {
            tracing::error!(%error, "searching by meaning is off");
            around.problems.push(error.into());
            Ok((Arc::new(ApproximateTokenizer), None))
        }
    }
}

/// One embedding space: vectors of two never share a folder or a collection.
struct Space {
    name: String,
    dim: usize,
}

/// The space of the embedder; without one, the space used last, so that what is there stays.
async fn space(catalog: &dyn Catalog, embedder: Option<&dyn Embedder>) -> Result<Space, AppError> {
    let Some(embedder) = embedder else {
        let last = catalog.note(SPACE_NOTE).await?;
        let known = last.as_deref().and_then(|note| note.rsplit_once(' '));
        return Ok(
            match known.and_then(|(name, dim)| Some((name.to_owned(), dim.parse().ok()?))) {
                Some((name, dim)) => Space { name, dim },
                None => Space {
                    name: "none".to_owned(),
                    dim: USUAL_DIM,
                },
            },
        );
    };
    let info = embedder.info();
    let name: String = info
        .fingerprint
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let note = format!("{name} {}", info.dim);
    if catalog.note(SPACE_NOTE).await?.as_ref() != Some(&note) {
        catalog.set_note(SPACE_NOTE, &note).await?;
    }
    Ok(Space { name, dim: info.dim })
}

async fn open_vectors(
    data_dir: &Path,
    settings: &Settings,
    keys: &dyn KeyStore,
    space: &Space,
    around: &mut Surroundings,
) -> Result<Arc<dyn VectorIndex>, AppError> {
    match &settings.vector_store {
        VectorStoreSettings::Embedded => {
            let (index, mended) =
                EmbeddedVectorIndex::open(data_dir.join("vectors").join(&space.name), space.dim).await?;
            around.repaired.extend(mended);
            Ok(Arc::new(index))
        }
        VectorStoreSettings::Sidecar { binary } => {
            let binary = PathBuf::from(binary.as_deref().unwrap_or("qdrant"));
            let sidecar = QdrantSidecar::start(&binary, &data_dir.join("qdrant")).await?;
            let index = sidecar.connect(&space.name, space.dim).await?;
            around.kept.push(Arc::new(sidecar));
            Ok(Arc::new(index))
        }
        VectorStoreSettings::Remote { url } => {
            let key = keys.read(KeyName::Qdrant).await?;
            Ok(Arc::new(
                ServerVectorIndex::connect(url, key, space.name.clone(), space.dim).await?,
            ))
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> PortResult<T> + Send + 'static) -> PortResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| PortError::permanent(ErrorCode::Internal, format!("opening broke down: {error}")))?
}
