//! Dependencies point one way: `ui -> contract`, `core -> contract`, `adapters -> core, contract`, and the program
//! at the root to all three. Only the root knows the window.

use crate::expect_no_faults;
use crate::house::{self, Member};

/// Our packages, and those of ours that each may use. A package may also name itself, to switch on its own features
/// for its tests.
const ALLOWED: [(&str, &[&str]); 6] = [
    ("adrag-contract", &[]),
    ("adrag-core", &["adrag-contract"]),
    ("adrag-adapters", &["adrag-core", "adrag-contract"]),
    ("adrag", &["adrag-contract", "adrag-core", "adrag-adapters"]),
    ("adrag-ui", &["adrag-contract"]),
    ("xtask", &[]),
];

fn faults(members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    for member in members {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == member.name) else {
            faults.push(format!("`{}` is a package this rule does not know", member.name));
            continue;
        };
        for dependency in &member.dependencies {
            let is_ours = ALLOWED.iter().any(|(name, _)| name == dependency);
            if is_ours && *dependency != member.name && !allowed.contains(&dependency.as_str()) {
                faults.push(format!("`{}` must not depend on `{dependency}`", member.name));
            }
            let is_window = dependency == "tauri" || dependency.starts_with("tauri-");
            if is_window && member.name != "adrag" {
                faults.push(format!(
                    "`{}` must not know the window, but depends on `{dependency}`",
                    member.name
                ));
            }
        }
    }
    faults
}

#[test]
fn dependencies_point_one_way() {
    let members = house::members();
    assert_eq!(members.len(), ALLOWED.len(), "a package is missing");
    expect_no_faults("direction of dependencies", &faults(&members));
}

#[test]
fn the_rule_finds_a_dependency_that_points_the_wrong_way() {
    for (name, dependency) in [
        ("adrag-core", "adrag-adapters"),
        ("adrag-contract", "adrag-core"),
        ("adrag-ui", "adrag-core"),
        ("adrag-adapters", "adrag"),
        ("adrag-core", "tauri"),
        ("adrag-ui", "tauri-plugin-dialog"),
        ("adrag-labs", "serde"),
    ] {
        let member = Member {
            name: name.into(),
            dependencies: vec!["serde".into(), dependency.into()],
        };
        assert_eq!(faults(&[member]).len(), 1, "{name} -> {dependency}");
    }
    let shell = Member {
        name: "adrag".into(),
        dependencies: vec!["tauri".into(), "adrag-core".into()],
    };
    assert!(faults(&[shell]).is_empty());
}
