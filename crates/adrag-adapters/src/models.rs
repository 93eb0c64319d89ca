//! The local models: what `models/manifest.toml` lists, where it lies, whether it is whole.
//!
//! The set-up fetches them; the program only looks. A file lies at `<models>/<id>/<name>`.

use adrag_contract::{AppError, ErrorCode, ModelStatus};
use adrag_core::ports::{PortError, PortResult};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

impl Model {
    /// Checksum of the file whose name ends so.
    pub fn checksum_of(&self, end: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.name.ends_with(end))?;
        file.sha256.as_deref()
    }
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
    /// Files whose content was compared with its checksum since the program started.
    checked: Mutex<HashSet<PathBuf>>,
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
            checked: Mutex::default(),
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

    /// The file of this platform with that name; `*` stands for any beginning.
    fn file<'a>(&self, model: &'a Model, name: &str) -> Option<&'a ModelFile> {
        let here = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        let fits = |file: &&ModelFile| match name.strip_prefix('*') {
            Some(end) => file.name.ends_with(end),
            None => file.name == name,
        };
        model
            .files
            .iter()
            .filter(|file| file.platform.as_ref().is_none_or(|platform| *platform == here))
            .find(fits)
    }

    fn path(&self, model: &Model, name: &str) -> PathBuf {
        self.folder.join(&model.id).join(name)
    }

    /// The runtime's library, checked.
    ///
    /// # Errors
    /// When there is none for this platform, or it is missing or damaged.
    pub fn runtime(&self) -> PortResult<PathBuf> {
        let runtime = self.default_of("runtime").ok_or_else(|| unlisted("runtime"))?;
        self.whole(runtime, "*")
    }

    /// Path of a file of a model, once its content is known to be the one that is meant: a damaged model would not be
    /// noticed by what it says.
    ///
    /// # Errors
    /// When the list names no such file for this platform, or it is missing or damaged.
    pub fn whole(&self, model: &Model, name: &str) -> PortResult<PathBuf> {
        let listed = self.file(model, name).ok_or_else(|| unlisted(&model.id))?;
        let path = self.path(model, &listed.name);
        let fault = |what: String| {
            PortError::permanent(
                ErrorCode::ModelMissing,
                format!("the model file `{}` {what}", path.display()),
            )
            .with_hint("fetch it again: run `cargo xtask setup`")
        };
        if let Some(fault_found) = fault_of(&path, listed) {
            return Err(fault(fault_found));
        }
        let known = {
            let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            checked.contains(&path)
        };
        if let Some(expected) = &listed.sha256
            && !known
        {
            let found = sha256(&path).map_err(|error| fault(format!("cannot be read: {error}")))?;
            if found != *expected {
                return Err(fault("is damaged or of another version".to_owned()));
            }
            let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            checked.insert(path.clone());
        }
        Ok(path)
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
                let fault = fault_of(&path, file);
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

fn unlisted(what: &str) -> PortError {
    PortError::permanent(
        ErrorCode::ModelMissing,
        format!("the list of models names no file of `{what}` for this platform"),
    )
}

/// SHA-256 of a file, lower-case hexadecimal.
pub(crate) fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// What is wrong with a file at a glance.
fn fault_of(path: &Path, file: &ModelFile) -> Option<String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("is missing".to_owned()),
        Err(error) => Some(format!("cannot be read: {error}")),
        Ok(found) => file
            .bytes
            .filter(|bytes| *bytes != found.len())
            .map(|bytes| format!("is {} bytes long instead of {bytes}", found.len())),
    }
}
