//! The documents: their list, what is chosen of it, and the commands that change it.

use super::library::{Sort, StateFilter};
use super::notices::{Notices, Step};
use super::sources;
use crate::bridge;
use adrag_contract::{
    AddFiles, AddFilesRequest, AddSamples, AppError, CancelRun, ClearDocuments, CollectionInfo,
    CollectionName, DeleteDocuments, Deletion, DeletionId, DocumentId, DocumentInfo, ListCollections,
    ListDocuments, ListWatched, OpenDocument, PauseRun, PickFiles, PickFolder, ResumeRun, RetryDocument,
    RetryDocuments, RunId, UndoDelete, UnwatchFolder, WatchFolder, WatchFolderRequest, WatchedFolder,
};
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::collections::{BTreeSet, HashSet};

/// The documents.
#[derive(Clone, Copy)]
pub struct Shelf {
    /// All documents; nothing before they were loaded.
    pub documents: RwSignal<Option<Vec<DocumentInfo>>>,
    /// Why they could not be loaded.
    pub error: RwSignal<Option<AppError>>,
    /// The collections.
    pub collections: RwSignal<Vec<CollectionInfo>>,
    /// The followed folders.
    pub watched: RwSignal<Vec<WatchedFolder>>,
    /// The collection shown, and added to; all when absent.
    pub collection: RwSignal<Option<CollectionName>>,
    /// Words that title or path must hold.
    pub query: RwSignal<String>,
    /// States shown.
    pub filter: RwSignal<StateFilter>,
    /// Order of the list.
    pub sort: RwSignal<Sort>,
    /// Documents marked in the list.
    pub marked: RwSignal<BTreeSet<DocumentId>>,
    known: Memo<Option<HashSet<DocumentId>>>,
    is_refresh_due: StoredValue<bool>,
    notices: Notices,
}

impl Shelf {
    const REFRESH_AFTER_MS: u32 = 250;

    /// Nothing known yet.
    pub fn new(notices: Notices) -> Self {
        let documents = RwSignal::new(None::<Vec<DocumentInfo>>);
        Self {
            documents,
            known: Memo::new(move |_| documents.with(|documents| sources::known(documents.as_deref()))),
            error: RwSignal::new(None),
            collections: RwSignal::new(Vec::new()),
            watched: RwSignal::new(Vec::new()),
            collection: RwSignal::new(None),
            query: RwSignal::new(String::new()),
            filter: RwSignal::new(StateFilter::All),
            sort: RwSignal::new(Sort::default()),
            marked: RwSignal::new(BTreeSet::new()),
            is_refresh_due: StoredValue::new(false),
            notices,
        }
    }

    /// True once it is known that there is no document at all.
    pub fn is_empty(self) -> bool {
        self.documents
            .with(|documents| documents.as_ref().is_some_and(Vec::is_empty))
    }

    /// True once it is certain that a document is not there (any more); tracked.
    pub fn is_removed(self, document: &DocumentId) -> bool {
        self.known
            .with(|known| sources::is_removed(known.as_ref(), document))
    }

    /// Reads documents and collections.
    pub fn refresh(self) {
        spawn_local(async move {
            match bridge::call::<ListDocuments>(&None).await {
                Ok(documents) => {
                    self.marked.update(|marked| {
                        marked.retain(|id| documents.iter().any(|document| document.id == *id))
                    });
                    self.documents.set(Some(documents));
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
            if let Some(collections) = self.notices.report(bridge::call::<ListCollections>(&()).await) {
                self.collections.set(collections);
            }
        });
        self.refresh_watched();
    }

    /// Reads how it stands with the followed folders. No error is told: the list of before stays.
    pub fn refresh_watched(self) {
        spawn_local(async move {
            if let Ok(watched) = bridge::call::<ListWatched>(&()).await
                && self.watched.with_untracked(|known| *known != watched)
            {
                self.watched.set(watched);
            }
        });
    }

    /// Lets the person pick a folder, which the collection shown follows from now on.
    pub fn follow_folder(self) {
        let collection = self.collection.get_untracked().unwrap_or_default();
        spawn_local(async move {
            let Some(Some(path)) = self.notices.report(bridge::call::<PickFolder>(&()).await) else {
                return;
            };
            let request = WatchFolderRequest { path, collection };
            self.notices.report(bridge::call::<WatchFolder>(&request).await);
            self.refresh_watched();
        });
    }

    /// Follows a folder no more.
    pub fn leave_folder(self, folder: WatchedFolder) {
        spawn_local(async move {
            let told = format!(
                "`{}` is not followed any more; its documents stay",
                super::format::file_name(&folder.path)
            );
            let request = WatchFolderRequest {
                path: folder.path,
                collection: folder.collection,
            };
            if self
                .notices
                .report(bridge::call::<UnwatchFolder>(&request).await)
                .is_some()
            {
                self.notices.tell(told);
            }
            self.refresh_watched();
        });
    }

    /// Reads them in a moment, once for all the changes until then.
    pub fn refresh_soon(self) {
        if self.is_refresh_due.get_value() {
            return;
        }
        self.is_refresh_due.set_value(true);
        spawn_local(async move {
            bridge::sleep(Self::REFRESH_AFTER_MS).await;
            self.is_refresh_due.set_value(false);
            self.refresh();
        });
    }

    /// Lets the person pick files and adds them.
    pub fn pick(self) {
        spawn_local(async move {
            if let Some(paths) = self.notices.report(bridge::call::<PickFiles>(&()).await)
                && !paths.is_empty()
            {
                self.add(paths);
            }
        });
    }

    /// Adds files and folders to the collection shown.
    pub fn add(self, paths: Vec<String>) {
        let collection = self.collection.get_untracked().unwrap_or_default();
        spawn_local(async move {
            self.started(bridge::call::<AddFiles>(&AddFilesRequest { paths, collection }).await);
        });
    }

    /// Adds the documents that come with the program.
    pub fn add_samples(self) {
        spawn_local(async move { self.started(bridge::call::<AddSamples>(&()).await) });
    }

    /// Tries a document again.
    pub fn retry(self, document: DocumentId) {
        spawn_local(async move { self.started(bridge::call::<RetryDocument>(&document).await) });
    }

    /// Tries the failed documents of a job again.
    pub fn retry_all(self, documents: Vec<DocumentId>) {
        spawn_local(async move { self.started(bridge::call::<RetryDocuments>(&documents).await) });
    }

    fn started(self, result: Result<RunId, AppError>) {
        self.notices.report(result);
        self.refresh_soon();
    }

    /// Stops a job; what is complete stays.
    pub fn stop(self, job: RunId) {
        spawn_local(async move {
            self.notices.report(bridge::call::<CancelRun>(&job).await);
        });
    }

    /// Lets a job rest, or go on.
    pub fn pause(self, job: RunId, rests: bool) {
        spawn_local(async move {
            self.notices.report(if rests {
                bridge::call::<PauseRun>(&job).await
            } else {
                bridge::call::<ResumeRun>(&job).await
            });
        });
    }

    /// Removes documents; the notice offers to undo it.
    pub fn delete(self, documents: Vec<DocumentId>) {
        spawn_local(async move {
            self.deleted(bridge::call::<DeleteDocuments>(&documents).await);
        });
    }

    /// Removes all documents of the collection shown, or of all, in the same way.
    pub fn clear(self) {
        let collection = self.collection.get_untracked();
        spawn_local(async move {
            if self.deleted(bridge::call::<ClearDocuments>(&collection).await) {
                self.collection.set(None);
            }
        });
    }

    fn deleted(self, result: Result<Deletion, AppError>) -> bool {
        let deletion = self.notices.report(result);
        let is_done = deletion.is_some();
        if let Some(deletion) = deletion {
            let told = super::format::counted(deletion.documents, "document deleted", "documents deleted");
            let id = deletion.id;
            let step = Step {
                word: "Undo",
                action: Callback::new(move |()| self.undo(id.clone())),
            };
            self.notices.offer(told, step, deletion.undo_for_ms);
        }
        self.refresh();
        is_done
    }

    fn undo(self, deletion: DeletionId) {
        spawn_local(async move {
            if let Some(count) = self.notices.report(bridge::call::<UndoDelete>(&deletion).await) {
                self.notices.tell(super::format::counted(
                    count,
                    "document is back",
                    "documents are back",
                ));
            }
            self.refresh();
        });
    }

    /// Opens the original of a document.
    pub fn open(self, document: DocumentId) {
        spawn_local(async move {
            self.notices.report(bridge::call::<OpenDocument>(&document).await);
        });
    }
}
