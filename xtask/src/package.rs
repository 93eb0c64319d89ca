//! `cargo xtask package`: the release build and the installable package, made by Tauri's own tool from npm.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{process, report, setup, ui};

const TOOL: &str = "@tauri-apps/cli@2";

pub fn run(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace)?;
    ui::build(workspace)?;
    let Some(npx) = process::find_on_path("npx") else {
        report::step("building the release program");
        process::run(
            workspace
                .cargo()
                .args(["build", "--release", "--package", "adrag"]),
        )?;
        return Err(report::hinted(
            "the program was built, but npm is missing, so no package was made",
            "install Node.js with npm and run `cargo xtask package` again",
        ));
    };
    let bundle = if cfg!(target_os = "macos") {
        "dmg"
    } else if cfg!(windows) {
        "nsis"
    } else {
        "deb"
    };
    report::step(format!("building the {bundle} package"));
    let mut tool = Command::new(npx);
    tool.args(["--yes", TOOL, "build", "--ci", "--bundles", bundle])
        .current_dir(&workspace.root);
    workspace.lend_compiler(&mut tool);
    process::run(&mut tool)?;
    let folder = workspace.target.join("release").join("bundle").join(bundle);
    let made = std::fs::read_dir(&folder)
        .with_context(|| format!("the tool left nothing in `{}`", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == bundle || extension == "exe")
        })
        .collect::<Vec<_>>();
    if made.is_empty() {
        bail!("the tool left no package in `{}`", folder.display());
    }
    for path in made {
        let size = std::fs::metadata(&path)
            .map(|found| found.len())
            .unwrap_or_default();
        println!("{} ({})", path.display(), report::bytes(size));
    }
    Ok(())
}
