//! What the library shows: documents filtered and sorted as the person chose, with what a running job says on top.

use adrag_contract::{DocumentId, DocumentInfo, DocumentRow, DocumentState, Progress, RunView};
use std::collections::HashMap;

/// Which documents are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateFilter {
    /// All.
    #[default]
    All,
    /// Searchable ones.
    Ready,
    /// Those under way.
    Working,
    /// Failed and empty ones.
    Trouble,
}

impl StateFilter {
    /// Every filter, in the order shown.
    pub const ALL: [Self; 4] = [Self::All, Self::Ready, Self::Working, Self::Trouble];

    /// Its name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Ready => "Ready",
            Self::Working => "In progress",
            Self::Trouble => "Needs attention",
        }
    }

    /// Whether a document in this state is shown.
    pub fn admits(self, state: DocumentState) -> bool {
        match self {
            Self::All => true,
            Self::Ready => state == DocumentState::Ready,
            Self::Working => !state.is_final(),
            Self::Trouble => matches!(state, DocumentState::Failed | DocumentState::Empty),
        }
    }
}

/// What the list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Title.
    Name,
    /// Kind of file.
    Kind,
    /// Size of the file.
    Size,
    /// Number of chunks.
    Chunks,
    /// When it was added.
    #[default]
    Added,
}

/// Order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub key: SortKey,
    /// Whether the largest, latest or last comes first.
    pub descending: bool,
}

impl Default for Sort {
    fn default() -> Self {
        Self {
            key: SortKey::Added,
            descending: true,
        }
    }
}

impl Sort {
    /// The order after a click on a column's heading.
    pub fn toggled(self, key: SortKey) -> Self {
        if self.key == key {
            return Self {
                key,
                descending: !self.descending,
            };
        }
        Self {
            key,
            descending: matches!(key, SortKey::Size | SortKey::Chunks | SortKey::Added),
        }
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The document as the catalogue knows it.
    pub document: DocumentInfo,
    /// Work done on it just now.
    pub progress: Option<Progress>,
}

/// The rows to show.
pub fn rows(
    documents: &[DocumentInfo],
    jobs: &[RunView],
    query: &str,
    filter: StateFilter,
    sort: Sort,
) -> Vec<Row> {
    let live = live_states(jobs);
    let query = query.trim().to_lowercase();
    let mut rows: Vec<Row> = documents
        .iter()
        .map(|document| overlay(document, &live))
        .filter(|row| filter.admits(row.document.state) && matches_query(&row.document, &query))
        .collect();
    rows.sort_by(|a, b| {
        let order = compare(&a.document, &b.document, sort.key);
        let order = if sort.descending { order.reverse() } else { order };
        order.then_with(|| a.document.id.cmp(&b.document.id))
    });
    rows
}

type Live<'a> = HashMap<&'a str, (DocumentState, Option<&'a str>, Option<&'a Progress>)>;

fn live_states(jobs: &[RunView]) -> Live<'_> {
    let mut live = HashMap::new();
    for row in jobs
        .iter()
        .filter(|job| !job.is_over())
        .flat_map(|job| &job.documents)
    {
        if let Some(id) = &row.document {
            live.insert(
                id.as_str(),
                (row.state, row.reason.as_deref(), row.progress.as_ref()),
            );
        }
    }
    live
}

fn overlay(document: &DocumentInfo, live: &Live<'_>) -> Row {
    let mut row = Row {
        document: document.clone(),
        progress: None,
    };
    if let Some((state, reason, progress)) = live.get(document.id.as_str()) {
        row.document.state = *state;
        row.document.reason = reason.map(str::to_owned);
        row.progress = progress.cloned();
    }
    row
}

fn matches_query(document: &DocumentInfo, query: &str) -> bool {
    query.is_empty()
        || document.title.to_lowercase().contains(query)
        || document.path.to_lowercase().contains(query)
        || document.kind.contains(query)
}

fn compare(a: &DocumentInfo, b: &DocumentInfo, key: SortKey) -> std::cmp::Ordering {
    match key {
        SortKey::Name => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
        SortKey::Kind => a.kind.cmp(&b.kind),
        SortKey::Size => a.bytes.cmp(&b.bytes),
        SortKey::Chunks => a.chunks.cmp(&b.chunks),
        SortKey::Added => a.updated_at_ms.cmp(&b.updated_at_ms),
    }
}

/// How far a job is, over all its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobProgress {
    /// Files in all.
    pub files: u64,
    /// Files that will not change any more.
    pub done: u64,
    /// Of these, files that failed or hold no text.
    pub trouble: u64,
    /// The file worked on, by path.
    pub current: Option<String>,
    /// Work done on it.
    pub progress: Option<Progress>,
    /// Whether it rests until it is resumed.
    pub is_paused: bool,
    /// Whether nothing of it was begun.
    pub is_waiting: bool,
    /// Chunks a second over the last seconds.
    pub per_second: Option<f64>,
    /// Estimate of the time left, milliseconds.
    pub left_ms: Option<u64>,
    /// Documents that failed and can be tried again.
    pub failed: Vec<DocumentId>,
}

/// Reads a job's progress off its view.
pub fn job_progress(view: &RunView) -> JobProgress {
    let files = match &view.kind {
        Some(adrag_contract::RunKind::Ingest { files, .. }) => *files,
        _ => 0,
    };
    let done = view.documents.iter().filter(|row| row.state.is_final()).count() as u64;
    let trouble = view
        .documents
        .iter()
        .filter(|row| matches!(row.state, DocumentState::Failed | DocumentState::Empty))
        .count() as u64;
    let current = view
        .documents
        .iter()
        .rev()
        .find(|row| !row.state.is_final() && row.state != DocumentState::Queued);
    let files = files.max(view.documents.len() as u64);
    let per_second = view.pace.per_second();
    JobProgress {
        files,
        done,
        trouble,
        current: current.map(|row| row.path.clone()),
        progress: current.and_then(|row| row.progress.clone()),
        is_paused: view.paused,
        is_waiting: view.documents.is_empty() && !view.is_over(),
        per_second,
        left_ms: left_ms(view, files, per_second),
        failed: view
            .documents
            .iter()
            .filter(|row| row.state == DocumentState::Failed)
            .filter_map(|row| row.document.clone())
            .collect(),
    }
}

/// The chunks left at the rate of now. Files that were not read yet are taken to be as long as those that were.
fn left_ms(view: &RunView, files: u64, per_second: Option<f64>) -> Option<u64> {
    let per_second = per_second.filter(|rate| *rate > 0.0)?;
    let read = |row: &&DocumentRow| {
        row.state.is_final() || row.state == DocumentState::Indexing || row.progress.is_some()
    };
    let rows_read = view.documents.iter().filter(read).count() as u64;
    let open: u64 = view
        .documents
        .iter()
        .filter_map(|row| row.progress.as_ref())
        .filter(|progress| progress.unit == "chunks")
        .map(|progress| progress.total.saturating_sub(progress.done))
        .sum();
    let a_file = (view.pace.chunks() + open) as f64 / rows_read.max(1) as f64;
    let left = open as f64 + a_file * files.saturating_sub(rows_read) as f64;
    Some((left / per_second * 1_000.0).round() as u64)
}

/// The part of a long list that is on the screen: first row, and one past the last.
pub fn window(rows: usize, row_height: f64, scrolled: f64, height: f64) -> (usize, usize) {
    const SPARE: usize = 8;
    let first = (scrolled / row_height).floor().max(0.0) as usize;
    let shown = (height / row_height).ceil().max(1.0) as usize;
    let start = first.saturating_sub(SPARE).min(rows);
    (start, first.saturating_add(shown + SPARE).min(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{Event, RunEvent, RunKind};

    fn document(id: &str, title: &str, state: DocumentState, bytes: u64) -> DocumentInfo {
        DocumentInfo {
            id: id.into(),
            collection: "default".into(),
            path: format!("/docs/{title}"),
            title: title.to_owned(),
            kind: "pdf".to_owned(),
            state,
            reason: None,
            bytes,
            chars: 0,
            pages: None,
            chunks: bytes / 10,
            updated_at_ms: bytes as i64,
        }
    }

    fn titles(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.document.title.as_str()).collect()
    }

    #[test]
    fn the_list_is_filtered_and_sorted() {
        let documents = [
            document("1", "beta", DocumentState::Ready, 30),
            document("2", "Alpha", DocumentState::Failed, 20),
            document("3", "gamma", DocumentState::Embedding, 10),
        ];
        let all = |filter, sort| rows(&documents, &[], "", filter, sort);
        let name = Sort {
            key: SortKey::Name,
            descending: false,
        };
        assert_eq!(titles(&all(StateFilter::All, name)), ["Alpha", "beta", "gamma"]);
        assert_eq!(
            titles(&all(StateFilter::All, Sort::default())),
            ["beta", "Alpha", "gamma"]
        );
        assert_eq!(titles(&all(StateFilter::Trouble, name)), ["Alpha"]);
        assert_eq!(titles(&all(StateFilter::Working, name)), ["gamma"]);
        assert_eq!(
            titles(&rows(&documents, &[], " BET ", StateFilter::All, name)),
            ["beta"]
        );
    }

    #[test]
    fn a_second_click_turns_the_order_around() {
        let sort = Sort::default().toggled(SortKey::Name);
        assert!(!sort.descending);
        assert!(sort.toggled(SortKey::Name).descending);
        assert!(sort.toggled(SortKey::Size).descending);
    }

    fn job(events: Vec<Event>) -> RunView {
        timed_job(events.into_iter().map(|event| (0, event)).collect())
    }

    fn timed_job(events: Vec<(i64, Event)>) -> RunView {
        let events: Vec<RunEvent> = (0..)
            .zip(events)
            .map(|(seq, (at_ms, event))| RunEvent {
                run: "r".into(),
                seq,
                at_ms,
                attempt: 1,
                event,
            })
            .collect();
        RunView::replay(&events).unwrap()
    }

    fn started(files: u64) -> Event {
        Event::RunStarted {
            kind: RunKind::Ingest {
                files,
                collection: "default".into(),
            },
        }
    }

    fn change(path: &str, state: DocumentState) -> Event {
        Event::DocumentStateChanged {
            path: path.to_owned(),
            document: Some(path.into()),
            state,
            reason: None,
        }
    }

    fn chunks(path: &str, done: u64, total: u64) -> Event {
        Event::DocumentProgressed {
            path: path.to_owned(),
            done,
            total,
            unit: "chunks".to_owned(),
        }
    }

    #[test]
    fn the_time_left_follows_from_what_was_measured() {
        let mut events = vec![
            (0, started(4)),
            (0, change("/a", DocumentState::Embedding)),
            (1_000, chunks("/a", 10, 20)),
            (2_000, chunks("/a", 20, 20)),
            (2_100, change("/a", DocumentState::Ready)),
            (2_200, change("/b", DocumentState::Embedding)),
            (3_000, chunks("/b", 10, 20)),
        ];
        let progress = job_progress(&timed_job(events.clone()));
        assert_eq!(progress.per_second, Some(10.0));
        // Ten chunks of `/b`, and two files of about twenty.
        assert_eq!(progress.left_ms, Some(5_000));
        events.push((3_100, Event::RunPaused));
        let progress = job_progress(&timed_job(events.clone()));
        assert!(progress.is_paused);
        assert_eq!((progress.per_second, progress.left_ms), (None, None));
        events.push((90_000, Event::RunResumed));
        events.push((91_000, chunks("/b", 14, 20)));
        events.push((92_000, chunks("/b", 18, 20)));
        let progress = job_progress(&timed_job(events));
        assert!(!progress.is_paused);
        assert_eq!(progress.per_second, Some(4.0), "the rest is not counted in");
    }

    #[test]
    fn a_job_knows_what_can_be_tried_again_and_that_it_waits_for_its_turn() {
        let waiting = job_progress(&job(vec![started(2)]));
        assert!(waiting.is_waiting && waiting.failed.is_empty());
        assert_eq!(waiting.left_ms, None);
        let progress = job_progress(&job(vec![
            started(3),
            change("/a", DocumentState::Failed),
            change("/b", DocumentState::Empty),
            change("/c", DocumentState::Ready),
            Event::RunFinished {
                outcome: adrag_contract::RunOutcome::Ingested {
                    documents: Vec::new(),
                },
            },
        ]));
        assert!(!progress.is_waiting);
        assert_eq!(progress.failed, [DocumentId::new("/a")]);
    }

    #[test]
    fn a_running_job_shows_through_and_counts_real_things() {
        let change = |path: &str, id: &str, state| Event::DocumentStateChanged {
            path: path.to_owned(),
            document: Some(id.into()),
            state,
            reason: None,
        };
        let view = job(vec![
            Event::RunStarted {
                kind: RunKind::Ingest {
                    files: 3,
                    collection: "default".into(),
                },
            },
            change("/docs/a", "1", DocumentState::Failed),
            change("/docs/b", "2", DocumentState::Embedding),
            Event::DocumentProgressed {
                path: "/docs/b".to_owned(),
                done: 3,
                total: 9,
                unit: "chunks".to_owned(),
            },
        ]);
        let progress = job_progress(&view);
        assert_eq!((progress.files, progress.done, progress.trouble), (3, 1, 1));
        assert_eq!(progress.current.as_deref(), Some("/docs/b"));
        assert_eq!(progress.progress.map(|progress| progress.done), Some(3));

        let documents = [document("2", "b", DocumentState::Queued, 1)];
        let shown = rows(&documents, &[view], "", StateFilter::All, Sort::default());
        assert_eq!(shown[0].document.state, DocumentState::Embedding);
        assert_eq!(shown[0].progress.as_ref().map(|progress| progress.total), Some(9));
    }

    #[test]
    fn only_the_rows_on_the_screen_are_drawn() {
        assert_eq!(window(0, 44.0, 0.0, 600.0), (0, 0));
        assert_eq!(window(5, 44.0, 0.0, 600.0), (0, 5));
        let (start, end) = window(50_000, 44.0, 440_000.0, 600.0);
        assert_eq!((start, end), (9_992, 10_022));
        assert_eq!(window(10, 44.0, 9_000.0, 600.0).1, 10);
    }
}
