//! The runs of a thread as a conversation shows them: a question once, with every answer it got.

use adrag_contract::{RunId, RunSummary};

/// A question of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The question.
    pub question: String,
    /// The runs that answered it, oldest first; the last one counts.
    pub runs: Vec<RunId>,
}

/// The questions of a thread, in the order in which they were first asked.
pub fn lines(runs: &[RunSummary]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for run in runs {
        let line = run
            .replaces
            .as_ref()
            .and_then(|before| lines.iter_mut().find(|line| line.runs.contains(before)));
        match line {
            Some(line) => line.runs.push(run.run.clone()),
            None => lines.push(Line {
                question: run.question.clone(),
                runs: vec![run.run.clone()],
            }),
        }
    }
    lines
}

/// Where a run stands among the answers of its question, for people: `2 of 3`; nothing for the only one.
pub fn place(versions: &[RunId], shown: &RunId) -> Option<String> {
    let at = versions.iter().position(|run| run == shown)?;
    (versions.len() > 1).then(|| format!("{} of {}", at + 1, versions.len()))
}

/// The version before or after the one shown, if there is one.
pub fn neighbour(versions: &[RunId], shown: &RunId, forward: bool) -> Option<RunId> {
    let at = versions.iter().position(|run| run == shown)?;
    let at = if forward {
        at.checked_add(1)
    } else {
        at.checked_sub(1)
    };
    versions.get(at?).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, replaces: Option<&str>) -> RunSummary {
        RunSummary {
            run: id.into(),
            thread: "t".into(),
            replaces: replaces.map(RunId::from),
            question: format!("q {id}"),
            started_at_ms: 0,
            finished: true,
        }
    }

    #[test]
    fn answers_given_anew_stand_on_the_line_of_their_question() {
        let found = lines(&[
            run("a", None),
            run("b", None),
            run("a2", Some("a")),
            run("a3", Some("a2")),
            run("lost", Some("gone")),
        ]);
        let ids: Vec<Vec<&str>> = found
            .iter()
            .map(|line| line.runs.iter().map(RunId::as_str).collect())
            .collect();
        assert_eq!(ids, [vec!["a", "a2", "a3"], vec!["b"], vec!["lost"]]);
        assert_eq!(found[0].question, "q a");
    }

    #[test]
    fn versions_are_walked_to_both_ends() {
        let versions: Vec<RunId> = ["a", "b"].map(RunId::from).to_vec();
        assert_eq!(place(&versions, &"b".into()).as_deref(), Some("2 of 2"));
        assert_eq!(place(&versions[..1], &"a".into()), None);
        assert_eq!(neighbour(&versions, &"a".into(), true), Some("b".into()));
        assert_eq!(neighbour(&versions, &"a".into(), false), None);
        assert_eq!(neighbour(&versions, &"b".into(), true), None);
    }
}
