//! Puts the adapters together: the one place that knows which vendor serves which port.

use adrag_contract::AppError;
use adrag_core::Engine;
use std::path::PathBuf;
use std::sync::Arc;

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
#[allow(clippy::unimplemented)]
pub async fn open(_options: Options) -> Result<Arc<Engine>, AppError> {
    unimplemented!()
}
