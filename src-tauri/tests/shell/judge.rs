//! The judge in the program: checking and searching a file of requests, and doing without the judge.

use crate::program::{Place, program};
use adrag::places::Places;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder of the models, where they are.
fn models(place: &Place) -> Option<PathBuf> {
    let folder = Places::find(Some(place.data()))
        .unwrap()
        .options()
        .unwrap()
        .models_dir;
    if folder.join("adrag-judge/judge.onnx").is_file() {
        return Some(folder);
    }
    println!("skipped: the models are not there; run `cargo xtask setup`");
    None
}

fn bridge() -> Place {
    let place = Place::new();
    place.write(
        "bridge.md",
        "# The Vellmar bridge\n\nIts span measures 412 metres between the two towers.\n",
    );
    place.write(
        "harbour.md",
        "# The harbour\n\nIt was closed on Monday because of ice.\n",
    );
    place
        .run(["ingest", place.documents().to_str().unwrap()])
        .exits(0);
    place
}

#[test]
fn each_line_of_a_file_is_searched_for() {
    let place = bridge();
    let file = place.documents().join("questions");
    std::fs::write(&file, "How long is the span?\n\nWhy was the harbour closed?\n").unwrap();
    let ended = place
        .run(["search", "--file", file.to_str().unwrap(), "--top", "1"])
        .exits(0);
    let found: Vec<bool> = ended
        .lines()
        .iter()
        .zip(["bridge.md", "harbour.md"])
        .map(|(line, name)| line["hits"][0]["path"].as_str().unwrap().ends_with(name))
        .collect();
    assert_eq!(found, [true, true], "{ended:?}");
    place.run(["search"]).exits(2);
    place
        .run([
            "search",
            "--file",
            place.documents().join("none").to_str().unwrap(),
        ])
        .exits(2);
}

#[test]
fn answers_are_checked_sentence_by_sentence() {
    let place = Place::new();
    if models(&place).is_none() {
        return;
    }
    let passages = ["Its span measures 412 metres between the two towers."];
    let request =
        |answer: &str| json!({"question": "How long is the span?", "answer": answer, "passages": passages});
    let said = request("Its span measures 412 metres between the two towers.");
    let invented = request("The moon landing was filmed by seven dwarfs in a cellar.");
    let file = place.write("requests.jsonl", format!("{said}\n{invented}\n"));
    let lines = place.run(["check", file.to_str().unwrap()]).exits(0).lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["grounding"], "grounded");
    assert_eq!(lines[0]["confidence"], 1.0, "word for word");
    let support = lines[1]["confidence"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&support), "{lines:?}");

    let file = place.write("wrong.jsonl", "{\"answer\": 1}\n");
    let refused = place.run(["check", file.to_str().unwrap()]).exits(2);
    assert!(refused.stderr.contains("line 1"), "{refused:?}");
    let file = place.write("empty.jsonl", json!({"answer": " ", "passages": []}).to_string());
    let failed = place.run(["check", file.to_str().unwrap()]).exits(1);
    assert!(
        failed.last()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("empty")
    );
}

/// A folder of models whose judge was changed.
#[cfg(unix)]
fn with_judge(models: &Path, folder: &Path, change: impl FnOnce(&Path)) {
    for entry in std::fs::read_dir(models).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "adrag-judge" {
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    let judge = folder.join("adrag-judge");
    std::fs::create_dir(&judge).unwrap();
    for file in ["judge.onnx", "tokenizer.json"] {
        std::fs::copy(models.join("adrag-judge").join(file), judge.join(file)).unwrap();
    }
    change(&judge.join("judge.onnx"));
}

#[cfg(unix)]
#[test]
fn a_missing_truncated_or_wrong_judge_leaves_the_fused_order_and_is_named() {
    let place = bridge();
    let Some(models) = models(&place) else { return };
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("is missing", |file| std::fs::remove_file(file).unwrap()),
        ("bytes long instead of", |file| {
            let bytes = std::fs::read(file).unwrap();
            std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("is damaged", |file| {
            let mut bytes = std::fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xff;
            std::fs::write(file, bytes).unwrap();
        }),
    ];
    for (reason, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        with_judge(&models, folder.path(), change);
        let call = |words: &[&str]| {
            let output = program()
                .env("ADRAG_MODELS", folder.path())
                .arg("--data-dir")
                .arg(place.data())
                .args(words)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let said = call(&[
            "ask",
            "How long is the span of the Vellmar bridge?",
            "--engine",
            "quotes",
            "--json",
        ]);
        let lines: Vec<Value> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let degraded = lines
            .iter()
            .find(|line| line["event"]["type"] == "StageFailed" && line["event"]["stage"] == "rerank")
            .unwrap_or_else(|| panic!("nothing tells of it: {said}"));
        assert_eq!(degraded["event"]["degraded_to"], "fused order");
        assert!(
            lines.last().unwrap()["answer"].as_str().unwrap().contains("412"),
            "{said}"
        );
        let doctor: Value = serde_json::from_str(&call(&["doctor", "--json"])).unwrap();
        let problems = doctor["problems"].to_string();
        assert!(
            problems.contains("judge.onnx") && problems.contains(reason),
            "{problems}"
        );
    }
}
