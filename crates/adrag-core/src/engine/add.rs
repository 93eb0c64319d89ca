//! Ingesting files as a run.

use super::Engine;
use crate::ingest::{IngestRequest, ingest};
use crate::run::{Budget, Pause, RunContext};
use adrag_contract::{
    AddFilesRequest, AppError, CollectionName, DocumentId, ErrorCode, Event, RunId, RunKind, Settings,
};
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Engine {
    /// Starts ingesting files and folders. A second ingestion waits for the first. Files of the collection that an
    /// earlier end left unfinished are done after them.
    ///
    /// # Errors
    /// When there is no file at all, or the name of the collection is empty. A path that cannot be read is a failed
    /// document of the run.
    pub async fn add_files(self: &Arc<Self>, request: AddFilesRequest) -> Result<RunId, AppError> {
        if request.collection.as_str().trim().is_empty() {
            return Err(AppError::new(
                ErrorCode::InvalidRequest,
                "the name of the collection is empty",
            ));
        }
        let mut files = Vec::new();
        for path in &request.paths {
            match self.ports.parser.list(path).await {
                Ok(found) => files.extend(found),
                // The file fails with its reason; the others go on.
                Err(_) => files.push(path.clone()),
            }
        }
        if files.is_empty() {
            return Err(
                AppError::new(ErrorCode::InvalidRequest, "there are no files to add")
                    .with_hint("choose files, or a folder that holds some"),
            );
        }
        let unfinished = self.ports.catalog.unfinished().await?;
        files.extend(
            unfinished
                .into_iter()
                .filter(|unfinished| unfinished.collection == request.collection)
                .map(|unfinished| unfinished.path),
        );
        Ok(self.start(files, request.collection))
    }

    /// Goes on with what an earlier end left unfinished, reads anew what an earlier version of the readers read, then embeds
    /// anew what has no vectors of this embedder; nothing when there is nothing. One run a collection, of which the last is returned.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub async fn resume(self: &Arc<Self>) -> Result<Option<RunId>, AppError> {
        let unfinished = self.ports.catalog.unfinished().await?;
        let left = self.start_by_collection(
            unfinished
                .into_iter()
                .map(|document| (document.collection, document.path)),
        );
        let reread = self.reread().await?;
        let left = reread.or(left);
        match self.embed_anew().await {
            Ok(run) => Ok(run.or(left)),
            Err(error) => {
                // The documents serve by their words; `doctor` names what is down.
                tracing::error!(%error, "documents could not be embedded anew");
                Ok(left)
            }
        }
    }

    /// One run a collection, of which the last is returned.
    pub(super) fn start_by_collection(
        self: &Arc<Self>,
        files: impl IntoIterator<Item = (CollectionName, String)>,
    ) -> Option<RunId> {
        let mut by_collection: Vec<(CollectionName, Vec<String>)> = Vec::new();
        for (collection, path) in files {
            match by_collection.iter_mut().find(|(known, _)| *known == collection) {
                Some((_, paths)) => paths.push(path),
                None => by_collection.push((collection, vec![path])),
            }
        }
        let mut last = None;
        for (collection, paths) in by_collection {
            last = Some(self.start(paths, collection));
        }
        last
    }

    /// Tries a document again.
    ///
    /// # Errors
    /// When it is unknown.
    pub async fn retry_document(self: &Arc<Self>, document: &DocumentId) -> Result<RunId, AppError> {
        let document = self.known_document(document).await?;
        Ok(self.start(vec![document.path], document.collection))
    }

    /// Tries several documents again: one run a collection, of which the last is returned. Those that are gone are
    /// passed over.
    ///
    /// # Errors
    /// When none of them is there, or the catalogue cannot be read.
    pub async fn retry_documents(self: &Arc<Self>, documents: &[DocumentId]) -> Result<RunId, AppError> {
        let mut files = Vec::new();
        for document in documents {
            match self.known_document(document).await {
                Ok(document) => files.push((document.collection, document.path)),
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        self.start_by_collection(files)
            .ok_or_else(|| AppError::new(ErrorCode::NotFound, "none of these documents is there any more"))
    }

    pub(super) fn start(self: &Arc<Self>, files: Vec<String>, collection: CollectionName) -> RunId {
        let mut seen = HashSet::new();
        let files: Vec<String> = files
            .into_iter()
            .filter(|file| seen.insert(file.clone()))
            .collect();
        let context = self.begin_ingestion(files.len() as u64, collection.clone());
        let run = context.run.clone();
        let (engine, settings) = (self.clone(), self.current_settings());
        self.carry_out(context, move |context| {
            Box::pin(async move {
                let request = IngestRequest { files, collection };
                engine.run_ingestion(context, &settings, request).await
            })
        });
        run
    }

    /// A run that changes documents, begun and told of.
    pub(super) fn begin_ingestion(&self, files: u64, collection: CollectionName) -> RunContext {
        let run = self.ports.clock.new_run_id();
        let (cancel, pause) = (CancellationToken::new(), Pause::default());
        self.runs.begin(&run, cancel.clone(), Some(pause.clone()));
        let context = RunContext::new(
            run,
            self.ports.clock.clone(),
            self.runs.clone(),
            cancel,
            Budget::new(0),
        )
        .pausing_with(pause);
        context.emit(Event::RunStarted {
            kind: RunKind::Ingest { files, collection },
        });
        context
    }

    /// Does the work of such a run in the background; what it returns is the terminal event.
    pub(super) fn carry_out<W>(&self, context: RunContext, work: W)
    where
        W: for<'a> FnOnce(&'a RunContext) -> futures::future::BoxFuture<'a, Event> + Send + 'static,
    {
        tokio::spawn(async move {
            // The teller first: a run that goes on says so before it ends.
            let last = tokio::select! {
                biased;
                never = tell_pauses(&context) => match never {},
                last = work(&context) => last,
            };
            context.emit(last);
        });
    }

    /// Waits for its turn, ingests, and returns the terminal event.
    async fn run_ingestion(
        &self,
        context: &RunContext,
        settings: &Settings,
        request: IngestRequest,
    ) -> Event {
        let turn = tokio::select! {
            biased;
            () = context.cancel.cancelled() => None,
            turn = self.ingesting.lock() => Some(turn),
        };
        let Some(_turn) = turn else {
            return Event::RunCancelled {
                documents: Vec::new(),
            };
        };
        ingest(context, &self.ports, settings, request).await.into_event()
    }
}

/// Emits an event whenever the pause is turned on or off.
async fn tell_pauses(context: &RunContext) -> Infallible {
    let mut paused = false;
    loop {
        paused = context.pause.changed_from(paused).await;
        context.emit(if paused {
            Event::RunPaused
        } else {
            Event::RunResumed
        });
    }
}
