//! The local models: what `models/manifest.toml` lists, where it lies, whether it is whole.
//!
//! The set-up fetches them; the program only looks. A file lies at `<models>/<id>/<name>`.

use adrag_contract::{AppError, ErrorCode, ModelStatus};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const MANIFEST: &str = include_str!("../../../models/manifest.toml");

/// A model of the manifest.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Model {
    pub id: String,
    pub role: String,
    #[serde(default)]
    pub default: bool,
    #[serde(default)]
    pub max_tokens: Option<usize>,
    /// Names of the classes of an NLI model, in the order of its logits.
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
}

/// A file of a model.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ModelFile {
    pub name: String,
    #[serde(default)]
    pub platform: Option<String>,
    #[serde(default)]
    pub bytes: Option<u64>,
    #[serde(default)]
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "model")]
    models: Vec<Model>,
}

/// The models of the manifest in a folder.
pub(crate) struct Models {
    folder: PathBuf,
    models: Vec<Model>,
}

impl Models {
    /// Over the folder of the models.
    ///
    /// # Errors
    /// When the manifest built into the program is not one: a fault of the program.
    pub fn new(folder: PathBuf) -> Result<Self, AppError> {
        let manifest: Manifest = toml::from_str(MANIFEST).map_err(|error| {
            AppError::new(
                ErrorCode::Internal,
                format!("the list of models is damaged: {error}"),
            )
        })?;
        Ok(Self {
            folder,
            models: manifest.models,
        })
    }

    /// The model taken for a role when nothing is chosen.
    pub fn default_of(&self, role: &str) -> Option<&Model> {
        self.models
            .iter()
            .find(|model| model.role == role && model.default)
    }

    /// The model of that id, for one of these roles.
    pub fn named(&self, id: &str, roles: &[&str]) -> Option<&Model> {
        self.models
            .iter()
            .find(|model| model.id == id && roles.contains(&model.role.as_str()))
    }

    /// Path of a file of a model.
    pub fn path(&self, model: &Model, name: &str) -> PathBuf {
        self.folder.join(&model.id).join(name)
    }

    /// The file of this platform with that start of its name.
    pub fn file<'a>(&self, model: &'a Model, name: &str) -> Option<&'a ModelFile> {
        let here = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        model
            .files
            .iter()
            .filter(|file| file.platform.as_ref().is_none_or(|platform| *platform == here))
            .find(|file| file.name.starts_with(name))
    }

    /// How the default models stand, and what is wrong with them.
    pub fn look(&self) -> (Vec<ModelStatus>, Vec<AppError>) {
        let (mut statuses, mut problems) = (Vec::new(), Vec::new());
        for model in self.models.iter().filter(|model| model.default) {
            for file in model.files.iter().filter(|file| {
                self.file(model, &file.name)
                    .is_some_and(|own| own.platform == file.platform)
            }) {
                let path = self.path(model, &file.name);
                let fault = fault(&path, file);
                statuses.push(ModelStatus {
                    role: model.role.clone(),
                    name: format!("{}/{}", model.id, file.name),
                    path: path.display().to_string(),
                    usable: fault.is_none(),
                });
                problems.extend(fault.map(|fault| {
                    AppError::new(ErrorCode::ModelMissing, format!("`{}` {fault}", path.display()))
                        .with_hint("run `cargo xtask setup` to fetch it again")
                }));
            }
        }
        (statuses, problems)
    }
}

fn fault(path: &Path, file: &ModelFile) -> Option<String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("is missing".to_owned()),
        Err(error) => Some(format!("cannot be read: {error}")),
        Ok(found) => file
            .bytes
            .filter(|bytes| *bytes != found.len())
            .map(|bytes| format!("is {} bytes long instead of {bytes}", found.len())),
    }
}
