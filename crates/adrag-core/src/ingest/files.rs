//! One ingestion run over many files.

use super::document::{Built, Prepared, Target, embed_and_write, prepare};
use super::fingerprint;
use crate::engine::Ports;
use crate::ports::{DocumentKey, NewDocument, PortError, PortResult, SourceFile};
use crate::project::{flush, forget, remove_marked, undo};
use crate::run::RunContext;
use adrag_contract::{
    CollectionName, DocumentId, DocumentReport, DocumentState, ErrorCode, Event, RunOutcome, Settings,
};
use futures::StreamExt;
use std::collections::HashMap;
use std::time::Duration;

/// Files whose text is extracted ahead of the one being embedded.
const PARSE_AHEAD: usize = 2;
/// Documents written before all stores are flushed and the documents published together.
pub(super) const FLUSH_DOCUMENTS: usize = 48;
/// Longest time a written document waits for that.
pub(super) const FLUSH_AFTER: Duration = Duration::from_secs(3);

/// Files to ingest.
#[derive(Clone, Debug)]
pub struct IngestRequest {
    /// Files, in order.
    pub files: Vec<String>,
    /// Where they go.
    pub collection: CollectionName,
}

/// Ingests files; one report each, in the order given. Stops early when the run is cancelled: what was published by
/// then stays, the rest is taken back.
pub async fn ingest(
    run: &RunContext,
    ports: &Ports,
    settings: &Settings,
    request: IngestRequest,
) -> Ingested {
    ingest_of(run, ports, settings, request, None).await
}

/// The same for files that are documents already, where `known` is given: one whose document was deleted meanwhile is
/// passed over.
pub(super) async fn ingest_of(
    run: &RunContext,
    ports: &Ports,
    settings: &Settings,
    request: IngestRequest,
    known: Option<&HashMap<String, DocumentId>>,
) -> Ingested {
    let mut batch = Batch::new(run, ports);
    let mut reports: Vec<Option<DocumentReport>> = vec![None; request.files.len()];
    let fingerprint = fingerprint(ports, &settings.chunking);
    let target = Target {
        settings,
        fingerprint: &fingerprint,
        collection: &request.collection,
        known,
    };
    let target = &target;
    let mut prepared = futures::stream::iter(request.files.iter().cloned().enumerate())
        .map(|(at, path)| async move { (at, begin(run, ports, target, path).await) })
        .buffered(PARSE_AHEAD);
    // After a stop the files under way are still awaited, so that they can be taken back; the rest end at once.
    let mut ended: Option<PortError> = None;
    while let Some((at, begun)) = prepared.next().await {
        let outcome = match begun {
            Ok(Begun::Settled(report)) => {
                reports[at] = Some(report);
                Ok(())
            }
            Ok(Begun::Gone) => Ok(()),
            Ok(Begun::Prepared(document)) if ended.is_some() => {
                batch.withdrawn.push(document.key);
                Ok(())
            }
            Ok(Begun::Prepared(document)) => match embed_and_write(run, ports, document).await {
                Ok(built) => {
                    batch.written.push((at, built));
                    Ok(())
                }
                Err((document, error)) if error.is_cancelled() => {
                    batch.withdrawn.push(document.key);
                    Err(error)
                }
                Err((document, error)) => {
                    reports[at] = Some(fail(run, ports, &document.key, &document.path, &error).await);
                    Ok(())
                }
            },
            Err(error) => Err(error),
        };
        let outcome = match outcome {
            Ok(()) if ended.is_none() && batch.is_due() => batch.publish(&mut reports).await,
            other => other,
        };
        if let Err(error) = outcome {
            let stopped = error.is_cancelled();
            ended.get_or_insert(error);
            if !stopped {
                break;
            }
        }
    }
    let error = match ended {
        Some(error) => Some(batch.stop(&mut reports, error).await),
        None => match batch.publish(&mut reports).await {
            Ok(()) => None,
            Err(error) => Some(batch.stop(&mut reports, error).await),
        },
    };
    Ingested {
        reports: reports.into_iter().flatten().collect(),
        error,
    }
}

/// What an ingestion came to.
pub struct Ingested {
    /// Reports of the files that were settled.
    pub reports: Vec<DocumentReport>,
    /// Why it ended early: cancelled, or a store that failed.
    pub error: Option<PortError>,
}

impl Ingested {
    /// The terminal event of its run.
    pub fn into_event(self) -> Event {
        match self.error {
            None => Event::RunFinished {
                outcome: RunOutcome::Ingested {
                    documents: self.reports,
                },
            },
            Some(error) if error.is_cancelled() => Event::RunCancelled {
                documents: self.reports,
            },
            Some(PortError { error, .. }) => Event::RunFailed { error, partial: None },
        }
    }
}

enum Begun {
    Gone,
    Settled(DocumentReport),
    Prepared(Box<Prepared>),
}

/// Looks at a file, admits it, and extracts and cuts its text. An `Err` ends the whole run: cancelled, or the
/// catalogue failed.
async fn begin(run: &RunContext, ports: &Ports, target: &Target<'_>, path: String) -> PortResult<Begun> {
    run.pass().await?;
    let looked = ports
        .parser
        .inspect(&path)
        .await
        .and_then(|file| within_size(file, target.settings));
    let file = looked.clone().unwrap_or_else(|_| SourceFile {
        name: name_of(&path),
        path: path.clone(),
        bytes: 0,
        sha256: String::new(),
    });
    if let Some(document) = target.known.and_then(|known| known.get(&path))
        && is_deleted(ports, document).await
    {
        return Ok(Begun::Gone);
    }
    let admission = ports
        .catalog
        .admit(
            NewDocument {
                collection: target.collection.clone(),
                path: file.path.clone(),
                title: file.name.clone(),
                bytes: file.bytes,
                sha256: file.sha256.clone(),
                at_ms: run.clock.now_ms(),
            },
            target.fingerprint,
        )
        .await?;
    let id = admission.key.document.clone();
    if let Some(document) = admission.unchanged {
        let reason = Some("unchanged since it was last added".to_owned());
        state_changed(run, &path, Some(&id), document.state, reason.clone());
        return Ok(Begun::Settled(DocumentReport {
            path,
            id: Some(id),
            state: document.state,
            reason,
            chunks: document.chunks,
            chars: document.chars,
        }));
    }
    state_changed(run, &path, Some(&id), DocumentState::Queued, None);
    let prepared = match looked {
        Ok(_) => prepare(run, ports, target, &file, &path, admission).await,
        Err(error) => Err((admission.key, error)),
    };
    match prepared {
        Ok(prepared) => Ok(Begun::Prepared(Box::new(prepared))),
        Err((key, error)) if error.is_cancelled() => {
            ports.catalog.withdraw(&key).await?;
            Err(error)
        }
        Err((key, error)) => Ok(Begun::Settled(fail(run, ports, &key, &path, &error).await)),
    }
}

fn within_size(file: SourceFile, settings: &Settings) -> PortResult<SourceFile> {
    let most = settings.ingest.max_file_bytes;
    if file.bytes <= most {
        return Ok(file);
    }
    let (size, most) = (in_megabytes(file.bytes), in_megabytes(most));
    Err(PortError::rejected(
        ErrorCode::UnreadableFile,
        format!("`{}` is too large: {size}, the limit is {most}", file.name),
    )
    .with_hint("raise the largest file in Settings, or split it into smaller files"))
}

fn in_megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with two places")]
    let megabytes = bytes as f64 / 1_048_576.0;
    format!("{megabytes:.2} MB")
}

/// Settles a file that could not be ingested: nothing of it stays in any store.
async fn fail(
    run: &RunContext,
    ports: &Ports,
    key: &DocumentKey,
    path: &str,
    error: &PortError,
) -> DocumentReport {
    let mut reason = error.to_string();
    if let Err(second) = undo(ports, key).await {
        reason = format!("{reason}; and its remains could not be removed: {second}");
    }
    if let Err(second) = ports.catalog.fail(key, &reason).await {
        reason = if is_deleted(ports, &key.document).await {
            "it was deleted while it was being added".to_owned()
        } else {
            format!("{reason}; and the catalogue could not note it: {second}")
        };
    }
    state_changed(
        run,
        path,
        Some(&key.document),
        DocumentState::Failed,
        Some(reason.clone()),
    );
    DocumentReport {
        path: path.to_owned(),
        id: Some(key.document.clone()),
        state: DocumentState::Failed,
        reason: Some(reason),
        chunks: 0,
        chars: 0,
    }
}

async fn is_deleted(ports: &Ports, document: &DocumentId) -> bool {
    match ports.catalog.document(document).await {
        Ok(found) => found.is_none_or(|document| document.state == DocumentState::Deleting),
        Err(_) => false,
    }
}

pub(super) fn state_changed(
    run: &RunContext,
    path: &str,
    document: Option<&DocumentId>,
    state: DocumentState,
    reason: Option<String>,
) {
    run.emit(Event::DocumentStateChanged {
        path: path.to_owned(),
        document: document.cloned(),
        state,
        reason,
    });
}

fn name_of(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// Documents that are written but not yet flushed and published.
struct Batch<'a> {
    run: &'a RunContext,
    ports: &'a Ports,
    written: Vec<(usize, Built)>,
    withdrawn: Vec<DocumentKey>,
    since: Duration,
}

impl<'a> Batch<'a> {
    fn new(run: &'a RunContext, ports: &'a Ports) -> Self {
        Self {
            run,
            ports,
            written: Vec::new(),
            withdrawn: Vec::new(),
            since: run.clock.elapsed(),
        }
    }

    /// A run that rests leaves nothing waiting.
    fn is_due(&self) -> bool {
        self.run.pause.is_on()
            || self.written.len() >= FLUSH_DOCUMENTS
            || self.run.clock.elapsed().saturating_sub(self.since) >= FLUSH_AFTER
    }

    /// Makes what was written durable, publishes it, and removes what it replaced.
    async fn publish(&mut self, reports: &mut [Option<DocumentReport>]) -> PortResult<()> {
        self.since = self.run.clock.elapsed();
        if self.written.is_empty() {
            return Ok(());
        }
        flush(self.ports).await?;
        let mut stale = false;
        for (at, built) in std::mem::take(&mut self.written) {
            let published = self
                .ports
                .catalog
                .publish(&built.key, built.reason.as_deref())
                .await;
            let replaced = match published {
                Ok(replaced) => replaced,
                // It was deleted, or admitted again, while it was on its way: the others go on.
                Err(error) if error.error.code == ErrorCode::NotFound => {
                    reports[at] = Some(fail(self.run, self.ports, &built.key, &built.path, &error).await);
                    stale = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if built.key.generation > 1 {
                forget(self.ports, &built.key.document, Some(built.key.generation)).await?;
                stale = true;
            }
            remove_marked(self.ports, &replaced).await?;
            state_changed(
                self.run,
                &built.path,
                Some(&built.key.document),
                built.state,
                built.reason.clone(),
            );
            reports[at] = Some(DocumentReport {
                path: built.path,
                id: Some(built.key.document),
                state: built.state,
                reason: built.reason,
                chunks: built.chunks,
                chars: built.chars,
            });
        }
        if stale {
            flush(self.ports).await?;
        }
        Ok(())
    }

    /// Ends early: publishes what is complete unless the stores are the reason, takes back the rest.
    async fn stop(mut self, reports: &mut [Option<DocumentReport>], error: PortError) -> PortError {
        let mut error = error;
        if error.is_cancelled()
            && let Err(failed) = self.publish(reports).await
        {
            error = failed;
        }
        let left: Vec<DocumentKey> = self
            .written
            .drain(..)
            .map(|(_, built)| built.key)
            .chain(self.withdrawn)
            .collect();
        for key in &left {
            let taken_back = async {
                undo(self.ports, key).await?;
                self.ports.catalog.withdraw(key).await
            };
            if let Err(failed) = taken_back.await {
                tracing::error!(document = %key.document, %failed, "left for the next start to mend");
            }
        }
        if !left.is_empty()
            && let Err(failed) = flush(self.ports).await
        {
            tracing::error!(%failed, "left for the next start to mend");
        }
        error
    }
}
