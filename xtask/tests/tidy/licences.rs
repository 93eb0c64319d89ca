//! Everything we are built from: under a licence that lets the program stay MIT or Apache-2.0, from the crate
//! registry and nowhere else, and not older than the security requirements say.

use cargo_metadata::semver::Version;

use crate::house;
use crate::{expect_no_faults, spdx};

/// A package of the tree, as far as these rules look at it.
struct Part {
    name: String,
    version: Version,
    licence: Option<String>,
    /// None for a package of this repository.
    source: Option<String>,
}

/// What would reach the whole program, or forbid somebody to use it.
const REFUSED: [&str; 8] = ["GPL", "AGPL", "LGPL", "SSPL", "BUSL", "OSL", "EUPL", "CC-BY-NC"];

/// The oldest versions without a known hole that matters here.
const FLOORS: [(&str, (u64, u64, u64)); 6] = [
    ("tauri", (2, 11, 1)),
    ("ammonia", (4, 1, 4)),
    ("quick-xml", (0, 41, 0)),
    ("lopdf", (0, 42, 0)),
    ("zip", (2, 3, 0)),
    ("h2", (0, 4, 16)),
];

fn licence_faults(parts: &[Part]) -> Vec<String> {
    let is_allowed = |licence: &str| !REFUSED.iter().any(|refused| licence.starts_with(refused));
    let mut faults = Vec::new();
    for part in parts {
        let of = format!("{} {}", part.name, part.version);
        match part
            .licence
            .as_deref()
            .map(|expression| (expression, spdx::is_met(expression, &is_allowed)))
        {
            Some((_, Ok(true))) => {}
            Some((expression, Ok(false))) => faults.push(format!("{of} is under `{expression}`")),
            Some((expression, Err(why))) => {
                faults.push(format!("{of} has the unreadable licence `{expression}`: {why}"))
            }
            None => faults.push(format!("{of} names no licence")),
        }
    }
    faults
}

fn source_faults(parts: &[Part]) -> Vec<String> {
    let elsewhere = parts.iter().filter(|part| {
        part.source.as_deref().is_some_and(|source| {
            let is_registry = source.starts_with("registry+") || source.starts_with("sparse+");
            !(is_registry && source.trim_end_matches('/').ends_with("crates.io-index"))
        })
    });
    elsewhere
        .map(|part| format!("{} {} comes from {:?}", part.name, part.version, part.source))
        .collect()
}

fn floor_faults(parts: &[Part]) -> Vec<String> {
    let mut faults = Vec::new();
    for part in parts {
        for (name, (major, minor, patch)) in FLOORS {
            let floor = Version::new(major, minor, patch);
            if part.name == name && part.version < floor {
                faults.push(format!("{name} {} is older than {floor}", part.version));
            }
        }
    }
    faults
}

/// The packages this platform builds and tests with, the screen's among them.
fn parts() -> Vec<Part> {
    let metadata = house::whole_tree();
    let resolved = metadata.resolve.as_ref().unwrap();
    let used: Vec<_> = resolved.nodes.iter().map(|node| &node.id).collect();
    let packages = metadata
        .packages
        .iter()
        .filter(|package| used.contains(&&package.id));
    packages
        .map(|package| Part {
            name: package.name.to_string(),
            version: package.version.clone(),
            licence: package.license.clone(),
            source: package.source.as_ref().map(|source| source.repr.clone()),
        })
        .collect()
}

#[test]
fn nothing_we_build_from_breaks_a_rule() {
    let parts = parts();
    assert!(parts.len() > 100, "only {} packages were looked at", parts.len());
    expect_no_faults("licences", &licence_faults(&parts));
    expect_no_faults("sources", &source_faults(&parts));
    expect_no_faults("version floors", &floor_faults(&parts));
}

#[cfg(test)]
fn part(name: &str, version: &str, licence: Option<&str>, source: Option<&str>) -> Part {
    Part {
        name: name.into(),
        version: version.parse().unwrap(),
        licence: licence.map(str::to_owned),
        source: source.map(str::to_owned),
    }
}

#[test]
fn the_rule_finds_a_licence_that_does_not_fit() {
    for (licence, count) in [
        (Some("AGPL-3.0-only"), 1),
        (Some("GPL-3.0-or-later"), 1),
        (Some("MIT AND GPL-2.0-only"), 1),
        (Some("LGPL-2.1-or-later"), 1),
        (Some("whatever (you like"), 1),
        (None, 1),
        (Some("MIT OR Apache-2.0 OR LGPL-2.1-or-later"), 0),
        (Some("(MIT OR Apache-2.0) AND Unicode-3.0"), 0),
    ] {
        assert_eq!(
            licence_faults(&[part("a", "1.0.0", licence, None)]).len(),
            count,
            "{licence:?}"
        );
    }
}

#[test]
fn the_rule_finds_a_source_that_is_no_registry() {
    for (source, count) in [
        (Some("git+https://example.org/a?rev=1#1"), 1),
        (Some("registry+https://example.org/other-index"), 1),
        (Some("registry+https://github.com/rust-lang/crates.io-index"), 0),
        (None, 0),
    ] {
        assert_eq!(
            source_faults(&[part("a", "1.0.0", Some("MIT"), source)]).len(),
            count,
            "{source:?}"
        );
    }
}

#[test]
fn the_rule_finds_a_version_below_its_floor() {
    for (name, version, count) in [
        ("tauri", "2.11.0", 1),
        ("tauri", "2.11.1", 0),
        ("zip", "0.6.6", 1),
        ("lopdf", "0.47.0", 0),
        ("serde", "0.1.0", 0),
    ] {
        assert_eq!(
            floor_faults(&[part(name, version, Some("MIT"), None)]).len(),
            count,
            "{name} {version}"
        );
    }
}
