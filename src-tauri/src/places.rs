//! Where things are: the data folder, the local models, the sample documents.

use adrag_adapters::compose::Options;
use adrag_contract::{AppError, ErrorCode};
use directories::ProjectDirs;
use std::path::{Path, PathBuf};

/// Argument that turns this program into the extraction worker.
pub const EXTRACT_WORKER: &str = "extract-worker";

/// Variable that names the folder of the local models.
pub const MODELS_VARIABLE: &str = "ADRAG_MODELS";

/// The folders of this run.
#[derive(Clone, Debug)]
pub struct Places {
    /// Documents, indexes, settings.
    pub data_dir: PathBuf,
    /// Local models.
    pub models_dir: PathBuf,
}

impl Places {
    /// The data folder as given, else the platform's; the models where `ADRAG_MODELS` says, else in the cache folder.
    ///
    /// # Errors
    /// When the user has no home folder and nothing was named instead.
    pub fn find(data_dir: Option<PathBuf>) -> Result<Self, AppError> {
        let platform = ProjectDirs::from("org", "adrag", "adrag");
        let data_dir = data_dir
            .or_else(|| {
                platform
                    .as_ref()
                    .map(|folders| folders.data_local_dir().to_path_buf())
            })
            .ok_or_else(|| homeless("--data-dir DIR"))?;
        let models_dir = std::env::var_os(MODELS_VARIABLE)
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from)
            .or_else(|| {
                platform
                    .as_ref()
                    .map(|folders| folders.cache_dir().join("models"))
            })
            .ok_or_else(|| homeless(MODELS_VARIABLE))?;
        Ok(Self {
            data_dir: absolute(&data_dir)?,
            models_dir: absolute(&models_dir)?,
        })
    }

    /// What the composition of the engine needs to know.
    ///
    /// # Errors
    /// When the system does not say where this program is.
    pub fn options(&self) -> Result<Options, AppError> {
        let program = std::env::current_exe().map_err(|error| {
            AppError::new(
                ErrorCode::Internal,
                format!("the system does not say where adRAG is: {error}"),
            )
        })?;
        Ok(Options {
            data_dir: self.data_dir.clone(),
            models_dir: self.models_dir.clone(),
            extract_worker: Some((program, EXTRACT_WORKER.to_owned())),
        })
    }
}

/// The sample documents that come with the program: among the bundle's resources, else (in a debug build) in the
/// workspace it was built from.
pub fn samples(resources: Option<&Path>) -> Option<PathBuf> {
    let bundled = resources.map(|folder| folder.join("sample"));
    #[cfg(debug_assertions)]
    let workspace = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sample"));
    #[cfg(not(debug_assertions))]
    let workspace = None;
    [bundled, workspace]
        .into_iter()
        .flatten()
        .find(|folder| folder.is_dir())
}

fn absolute(path: &Path) -> Result<PathBuf, AppError> {
    std::path::absolute(path).map_err(|error| {
        AppError::new(
            ErrorCode::InvalidRequest,
            format!("`{}` is no usable folder: {error}", path.display()),
        )
    })
}

fn homeless(instead: &str) -> AppError {
    AppError::new(ErrorCode::Disk, "this user has no home folder")
        .with_hint(format!("name a folder with `{instead}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_data_folder_is_used_and_made_absolute() {
        let places = Places::find(Some(PathBuf::from("some/folder"))).unwrap();
        assert!(places.data_dir.is_absolute());
        assert!(places.data_dir.ends_with("some/folder"));
    }

    #[test]
    fn bundled_samples_come_before_those_of_the_workspace() {
        let resources = tempfile::tempdir().unwrap();
        std::fs::create_dir(resources.path().join("sample")).unwrap();
        assert_eq!(
            samples(Some(resources.path())),
            Some(resources.path().join("sample"))
        );
    }
}
