//! A scripted stand-in for the shell, used in a plain browser only. It never looks at a real document.
//!
//! The query of the address chooses how it begins: `?empty` without documents, `?dark` and `?light` with a theme.

mod documents;
mod script;
mod threads;

use super::dom;
use adrag_contract::{
    AppError, AskRequest, CatalogueCount, ChunkCount, CollectionInfo, Deletion, DeletionId, DoctorReport,
    DocumentId, DocumentInfo, DocumentState, EngineId, EngineStatus, ErrorCode, Event, GraphCount, KeyName,
    KeyStatus, ModelStatus, PassageView, ReadPassageRequest, RunEvent, RunId, RunSummary, SaveKeyRequest,
    Settings, StoreCounts, Theme, ThreadId, VectorCount, WatchFolderRequest, WatchState, WatchedFolder,
};
use documents::{SAMPLES, sample};
use script::Beat;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

type Listener = Rc<dyn Fn(RunEvent)>;

#[derive(Default)]
struct Stage {
    documents: Vec<DocumentInfo>,
    deleted: BTreeMap<String, Vec<DocumentInfo>>,
    deletions: u64,
    watched: Vec<WatchedFolder>,
    logs: BTreeMap<String, Vec<RunEvent>>,
    summaries: Vec<RunSummary>,
    titles: BTreeMap<String, String>,
    cancelled: Vec<String>,
    paused: BTreeSet<String>,
    settings: Settings,
    key: Option<String>,
    listeners: Vec<Listener>,
}

/// The demo.
#[derive(Clone)]
pub struct Demo {
    stage: Rc<RefCell<Stage>>,
}

impl Demo {
    /// The demo, with its documents unless the address asks for none.
    pub fn new() -> Self {
        let query = dom::query();
        let mut stage = Stage::default();
        if !query.contains("empty") {
            let now = dom::now_ms();
            stage.documents = (0..)
                .zip(SAMPLES)
                .map(|(at, document)| document.info(final_state(document), now - at * 3_600_000))
                .collect();
        }
        stage.settings.theme = match () {
            () if query.contains("dark") => Theme::Dark,
            () if query.contains("light") => Theme::Light,
            () => Theme::System,
        };
        Self {
            stage: Rc::new(RefCell::new(stage)),
        }
    }

    /// Listens to the scripted runs.
    pub fn on_run_event(&self, listener: impl Fn(RunEvent) + 'static) {
        self.stage.borrow_mut().listeners.push(Rc::new(listener));
    }

    /// Answers a command as the shell would.
    pub async fn invoke(&self, name: &str, request: Value) -> Result<Value, AppError> {
        if name == "probe_engines" {
            dom::sleep(400).await;
        }
        match name {
            "ask" => {
                let request: AskRequest = read(request)?;
                let engine = request.engine.unwrap_or(self.stage.borrow().settings.engine);
                let thread = request
                    .thread
                    .clone()
                    .unwrap_or_else(|| ThreadId::new(self.next_run()));
                let beats = script::ask(&request.question, engine, &thread);
                write(&self.play(Some((request, thread)), beats))
            }
            "add_files" | "add_samples" | "retry_document" | "retry_documents" => {
                write(&self.play(None, script::ingest()))
            }
            "pick_files" => write(&SAMPLES.iter().map(|document| document.path).collect::<Vec<_>>()),
            "cancel_run" => {
                let run: RunId = read(request)?;
                self.stage.borrow_mut().cancelled.push(run.as_str().to_owned());
                Ok(Value::Null)
            }
            "pause_run" => self.pause(&read(request)?, true),
            "resume_run" => self.pause(&read(request)?, false),
            "run_snapshot" => {
                let run: RunId = read(request)?;
                let stage = self.stage.borrow();
                write(stage.logs.get(run.as_str()).ok_or_else(|| gone("this run"))?)
            }
            _ => self.answer(name, request),
        }
    }

    fn answer(&self, name: &str, request: Value) -> Result<Value, AppError> {
        let mut stage = self.stage.borrow_mut();
        match name {
            "list_runs" | "list_threads" | "thread_runs" | "rename_thread" | "delete_threads"
            | "export_thread" | "clear_runs" => threads::answer(&mut stage, name, request),
            "list_documents" => write(&stage.documents),
            "list_collections" => write(&stage.collections()),
            "delete_documents" => {
                let ids: Vec<DocumentId> = read(request)?;
                write(&stage.delete(|document| ids.contains(&document.id)))
            }
            "clear_documents" => write(&stage.delete(|_| true)),
            "undo_delete" => {
                let id: DeletionId = read(request)?;
                let deleted = stage.deleted.remove(id.as_str());
                let deleted = deleted.ok_or_else(|| gone("this deletion"))?;
                let count = deleted.len();
                stage.documents.extend(deleted);
                write(&count)
            }
            "pick_folder" => write("/documents/Documents"),
            "list_watched" => write(&stage.watched),
            "watch_folder" => {
                let request: WatchFolderRequest = read(request)?;
                stage.watched.retain(|known| known.path != request.path);
                let files = stage.documents.len() as u64;
                stage.watched.push(WatchedFolder {
                    path: request.path,
                    collection: request.collection,
                    state: WatchState::Following,
                    reason: None,
                    files,
                });
                Ok(Value::Null)
            }
            "unwatch_folder" => {
                let request: WatchFolderRequest = read(request)?;
                stage.watched.retain(|known| known.path != request.path);
                Ok(Value::Null)
            }
            "read_passage" => write(&stage.passage(&read(request)?)?),
            "get_settings" => write(&stage.settings),
            "save_settings" => {
                stage.settings = read(request)?;
                Ok(Value::Null)
            }
            "save_key" => {
                let request: SaveKeyRequest = read(request)?;
                stage.key = (!request.key.is_empty()).then_some(request.key);
                write(&stage.key_status())
            }
            "list_keys" => write(&[stage.key_status()]),
            "probe_engines" => write(&engines(stage.key.is_some())),
            "doctor" => write(&stage.doctor()),
            // There is no other program to open a file or a link in.
            "open_document" | "open_link" => Err(AppError::new(
                ErrorCode::InvalidRequest,
                "the demo opens nothing outside this page",
            )),
            other => Err(AppError::new(
                ErrorCode::NotFound,
                format!("the demo has no command `{other}`"),
            )),
        }
    }

    /// The id the next run will have.
    fn next_run(&self) -> String {
        format!("demo-{}", self.stage.borrow().logs.len() + 1)
    }

    fn play(&self, asked: Option<(AskRequest, ThreadId)>, beats: Vec<Beat>) -> RunId {
        let run = RunId::new(self.next_run());
        let mut stage = self.stage.borrow_mut();
        stage.logs.insert(run.as_str().to_owned(), Vec::new());
        if let Some((request, thread)) = asked {
            let summary = RunSummary {
                run: run.clone(),
                thread,
                replaces: request.replaces,
                question: request.question,
                started_at_ms: dom::now_ms(),
                finished: false,
            };
            stage.summaries.insert(0, summary);
        }
        let (demo, played) = (self.clone(), run.clone());
        leptos::task::spawn_local(async move {
            for (wait, event) in beats {
                dom::sleep(wait).await;
                while demo.is_paused(&played) && !demo.is_cancelled(&played) {
                    dom::sleep(50).await;
                }
                if demo.is_cancelled(&played) {
                    demo.emit(
                        &played,
                        Event::RunCancelled {
                            documents: Vec::new(),
                        },
                    );
                    return;
                }
                demo.emit(&played, event);
            }
        });
        run
    }

    fn pause(&self, run: &RunId, rests: bool) -> Result<Value, AppError> {
        let name = run.as_str().to_owned();
        let changed = {
            let mut stage = self.stage.borrow_mut();
            if rests {
                stage.paused.insert(name)
            } else {
                stage.paused.remove(&name)
            }
        };
        if changed {
            self.emit(
                run,
                if rests {
                    Event::RunPaused
                } else {
                    Event::RunResumed
                },
            );
        }
        Ok(Value::Null)
    }

    fn is_paused(&self, run: &RunId) -> bool {
        self.stage.borrow().paused.contains(run.as_str())
    }

    fn is_cancelled(&self, run: &RunId) -> bool {
        self.stage
            .borrow()
            .cancelled
            .iter()
            .any(|cancelled| cancelled == run.as_str())
    }

    fn emit(&self, run: &RunId, event: Event) {
        let (event, listeners) = {
            let mut stage = self.stage.borrow_mut();
            stage.follow(&event);
            if event.is_terminal() {
                stage
                    .summaries
                    .iter_mut()
                    .filter(|summary| summary.run == *run)
                    .for_each(|summary| summary.finished = true);
            }
            let log = stage.logs.entry(run.as_str().to_owned()).or_default();
            let event = RunEvent {
                run: run.clone(),
                seq: log.len() as u64,
                at_ms: dom::now_ms(),
                attempt: 1,
                event,
            };
            log.push(event.clone());
            (event, stage.listeners.clone())
        };
        for listener in listeners {
            listener(event.clone());
        }
    }
}

impl Stage {
    fn follow(&mut self, event: &Event) {
        let Event::DocumentStateChanged {
            document: Some(id),
            state,
            ..
        } = event
        else {
            return;
        };
        let Some(info) = sample(id.as_str()).map(|document| document.info(*state, dom::now_ms())) else {
            return;
        };
        match self.documents.iter_mut().find(|document| document.id == *id) {
            Some(present) => *present = info,
            None => self.documents.push(info),
        }
    }

    fn delete(&mut self, is_meant: impl Fn(&DocumentInfo) -> bool) -> Deletion {
        let (deleted, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.documents)
            .into_iter()
            .partition(is_meant);
        self.documents = kept;
        self.deletions += 1;
        let id = format!("deletion-{}", self.deletions);
        let documents = deleted.len() as u64;
        self.deleted.insert(id.clone(), deleted);
        Deletion {
            id: DeletionId::new(id),
            documents,
            undo_for_ms: 60_000,
        }
    }

    fn ready(&self) -> impl Iterator<Item = &DocumentInfo> {
        self.documents
            .iter()
            .filter(|document| document.state == DocumentState::Ready)
    }

    fn collections(&self) -> Vec<CollectionInfo> {
        let all = CollectionInfo {
            name: "default".into(),
            documents: self.documents.len() as u64,
            ready: self.ready().count() as u64,
            chunks: self.ready().map(|document| document.chunks).sum(),
        };
        if self.documents.is_empty() {
            Vec::new()
        } else {
            vec![all]
        }
    }

    fn passage(&self, request: &ReadPassageRequest) -> Result<PassageView, AppError> {
        let info = self
            .documents
            .iter()
            .find(|document| document.id == request.document)
            .ok_or_else(|| gone("this document"))?;
        let document = sample(info.id.as_str()).ok_or_else(|| gone("this document"))?;
        let at = |place: u64| {
            document.text.floor_char_boundary(
                usize::try_from(place)
                    .unwrap_or(usize::MAX)
                    .min(document.text.len()),
            )
        };
        let (begin, end) = (at(request.span.0), at(request.span.1));
        let (headings, pages) = document.place(request.span.0);
        Ok(PassageView {
            document: info.clone(),
            pages,
            headings,
            before: document.text[at(request.span.0.saturating_sub(request.around))..begin].to_owned(),
            passage: document.text[begin..end].to_owned(),
            after: document.text[end..at(request.span.1.saturating_add(request.around))].to_owned(),
        })
    }

    fn key_status(&self) -> KeyStatus {
        let last_four = self
            .key
            .as_ref()
            .filter(|key| key.len() >= 12)
            .map(|key| key.chars().rev().take(4).collect::<Vec<_>>());
        KeyStatus {
            name: KeyName::Openai,
            stored: self.key.is_some(),
            last_four: last_four.map(|last| last.into_iter().rev().collect()),
            session_only: true,
        }
    }

    fn doctor(&self) -> DoctorReport {
        let chunks = self.ready().map(|document| document.chunks).sum();
        let model = |role: &str, name: &str, usable| ModelStatus {
            role: role.to_owned(),
            name: name.to_owned(),
            path: format!("/documents/.cache/adrag/models/{name}"),
            usable,
        };
        DoctorReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_dir: "/documents/.local/share/adrag".to_owned(),
            models: vec![
                model("runtime", "onnxruntime", true),
                model("embedder", "all-MiniLM-L6-v2", true),
                model("judge", "adrag-judge", false),
            ],
            stores: StoreCounts {
                vector: VectorCount { points: chunks },
                keyword: ChunkCount { chunks },
                graph: GraphCount {
                    chunks,
                    entities: chunks * 4,
                    edges: chunks * 7,
                },
                catalogue: CatalogueCount {
                    documents: self.documents.len() as u64,
                    ready: self.ready().count() as u64,
                    chunks,
                },
            },
            engines: engines(self.key.is_some()),
            repaired: vec!["one document of an interrupted job was finished".to_owned()],
            problems: vec![
                AppError::new(
                    ErrorCode::ModelMissing,
                    "reranking is off: the model `adrag-judge/judge.onnx` is missing",
                )
                .with_hint("fetch it again: run `cargo xtask setup`"),
            ],
        }
    }
}

fn final_state(document: &documents::Sample) -> DocumentState {
    if document.text.is_empty() {
        DocumentState::Failed
    } else {
        DocumentState::Ready
    }
}

fn engines(has_key: bool) -> Vec<EngineStatus> {
    let status = |engine, available, error: Option<AppError>| EngineStatus {
        engine,
        available,
        model: None,
        models: Vec::new(),
        about: None,
        error,
        took_ms: 12,
    };
    let unauthorized =
        AppError::new(ErrorCode::Unauthorized, "no key is stored").with_hint("paste one below");
    vec![
        status(EngineId::Quotes, true, None),
        status(EngineId::Openai, has_key, (!has_key).then_some(unauthorized)),
        EngineStatus {
            models: vec!["llama3.2:3b".to_owned(), "qwen2.5:7b".to_owned()],
            model: Some("llama3.2:3b".to_owned()),
            about: Some("Ollama 0.9.2".to_owned()),
            ..status(EngineId::Ollama, true, None)
        },
        status(
            EngineId::Local,
            false,
            Some(
                AppError::new(ErrorCode::ModelMissing, "no model file is chosen")
                    .with_hint("choose a GGUF file below"),
            ),
        ),
    ]
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, AppError> {
    serde_json::from_value(value).map_err(|error| AppError::new(ErrorCode::InvalidRequest, error.to_string()))
}

fn write<T: serde::Serialize + ?Sized>(value: &T) -> Result<Value, AppError> {
    serde_json::to_value(value).map_err(|error| AppError::new(ErrorCode::Internal, error.to_string()))
}

fn gone(what: &str) -> AppError {
    AppError::new(ErrorCode::NotFound, format!("{what} does not exist any more"))
}
