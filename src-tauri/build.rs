//! Prepares what the desktop program embeds: the window's files, its capabilities and its permissions.
//!
//! It never builds the screen; that is `cargo xtask ui`.

use std::path::Path;
use std::{fs, io};

/// Stands in for the screen until it is built, so that a bare `cargo build` works.
const NO_SCREEN: &str = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>adRAG</title></head>\n\
    <body><h1>The screen is not built yet</h1><p>Run <code>cargo xtask ui</code>, then build again.</p></body>\n</html>\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=dist");
    println!("cargo:rerun-if-changed=src-tauri/build.rs");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    write_page_where_missing()?;
    let own_commands =
        tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*.toml");
    tauri_build::try_build(
        tauri_build::Attributes::new()
            .capabilities_path_pattern("./src-tauri/capabilities/**/*")
            .app_manifest(own_commands),
    )?;
    Ok(())
}

fn write_page_where_missing() -> io::Result<()> {
    let page = Path::new("dist/index.html");
    if page.exists() {
        return Ok(());
    }
    fs::create_dir_all("dist")?;
    fs::write(page, NO_SCREEN)
}
