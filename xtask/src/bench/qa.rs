//! Whole answers: the questions of `qa.jsonl`, asked one by one as a script would, follow-ups with their conversation.
//!
//! An answer passes when it says every part of the gold answer and cites a gold file; one to a question the documents do not
//! answer passes when it says so and cites nothing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::data::{self, Question};
use crate::{app, report};

/// What became of the questions of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Tally {
    questions: usize,
    passed: usize,
    /// Questions that name gold files, and those of them that had one cited.
    with_gold: usize,
    gold_cited: usize,
    unanswerable: usize,
    abstained: usize,
    abstained_rightly: usize,
    /// Answers that claim something, their sentences, and those that are not supported.
    answers: usize,
    sentences: usize,
    unsupported: usize,
}

impl Tally {
    fn add(&mut self, question: &Question, answer: &Answer) {
        self.questions += 1;
        self.passed += usize::from(answer.passes(question));
        if question.answerable && !question.gold.is_empty() {
            self.with_gold += 1;
            self.gold_cited += usize::from(answer.cites_gold(question));
        }
        self.unanswerable += usize::from(!question.answerable);
        self.abstained += usize::from(answer.abstained);
        self.abstained_rightly += usize::from(answer.abstained && !question.answerable);
        self.answers += usize::from(!answer.verdicts.is_empty());
        self.sentences += answer.verdicts.len();
        self.unsupported += answer
            .verdicts
            .iter()
            .filter(|verdict| verdict.as_str() != "supported")
            .count();
    }
}

/// What was answered.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    abstained: bool,
    cited: Vec<String>,
    verdicts: Vec<String>,
    took_ms: f64,
}

impl Answer {
    fn read(lines: &[Value]) -> Self {
        let last = lines.last().cloned().unwrap_or_default();
        let finished = lines.iter().rev().find_map(|line| {
            let answer = &line["event"]["outcome"]["answer"];
            answer.is_object().then(|| answer.clone())
        });
        let texts = |values: &Value, name: &str| -> Vec<String> {
            let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
            values
                .iter()
                .filter_map(|value| value[name].as_str())
                .map(str::to_owned)
                .collect()
        };
        Self {
            text: last["answer"].as_str().unwrap_or_default().to_owned(),
            abstained: last["abstained"].as_bool().unwrap_or(false),
            cited: texts(&last["citations"], "path")
                .iter()
                .map(|path| data::plain_name(path))
                .collect(),
            verdicts: finished
                .map(|answer| texts(&answer["claims"], "verdict"))
                .unwrap_or_default(),
            took_ms: last["took_ms"].as_f64().unwrap_or_default(),
        }
    }

    fn cites_gold(&self, question: &Question) -> bool {
        question.gold_names().iter().any(|name| self.cited.contains(name))
    }

    fn says_all(&self, question: &Question) -> bool {
        let said = normal(&self.text);
        question
            .answer_must_contain
            .iter()
            .all(|ways| ways.iter().any(|way| said.contains(&normal(way))))
    }

    fn passes(&self, question: &Question) -> bool {
        if question.answerable {
            self.says_all(question) && (question.gold.is_empty() || self.cites_gold(question))
        } else {
            self.abstained && self.cited.is_empty()
        }
    }
}

/// NFKC, no white space, one case: the form in which the data's README compares.
fn normal(text: &str) -> String {
    text.nfkc()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

pub fn run(program: &Path, folder: &Path, engine: &str, json: bool) -> Result<()> {
    let questions = data::questions(folder)?;
    let library = tempfile::Builder::new()
        .prefix("adrag-bench-")
        .tempdir()
        .context("no temporary folder")?;
    report::step("adrag ingest docs/open");
    let documents = folder.join("docs").join("open");
    app::ask(program, library.path(), &["ingest", &documents.to_string_lossy()])?.accepted()?;
    report::step(format!("asking {} questions of `{engine}`", questions.len()));
    let mut types: BTreeMap<String, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    let mut missed = Vec::new();
    let mut times = Vec::new();
    for question in &questions {
        let answer = ask(program, library.path(), question, engine)
            .with_context(|| format!("question {}", question.id))?;
        types
            .entry(question.kind.clone())
            .or_default()
            .add(question, &answer);
        all.add(question, &answer);
        times.push(answer.took_ms);
        if !answer.passes(question) {
            let why = match (question.answerable, answer.abstained, answer.cites_gold(question)) {
                (false, ..) => "answered what the documents do not say",
                (true, true, _) => "said that the documents do not say",
                (true, _, false) => "cited no gold file",
                (true, ..) => "left out part of the answer",
            };
            missed.push(format!("{} ({}): {why}", question.id, question.kind));
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    if json {
        let value = serde_json::json!({
            "engine": engine, "all": all, "types": types, "missed": missed, "median_ms": median,
        });
        println!("{value}");
    } else {
        print!("{}", table(engine, &types, &all, median));
        println!("\nnot passed:");
        for line in missed {
            println!("  {line}");
        }
    }
    Ok(())
}

fn ask(program: &Path, library: &Path, question: &Question, engine: &str) -> Result<Answer> {
    let mut arguments = vec!["ask", &question.question, "--engine", engine];
    let history = (!question.conversation.is_empty())
        .then(|| -> Result<_> {
            let mut file = tempfile::NamedTempFile::new().context("no temporary file")?;
            write!(file, "{}", serde_json::to_string(&question.conversation)?)
                .context("no temporary file")?;
            Ok(file)
        })
        .transpose()?;
    let path = history
        .as_ref()
        .map(|file| file.path().to_string_lossy().into_owned());
    if let Some(path) = &path {
        arguments.extend(["--history", path]);
    }
    let output = app::call(program, library, &arguments)
        .arg("--json")
        .output()
        .with_context(|| format!("`{}` could not be started", program.display()))?;
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).context("the program printed something else than JSON"))
        .collect::<Result<_>>()?;
    ensure!(
        !lines.is_empty(),
        "no reply: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(Answer::read(&lines))
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        "none".to_owned()
    } else {
        format!("{part} of {whole}")
    }
}

fn table(engine: &str, types: &BTreeMap<String, Tally>, all: &Tally, median: f64) -> String {
    let mut text = format!(
        "engine {engine}\n\n| type | passed | gold file cited | abstained | sentences not supported |\n|---|---|---|---|---|\n"
    );
    let rows = types
        .iter()
        .map(|(name, tally)| (name.as_str(), tally))
        .chain([("**all**", all)]);
    for (name, tally) in rows {
        text.push_str(&format!(
            "| {name} | {} | {} | {} | {} |\n",
            share(tally.passed, tally.questions),
            share(tally.gold_cited, tally.with_gold),
            share(tally.abstained, tally.questions),
            share(tally.unsupported, tally.sentences),
        ));
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of answers")]
    let each = all.unsupported as f64 / all.answers.max(1) as f64;
    text.push_str(&format!(
        "\nabstention: {} rightly (precision), of unanswerable questions {} (recall)\nsentences not supported for each answer: {each:.2}\nmedian: {median:.0} ms\n",
        share(all.abstained_rightly, all.abstained),
        share(all.abstained_rightly, all.unanswerable),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(answerable: bool) -> Question {
        serde_json::from_value(json!({
            "id": "o1", "type": "single", "question": "?", "answerable": answerable,
            "answer_must_contain": [["57.80", "57,80"], ["Lindqvist"]],
            "gold": if answerable { json!([{"file": "open/a.csv"}]) } else { json!([]) },
        }))
        .unwrap()
    }

    fn answered(text: &str, path: &str, abstained: bool) -> Answer {
        Answer::read(&[
            json!({"event": {"type": "RunFinished", "outcome": {"answer": {"claims": [{"verdict": "supported"}, {"verdict": "partly"}]}}}}),
            json!({"answer": text, "abstained": abstained, "citations": [{"path": path}], "took_ms": 3}),
        ])
    }

    #[test]
    fn an_answer_passes_when_it_says_all_and_cites_a_gold_file() {
        let asked = question(true);
        assert!(answered("lindqvist, EUR 57,80", "/x/a.csv", false).passes(&asked));
        assert!(!answered("Lindqvist", "/x/a.csv", false).passes(&asked));
        assert!(!answered("Lindqvist 57.80", "/x/b.csv", false).passes(&asked));
    }

    #[test]
    fn a_question_without_an_answer_passes_only_by_saying_so() {
        let asked = question(false);
        assert!(
            !answered("The documents do not say.", "/x/a.csv", true).passes(&asked),
            "it cites"
        );
        let mut silent = answered("The documents do not say.", "", true);
        silent.cited.clear();
        assert!(silent.passes(&asked));
        let mut tally = Tally::default();
        tally.add(&asked, &silent);
        tally.add(&question(true), &answered("Lindqvist 57.80", "/x/a.csv", false));
        assert_eq!(
            (tally.abstained_rightly, tally.unanswerable, tally.passed),
            (1, 1, 2)
        );
        assert_eq!((tally.unsupported, tally.sentences), (2, 4));
        let text = table(
            "quotes",
            &BTreeMap::from([("single".to_owned(), tally.clone())]),
            &tally,
            3.0,
        );
        assert!(
            text.contains("| single | 2 of 2 | 1 of 1 | 1 of 2 | 2 of 4 |"),
            "{text}"
        );
    }
}
