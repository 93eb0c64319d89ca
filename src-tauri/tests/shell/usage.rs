//! Wrong usage is exit 2 with the reason on standard error and nothing on standard output.

use crate::program::{Place, program};

#[test]
fn wrong_usage_is_exit_2_and_never_opens_the_data_folder() {
    let place = Place::new();
    let cases: &[&[&str]] = &[
        &["ask"],
        &["ask", ""],
        &["ask", "   "],
        &["search", ""],
        &["search", "q", "--store", "cloud"],
        &["search", "q", "--top", "0"],
        &["search", "q", "--top", "many"],
        &["ask", "q", "--engine", "oracle"],
        &["ask", "q", "--collection", ""],
        &["ask", "q", "--history", "/nowhere/at/all.json"],
        &["ingest"],
        &["extract"],
        &["extract", "a", "b"],
        &["delete"],
        &["delete", "--all"],
        &["delete", "--all", "--json"],
        &["delete", "--collection", "c"],
        &["delete", "a", "--all", "--yes"],
        &["documents", "--unknown"],
        &["serve", "--port", "many"],
        &["serve", "--host", "0.0.0.0"],
        &["serve", "now"],
        &["ingst", "a.txt"],
    ];
    for args in cases {
        let ended = place.run(*args).exits(2);
        assert!(ended.stdout.is_empty(), "{args:?}: {ended:?}");
        assert!(ended.stderr.starts_with("error: "), "{args:?}: {ended:?}");
    }
    assert!(!place.data().exists());
}

#[test]
fn a_history_that_is_no_list_of_turns_is_named_with_the_reason() {
    let place = Place::new();
    let file = place.write("history.json", r#"[{"role": "wizard", "content": "x"}]"#);
    let ended = place
        .run(["ask", "q", "--history", file.to_str().unwrap()])
        .exits(2);
    assert!(
        ended.stderr.contains("wizard") && ended.stderr.contains("role"),
        "{ended:?}"
    );
}

#[test]
fn removing_many_without_a_yes_says_what_would_be_lost() {
    let place = Place::new();
    let ended = place.run(["delete", "--collection", "law"]).exits(2);
    assert!(
        ended.stderr.contains("`law`") && ended.stderr.contains("--yes"),
        "{ended:?}"
    );
}

#[test]
fn help_and_version_go_to_standard_output() {
    let place = Place::new();
    let help = place.run(["--help"]).exits(0);
    for word in [
        "ingest",
        "extract",
        "search",
        "ask",
        "documents",
        "delete",
        "doctor",
        "serve",
        "--data-dir",
        "--json",
    ] {
        assert!(help.stdout.contains(word), "{word}: {help:?}");
    }
    assert!(!help.stdout.contains("extract-worker"), "{help:?}");
    assert!(place.run(["--version"]).exits(0).stdout.starts_with("adrag "));
}

#[test]
fn without_a_display_the_command_line_is_offered() {
    let output = program().output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("no display") && stderr.contains("adrag ingest"),
        "{stderr}"
    );
    assert!(!stderr.contains("panic"), "{stderr}");
}

#[test]
fn a_display_that_does_not_answer_is_no_panic() {
    let output = program().env("DISPLAY", ":59731").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(":59731") && !stderr.contains("panic"), "{stderr}");
}
