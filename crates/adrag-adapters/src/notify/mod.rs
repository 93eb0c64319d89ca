//! The system's word on changes below folders: inotify, FSEvents or ReadDirectoryChangesW, through the crate `notify`.
//!
//! Its events are hints only: which folder, not what happened. Reading a file is no change. Start at
//! [`NotifyFolderWatcher`].

use adrag_contract::ErrorCode;
use adrag_core::ports::{FolderWatcher, PortError, PortResult};
use async_trait::async_trait;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Follows folders of the local disk.
pub struct NotifyFolderWatcher {
    hints: Arc<Hints>,
    /// Absent where the system has no such service at all.
    watcher: Result<Arc<Mutex<RecommendedWatcher>>, String>,
}

/// Followed folders and those hinted at that nobody was told of yet.
#[derive(Default)]
struct Hints {
    state: Mutex<State>,
    hinted: Notify,
}

#[derive(Default)]
struct State {
    /// Each with its real path: some systems tell of changes by that.
    followed: BTreeMap<PathBuf, PathBuf>,
    waiting: BTreeSet<PathBuf>,
}

impl Default for NotifyFolderWatcher {
    fn default() -> Self {
        let hints = Arc::new(Hints::default());
        let heard = hints.clone();
        let watcher = notify::recommended_watcher(move |event| heard.hear(event));
        Self {
            hints,
            watcher: watcher
                .map(|watcher| Arc::new(Mutex::new(watcher)))
                .map_err(|error| error.to_string()),
        }
    }
}

impl NotifyFolderWatcher {
    /// Registering a large folder walks through all of it.
    async fn with_watcher(
        &self,
        work: impl FnOnce(&mut RecommendedWatcher) -> notify::Result<()> + Send + 'static,
    ) -> Result<(), String> {
        let watcher = self.watcher.clone()?;
        let done = tokio::task::spawn_blocking(move || {
            work(&mut watcher.lock().unwrap_or_else(PoisonError::into_inner))
        });
        match done.await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[async_trait]
impl FolderWatcher for NotifyFolderWatcher {
    async fn follow(&self, folder: &str) -> PortResult<()> {
        let path = PathBuf::from(folder);
        // First the name, then the watch: the first event must find whom to tell.
        self.hints.state().followed.insert(path.clone(), path.clone());
        let (asked, hints) = (path.clone(), self.hints.clone());
        let followed = self
            .with_watcher(move |watcher| {
                if let Ok(real) = asked.canonicalize() {
                    hints.state().followed.insert(asked.clone(), real);
                }
                // What is left of an earlier watch on a folder that vanished must not stand for the new one.
                let _ = watcher.unwatch(&asked);
                watcher.watch(&asked, RecursiveMode::Recursive)
            })
            .await;
        followed.map_err(|why| {
            self.hints.state().followed.remove(&path);
            PortError::permanent(
                ErrorCode::Disk,
                format!("the system does not tell of changes in `{folder}`: {why}"),
            )
        })
    }

    async fn leave(&self, folder: &str) {
        let path = PathBuf::from(folder);
        {
            let mut state = self.hints.state();
            state.followed.remove(&path);
            state.waiting.remove(&path);
        }
        // A folder that is gone, or was never followed, is not followed now: that is what was asked for.
        let _ = self.with_watcher(move |watcher| watcher.unwatch(&path)).await;
    }

    async fn changed(&self) -> String {
        loop {
            let next = self.hints.state().waiting.pop_first();
            if let Some(folder) = next {
                return folder.to_string_lossy().into_owned();
            }
            self.hints.hinted.notified().await;
        }
    }
}

impl Hints {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called on the thread of the watcher.
    fn hear(&self, event: notify::Result<Event>) {
        let mut state = self.state();
        match event {
            Ok(event) if event.need_rescan() => state.hint_at_all(),
            Ok(event) if is_change(event.kind) => {
                for path in &event.paths {
                    let above = state.above(path);
                    state.waiting.extend(above);
                }
            }
            Ok(_) => {}
            Err(error) => {
                // Something was missed: whatever is followed is looked at.
                tracing::warn!(%error, "the system's word on changes is incomplete");
                state.hint_at_all();
            }
        }
        if !state.waiting.is_empty() {
            self.hinted.notify_one();
        }
    }
}

impl State {
    fn above(&self, path: &Path) -> Vec<PathBuf> {
        self.followed
            .iter()
            .filter(|(folder, real)| path.starts_with(folder) || path.starts_with(real))
            .map(|(folder, _)| folder.clone())
            .collect()
    }

    fn hint_at_all(&mut self) {
        self.waiting.extend(self.followed.keys().cloned());
    }
}

/// Our own reading must not be heard as a change, else each look would lead to the next.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(_))
}
