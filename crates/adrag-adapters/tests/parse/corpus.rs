//! Every file of the open corpus against its manifest, with the table printed.

use super::parse;
use adrag_core::ports::{ParsedDocument, PortResult};
use std::path::PathBuf;
use std::time::Instant;
use unicode_normalization::UnicodeNormalization;

#[derive(serde::Deserialize)]
struct Row {
    file: String,
    expect: String,
    must_contain: Vec<String>,
    must_not_contain: Vec<String>,
    should_contain: Vec<String>,
}

/// The folder of test data, named by the environment or found beside a folder above.
fn data() -> Option<PathBuf> {
    let named = std::env::var_os("ADRAG_DATA").map(PathBuf::from);
    let above = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = above
        .ancestors()
        .map(|folder| folder.join("shared/data"))
        .find(|folder| folder.is_dir());
    named.or(found)
}

/// The form in which the manifest compares: NFKC, no soft hyphens, no white space.
fn normal(text: &str) -> String {
    text.nfkc()
        .filter(|c| *c != '\u{ad}' && !c.is_whitespace())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_corpus_comes_out_as_its_manifest_says() {
    let Some(manifest) = data()
        .map(|data| data.join("docs/manifest-open.jsonl"))
        .filter(|path| path.is_file())
    else {
        println!("skipped: no test data (set ADRAG_DATA)");
        return;
    };
    let docs = manifest.parent().unwrap().to_owned();
    let rows: Vec<Row> = std::fs::read_to_string(&manifest)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (mut found, mut wanted, mut extra, mut extra_wanted) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for row in &rows {
        let began = Instant::now();
        let result = parse(&docs.join(&row.file)).await;
        let took = began.elapsed().as_millis();
        let text = result
            .as_ref()
            .map(|document| normal(&document.text))
            .unwrap_or_default();
        let holds = |phrases: &[String]| {
            phrases
                .iter()
                .filter(|phrase| text.contains(&normal(phrase)))
                .count()
        };
        let here = holds(&row.must_contain);
        found += here;
        wanted += row.must_contain.len();
        extra += holds(&row.should_contain);
        extra_wanted += row.should_contain.len();
        let got = outcome(&result);
        println!(
            "{:<44} {:<24} {here}/{} {took:>5} ms  {got}",
            row.file,
            row.expect,
            row.must_contain.len()
        );
        for phrase in row
            .must_contain
            .iter()
            .filter(|phrase| !text.contains(&normal(phrase)))
        {
            println!("    missing: {phrase}");
        }
        for phrase in row
            .must_not_contain
            .iter()
            .filter(|phrase| text.contains(&normal(phrase)))
        {
            wrong.push(format!("{}: holds {phrase:?}", row.file));
        }
        if !as_expected(&row.expect, &result) {
            wrong.push(format!("{}: expected {}, got {got}", row.file, row.expect));
        }
    }
    println!("must_contain: {found} of {wanted}; should_contain: {extra} of {extra_wanted}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        found * 100 >= wanted * 97,
        "only {found} of {wanted} phrases were found"
    );
}

fn outcome(result: &PortResult<ParsedDocument>) -> String {
    match result {
        Ok(document) => format!(
            "{} {} chars, {} blocks, {:?} pages, {:?}",
            document.kind,
            document.text.chars().count(),
            document.blocks.len(),
            document.pages,
            document.remarks
        ),
        Err(error) => format!("error: {error}"),
    }
}

fn as_expected(expect: &str, result: &PortResult<ParsedDocument>) -> bool {
    let says = |word: &str| {
        result
            .as_ref()
            .is_err_and(|error| error.error.message.contains(word))
    };
    let remarks = |word: &str| {
        result
            .as_ref()
            .is_ok_and(|document| document.remarks.iter().any(|remark| remark.contains(word)))
    };
    match expect {
        "text" | "terminates" => result.as_ref().is_ok_and(|document| !document.text.is_empty()),
        "empty" => result
            .as_ref()
            .is_ok_and(|document| document.text.is_empty() && !document.remarks.is_empty()),
        // What the glyph codes of this file stand for: reading them after all is better than a remark.
        "unreadable" => {
            remarks("cannot be decoded")
                || result
                    .as_ref()
                    .is_ok_and(|document| document.text.contains("Peněžní prostředky na účtech"))
        }
        "error:password-required" => says("protected by a password"),
        "error:corrupt" | "error:not-a-pdf" => says("is not a readable"),
        "error:binary" => says("binary data"),
        "error:unsafe-xml" => says("unsafe"),
        other => panic!("the manifest expects something new: {other}"),
    }
}
