//! Every command the window may give, declared once with its request and its reply.
//!
//! [`for_each_command!`] hands the list to a macro of the caller: the shell makes its handlers from it, so a command
//! without a handler does not compile, and the screen calls through the [`Command`] markers.

use crate::{CollectionName, DeletionId, DocumentId, EngineId, KeyName, RunId, ThreadId, Turn};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A command of the window.
pub trait Command {
    /// Name on the wire.
    const NAME: &'static str;
    /// What is sent.
    type Request: Serialize + DeserializeOwned;
    /// What comes back.
    type Reply: Serialize + DeserializeOwned;
}

/// Calls `$callback!` with the whole list: `name: Marker(Request) -> Reply;` each.
#[macro_export]
macro_rules! for_each_command {
    ($callback:ident) => {
        $callback! {
            /// Starts answering a question; its events follow.
            ask: Ask($crate::AskRequest) -> $crate::RunId;
            /// Stops a run and all its work.
            cancel_run: CancelRun($crate::RunId) -> ();
            /// Holds an ingestion up after the small piece of work under way.
            pause_run: PauseRun($crate::RunId) -> ();
            /// Lets a paused ingestion go on.
            resume_run: ResumeRun($crate::RunId) -> ();
            /// The events of a run so far, to attach to it again.
            run_snapshot: RunSnapshot($crate::RunId) -> Vec<$crate::RunEvent>;
            /// The latest runs, newest first.
            list_runs: ListRuns(()) -> Vec<$crate::RunSummary>;
            /// The threads whose names, questions or answers hold these words, the latest first; all for none.
            list_threads: ListThreads(String) -> Vec<$crate::ThreadSummary>;
            /// The runs of a thread, oldest first.
            thread_runs: ThreadRuns($crate::ThreadId) -> Vec<$crate::RunSummary>;
            /// Gives a thread another name.
            rename_thread: RenameThread($crate::RenameThreadRequest) -> ();
            /// Forgets threads with all their runs.
            delete_threads: DeleteThreads(Vec<$crate::ThreadId>) -> ();
            /// Asks where to and writes a thread there; the path, or none when the person thought better of it.
            export_thread: ExportThread($crate::ExportThreadRequest) -> Option<String>;
            /// Forgets the runs of the past.
            clear_runs: ClearRuns(()) -> ();
            /// Opens the system's file picker; the chosen files, or none.
            pick_files: PickFiles(()) -> Vec<String>;
            /// Ingests files and folders.
            add_files: AddFiles($crate::AddFilesRequest) -> $crate::RunId;
            /// Adds the sample documents that come with the program.
            add_samples: AddSamples(()) -> $crate::RunId;
            /// Tries a failed document again.
            retry_document: RetryDocument($crate::DocumentId) -> $crate::RunId;
            /// Tries several failed documents again; those that are gone are passed over.
            retry_documents: RetryDocuments(Vec<$crate::DocumentId>) -> $crate::RunId;
            /// The documents of a collection, or all.
            list_documents: ListDocuments(Option<$crate::CollectionName>) -> Vec<$crate::DocumentInfo>;
            /// The collections.
            list_collections: ListCollections(()) -> Vec<$crate::CollectionInfo>;
            /// Removes documents: no search sees them from now on, and for a while it can be undone.
            delete_documents: DeleteDocuments(Vec<$crate::DocumentId>) -> $crate::Deletion;
            /// Removes every document of a collection, or of all, in the same way.
            clear_documents: ClearDocuments(Option<$crate::CollectionName>) -> $crate::Deletion;
            /// Brings the documents of a deletion back as they were; how many came back.
            undo_delete: UndoDelete($crate::DeletionId) -> u64;
            /// Opens the system's folder picker; the chosen folder, or none.
            pick_folder: PickFolder(()) -> Option<String>;
            /// Lets a collection follow a folder: its files are added now and whenever they change.
            watch_folder: WatchFolder($crate::WatchFolderRequest) -> ();
            /// Follows a folder no more; its documents stay.
            unwatch_folder: UnwatchFolder($crate::WatchFolderRequest) -> ();
            /// The followed folders.
            list_watched: ListWatched(()) -> Vec<$crate::WatchedFolder>;
            /// A passage in its surrounding text.
            read_passage: ReadPassage($crate::ReadPassageRequest) -> $crate::PassageView;
            /// Opens the original file in the system's program for it.
            open_document: OpenDocument($crate::DocumentId) -> ();
            /// Opens a web link of an answer in the browser, after the person confirmed it.
            open_link: OpenLink(String) -> ();
            /// The settings.
            get_settings: GetSettings(()) -> $crate::Settings;
            /// Replaces the settings.
            save_settings: SaveSettings($crate::Settings) -> ();
            /// Stores a key in the keychain, or removes it when empty. Write-only.
            save_key: SaveKey($crate::SaveKeyRequest) -> $crate::KeyStatus;
            /// What may be known of the keys.
            list_keys: ListKeys(()) -> Vec<$crate::KeyStatus>;
            /// Asks every engine whether it could answer.
            probe_engines: ProbeEngines(()) -> Vec<$crate::EngineStatus>;
            /// What is there, what is wrong, what to do.
            doctor: Doctor(()) -> $crate::DoctorReport;
        }
    };
}

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident: $marker:ident($request:ty) -> $reply:ty;)*) => {
        $(
            $(#[$doc])*
            pub struct $marker;

            impl Command for $marker {
                const NAME: &'static str = stringify!($name);
                type Request = $request;
                type Reply = $reply;
            }
        )*

        /// The names of all commands.
        pub const COMMANDS: &[&str] = &[$(stringify!($name)),*];
    };
}
for_each_command!(declare);

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// The turns before it, oldest first.
    pub history: Vec<Turn>,
    /// The engine; the one of the settings when absent.
    pub engine: Option<EngineId>,
    /// The model; the one of the settings when absent.
    pub model: Option<String>,
    /// The base URL; the one of the settings when absent.
    pub base_url: Option<String>,
    /// The collection; all when absent.
    pub collection: Option<CollectionName>,
    /// Whether the web may be searched for this question; as the settings say when absent. It cannot switch on what the
    /// settings switch off.
    pub web: Option<bool>,
    /// The thread it is asked in: what was said there goes along instead of `history`. A new thread when absent.
    pub thread: Option<ThreadId>,
    /// The run of that thread whose answer is to be given anew.
    pub replaces: Option<RunId>,
}

/// Files to ingest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddFilesRequest {
    /// Files and folders.
    pub paths: Vec<String>,
    /// Where they go.
    pub collection: CollectionName,
}

/// Documents that were deleted and can be brought back for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    /// What to undo.
    pub id: DeletionId,
    /// How many documents were deleted.
    pub documents: u64,
    /// For how long it can be undone, milliseconds.
    pub undo_for_ms: u64,
}

/// A passage to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPassageRequest {
    /// The document.
    pub document: DocumentId,
    /// Byte offsets into its extracted text, end exclusive.
    pub span: (u64, u64),
    /// Bytes of surrounding text wanted on each side.
    pub around: u64,
}

/// A key to store. Its `Debug` form hides the key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaveKeyRequest {
    /// Which key.
    pub name: KeyName,
    /// The key; empty removes it.
    pub key: String,
}

impl std::fmt::Debug for SaveKeyRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaveKeyRequest")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
