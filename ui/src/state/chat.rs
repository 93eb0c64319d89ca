//! The conversation: questions, the runs that answer them, and the list of past runs.

use super::composer::{self, Recall};
use super::notices::Notices;
use super::preferences::Preferences;
use super::runs::{Live, Runs};
use crate::bridge;
use adrag_contract::{
    AppError, Ask, AskRequest, CancelRun, ClearRuns, CollectionName, ListRuns, RunId, RunKind, RunStatus,
    RunSummary, RunView,
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

    fn answer(&self) -> Option<String> {
        self.read(|view| (view.status == RunStatus::Finished).then(|| view.text.clone()))
            .flatten()
    }
}

/// The conversation.
#[derive(Clone, Copy)]
pub struct Chat {
    /// Questions so far.
    pub exchanges: RwSignal<Vec<Exchange>>,
    /// Past runs, newest first; nothing before they were loaded.
    pub past: RwSignal<Option<Vec<RunSummary>>>,
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
            past: RwSignal::new(None),
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

    /// The exchange that carries a run.
    pub fn holds(self, run: &RunId) -> bool {
        self.exchanges.with(|all| {
            all.iter().any(|exchange| {
                exchange
                    .live
                    .with(|live| live.as_ref().is_some_and(|(id, _)| id == run))
            })
        })
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

    /// Asks the last question again.
    pub fn regenerate(self) {
        if untrack(|| self.is_busy()) {
            return;
        }
        let last = self.exchanges.try_update(Vec::pop).flatten();
        if let Some(exchange) = last {
            let question = untrack(|| exchange.asked());
            self.ask(question);
        }
    }

    /// Asks a question in this conversation.
    pub fn ask(self, question: String) {
        let request = AskRequest {
            question: question.clone(),
            history: untrack(|| {
                composer::history(
                    self.exchanges
                        .get()
                        .iter()
                        .map(|exchange| (exchange.asked(), exchange.answer())),
                )
            }),
            engine: Some(
                self.preferences
                    .settings
                    .with_untracked(|settings| settings.engine),
            ),
            collection: self.scope.get_untracked(),
            web: Some(self.web.get_untracked()),
            ..AskRequest::default()
        };
        let exchange = self.exchange_of(question, None);
        self.exchanges.update(|all| all.push(exchange.clone()));
        spawn_local(async move {
            match bridge::call::<Ask>(&request).await {
                Ok(run) => {
                    let live = self.runs.live(&run);
                    exchange.live.set(Some((run.clone(), live.clone())));
                    self.remember();
                    self.refresh_runs();
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
        self.remember();
        bridge::focus("composer");
    }

    /// Shows a run of the past; what is asked next follows it.
    pub fn open(self, summary: &RunSummary) {
        let live = self.runs.attach(&summary.run);
        let exchange = self.exchange_of(summary.question.clone(), Some((summary.run.clone(), live)));
        self.exchanges.set(vec![exchange]);
        self.remember();
    }

    /// Reads the list of past runs.
    pub fn refresh_runs(self) {
        spawn_local(async move {
            if let Some(runs) = self.notices.report(bridge::call::<ListRuns>(&()).await) {
                self.past.set(Some(runs));
            }
        });
    }

    /// Forgets all past runs.
    pub fn forget_runs(self) {
        spawn_local(async move {
            if self
                .notices
                .report(bridge::call::<ClearRuns>(&()).await)
                .is_some()
            {
                self.begin_anew();
                self.refresh_runs();
            }
        });
    }

    /// Takes up the conversation the window was closed or reloaded with.
    pub fn restore(self) {
        spawn_local(async move {
            let Some(known) = self.notices.report(bridge::call::<ListRuns>(&()).await) else {
                return;
            };
            let ids: Vec<RunId> = bridge::remembered(REMEMBERED)
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            // Runs that are gone (another data folder, a cleared history) are no conversation.
            let found: Vec<Exchange> = ids
                .iter()
                .filter_map(|id| known.iter().find(|summary| summary.run == *id))
                .map(|summary| {
                    self.exchange_of(
                        summary.question.clone(),
                        Some((summary.run.clone(), self.runs.attach(&summary.run))),
                    )
                })
                .collect();
            if self.exchanges.with_untracked(Vec::is_empty) && !found.is_empty() {
                self.exchanges.set(found);
            }
            self.past.set(Some(known));
        });
    }

    fn exchange_of(self, question: String, live: Option<(RunId, Live)>) -> Exchange {
        let key = self.next.get_value();
        self.next.set_value(key + 1);
        Exchange {
            key,
            question,
            live: ArcRwSignal::new(live),
            refusal: ArcRwSignal::new(None),
        }
    }

    fn remember(self) {
        let ids: Vec<RunId> = self.exchanges.with_untracked(|all| {
            all.iter()
                .filter_map(|exchange| {
                    exchange
                        .live
                        .with_untracked(|live| live.as_ref().map(|(run, _)| run.clone()))
                })
                .collect()
        });
        if let Ok(text) = serde_json::to_string(&ids) {
            bridge::remember(REMEMBERED, &text);
        }
    }
}
