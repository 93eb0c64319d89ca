//! Conversations: what was said in one, what they are called, how they are forgotten and how they leave the program.

use super::Engine;
use super::export::{Exchange, Exported, render};
use adrag_contract::{
    AppError, ErrorCode, ExportFormat, Role, RunId, RunSummary, RunView, ThreadId, ThreadSummary, Turn,
};

/// Threads listed at once.
const LISTED: usize = 500;
/// Exchanges of a thread that go along with a question.
const EXCHANGES: usize = 4;
/// Most characters of an answer that goes along.
const ANSWER_CHARS: usize = 1_500;
/// Longest name of a thread.
const TITLE_CHARS: usize = 200;

impl Engine {
    /// The threads that hold these words, the latest first; all for an empty text. Those with a question under way
    /// only come first.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub async fn list_threads(&self, find: &str) -> Result<Vec<ThreadSummary>, AppError> {
        self.history_kept().await;
        let find = find.trim();
        let mut listed = self.ports.catalog.threads(find, LISTED).await?;
        for run in self.runs.questions_under_way().into_iter().rev() {
            match listed.iter().position(|known| known.thread == run.thread) {
                Some(at) => {
                    let mut known = listed.remove(at);
                    known.updated_at_ms = known.updated_at_ms.max(run.started_at_ms);
                    known.questions += u64::from(run.replaces.is_none());
                    listed.insert(0, known);
                }
                // One that does not hold the words may be known all the same.
                None if find.is_empty() => listed.insert(
                    0,
                    ThreadSummary {
                        thread: run.thread,
                        title: run.question,
                        questions: 1,
                        started_at_ms: run.started_at_ms,
                        updated_at_ms: run.started_at_ms,
                    },
                ),
                None => {}
            }
        }
        Ok(listed)
    }

    /// The runs of a thread, oldest first, those under way last.
    ///
    /// # Errors
    /// When there is no such thread, or the history cannot be read.
    pub async fn thread_runs(&self, thread: &ThreadId) -> Result<Vec<RunSummary>, AppError> {
        self.history_kept().await;
        let mut runs = self.ports.catalog.thread_runs(thread).await?;
        let mut open = self.runs.questions_under_way();
        open.retain(|run| run.thread == *thread && !runs.iter().any(|known| known.run == run.run));
        open.reverse();
        runs.extend(open);
        if runs.is_empty() {
            return Err(
                AppError::new(ErrorCode::NotFound, format!("there is no conversation {thread}"))
                    .with_hint("`adrag threads` lists them"),
            );
        }
        Ok(runs)
    }

    /// Gives a thread another name; a blank one goes back to its first question.
    ///
    /// # Errors
    /// When there is no such thread, or the history cannot be written.
    pub async fn rename_thread(&self, thread: &ThreadId, title: &str) -> Result<(), AppError> {
        self.thread_runs(thread).await?;
        let title: String = title
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(TITLE_CHARS)
            .collect();
        Ok(self.ports.catalog.rename_thread(thread, title.trim()).await?)
    }

    /// Forgets threads with all their runs; a question under way is stopped.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub async fn delete_threads(&self, threads: &[ThreadId]) -> Result<(), AppError> {
        for run in self.runs.questions_under_way() {
            if threads.contains(&run.thread) {
                self.runs.cancel(&run.run);
                self.runs.wait(&run.run).await?;
            }
        }
        self.history_kept().await;
        self.ports.catalog.delete_threads(threads).await?;
        self.runs.forget_threads(threads);
        Ok(())
    }

    /// A thread in a form of its own, with a name for its file. Of answers given anew the last one counts.
    ///
    /// # Errors
    /// When there is no such thread, or the history cannot be read.
    pub async fn export_thread(&self, thread: &ThreadId, format: ExportFormat) -> Result<Exported, AppError> {
        let runs = self.thread_runs(thread).await?;
        let title = self
            .ports
            .catalog
            .threads("", usize::MAX)
            .await?
            .into_iter()
            .find(|known| known.thread == *thread)
            .map_or_else(|| runs[0].question.clone(), |known| known.title);
        let mut exchanges = Vec::new();
        for run in in_force(&runs) {
            let answer = match self.view_of(&run.run).await? {
                Some(view) => view.answer.map(|answer| *answer),
                None => None,
            };
            exchanges.push(Exchange {
                run: run.run.clone(),
                question: run.question.clone(),
                asked_at_ms: run.started_at_ms,
                answer,
            });
        }
        render(&title, &exchanges, format)
    }

    /// What was said in a thread before, as turns: the latest exchanges, answers cut to a bound and without the evidence
    /// that they did not cite. `before` leaves out the run that is answered anew and what came after it.
    pub(super) async fn said_before(
        &self,
        thread: &ThreadId,
        before: Option<&RunId>,
    ) -> Result<Vec<Turn>, AppError> {
        let runs = self.thread_runs(thread).await?;
        let mut counted = in_force(&runs);
        if let Some(before) = before {
            // The run itself may have been replaced already: its place is that of the first in its line.
            let root = root_of(&runs, before).ok_or_else(|| {
                AppError::new(
                    ErrorCode::NotFound,
                    format!("there is no run {before} in this conversation"),
                )
            })?;
            let place = counted
                .iter()
                .position(|run| root_of(&runs, &run.run) == Some(root.clone()))
                .unwrap_or(counted.len());
            counted.truncate(place);
        }
        let mut turns = Vec::new();
        for run in counted.iter().skip(counted.len().saturating_sub(EXCHANGES)) {
            let Some(answer) = self.view_of(&run.run).await?.and_then(|view| view.answer) else {
                continue;
            };
            if answer.broken_off.is_some() {
                continue;
            }
            turns.push(turn(Role::User, &run.question));
            turns.push(turn(Role::Assistant, &answer.text));
        }
        Ok(turns)
    }

    async fn view_of(&self, run: &RunId) -> Result<Option<RunView>, AppError> {
        let events = self.run_snapshot(run).await?;
        Ok(RunView::replay(&events).ok())
    }
}

/// The first run of the line of answers a run belongs to.
fn root_of(runs: &[RunSummary], run: &RunId) -> Option<RunId> {
    let mut at = runs.iter().find(|known| known.run == *run)?;
    // A chain that bites its tail ends all the same.
    for _ in 0..runs.len() {
        match at
            .replaces
            .as_ref()
            .and_then(|before| runs.iter().find(|known| known.run == *before))
        {
            Some(before) => at = before,
            None => break,
        }
    }
    Some(at.run.clone())
}

/// Of every line of answers the last, in the order in which the questions were first asked.
fn in_force(runs: &[RunSummary]) -> Vec<&RunSummary> {
    let mut lines: Vec<(RunId, &RunSummary)> = Vec::new();
    for run in runs {
        let root = root_of(runs, &run.run).unwrap_or_else(|| run.run.clone());
        match lines.iter_mut().find(|(known, _)| *known == root) {
            Some((_, latest)) => *latest = run,
            None => lines.push((root, run)),
        }
    }
    lines.into_iter().map(|(_, run)| run).collect()
}

fn turn(role: Role, content: &str) -> Turn {
    Turn {
        role,
        content: content.chars().take(ANSWER_CHARS).collect(),
    }
}
