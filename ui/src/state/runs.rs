//! The runs that are followed, whoever started them.

use super::follow::{Follow, Step};
use super::notices::Notices;
use crate::bridge;
use adrag_contract::{RunEvent, RunId, RunKind, RunSnapshot, RunView};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::HashMap;

/// A followed run; cheap to clone.
pub type Live = ArcRwSignal<Follow>;

/// All followed runs.
#[derive(Clone, Copy)]
pub struct Runs {
    live: StoredValue<HashMap<RunId, Live>>,
    /// Ingestions seen by this window, latest last.
    pub jobs: RwSignal<Vec<(RunId, Live)>>,
    notices: Notices,
}

impl Runs {
    /// No run yet.
    pub fn new(notices: Notices) -> Self {
        Self {
            live: StoredValue::new(HashMap::new()),
            jobs: RwSignal::new(Vec::new()),
            notices,
        }
    }

    /// A run by its id; an empty one when nothing is known of it yet.
    pub fn live(self, run: &RunId) -> Live {
        if let Some(live) = self.live.with_value(|all| all.get(run).cloned()) {
            return live;
        }
        let live = Live::new(Follow::default());
        self.live.update_value(|all| {
            all.insert(run.clone(), live.clone());
        });
        live
    }

    /// Takes an event of any run.
    pub fn receive(self, event: RunEvent) {
        let run = event.run.clone();
        let live = self.live(&run);
        let step = live
            .try_update(|follow| follow.receive(event))
            .unwrap_or(Step::Folded);
        self.note_job(&run, &live);
        if step == Step::Fetch {
            self.fetch(run, live);
        }
    }

    /// Brings a run up to date from the engine's log: one of the past, or one under way after a reload.
    pub fn attach(self, run: &RunId) -> Live {
        let live = self.live(run);
        let may_fetch = live
            .try_update_untracked(|follow| follow.begin_fetch())
            .unwrap_or(false);
        if may_fetch {
            self.fetch(run.clone(), live.clone());
        }
        live
    }

    fn fetch(self, run: RunId, live: Live) {
        spawn_local(async move {
            loop {
                match bridge::call::<RunSnapshot>(&run).await {
                    Ok(snapshot) => {
                        let step = live
                            .try_update(|follow| follow.restore(&snapshot))
                            .unwrap_or(Step::Folded);
                        self.note_job(&run, &live);
                        if step != Step::Fetch {
                            return;
                        }
                        // The log is written behind the events; give it a moment.
                        bridge::sleep(150).await;
                    }
                    Err(error) => {
                        live.update(Follow::give_up);
                        self.notices.fail(&error);
                        return;
                    }
                }
            }
        });
    }

    fn note_job(self, run: &RunId, live: &Live) {
        let is_job = live.with_untracked(|follow| matches!(follow.view.kind, Some(RunKind::Ingest { .. })));
        if is_job
            && !self
                .jobs
                .with_untracked(|jobs| jobs.iter().any(|(known, _)| known == run))
        {
            self.jobs.update(|jobs| jobs.push((run.clone(), live.clone())));
        }
    }

    /// Ingestions under way, as they stand.
    pub fn running_jobs(self) -> Vec<(RunId, RunView)> {
        self.jobs.with(|jobs| {
            jobs.iter()
                .filter_map(|(run, live)| {
                    let view = live.with(|follow| (!follow.view.is_over()).then(|| follow.view.clone()));
                    Some((run.clone(), view?))
                })
                .collect()
        })
    }
}
