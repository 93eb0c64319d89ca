//! The fold of a run's events: the one place that says what a run looks like at any moment.

use crate::{
    Answer, AppError, Citation, Claim, DocumentId, DocumentReport, DocumentState, Event, Pace, RunEvent,
    RunId, RunKind, RunOutcome, StageDetail, StageId, Store,
};
use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// No event yet.
    #[default]
    Waiting,
    /// Under way.
    Running,
    /// Did its work.
    Finished,
    /// Could not.
    Failed,
    /// Was stopped.
    Cancelled,
}

/// How a stage stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// Not begun.
    #[default]
    Waiting,
    /// Under way.
    Active,
    /// Ended well.
    Done,
    /// Had nothing to do.
    Skipped,
    /// Failed, and something else was done instead.
    Degraded,
    /// Failed.
    Failed,
}

/// Work done, in units of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
    /// What is counted.
    pub unit: String,
}

/// One row of the tracker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    /// The stage.
    pub stage: StageId,
    /// How it stands.
    pub status: RowStatus,
    /// Work done, while active.
    pub progress: Option<Progress>,
    /// How long it took, milliseconds.
    pub took_ms: Option<u64>,
    /// What it found or decided.
    pub detail: Option<StageDetail>,
    /// Why it was skipped or failed, and what was done instead.
    pub note: Option<String>,
}

impl StageRow {
    fn new(stage: StageId) -> Self {
        Self {
            stage,
            status: RowStatus::Waiting,
            progress: None,
            took_ms: None,
            detail: None,
            note: None,
        }
    }
}

/// What a store found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRow {
    /// The store.
    pub store: Store,
    /// Passages found.
    pub count: u64,
    /// How long it took, milliseconds.
    pub took_ms: u64,
}

/// One file of an ingestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// The file.
    pub path: String,
    /// The document, once it has an id.
    pub document: Option<DocumentId>,
    /// Where it stands.
    pub state: DocumentState,
    /// Why.
    pub reason: Option<String>,
    /// Work done.
    pub progress: Option<Progress>,
}

/// A pass that did not satisfy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// The pass that followed, 1-based.
    pub attempt: u32,
    /// Why.
    pub why: String,
    /// What was changed for it.
    pub changes: Vec<String>,
}

/// A run as its events tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunView {
    /// The run, once an event named it.
    pub run: Option<RunId>,
    /// What it is for.
    pub kind: Option<RunKind>,
    /// How it stands.
    pub status: RunStatus,
    /// Whether it rests until it is resumed.
    pub paused: bool,
    /// How fast an ingestion goes.
    pub pace: Pace,
    /// The pass, 1-based.
    pub attempt: u32,
    /// The eight rows of the tracker, in running order.
    pub rows: Vec<StageRow>,
    /// What each store found in this pass.
    pub stores: Vec<StoreRow>,
    /// Earlier passes.
    pub attempts: Vec<AttemptRow>,
    /// The answer so far.
    pub text: String,
    /// References so far.
    pub citations: Vec<Citation>,
    /// Checked sentences so far.
    pub claims: Vec<Claim>,
    /// Files of an ingestion, in order of appearance.
    pub documents: Vec<DocumentRow>,
    /// The finished answer, or what there was of one.
    pub answer: Option<Box<Answer>>,
    /// Final reports of an ingestion.
    pub reports: Vec<DocumentReport>,
    /// Why it failed.
    pub error: Option<AppError>,
    /// When the first event happened, milliseconds since the Unix epoch.
    pub started_at_ms: Option<i64>,
    /// When the latest event happened.
    pub updated_at_ms: Option<i64>,
    next_seq: u64,
}

impl Default for RunView {
    fn default() -> Self {
        Self {
            run: None,
            kind: None,
            status: RunStatus::Waiting,
            paused: false,
            pace: Pace::default(),
            attempt: 1,
            rows: StageId::ALL.into_iter().map(StageRow::new).collect(),
            stores: Vec::new(),
            attempts: Vec::new(),
            text: String::new(),
            citations: Vec::new(),
            claims: Vec::new(),
            documents: Vec::new(),
            answer: None,
            reports: Vec::new(),
            error: None,
            started_at_ms: None,
            updated_at_ms: None,
            next_seq: 0,
        }
    }
}

/// An event is missing before this one: ask for a snapshot and fold it from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The number that was expected.
    pub expected: u64,
    /// The number that came.
    pub got: u64,
}

impl RunView {
    /// Folds all events of a run.
    ///
    /// # Errors
    /// [`Gap`] when the list has one.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Result<Self, Gap> {
        let mut view = Self::default();
        for event in events {
            view.apply(event)?;
        }
        Ok(view)
    }

    /// Folds the next event. One that was folded before is ignored, so a snapshot may overlap with live events.
    ///
    /// # Errors
    /// [`Gap`] when an event before it is missing; the view is unchanged.
    pub fn apply(&mut self, event: &RunEvent) -> Result<(), Gap> {
        if event.seq < self.next_seq {
            return Ok(());
        }
        if event.seq > self.next_seq {
            return Err(Gap {
                expected: self.next_seq,
                got: event.seq,
            });
        }
        self.next_seq += 1;
        self.run.get_or_insert_with(|| event.run.clone());
        self.started_at_ms.get_or_insert(event.at_ms);
        self.updated_at_ms = Some(event.at_ms);
        self.attempt = event.attempt;
        self.fold(event.at_ms, &event.event);
        self.paused &= !event.event.is_terminal();
        Ok(())
    }

    /// True once the terminal event was folded.
    pub fn is_over(&self) -> bool {
        matches!(
            self.status,
            RunStatus::Finished | RunStatus::Failed | RunStatus::Cancelled
        )
    }

    /// The row of a stage.
    pub fn row(&self, stage: StageId) -> &StageRow {
        &self.rows[stage.index()]
    }

    fn fold(&mut self, at_ms: i64, event: &Event) {
        match event {
            Event::RunStarted { kind } => {
                self.kind = Some(kind.clone());
                self.status = RunStatus::Running;
            }
            Event::StageStarted { stage } => {
                self.rows[stage.index()] = StageRow {
                    status: RowStatus::Active,
                    ..StageRow::new(*stage)
                };
            }
            Event::StageProgressed {
                stage,
                done,
                total,
                unit,
            } => self.rows[stage.index()].progress = Some(progress(*done, *total, unit)),
            Event::StageFinished {
                stage,
                took_ms,
                detail,
            } => {
                let row = &mut self.rows[stage.index()];
                row.status = match row.status {
                    RowStatus::Degraded => RowStatus::Degraded,
                    _ => RowStatus::Done,
                };
                row.took_ms = Some(*took_ms);
                row.detail = Some(detail.clone());
            }
            Event::StageSkipped { stage, reason } => {
                let row = &mut self.rows[stage.index()];
                row.status = RowStatus::Skipped;
                row.note = Some(reason.clone());
            }
            Event::StageFailed {
                stage,
                error,
                degraded_to,
            } => {
                let row = &mut self.rows[stage.index()];
                row.status = if degraded_to.is_some() {
                    RowStatus::Degraded
                } else {
                    RowStatus::Failed
                };
                row.note = Some(match degraded_to {
                    Some(instead) => format!("{}: {instead}", error.message),
                    None => error.message.clone(),
                });
            }
            Event::PassagesFound {
                store,
                count,
                took_ms,
            } => self.stores.push(StoreRow {
                store: *store,
                count: *count,
                took_ms: *took_ms,
            }),
            Event::Retried {
                attempt,
                why,
                changes,
            } => self.begin_pass(*attempt, why, changes),
            Event::AnswerDelta { text } => self.text.push_str(text),
            Event::CitationAdded { citation } => self.citations.push(citation.clone()),
            Event::ClaimChecked { claim } => self.claims.push(claim.clone()),
            Event::DocumentStateChanged {
                path,
                document,
                state,
                reason,
            } => {
                let row = self.document_row(path);
                row.state = *state;
                row.reason.clone_from(reason);
                row.progress = None;
                if document.is_some() {
                    row.document.clone_from(document);
                }
            }
            Event::DocumentProgressed {
                path,
                done,
                total,
                unit,
            } => {
                let row = self.document_row(path);
                let before = row
                    .progress
                    .replace(progress(*done, *total, unit))
                    .filter(|before| before.unit == *unit)
                    .map_or(0, |before| before.done);
                if unit == "chunks" {
                    self.pace.note(at_ms, done.saturating_sub(before));
                }
            }
            Event::RunPaused => {
                self.paused = true;
                self.pace.begin_anew();
            }
            Event::RunResumed => {
                self.paused = false;
                self.pace.begin_anew();
            }
            Event::RunFinished { outcome } => self.finish(outcome),
            Event::RunFailed { error, partial } => {
                self.status = RunStatus::Failed;
                self.error = Some(error.clone());
                self.answer.clone_from(partial);
                self.settle_rows();
            }
            Event::RunCancelled { documents } => {
                self.status = RunStatus::Cancelled;
                self.reports.clone_from(documents);
                self.settle_rows();
            }
        }
    }

    fn begin_pass(&mut self, attempt: u32, why: &str, changes: &[String]) {
        self.attempts.push(AttemptRow {
            attempt,
            why: why.to_owned(),
            changes: changes.to_vec(),
        });
        for stage in &StageId::ALL[1..] {
            self.rows[stage.index()] = StageRow::new(*stage);
        }
        self.stores.clear();
        self.text.clear();
        self.citations.clear();
        self.claims.clear();
    }

    fn finish(&mut self, outcome: &RunOutcome) {
        self.status = RunStatus::Finished;
        match outcome {
            RunOutcome::Answered { answer } => {
                self.text.clone_from(&answer.text);
                self.citations.clone_from(&answer.citations);
                self.claims.clone_from(&answer.claims);
                self.answer = Some(answer.clone());
            }
            RunOutcome::Ingested { documents } => self.reports.clone_from(documents),
        }
    }

    /// A row that was active when the run ended did not end by itself.
    fn settle_rows(&mut self) {
        for row in &mut self.rows {
            if row.status == RowStatus::Active {
                row.status = RowStatus::Failed;
                row.note.get_or_insert_with(|| "stopped".to_owned());
            }
        }
    }

    fn document_row(&mut self, path: &str) -> &mut DocumentRow {
        let at = match self.documents.iter().rposition(|row| row.path == path) {
            Some(at) => at,
            None => {
                self.documents.push(DocumentRow {
                    path: path.to_owned(),
                    document: None,
                    state: DocumentState::Queued,
                    reason: None,
                    progress: None,
                });
                self.documents.len() - 1
            }
        };
        &mut self.documents[at]
    }
}

fn progress(done: u64, total: u64, unit: &str) -> Progress {
    Progress {
        done,
        total,
        unit: unit.to_owned(),
    }
}
