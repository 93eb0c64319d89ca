//! Folders of files: listing them in a fixed order, and making one equal to another with the fewest writes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Every file under a folder, sorted; an absent folder has none.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
        let path = entry
            .with_context(|| format!("cannot list `{}`", folder.display()))?
            .path();
        if path.is_dir() {
            collect(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// The path below `folder`, with forward slashes on every platform.
pub fn relative(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
    }
    std::fs::copy(from, to).with_context(|| format!("cannot copy `{}`", from.display()))?;
    Ok(())
}

/// Makes `to` hold exactly what `from` holds; files that are equal keep their time stamps.
pub fn mirror(from: &Path, to: &Path) -> Result<()> {
    let wanted = files(from)?;
    for path in files(to)? {
        if !from.join(relative(to, &path)).exists() {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
    }
    for path in wanted {
        let place = to.join(relative(from, &path));
        let content = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        crate::process::write_if_changed(&place, &content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::write_if_changed;

    #[test]
    fn a_mirror_drops_what_is_gone_and_leaves_what_is_equal() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write_if_changed(&from.join("same.css"), b"a").unwrap();
        write_if_changed(&from.join("fonts/new.woff2"), b"b").unwrap();
        write_if_changed(&to.join("same.css"), b"a").unwrap();
        write_if_changed(&to.join("old/gone.css"), b"c").unwrap();
        let before = std::fs::metadata(to.join("same.css"))
            .unwrap()
            .modified()
            .unwrap();
        mirror(&from, &to).unwrap();
        let names: Vec<_> = files(&to)
            .unwrap()
            .iter()
            .map(|path| relative(&to, path))
            .collect();
        assert_eq!(names, ["fonts/new.woff2", "same.css"]);
        assert_eq!(
            std::fs::metadata(to.join("same.css"))
                .unwrap()
                .modified()
                .unwrap(),
            before
        );
    }
}
