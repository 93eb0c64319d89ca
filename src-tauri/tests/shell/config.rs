//! The window's configuration against `security.md` S1, S2 and S4: what is written here is what is meant.

use adrag_contract::COMMANDS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn read(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join(file)).unwrap()).unwrap()
}

#[test]
fn the_content_security_policy_is_exactly_the_required_one() {
    let config = read("tauri.conf.json");
    let policy = config["app"]["security"]["csp"].as_str().unwrap();
    let directives: BTreeMap<&str, Vec<&str>> = policy
        .split(';')
        .map(|directive| {
            let mut words = directive.split_whitespace();
            (words.next().unwrap(), words.collect())
        })
        .collect();
    let required = BTreeMap::from([
        ("default-src", vec!["'self'"]),
        ("script-src", vec!["'self'", "'wasm-unsafe-eval'"]),
        ("style-src", vec!["'self'"]),
        (
            "img-src",
            vec!["'self'", "asset:", "http://asset.localhost", "data:", "blob:"],
        ),
        ("connect-src", vec!["'self'", "ipc:", "http://ipc.localhost"]),
        ("object-src", vec!["'none'"]),
        ("frame-src", vec!["'none'"]),
        ("base-uri", vec!["'none'"]),
        ("form-action", vec!["'none'"]),
    ]);
    assert_eq!(directives, required);
}

#[test]
fn the_window_is_hardened() {
    let config = read("tauri.conf.json");
    let security = &config["app"]["security"];
    assert_eq!(security["freezePrototype"], true);
    assert_eq!(security["assetProtocol"], json!({ "enable": false }));
    assert!(security["devCsp"].is_null());
    assert!(security["dangerousDisableAssetCspModification"].is_null());
    assert_eq!(security["capabilities"], json!(["main"]));
    assert!(config["build"]["devUrl"].is_null());
    assert_eq!(config["build"]["frontendDist"], "dist");
    assert_eq!(config["identifier"], "org.adrag.desktop");
    assert_eq!(config["productName"], "adRAG");
    assert!(config["plugins"].is_null());
    let windows = config["app"]["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 1);
    let size = ["width", "height", "minWidth", "minHeight"].map(|key| windows[0][key].as_u64().unwrap());
    assert_eq!(size, [1280, 860, 860, 560]);
    assert_eq!(windows[0]["dragDropEnabled"], true);
    assert!(
        windows[0]["url"].is_null(),
        "the window shows the program's own page"
    );
}

#[test]
fn the_window_may_give_own_commands_and_hear_events_and_nothing_else() {
    let files: Vec<_> = std::fs::read_dir(root().join("src-tauri/capabilities"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, ["main.json"], "every file of the folder is active");
    let capability = read("src-tauri/capabilities/main.json");
    assert_eq!(
        capability["permissions"],
        json!([
            "core:event:allow-listen",
            "core:event:allow-unlisten",
            "own-commands"
        ])
    );
    assert_eq!(capability["windows"], json!(["main"]));
    assert_eq!(capability["local"], true);
    assert!(capability["remote"].is_null());
    assert!(capability["webviews"].is_null());
}

#[test]
fn the_permission_names_exactly_the_commands_of_the_contract() {
    let text = std::fs::read_to_string(root().join("src-tauri/permissions/own-commands.toml")).unwrap();
    let list = text.split_once("commands.allow = [").unwrap().1;
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","))
        .collect();
    assert_eq!(names, COMMANDS);
}
