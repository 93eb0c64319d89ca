//! Folders that collections follow. Hints of the watcher and a look at the start lead to the same: the folder is looked
//! at as a whole and compared with what is known of it. What is new or touched is ingested as a run like any other, a
//! file that is certainly gone takes its document with it, and a folder that vanished takes nothing.

use super::{Engine, reports_of};
use crate::ports::{Clock, FolderWatcher, Followed, KnownFile, Presence};
use crate::watch::{SeenFile, compare, copies_of, is_unmounted};
use adrag_contract::{
    AppError, DocumentId, DocumentReport, DocumentState, ErrorCode, Event, WatchFolderRequest, WatchState,
    WatchedFolder,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// A folder is looked at once nothing was heard of it for this long.
const QUIET: Duration = Duration::from_secs(2);
/// It is looked at after this long, however much goes on there.
const LONGEST: Duration = Duration::from_secs(30);
/// Folders that are missing, or of which the system tells nothing, are looked at this often.
const PATROL: Duration = Duration::from_secs(60);

/// What is known of the followed folders in this session.
#[derive(Default)]
pub(super) struct Watching {
    standings: Mutex<HashMap<Followed, Standing>>,
    asked: Mutex<BTreeSet<String>>,
    /// Files whose job the person stopped: they are not offered again before the next start, unless they are touched.
    stopped: Mutex<HashMap<Followed, HashSet<SeenFile>>>,
    nudge: Notify,
    is_on: AtomicBool,
}

#[derive(Clone)]
struct Standing {
    state: WatchState,
    reason: Option<String>,
}

impl Engine {
    /// Follows a folder: its files become documents of the collection, now and whenever they change.
    ///
    /// # Errors
    /// When there is no such folder, the name of the collection is empty, or the catalogue cannot be written.
    pub async fn watch_folder(&self, request: &WatchFolderRequest) -> Result<(), AppError> {
        let folder = followed(request)?;
        match self.look_at(&folder.path).await? {
            Presence::Folder(_) => {}
            Presence::Unknown(error) => return Err(error),
            Presence::File(_) | Presence::Gone => {
                return Err(AppError::new(
                    ErrorCode::NotFound,
                    format!("there is no folder `{}`", folder.path),
                ));
            }
        }
        self.ports.watch_list.add(&folder).await?;
        self.watching.ask(folder.path);
        Ok(())
    }

    /// Follows a folder no more. Its documents stay.
    ///
    /// # Errors
    /// When it is not followed, or the catalogue cannot be written.
    pub async fn unwatch_folder(&self, request: &WatchFolderRequest) -> Result<(), AppError> {
        let folder = followed(request)?;
        if !self.ports.watch_list.remove(&folder).await? {
            return Err(AppError::new(
                ErrorCode::NotFound,
                format!("the folder `{}` is not followed", folder.path),
            ));
        }
        self.watching.standings().remove(&folder);
        self.watching.stopped().remove(&folder);
        self.watching.nudge.notify_one();
        Ok(())
    }

    /// The followed folders.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub async fn list_watched(&self) -> Result<Vec<WatchedFolder>, AppError> {
        let followed = self.ports.watch_list.followed().await?;
        let standings = self.watching.standings();
        Ok(followed
            .into_iter()
            .map(|(folder, files)| {
                let standing = standings.get(&folder);
                WatchedFolder {
                    state: standing.map_or(WatchState::Waiting, |standing| standing.state),
                    reason: standing.and_then(|standing| standing.reason.clone()),
                    path: folder.path,
                    collection: folder.collection,
                    files,
                }
            })
            .collect())
    }

    /// Looks at all followed folders and follows them until the engine is closed; a second call changes nothing.
    pub fn follow_folders(self: &Arc<Self>) {
        if !self.watching.is_on.swap(true, Ordering::SeqCst) {
            tokio::spawn(keep_watch(Arc::downgrade(self)));
        }
    }

    /// Looks at the folders that are due, or all, and makes `armed` those that the watcher hints at.
    async fn look_after(self: &Arc<Self>, due: Option<&BTreeSet<String>>, armed: &mut BTreeSet<String>) {
        let followed = match self.ports.watch_list.followed().await {
            Ok(followed) => followed,
            Err(error) => {
                tracing::error!(%error, "the followed folders are not known");
                return;
            }
        };
        if due.is_none() {
            self.watching.asked().clear();
        }
        let watcher = &self.ports.watcher;
        for path in std::mem::take(armed) {
            if followed.iter().any(|(folder, _)| folder.path == path) {
                armed.insert(path);
            } else {
                watcher.leave(&path).await;
            }
        }
        for (folder, _) in followed {
            if due.is_some_and(|due| !due.contains(&folder.path)) {
                continue;
            }
            // First the watcher, then the look: a change between the two is hinted at.
            let refused = match armed.contains(&folder.path) {
                true => None,
                false => watcher.follow(&folder.path).await.err(),
            };
            let looked = self.rescan(&folder).await;
            let is_there = !matches!(looked, Ok(Sight::Missing));
            if is_there && refused.is_none() {
                armed.insert(folder.path.clone());
            } else {
                watcher.leave(&folder.path).await;
                armed.remove(&folder.path);
            }
            let (state, reason) = match (looked, refused) {
                (Ok(Sight::Missing), _) => (WatchState::Missing, None),
                (Err(error), _) => (WatchState::Failed, Some(error.message)),
                (Ok(Sight::There), Some(error)) => (WatchState::Polled, Some(error.error.message)),
                (Ok(Sight::There), None) => (WatchState::Following, None),
            };
            self.watching
                .standings()
                .insert(folder, Standing { state, reason });
        }
    }

    /// Brings the documents of a folder up to date with its files.
    async fn rescan(self: &Arc<Self>, folder: &Followed) -> Result<Sight, AppError> {
        let disk = match self.look_at(&folder.path).await? {
            Presence::Folder(disk) => disk,
            Presence::Gone | Presence::File(_) => return Ok(Sight::Missing),
            Presence::Unknown(error) => return Err(error),
        };
        let (was, known) = self.ports.watch_list.known(folder).await?;
        let seen = self.seen_below(&folder.path).await?;
        if is_unmounted(was, disk, &known, &seen) {
            return Ok(Sight::Missing);
        }
        let difference = compare(&known, &seen);
        let gone = self.certainly_gone(difference.missing).await?;
        let mut offered = difference.offered;
        for copy in copies_of(&gone, &known, &seen) {
            if !offered.contains(&copy) {
                offered.push(copy);
            }
        }
        self.watching.leave_out_stopped(folder, &mut offered);
        let (settled, failed) = self.ingest_offered(folder, &offered).await?;
        // A copy that could not take the document over must not lose it: the next look removes what is gone.
        let gone = if settled.len() == offered.len() {
            gone
        } else {
            Vec::new()
        };
        self.remove_documents_of(folder, &gone).await?;
        let paths: Vec<String> = gone.into_iter().map(|file| file.path).collect();
        self.ports.watch_list.note(folder, disk, &settled, &paths).await?;
        match failed {
            Some(error) => Err(error),
            None => Ok(Sight::There),
        }
    }

    async fn look_at(&self, path: &str) -> Result<Presence, AppError> {
        let found = self.ports.parser.look(&[path.to_owned()]).await?;
        Ok(found.into_iter().next().unwrap_or(Presence::Gone))
    }

    async fn seen_below(&self, folder: &str) -> Result<Vec<SeenFile>, AppError> {
        let listed = self.ports.parser.list(folder).await?;
        let found = self.ports.parser.look(&listed).await?;
        Ok(listed
            .into_iter()
            .zip(found)
            .filter_map(|(path, found)| match found {
                Presence::File(stamp) => Some(SeenFile { path, stamp }),
                _ => None,
            })
            .collect())
    }

    /// Those of the missing files that are not merely out of sight, in a part of the folder that cannot be read.
    async fn certainly_gone(&self, missing: Vec<KnownFile>) -> Result<Vec<KnownFile>, AppError> {
        if missing.is_empty() {
            return Ok(missing);
        }
        let paths: Vec<String> = missing.iter().map(|file| file.path.clone()).collect();
        let found = self.ports.parser.look(&paths).await?;
        Ok(missing
            .into_iter()
            .zip(found)
            .filter(|(_, found)| *found == Presence::Gone)
            .map(|(file, _)| file)
            .collect())
    }

    /// Ingests files; those that came to an end, and why the run failed if it did.
    async fn ingest_offered(
        self: &Arc<Self>,
        folder: &Followed,
        offered: &[SeenFile],
    ) -> Result<(Vec<KnownFile>, Option<AppError>), AppError> {
        if offered.is_empty() {
            return Ok((Vec::new(), None));
        }
        let paths = offered.iter().map(|file| file.path.clone()).collect();
        let run = self.start(paths, folder.collection.clone());
        let last = self.wait(&run).await?;
        let reports: HashMap<&str, &DocumentReport> = reports_of(&last)
            .iter()
            .map(|report| (report.path.as_str(), report))
            .collect();
        let mut settled = Vec::new();
        let mut unsettled = Vec::new();
        for file in offered {
            match reports.get(file.path.as_str()) {
                Some(report) => settled.push(KnownFile {
                    path: file.path.clone(),
                    stamp: file.stamp,
                    document: report.id.clone(),
                }),
                None => unsettled.push(file.clone()),
            }
        }
        let failed = match last.event {
            Event::RunFailed { error, .. } => Some(error),
            Event::RunCancelled { .. } => {
                self.watching
                    .stopped()
                    .entry(folder.clone())
                    .or_default()
                    .extend(unsettled);
                None
            }
            _ => None,
        };
        Ok((settled, failed))
    }

    async fn remove_documents_of(&self, folder: &Followed, gone: &[KnownFile]) -> Result<(), AppError> {
        let mut documents: HashSet<DocumentId> = HashSet::new();
        for file in gone {
            let Some(id) = &file.document else { continue };
            let document = self.ports.catalog.document(id).await?;
            // One that stands at another path by now is the document of another file.
            if document.is_some_and(|document| {
                document.path == file.path
                    && document.collection == folder.collection
                    && document.state != DocumentState::Deleting
            }) {
                documents.insert(id.clone());
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        self.remove(documents.into_iter().collect()).await
    }
}

/// Whether a followed folder is there.
enum Sight {
    There,
    Missing,
}

fn followed(request: &WatchFolderRequest) -> Result<Followed, AppError> {
    let refuse = |why: &str| Err(AppError::new(ErrorCode::InvalidRequest, why.to_owned()));
    if request.collection.as_str().trim().is_empty() {
        return refuse("the name of the collection is empty");
    }
    if !Path::new(&request.path).is_absolute() {
        return refuse("the path of the folder is not absolute");
    }
    let trimmed = request.path.trim_end_matches(['/', '\\']);
    let path = if Path::new(trimmed).is_absolute() {
        trimmed
    } else {
        request.path.as_str()
    };
    Ok(Followed {
        collection: request.collection.clone(),
        path: path.to_owned(),
    })
}

/// Follows all folders until the engine is closed or gone.
async fn keep_watch(engine: Weak<Engine>) {
    let Some((ports, watching, closing)) = engine.upgrade().map(|engine| {
        (
            engine.ports.clone(),
            engine.watching.clone(),
            engine.closing.clone(),
        )
    }) else {
        return;
    };
    let mut armed = BTreeSet::new();
    let mut due = None;
    loop {
        {
            let Some(engine) = engine.upgrade() else { return };
            tokio::select! {
                biased;
                () = closing.cancelled() => return,
                () = engine.look_after(due.as_ref(), &mut armed) => {}
            }
        }
        due = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            next = watching.next_due(ports.watcher.as_ref(), ports.clock.as_ref()) => Some(next),
        };
    }
}

impl Watching {
    fn standings(&self) -> MutexGuard<'_, HashMap<Followed, Standing>> {
        self.standings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> MutexGuard<'_, HashMap<Followed, HashSet<SeenFile>>> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_out_stopped(&self, folder: &Followed, offered: &mut Vec<SeenFile>) {
        if let Some(stopped) = self.stopped().get(folder) {
            offered.retain(|file| !stopped.contains(file));
        }
    }

    /// Lets a folder be looked at soon.
    fn ask(&self, path: String) {
        self.asked().insert(path);
        self.nudge.notify_one();
    }

    /// Waits until folders are due, and says which.
    async fn next_due(&self, watcher: &dyn FolderWatcher, clock: &dyn Clock) -> BTreeSet<String> {
        let mut due = BTreeSet::new();
        tokio::select! {
            () = self.nudge.notified() => {}
            () = clock.sleep(PATROL) => due.extend(self.unattended()),
            path = watcher.changed() => {
                due.insert(path);
                self.until_quiet(watcher, clock, &mut due).await;
            }
        }
        due.append(&mut self.asked());
        due
    }

    /// A file that is being written hints again and again: it is let come to its end.
    async fn until_quiet(&self, watcher: &dyn FolderWatcher, clock: &dyn Clock, due: &mut BTreeSet<String>) {
        let mut longest = clock.sleep(LONGEST);
        loop {
            tokio::select! {
                biased;
                () = &mut longest => return,
                path = watcher.changed() => {
                    due.insert(path);
                }
                () = clock.sleep(QUIET) => return,
            }
        }
    }

    /// Folders of which no hint will come.
    fn unattended(&self) -> Vec<String> {
        self.standings()
            .iter()
            .filter(|(_, standing)| standing.state != WatchState::Following)
            .map(|(folder, _)| folder.path.clone())
            .collect()
    }
}
