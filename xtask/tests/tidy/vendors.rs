//! Vendors stay where they belong: the browser in the bridge of the screen, everything else in the adapters, and
//! there each in the folder that bears its name.

use crate::code;
use crate::expect_no_faults;
use crate::house::{self, Member, Text};

/// Packages that only the adapters may depend on, and the folders or files of the adapters that may name the crate.
const VENDORS: [(&str, &[&str]); 16] = [
    ("ort", &["ort"]),
    ("tokenizers", &["ort"]),
    ("qdrant-edge", &["qdrant"]),
    ("qdrant-client", &["qdrant"]),
    ("tantivy", &["tantivy"]),
    ("sled", &["sled"]),
    ("rusqlite", &["sqlite"]),
    ("lopdf", &["parse"]),
    ("pdf-extract", &["parse"]),
    ("pdf_oxide", &["parse"]),
    ("calamine", &["parse"]),
    ("mail-parser", &["parse"]),
    ("quick-xml", &["parse"]),
    ("async-openai", &["openai"]),
    ("keyring", &["keychain"]),
    ("notify", &["notify"]),
];

/// The one crate that several adapters share: the engines (`engines` is what they have in common) and the watch over
/// the Qdrant side process speak HTTP.
const HTTP: (&str, &[&str]) = (
    "reqwest",
    &["engines", "openai", "ollama", "llama_server", "qdrant", "web"],
);

const ADAPTERS: &str = "crates/adrag-adapters/src/";
const SCREEN: &str = "ui/src/";
const BROWSER: [&str; 3] = ["web_sys", "js_sys", "wasm_bindgen"];

fn vendors() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    VENDORS.into_iter().chain([HTTP])
}

fn dependency_faults(members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    for member in members.iter().filter(|member| member.name != "adrag-adapters") {
        for dependency in &member.dependencies {
            if vendors().any(|(vendor, _)| same_name(vendor, dependency)) {
                faults.push(format!(
                    "`{}` depends on `{dependency}`, which only the adapters may",
                    member.name
                ));
            }
        }
    }
    faults
}

fn adapter_faults(texts: &[Text]) -> Vec<String> {
    let mut faults = Vec::new();
    for text in texts {
        let Some(below) = text
            .path
            .strip_prefix(ADAPTERS)
            .filter(|path| path.ends_with(".rs"))
        else {
            continue;
        };
        let place = below.split(['/', '.']).next().unwrap_or_default();
        let named = code::crates_named(&text.text);
        for (vendor, folders) in vendors() {
            let is_at_home = folders.iter().any(|folder| place.starts_with(folder));
            if !is_at_home && named.iter().any(|name| same_name(vendor, name)) {
                faults.push(format!(
                    "`{}` names `{vendor}`, which belongs into {}",
                    text.path,
                    folders.join(", ")
                ));
            }
        }
    }
    faults
}

fn browser_faults(texts: &[Text]) -> Vec<String> {
    let mut faults = Vec::new();
    for text in texts {
        let Some(below) = text
            .path
            .strip_prefix(SCREEN)
            .filter(|path| path.ends_with(".rs"))
        else {
            continue;
        };
        if below == "main.rs" || below == "bridge.rs" || below.starts_with("bridge/") {
            continue;
        }
        let blanked = code::blank(&text.text);
        for name in BROWSER
            .iter()
            .filter(|name| code::words(&blanked).any(|(_, word)| word == **name))
        {
            faults.push(format!(
                "`{}` names `{name}`, which belongs into ui/src/bridge",
                text.path
            ));
        }
    }
    faults
}

fn same_name(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

#[test]
fn only_the_adapters_depend_on_vendors() {
    expect_no_faults("vendors in manifests", &dependency_faults(&house::members()));
}

#[test]
fn every_vendor_is_named_in_its_own_folder_only() {
    expect_no_faults("vendors in the adapters", &adapter_faults(&house::texts()));
}

#[test]
fn only_the_bridge_knows_the_browser() {
    expect_no_faults("the browser in the screen", &browser_faults(&house::texts()));
}

#[test]
fn the_rule_finds_a_vendor_in_the_wrong_manifest() {
    let member = |name: &str, dependency: &str| Member {
        name: name.into(),
        dependencies: vec![dependency.into()],
    };
    assert_eq!(dependency_faults(&[member("adrag-core", "qdrant-edge")]).len(), 1);
    assert_eq!(dependency_faults(&[member("adrag", "reqwest")]).len(), 1);
    assert_eq!(
        dependency_faults(&[member("adrag-adapters", "reqwest"), member("adrag", "serde")]).len(),
        0
    );
}

#[test]
fn the_rule_finds_a_vendor_in_the_wrong_folder() {
    for (path, source, count) in [
        ("crates/adrag-adapters/src/sled/mod.rs", "use tantivy::Index;", 1),
        (
            "crates/adrag-adapters/src/tantivy/mod.rs",
            "use tantivy::Index;",
            0,
        ),
        (
            "crates/adrag-adapters/src/compose.rs",
            "use crate::{tantivy::Words, sled::Graph};",
            0,
        ),
        (
            "crates/adrag-adapters/src/compose.rs",
            "fn f() { rusqlite::Connection::open(p) }",
            1,
        ),
        (
            "crates/adrag-adapters/src/lib.rs",
            "pub mod tantivy; // tantivy::Index",
            0,
        ),
        (
            "crates/adrag-adapters/src/ollama/mod.rs",
            "use reqwest::Client;",
            0,
        ),
        (
            "crates/adrag-adapters/src/parse/pdf.rs",
            "use reqwest::Client; use lopdf::Document;",
            1,
        ),
        (
            "crates/adrag-adapters/src/keychain.rs",
            "fn f() { keyring::Entry::new(a, b) }",
            0,
        ),
        ("crates/adrag-core/src/lib.rs", "use tantivy::Index;", 0),
    ] {
        assert_eq!(
            adapter_faults(&[Text::new(path, source)]).len(),
            count,
            "{path}: {source}"
        );
    }
}

#[test]
fn the_rule_finds_the_browser_outside_the_bridge() {
    for (path, source, count) in [
        ("ui/src/pages/chat.rs", "use web_sys::Element;", 1),
        ("ui/src/pages/chat.rs", "fn f(e: leptos::web_sys::Event) {}", 1),
        ("ui/src/pages/chat.rs", "// web_sys\nlet a = \"js_sys\";", 0),
        ("ui/src/bridge/mod.rs", "use wasm_bindgen::prelude::*;", 0),
        ("ui/src/main.rs", "use wasm_bindgen::prelude::*;", 0),
    ] {
        assert_eq!(
            browser_faults(&[Text::new(path, source)]).len(),
            count,
            "{path}: {source}"
        );
    }
}
