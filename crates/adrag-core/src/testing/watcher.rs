//! A watcher that hints when told to, and the promises every [`FolderWatcher`] keeps.

use crate::ports::{FolderWatcher, PortError, PortResult};
use adrag_contract::ErrorCode;
use async_trait::async_trait;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;

/// A [`FolderWatcher`] over no disk at all.
#[derive(Default)]
pub struct FakeFolderWatcher {
    state: Mutex<State>,
    hinted: Notify,
}

#[derive(Default)]
struct State {
    followed: BTreeSet<String>,
    refused: BTreeSet<String>,
    hints: VecDeque<String>,
}

impl FakeFolderWatcher {
    /// Something changed at a path: every followed folder above it is hinted at.
    pub fn touch(&self, path: &str) {
        let mut state = self.state.lock().unwrap();
        let above: Vec<String> = state
            .followed
            .iter()
            .filter(|folder| path == folder.as_str() || path.starts_with(&format!("{folder}/")))
            .cloned()
            .collect();
        state.hints.extend(above);
        self.hinted.notify_one();
    }

    /// A folder cannot be followed from now on.
    pub fn refuse(&self, folder: &str) {
        self.state.lock().unwrap().refused.insert(folder.to_owned());
    }

    /// The folders followed.
    pub fn followed(&self) -> Vec<String> {
        self.state.lock().unwrap().followed.iter().cloned().collect()
    }
}

#[async_trait]
impl FolderWatcher for FakeFolderWatcher {
    async fn follow(&self, folder: &str) -> PortResult<()> {
        let mut state = self.state.lock().unwrap();
        if state.refused.contains(folder) {
            return Err(PortError::permanent(
                ErrorCode::Disk,
                "the system follows no more folders",
            ));
        }
        state.followed.insert(folder.to_owned());
        Ok(())
    }

    async fn leave(&self, folder: &str) {
        self.state.lock().unwrap().followed.remove(folder);
    }

    async fn changed(&self) -> String {
        loop {
            if let Some(hint) = self.state.lock().unwrap().hints.pop_front() {
                return hint;
            }
            self.hinted.notified().await;
        }
    }
}

/// Two folders for the suite, and a way to write a file.
pub struct WatcherFixtures<'a> {
    /// A folder.
    pub one: String,
    /// Another, not below the first.
    pub other: String,
    /// A path where nothing is.
    pub missing: String,
    /// Writes a new file at a path below one of them, in a folder of its own that is made for it.
    pub write: &'a (dyn Fn(&str) + Sync),
}

/// Panics on the first broken promise.
pub async fn conformance(watcher: &dyn FolderWatcher, fixtures: &WatcherFixtures<'_>) {
    // Hints come when the system gives them; the limit only keeps a broken watcher from hanging the test.
    let next = || async {
        tokio::time::timeout(Duration::from_secs(30), watcher.changed())
            .await
            .expect("a change is hinted at")
    };
    watcher.leave(&fixtures.one).await;
    watcher.follow(&fixtures.one).await.unwrap();
    (fixtures.write)(&format!("{}/first.txt", fixtures.one));
    assert_eq!(next().await, fixtures.one, "a new file is hinted at");
    watcher.follow(&fixtures.one).await.unwrap();
    (fixtures.write)(&format!("{}/deep/below/second.txt", fixtures.one));
    assert_eq!(
        next().await,
        fixtures.one,
        "one deep below as well, by the folder followed"
    );

    watcher.leave(&fixtures.one).await;
    watcher.follow(&fixtures.other).await.unwrap();
    (fixtures.write)(&format!("{}/unheard.txt", fixtures.one));
    (fixtures.write)(&format!("{}/heard.txt", fixtures.other));
    // What was hinted at before leaving may still come; then the other folder does.
    let mut hint = next().await;
    while hint == fixtures.one {
        hint = next().await;
    }
    assert_eq!(hint, fixtures.other);
    watcher.leave(&fixtures.other).await;
    watcher.leave(&fixtures.missing).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_keeps_the_promises_of_the_port() {
        let watcher = FakeFolderWatcher::default();
        let fixtures = WatcherFixtures {
            one: "/one".to_owned(),
            other: "/other".to_owned(),
            missing: "/missing".to_owned(),
            write: &|path| watcher.touch(path),
        };
        conformance(&watcher, &fixtures).await;
    }
}
