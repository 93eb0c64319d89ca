//! The typefaces of the screen, from their npm packages into the cache folder, each file by its checksum.
//!
//! Fonts are never a reason to fail: without npm the screen uses the system's own, and says so once here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::models::checksum;
use crate::workspace::Workspace;
use crate::{process, report};

struct Typeface {
    package: &'static str,
    version: &'static str,
    /// The name style sheets use.
    family: &'static str,
    /// The style sheets of the package that know the unicode ranges of the files.
    sheets: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
}

const TYPEFACES: [Typeface; 3] = [
    Typeface {
        package: "@fontsource-variable/inter",
        version: "5.3.0",
        family: "Inter",
        sheets: &["index.css"],
        files: &[
            (
                "inter-latin-wght-normal.woff2",
                "3100e775e8616cd2611beecfa23a4263d7037586789b43f035236a2e6fbd4c62",
            ),
            (
                "inter-latin-ext-wght-normal.woff2",
                "34b9c504cab7a73e37b746343a449132e56cf7b5481af2cb81dc74dcff25c956",
            ),
        ],
    },
    Typeface {
        package: "@fontsource-variable/source-serif-4",
        version: "5.3.1",
        family: "Source Serif 4",
        sheets: &["index.css", "wght-italic.css"],
        files: &[
            (
                "source-serif-4-latin-wght-normal.woff2",
                "382475f38242c52d42a3e5ff8dc69b5d73f10d0d21e4550b5fe232984688779a",
            ),
            (
                "source-serif-4-latin-ext-wght-normal.woff2",
                "d10ccbbd0dc4ebae2938958dc1f622a53460fe297e9c958564742dd684309c3f",
            ),
            (
                "source-serif-4-latin-wght-italic.woff2",
                "b4f56ddc9873487f1c9a3ad5bbce31982fe89b951f57e4604f62b4c8a540fb19",
            ),
        ],
    },
    Typeface {
        package: "@fontsource-variable/jetbrains-mono",
        version: "5.3.0",
        family: "JetBrains Mono",
        sheets: &["index.css"],
        files: &[
            (
                "jetbrains-mono-latin-wght-normal.woff2",
                "18be452724bfdc236c074ca94a249a7f41a86752c7d04ab258ce9ed5651f6a7e",
            ),
            (
                "jetbrains-mono-latin-ext-wght-normal.woff2",
                "79bfdab9ba467e26eea4122e6f2567e188dd8a09a8c730d501fc487c4ab99c6e",
            ),
        ],
    },
];

/// The style sheet that declares the families, beside the font files.
pub const SHEET: &str = "fonts.css";

/// Where the fonts and their style sheet lie.
pub fn folder(workspace: &Workspace) -> PathBuf {
    workspace.cache.join("fonts")
}

/// Fetches what is missing; a failure is a notice.
pub fn ensure(workspace: &Workspace) -> Result<()> {
    let folder = folder(workspace);
    if is_complete(&folder) {
        return Ok(());
    }
    if process::find_on_path("npm").is_none() {
        report::notice(
            "npm is missing, so the screen will use the system's fonts (install Node.js for the bundled ones)",
        );
        return Ok(());
    }
    report::step("fetching fonts");
    if let Err(error) = fetch(&folder) {
        report::notice(format!(
            "fonts were not fetched, so the screen will use the system's: {error:#}"
        ));
    }
    Ok(())
}

fn is_complete(folder: &Path) -> bool {
    let files = TYPEFACES.iter().flat_map(|face| face.files);
    folder.join(SHEET).exists() && files.into_iter().all(|(name, _)| folder.join(name).exists())
}

fn fetch(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let mut sheet = String::from("/* Written by `cargo xtask setup`. */\n");
    for face in &TYPEFACES {
        let work = tempfile::Builder::new()
            .prefix("adrag-npm-")
            .tempdir()
            .context("no temporary folder")?;
        let package = pack(face, work.path())?;
        for (name, sha256) in face.files {
            let from = package.join("files").join(name);
            let found = checksum::of_file(&from)?;
            if found != *sha256 {
                bail!(
                    "`{name}` of {} {} has the checksum {found}, not {sha256}",
                    face.package,
                    face.version
                );
            }
            std::fs::copy(&from, folder.join(name)).with_context(|| format!("cannot copy `{name}`"))?;
        }
        for name in face.sheets {
            let path = package.join(name);
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read `{}`", path.display()))?;
            sheet.push_str(&rules(&text, face));
        }
        let licence = format!("LICENCE-{}.txt", face.family.replace(' ', "-"));
        std::fs::copy(package.join("LICENSE"), folder.join(licence))
            .context("the font has no licence text")?;
    }
    // Last, because it says that the folder is complete.
    process::write_if_changed(&folder.join(SHEET), sheet.as_bytes())?;
    Ok(())
}

/// Downloads and unpacks one package and returns its folder.
fn pack(face: &Typeface, work: &Path) -> Result<PathBuf> {
    let npm = process::find_on_path("npm").context("npm is missing")?;
    let spec = format!("{}@{}", face.package, face.version);
    let said = process::capture(
        Command::new(npm)
            .args(["pack", "--silent", &spec])
            .current_dir(work),
    )?;
    let archive = said
        .lines()
        .map(str::trim)
        .rfind(|line| line.ends_with(".tgz"))
        .context("npm packed nothing")?;
    process::capture(Command::new("tar").arg("-xzf").arg(archive).current_dir(work))?;
    Ok(work.join("package"))
}

/// The `@font-face` rules of our files, under our family name and our folder.
fn rules(sheet: &str, face: &Typeface) -> String {
    let mut kept = String::new();
    for block in sheet.split("@font-face").skip(1) {
        let Some((body, _)) = block.split_once('}') else {
            continue;
        };
        if !face
            .files
            .iter()
            .any(|(name, _)| body.contains(&format!("/{name})")))
        {
            continue;
        }
        let body = body.replace("./files/", "fonts/").replace(
            &format!("'{} Variable'", face.family),
            &format!("'{}'", face.family),
        );
        kept.push_str(&format!("@font-face{body}}}\n"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rules_of_the_bundled_files_are_kept() {
        let sheet = "/* a */\n@font-face {\n  font-family: 'Inter Variable';\n  src: url(./files/inter-greek-wght-normal.woff2);\n}\n\
                     @font-face {\n  font-family: 'Inter Variable';\n  src: url(./files/inter-latin-wght-normal.woff2) format('woff2');\n  unicode-range: U+0000-00FF;\n}\n";
        let kept = rules(sheet, &TYPEFACES[0]);
        assert_eq!(kept.matches("@font-face").count(), 1);
        assert!(kept.contains("font-family: 'Inter';"));
        assert!(kept.contains("url(fonts/inter-latin-wght-normal.woff2)"));
        assert!(kept.contains("unicode-range: U+0000-00FF;"));
    }

    #[test]
    fn every_font_file_is_pinned_by_its_checksum() {
        for (name, sha256) in TYPEFACES.iter().flat_map(|face| face.files) {
            assert_eq!(sha256.len(), 64, "{name}");
        }
    }
}
