//! Abstaining and finding on the questions over `docs/open`: whether "the documents do not say" is said where it is true,
//! what is risked at which coverage, and whether gold documents and passages are among the first hits.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Bench;
use super::rank::median;
use crate::app;
use crate::bench::data::{self, Question, plain_name};

/// Share of a gold passage's words that a hit must hold to be that passage.
const SAME_PASSAGE: f64 = 0.7;

pub fn run(bench: &Bench) -> Result<()> {
    let questions = data::questions(bench.data)?;
    let documents = bench.data.join("docs").join("open");
    let files = std::fs::read_dir(&documents)
        .with_context(|| format!("cannot read `{}`", documents.display()))?
        .count();
    let library = bench.library("docs-open", &documents, files.saturating_sub(2))?;
    find(bench, &library, &questions)?;
    answer(bench, &library, &questions)
}

/// Recall of gold documents and passages before and after reranking, by type of question.
fn find(bench: &Bench, library: &Path, questions: &[Question]) -> Result<()> {
    let asked: Vec<&Question> = questions
        .iter()
        .filter(|one| one.answerable && !one.gold.is_empty())
        .collect();
    let texts: Vec<String> = asked.iter().map(|one| one.question.clone()).collect();
    let top = bench.top.to_string();
    let mut found: BTreeMap<&str, [f64; 5]> = BTreeMap::new();
    for (column, flag) in ["--no-rerank", "--rerank"].into_iter().enumerate() {
        let replies = bench.lines(
            library,
            &["search", "--file", "FILE", "--top", &top, flag],
            &texts,
        )?;
        for (question, reply) in asked.iter().zip(&replies) {
            let hits = reply["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
            for kind in [question.kind.as_str(), "all"] {
                let counts = found.entry(kind).or_default();
                counts[0] += if column == 0 { 1.0 } else { 0.0 };
                counts[1 + column] += f64::from(u8::from(holds_document(hits, question)));
                counts[3 + column] += passages_held(hits, question);
            }
        }
    }
    println!(
        "\n| type | questions | documents, hybrid | + judge | passages, hybrid | + judge |\n|---|---|---|---|---|---|"
    );
    for (kind, [count, rest @ ..]) in &found {
        let shares: Vec<String> = rest.iter().map(|sum| format!("{:.3}", sum / count)).collect();
        println!("| {kind} | {count} | {} |", shares.join(" | "));
    }
    println!(
        "\nRecall at {}: any gold document; share of the gold passages.",
        bench.top
    );
    Ok(())
}

fn holds_document(hits: &[Value], question: &Question) -> bool {
    let gold = question.gold_names();
    hits.iter()
        .filter_map(|hit| hit["path"].as_str())
        .any(|path| gold.contains(&plain_name(path)))
}

fn passages_held(hits: &[Value], question: &Question) -> f64 {
    let held = question
        .gold
        .iter()
        .filter(|gold| {
            let wanted = words(&gold.passage);
            hits.iter()
                .filter(|hit| {
                    hit["path"]
                        .as_str()
                        .is_some_and(|path| plain_name(path) == plain_name(&gold.file))
                })
                .any(|hit| {
                    let text = words(hit["text"].as_str().unwrap_or_default());
                    let shared = wanted.iter().filter(|word| text.contains(*word)).count();
                    shared as f64 >= SAME_PASSAGE * wanted.len() as f64
                })
        })
        .count();
    held as f64 / question.gold.len() as f64
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

struct Answered {
    id: String,
    answerable: bool,
    abstained: bool,
    /// A gold document is cited and every expected word is there.
    right: bool,
    /// The program's probability that the documents answer.
    probability: f64,
    took_ms: f64,
}

fn answer(bench: &Bench, library: &Path, questions: &[Question]) -> Result<()> {
    let mut answered = Vec::new();
    for question in questions.iter().filter(|one| one.kind != "no-retrieval") {
        answered.push(ask(bench, library, question).with_context(|| format!("question {}", question.id))?);
    }
    let said = answered.iter().filter(|one| one.abstained).count();
    let rightly = answered
        .iter()
        .filter(|one| one.abstained && !one.answerable)
        .count();
    let without = answered.iter().filter(|one| !one.answerable).count();
    println!(
        "\n\"Not in the documents\", engine quotes, {} questions, {without} of them without an answer: said {said} times, {rightly} \
         rightly: precision {:.2}, recall {:.2}.",
        answered.len(),
        rightly as f64 / said as f64,
        rightly as f64 / without as f64
    );
    for one in answered.iter().filter(|one| one.abstained == one.answerable) {
        println!(
            "- {}: {} ({:.2})",
            one.id,
            if one.abstained { "said wrongly" } else { "missed" },
            one.probability
        );
    }
    let right = answered.iter().filter(|one| one.right).count();
    println!(
        "Answers that hold every expected word and cite a gold document: {right} of {}.",
        answered.len() - without
    );
    let mut times: Vec<f64> = answered.iter().map(|one| one.took_ms).collect();
    println!("Median time of an answer: {:.0} ms.", median(&mut times));
    curve(answered);
    Ok(())
}

/// Answers in order of the program's own probability: what share of them is wrong when only the surest are given.
fn curve(mut answered: Vec<Answered>) {
    answered.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    println!(
        "\n| coverage | answers | risk (wrong or without an answer) | of them without an answer | probability from |\n|---|---|---|---|---|"
    );
    for share in [0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        let count = (share * answered.len() as f64).round() as usize;
        let given = &answered[..count];
        let wrong = given.iter().filter(|one| !one.right).count();
        let foreign = given.iter().filter(|one| !one.answerable).count();
        let least = given.last().map_or(f64::NAN, |one| one.probability);
        println!(
            "| {share:.2} | {count} | {:.3} | {foreign} | {least:.2} |",
            wrong as f64 / count as f64
        );
    }
}

fn ask(bench: &Bench, library: &Path, question: &Question) -> Result<Answered> {
    let mut history = tempfile::NamedTempFile::new().context("no temporary file")?;
    write!(history, "{}", serde_json::to_string(&question.conversation)?).context("no temporary file")?;
    let path = history.path().to_string_lossy().into_owned();
    let arguments = [
        "ask",
        &question.question,
        "--engine",
        "quotes",
        "--history",
        &path,
        "--json",
    ];
    let output = app::call(bench.program, library, &arguments)
        .output()
        .with_context(|| format!("`{}` could not be started", bench.program.display()))?;
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).context("the program printed something else than JSON"))
        .collect::<Result<_>>()?;
    let last = lines.last().context("the program printed nothing")?;
    let probability = lines
        .iter()
        .filter_map(|line| line["event"]["detail"]["answerable"].as_f64())
        .next_back()
        .unwrap_or(f64::NAN);
    let cited: HashSet<String> = last["citations"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|citation| citation["path"].as_str())
        .map(plain_name)
        .collect();
    let answer = squeezed(last["answer"].as_str().unwrap_or_default());
    let holds = question
        .answer_must_contain
        .iter()
        .all(|any| any.iter().any(|text| answer.contains(&squeezed(text))));
    Ok(Answered {
        id: question.id.clone(),
        answerable: question.answerable,
        abstained: last["abstained"].as_bool().unwrap_or_default(),
        right: question.answerable && holds && question.gold_names().iter().any(|name| cited.contains(name)),
        probability,
        took_ms: last["took_ms"].as_f64().unwrap_or(f64::NAN),
    })
}

/// Lower case without white space, as expected words are compared.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}
