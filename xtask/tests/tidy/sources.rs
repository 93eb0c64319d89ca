//! What every file of ours must be: short, with a head that says what it is, and without a word that is only true
//! on one machine.

use crate::expect_no_faults;
use crate::house::{self, Text};

const LONGEST: usize = 600;

/// Paths of one machine. In pieces, so that this file does not find itself.
const MACHINE: [(&str, &str); 4] = [
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("C:\\Us", "ers\\"),
];

/// Hosts of package registries: which one is used is for the person's own settings to say.
const HOSTS: [(&str, &str); 8] = [
    ("pypi.", "org"),
    ("pythonhosted.", "org"),
    ("registry.npmjs.", "org"),
    ("registry.yarnpkg.", "com"),
    ("deb.debian.", "org"),
    ("static.crates.", "io"),
    ("index.crates.", "io"),
    ("static.rust-lang.", "org"),
];

fn length_faults(texts: &[Text]) -> Vec<String> {
    let long = texts
        .iter()
        .filter(|text| text.path.ends_with(".rs"))
        .filter_map(|text| {
            let lines = text.text.lines().count();
            (lines > LONGEST).then(|| format!("`{}` has {lines} lines, more than {LONGEST}", text.path))
        });
    long.collect()
}

/// Files under a `src` folder begin with inner documentation.
fn head_faults(texts: &[Text]) -> Vec<String> {
    let is_module =
        |text: &&Text| text.path.ends_with(".rs") && text.path.split('/').any(|part| part == "src");
    let silent = texts
        .iter()
        .filter(is_module)
        .filter(|text| !text.text.trim_start().starts_with("//!"));
    silent
        .map(|text| format!("`{}` does not begin with `//!`", text.path))
        .collect()
}

fn place_faults(texts: &[Text]) -> Vec<String> {
    let mut faults = Vec::new();
    for text in texts {
        for (number, line) in text.text.lines().enumerate() {
            let at = || format!("`{}` line {}", text.path, number + 1);
            for (one, two) in MACHINE {
                let needle = format!("{one}{two}");
                if occurrences(line, &needle)
                    .any(|start| is_root(line, start) && is_named(line, start + needle.len()))
                {
                    faults.push(format!("{} has the path of a machine (`{needle}`)", at()));
                }
            }
            for (one, two) in HOSTS {
                let needle = format!("{one}{two}");
                if line.contains(&needle) {
                    faults.push(format!("{} names the registry host `{needle}`", at()));
                }
            }
        }
    }
    faults
}

fn occurrences<'a>(line: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(needle).map(|(start, _)| start)
}

/// Whether the path begins here, and is not the rest of a longer one such as `docs/work/`.
fn is_root(line: &str, start: usize) -> bool {
    !line[..start].ends_with(|before: char| before.is_alphanumeric() || "_.-/~}$>*".contains(before))
}

/// Whether a name follows: the bare words `the root folder /home/` are no path of anybody.
fn is_named(line: &str, end: usize) -> bool {
    line[end..].starts_with(|after: char| after.is_alphanumeric() || after == '_' || after == '.')
}

#[test]
fn no_file_is_too_long() {
    expect_no_faults("length of files", &length_faults(&house::texts()));
}

#[test]
fn every_module_says_what_it_is() {
    expect_no_faults("heads of modules", &head_faults(&house::texts()));
}

#[test]
fn no_file_is_about_one_machine() {
    expect_no_faults("paths and hosts", &place_faults(&house::texts()));
}

#[test]
fn the_rule_finds_a_file_that_is_too_long() {
    let long = Text::new("crates/a/src/lib.rs", &"x\n".repeat(LONGEST + 1));
    let longest = Text::new("crates/a/src/lib.rs", &"x\n".repeat(LONGEST));
    let table = Text::new("docs/table.md", &"x\n".repeat(5_000));
    assert_eq!(length_faults(&[long, longest, table]).len(), 1);
}

#[test]
fn the_rule_finds_a_module_without_a_head() {
    for (path, source, count) in [
        ("crates/a/src/lib.rs", "use std::fs;\n//! Late.", 1),
        ("src-tauri/src/main.rs", "#![allow(x)]\n//! Late.", 1),
        ("crates/a/src/lib.rs", "\n//! The words.\n", 0),
        ("src-tauri/build.rs", "fn main() {}", 0),
        ("crates/a/tests/a/main.rs", "mod b;", 0),
    ] {
        assert_eq!(
            head_faults(&[Text::new(path, source)]).len(),
            count,
            "{path}: {source}"
        );
    }
}

#[test]
fn the_rule_finds_the_path_of_a_machine() {
    for (one, two) in MACHINE {
        let line = format!("let folder = \"{one}{two}someone/x\";");
        assert_eq!(place_faults(&[Text::new("a.rs", &line)]).len(), 1, "{line}");
    }
    let relative = format!(
        "see docs{}{}notes.md and https://h.example{}{}x",
        "/wo", "rk/", "/ro", "ot/"
    );
    assert_eq!(place_faults(&[Text::new("a.md", &relative)]).len(), 0);
}

#[test]
fn the_rule_finds_the_host_of_a_registry() {
    for (one, two) in HOSTS {
        assert_eq!(
            place_faults(&[Text::new("a.toml", &format!("url = \"https://{one}{two}/x\""))]).len(),
            1
        );
    }
}
