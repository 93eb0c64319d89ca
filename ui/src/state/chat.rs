//! The conversation: questions, the runs that answer them, and the list of threads.

use super::composer::Recall;
use super::notices::Notices;
use super::preferences::Preferences;
use super::runs::{Live, Runs};
use super::threads::{lines, neighbour};
use crate::bridge;
use adrag_contract::{
    AppError, Ask, AskRequest, CancelRun, ClearRuns, CollectionName, DeleteThreads, EngineId, ExportFormat,
    ExportThread, ExportThreadRequest, ListThreads, RenameThread, RenameThreadRequest, RunId, RunKind,
    RunStatus, RunView, ThreadId, ThreadRuns, ThreadSummary,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A question and the run that answers it.
#[derive(Clone)]
pub struct Exchange {
    /// Its number, for the list and the panes.
    pub key: usize,
    /// The question; empty when only the run is known yet.
    pub question: String,
    /// The run, once there is one.
    pub live: ArcRwSignal<Option<(RunId, Live)>>,
    /// Every run that answered it, oldest first.
    pub versions: ArcRwSignal<Vec<RunId>>,
    /// Why there is none.
    pub refusal: ArcRwSignal<Option<AppError>>,
}

impl Exchange {
    /// Reads the run, if there is one; tracked.
    pub fn read<T>(&self, read: impl FnOnce(&RunView) -> T) -> Option<T> {
        self.live
            .get()
            .map(|(_, live)| live.with(|follow| read(&follow.view)))
    }

    /// The question as asked.
    pub fn asked(&self) -> String {
        if !self.question.is_empty() {
            return self.question.clone();
        }
        let named = self.read(|view| match &view.kind {
            Some(RunKind::Ask { question, .. }) => Some(question.clone()),
            _ => None,
        });
        named.flatten().unwrap_or_default()
    }

    /// True while an answer is on its way.
    pub fn is_busy(&self) -> bool {
        self.refusal.with(Option::is_none) && self.read(RunView::is_over) != Some(true)
    }
}

/// The conversation.
#[derive(Clone, Copy)]
pub struct Chat {
    /// Questions so far.
    pub exchanges: RwSignal<Vec<Exchange>>,
    /// The thread the questions belong to; none before the first.
    pub thread: RwSignal<Option<ThreadId>>,
    /// The threads that hold the words looked for, the latest first; nothing before they were loaded.
    pub past: RwSignal<Option<Vec<ThreadSummary>>>,
    /// The words looked for among the threads.
    pub find: RwSignal<String>,
    /// What is being written.
    pub draft: RwSignal<String>,
    /// The collection searched; all when absent.
    pub scope: RwSignal<Option<CollectionName>>,
    /// Whether the web may be searched, where the settings allow it.
    pub web: RwSignal<bool>,
    /// Questions of before.
    pub recall: RwSignal<Recall>,
    /// Whether marks of supported sentences are shown too.
    pub checking: RwSignal<bool>,
    next: StoredValue<usize>,
    runs: Runs,
    preferences: Preferences,
    notices: Notices,
}

const REMEMBERED: &str = "conversation";
const SILENCE_MS: u32 = 800;

impl Chat {
    /// An empty conversation.
    pub fn new(runs: Runs, preferences: Preferences, notices: Notices) -> Self {
        Self {
            exchanges: RwSignal::new(Vec::new()),
            thread: RwSignal::new(None),
            past: RwSignal::new(None),
            find: RwSignal::new(String::new()),
            draft: RwSignal::new(String::new()),
            scope: RwSignal::new(None),
            web: RwSignal::new(true),
            recall: RwSignal::new(Recall::default()),
            checking: RwSignal::new(false),
            next: StoredValue::new(0),
            runs,
            preferences,
            notices,
        }
    }

    /// True while an answer is on its way.
    pub fn is_busy(self) -> bool {
        self.exchanges
            .with(|all| all.last().is_some_and(Exchange::is_busy))
    }

    /// An exchange by its number.
    pub fn exchange(self, key: usize) -> Option<Exchange> {
        self.exchanges
            .with(|all| all.iter().find(|exchange| exchange.key == key).cloned())
    }

    /// Whether a thread is the one shown.
    pub fn holds(self, thread: &ThreadId) -> bool {
        self.thread.with(|shown| shown.as_ref() == Some(thread))
    }

    /// Sends what is written.
    pub fn send(self) {
        let question = self.draft.get_untracked().trim().to_owned();
        if question.is_empty() || untrack(|| self.is_busy()) {
            return;
        }
        self.draft.set(String::new());
        self.recall.update(|recall| recall.remember(&question));
        self.ask(question);
    }

    /// Asks the last question again, of another engine where one is named. The answer it had is kept beside the new one.
    pub fn regenerate(self, engine: Option<EngineId>) {
        if untrack(|| self.is_busy()) {
            return;
        }
        let Some(exchange) = self.exchanges.with_untracked(|all| all.last().cloned()) else {
            return;
        };
        let question = untrack(|| exchange.asked());
        exchange.refusal.set(None);
        let replaces = exchange.versions.with_untracked(|runs| runs.last().cloned());
        self.start(exchange, question, engine, replaces);
    }

    /// Asks a question in this conversation.
    pub fn ask(self, question: String) {
        let exchange = self.exchange_of(question.clone(), Vec::new());
        self.exchanges.update(|all| all.push(exchange.clone()));
        self.start(exchange, question, None, None);
    }

    fn start(self, exchange: Exchange, question: String, engine: Option<EngineId>, replaces: Option<RunId>) {
        let usual = self
            .preferences
            .settings
            .with_untracked(|settings| settings.engine);
        let request = AskRequest {
            question,
            engine: Some(engine.unwrap_or(usual)),
            collection: self.scope.get_untracked(),
            web: Some(self.web.get_untracked()),
            thread: self.thread.get_untracked(),
            replaces,
            ..AskRequest::default()
        };
        exchange.live.set(None);
        spawn_local(async move {
            match bridge::call::<Ask>(&request).await {
                Ok(run) => {
                    let live = self.runs.live(&run);
                    exchange.versions.update(|runs| runs.push(run.clone()));
                    exchange.live.set(Some((run.clone(), live.clone())));
                    if request.thread.is_none() {
                        self.thread.set(Some(ThreadId::new(run.as_str())));
                    }
                    self.remember();
                    self.refresh_threads();
                    // Events come by themselves; only a run of which nothing was heard is asked for.
                    bridge::sleep(SILENCE_MS).await;
                    if live.with_untracked(|follow| follow.view.status == RunStatus::Waiting) {
                        self.runs.attach(&run);
                    }
                }
                Err(error) => exchange.refusal.set(Some(error)),
            }
        });
    }

    /// Shows another of the answers a question got.
    pub fn turn_version(self, exchange: &Exchange, forward: bool) {
        let shown = exchange
            .live
            .with_untracked(|live| live.as_ref().map(|(run, _)| run.clone()));
        let next = shown.and_then(|shown| {
            exchange
                .versions
                .with_untracked(|runs| neighbour(runs, &shown, forward))
        });
        if let Some(run) = next {
            let live = self.runs.attach(&run);
            exchange.live.set(Some((run, live)));
        }
    }

    /// Stops the answer on its way.
    pub fn stop(self) {
        let last = self.exchanges.with_untracked(|all| all.last().cloned());
        let Some(exchange) = last.filter(|exchange| untrack(|| exchange.is_busy())) else {
            return;
        };
        if let Some((run, _)) = exchange.live.get_untracked() {
            spawn_local(async move {
                self.notices.report(bridge::call::<CancelRun>(&run).await);
            });
        }
    }

    /// Begins a new conversation.
    pub fn begin_anew(self) {
        self.exchanges.set(Vec::new());
        self.thread.set(None);
        self.remember();
        bridge::focus("composer");
    }

    /// Shows a thread; what is asked next belongs to it.
    pub fn open(self, thread: ThreadId) {
        spawn_local(async move {
            if let Some(runs) = self.notices.report(bridge::call::<ThreadRuns>(&thread).await) {
                self.show(thread, &runs);
            }
        });
    }

    fn show(self, thread: ThreadId, runs: &[adrag_contract::RunSummary]) {
        let exchanges = lines(runs)
            .into_iter()
            .map(|line| self.exchange_of(line.question, line.runs))
            .collect();
        self.exchanges.set(exchanges);
        self.thread.set(Some(thread));
        self.remember();
    }

    /// Reads the list of threads.
    pub fn refresh_threads(self) {
        let find = self.find.get_untracked();
        spawn_local(async move {
            let found = bridge::call::<ListThreads>(&find).await;
            // The person may have typed on meanwhile: then another reply is on its way.
            if self.find.with_untracked(|now| *now != find) {
                return;
            }
            if let Some(threads) = self.notices.report(found) {
                self.past.set(Some(threads));
            }
        });
    }

    /// Gives a thread another name; a blank one goes back to its first question.
    pub fn rename(self, thread: ThreadId, title: String) {
        spawn_local(async move {
            let request = RenameThreadRequest { thread, title };
            self.notices.report(bridge::call::<RenameThread>(&request).await);
            self.refresh_threads();
        });
    }

    /// Forgets a thread.
    pub fn delete(self, thread: ThreadId) {
        spawn_local(async move {
            let gone = self
                .notices
                .report(bridge::call::<DeleteThreads>(&vec![thread.clone()]).await);
            if gone.is_some() && self.thread.with_untracked(|shown| *shown == Some(thread)) {
                self.begin_anew();
            }
            self.refresh_threads();
        });
    }

    /// Writes a thread to a file the person chooses.
    pub fn export(self, thread: ThreadId, format: ExportFormat) {
        spawn_local(async move {
            let request = ExportThreadRequest { thread, format };
            let written = self.notices.report(bridge::call::<ExportThread>(&request).await);
            if let Some(Some(path)) = written {
                self.notices.tell(format!("Written to {path}"));
            }
        });
    }

    /// Forgets all threads.
    pub fn forget_runs(self) {
        spawn_local(async move {
            if self
                .notices
                .report(bridge::call::<ClearRuns>(&()).await)
                .is_some()
            {
                self.begin_anew();
                self.refresh_threads();
            }
        });
    }

    /// Takes up the thread the window was closed or reloaded with.
    pub fn restore(self) {
        self.refresh_threads();
        let Some(thread) = bridge::remembered(REMEMBERED).filter(|thread| !thread.is_empty()) else {
            return;
        };
        let thread = ThreadId::new(thread);
        spawn_local(async move {
            // A thread that is gone (another data folder, a cleared history) is no conversation and no fault.
            if let Ok(runs) = bridge::call::<ThreadRuns>(&thread).await
                && self.exchanges.with_untracked(Vec::is_empty)
            {
                self.show(thread, &runs);
            }
        });
    }

    fn exchange_of(self, question: String, versions: Vec<RunId>) -> Exchange {
        let key = self.next.get_value();
        self.next.set_value(key + 1);
        let live = versions.last().map(|run| (run.clone(), self.runs.attach(run)));
        Exchange {
            key,
            question,
            live: ArcRwSignal::new(live),
            versions: ArcRwSignal::new(versions),
            refusal: ArcRwSignal::new(None),
        }
    }

    fn remember(self) {
        let thread = self.thread.get_untracked();
        bridge::remember(REMEMBERED, thread.as_ref().map_or("", ThreadId::as_str));
    }
}
