//! Loading ONNX Runtime and opening models with it.

use adrag_contract::ErrorCode;
use adrag_core::ports::{PortError, PortResult};
use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The one runtime of the process, once it is loaded.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

/// Opens a model. It computes on one thread and does not spin: several sessions share the machine with everything else.
pub(super) fn open(runtime: &Path, model: &Path) -> PortResult<Session> {
    let environment = environment(runtime)?;
    let unusable = |error: String| {
        PortError::permanent(
            ErrorCode::ModelMissing,
            format!("the model `{}` cannot be used: {error}", model.display()),
        )
        .with_hint("fetch it again: run `cargo xtask setup`")
    };
    if !model.is_file() {
        return Err(unusable("the file is missing".to_owned()));
    }
    let build = || -> Result<Session, String> {
        let builder = Session::builder(&environment).map_err(text)?;
        let builder = builder
            .with_optimization_level(GraphOptimizationLevel::All)
            .map_err(text)?;
        let builder = builder.with_intra_threads(1).map_err(text)?;
        let builder = builder.with_intra_op_spinning(false).map_err(text)?;
        let mut builder = builder.with_memory_pattern(false).map_err(text)?;
        builder.commit_from_file(model).map_err(text)
    };
    build().map_err(unusable)
}

fn text<T>(error: ort::Error<T>) -> String {
    error.to_string()
}

fn environment(runtime: &Path) -> PortResult<Environment> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = loaded.as_ref() {
        return Ok(environment.clone());
    }
    let missing = |error: String| {
        PortError::permanent(
            ErrorCode::ModelMissing,
            format!(
                "ONNX Runtime cannot be loaded from `{}`: {error}",
                runtime.display()
            ),
        )
        .with_hint("fetch it again: run `cargo xtask setup`")
    };
    if !runtime.is_file() {
        return Err(missing("the file is missing".to_owned()));
    }
    let environment = ort::init_from(runtime)
        .map_err(|error| missing(error.to_string()))?
        .with_name("adrag")
        .with_telemetry(false)
        .build()
        .map_err(|error| missing(error.to_string()))?;
    Ok(loaded.insert(environment).clone())
}
