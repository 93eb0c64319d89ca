//! What the fake catalogue remembers, and how a document lives in it.

use crate::ports::{
    Admission, Content, DocumentKey, HeldDocument, NewDocument, PortError, PortResult, StoredChunk,
    Unfinished,
};
use adrag_contract::{
    CatalogueCount, ChunkId, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState,
    ErrorCode, Event, RunEvent, RunSummary, Settings, ThreadId, ThreadSummary,
};
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) documents: Vec<Document>,
    pub(super) notes: BTreeMap<String, String>,
    pub(super) settings: Option<Settings>,
    pub(super) runs: Vec<(RunSummary, Vec<RunEvent>)>,
    pub(super) titles: std::collections::HashMap<ThreadId, String>,
    admissions: u64,
}

#[derive(Debug)]
pub(super) struct Document {
    pub(super) id: DocumentId,
    file: NewDocument,
    state: DocumentState,
    reason: Option<String>,
    published: Option<u64>,
    pending: Option<u64>,
    last: u64,
    generations: BTreeMap<u64, Generation>,
}

#[derive(Clone, Debug)]
struct Generation {
    admission: u64,
    file: NewDocument,
    fingerprint: String,
    content: Option<Content>,
}

impl Generation {
    fn chunks(&self) -> u64 {
        self.content
            .as_ref()
            .map_or(0, |content| content.chunks.len() as u64)
    }
}

impl Document {
    fn current(&self) -> Option<&Generation> {
        self.generations.get(&self.published?)
    }

    fn is_searchable(&self) -> bool {
        self.state != DocumentState::Deleting && self.current().is_some_and(|current| current.chunks() > 0)
    }

    fn settle(&mut self) {
        let full = self.current().is_some_and(|current| current.chunks() > 0);
        self.state = if full {
            DocumentState::Ready
        } else {
            DocumentState::Empty
        };
    }

    /// Drops what is under way in favour of the published generation.
    fn fall_back(&mut self, published: u64) {
        self.pending = None;
        self.generations.retain(|generation, _| *generation == published);
        let file = self.generations[&published].file.clone();
        let path = std::mem::take(&mut self.file.path);
        self.file = NewDocument { path, ..file };
        self.settle();
    }

    pub(super) fn info(&self) -> DocumentInfo {
        let shown = self
            .current()
            .or_else(|| self.generations.values().last())
            .expect("a document has a generation");
        let kept = shown.content.as_ref();
        let public = kept.filter(|_| self.published.is_some());
        DocumentInfo {
            id: self.id.clone(),
            collection: self.file.collection.clone(),
            path: self.file.path.clone(),
            title: kept.map_or_else(|| shown.file.title.clone(), |content| content.title.clone()),
            kind: kept.map(|content| content.kind.clone()).unwrap_or_default(),
            state: self.state,
            reason: self.reason.clone().filter(|_| self.state.is_final()),
            bytes: shown.file.bytes,
            chars: public.map_or(0, |content| content.text.chars().count() as u64),
            pages: public.and_then(|content| content.pages),
            chunks: public.map_or(0, |content| content.chunks.len() as u64),
            updated_at_ms: self.file.at_ms,
        }
    }
}

impl State {
    /// The threads that hold words in lower case, the one asked in last first.
    pub(super) fn threads(&self, find: &str, limit: usize) -> Vec<ThreadSummary> {
        let mut ordered: Vec<&(RunSummary, Vec<RunEvent>)> = self.runs.iter().collect();
        ordered.sort_by_key(|(summary, _)| summary.started_at_ms);
        let mut found: Vec<(ThreadSummary, String)> = Vec::new();
        for (run, events) in ordered {
            let said: String = events
                .iter()
                .filter_map(|event| match &event.event {
                    Event::AnswerDelta { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            let words = format!("{}\n{said}\n", run.question).to_lowercase();
            match found.iter_mut().find(|(thread, _)| thread.thread == run.thread) {
                Some((thread, held)) => {
                    thread.questions += u64::from(run.replaces.is_none());
                    thread.updated_at_ms = run.started_at_ms;
                    held.push_str(&words);
                }
                None => {
                    let given = self.titles.get(&run.thread);
                    let thread = ThreadSummary {
                        thread: run.thread.clone(),
                        title: given.unwrap_or(&run.question).clone(),
                        questions: 1,
                        started_at_ms: run.started_at_ms,
                        updated_at_ms: run.started_at_ms,
                    };
                    let title = given.map(|title| title.to_lowercase()).unwrap_or_default();
                    found.push((thread, format!("{words}{title}\n")));
                }
            }
        }
        found.retain(|(_, held)| held.contains(find));
        found.sort_by_key(|(thread, _)| std::cmp::Reverse(thread.updated_at_ms));
        found.into_iter().map(|(thread, _)| thread).take(limit).collect()
    }

    pub(super) fn find(&self, id: &DocumentId) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == *id)
    }

    fn under_way(&mut self, key: &DocumentKey) -> PortResult<&mut Document> {
        self.documents
            .iter_mut()
            .find(|document| document.id == key.document && document.pending == Some(key.generation))
            .ok_or_else(|| {
                PortError::rejected(
                    ErrorCode::NotFound,
                    format!(
                        "generation {} of `{}` is not under way",
                        key.generation, key.document
                    ),
                )
            })
    }

    fn recognise(&self, file: &NewDocument) -> Option<usize> {
        let same = |wanted: &dyn Fn(&Document) -> bool| {
            self.documents
                .iter()
                .position(|document| document.file.collection == file.collection && wanted(document))
        };
        same(&|document| document.file.path == file.path).or_else(|| {
            same(&|document| {
                !file.sha256.is_empty()
                    && document.file.sha256 == file.sha256
                    && document.state != DocumentState::Deleting
            })
        })
    }

    pub(super) fn admit(&mut self, file: &NewDocument, fingerprint: &str) -> Admission {
        self.admissions += 1;
        let fresh = Generation {
            admission: self.admissions,
            file: file.clone(),
            fingerprint: fingerprint.to_owned(),
            content: None,
        };
        let Some(at) = self.recognise(file) else {
            let id = self.free_id(file);
            self.documents.push(Document {
                id: id.clone(),
                file: file.clone(),
                state: DocumentState::Queued,
                reason: None,
                published: None,
                pending: Some(1),
                last: 1,
                generations: BTreeMap::from([(1, fresh)]),
            });
            return admission(id, 1, None);
        };
        let document = &mut self.documents[at];
        let takes_over = (document.file.path != file.path).then(|| document.file.path.clone());
        if document.state == DocumentState::Deleting {
            document.published = None;
        }
        let same = document.current().is_some_and(|current| {
            !file.sha256.is_empty()
                && current.file.sha256 == file.sha256
                && current.fingerprint == fingerprint
        });
        if let Some(published) = document.published.filter(|_| same) {
            if let Some(current) = document.generations.get_mut(&published) {
                current.file.path.clone_from(&file.path);
                current.file.at_ms = file.at_ms;
            }
            document.file.path.clone_from(&file.path);
            document.fall_back(published);
            let mut admission = admission(document.id.clone(), published, takes_over);
            admission.unchanged = Some(document.info());
            return admission;
        }
        let published = document.published;
        document
            .generations
            .retain(|generation, _| Some(*generation) == published);
        document.last += 1;
        document.generations.insert(document.last, fresh);
        document.pending = Some(document.last);
        document.state = DocumentState::Queued;
        document.file = file.clone();
        if published.is_none() {
            document.reason = None;
        }
        admission(document.id.clone(), document.last, takes_over)
    }

    fn free_id(&self, file: &NewDocument) -> DocumentId {
        let name = format!("{}\0{}", file.collection, file.path);
        (1_u64..)
            .map(|count| match count {
                1 => name.clone(),
                _ => format!("{name}\0{count}"),
            })
            .map(|name| DocumentId::new(Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string()))
            .find(|id| self.find(id).is_none())
            .expect("there is always another count")
    }

    pub(super) fn advance(&mut self, key: &DocumentKey, to: DocumentState) -> PortResult<()> {
        if to.is_final() || to == DocumentState::Deleting {
            return Err(PortError::rejected(
                ErrorCode::InvalidRequest,
                format!("a document is not advanced to `{}`", to.as_str()),
            ));
        }
        self.under_way(key)?.state = to;
        Ok(())
    }

    pub(super) fn store(&mut self, key: &DocumentKey, content: &Content) -> PortResult<()> {
        let document = self.under_way(key)?;
        for chunk in &content.chunks {
            if content.text.get(chunk.start as usize..chunk.end as usize) != Some(chunk.text.as_str()) {
                return Err(PortError::rejected(
                    ErrorCode::Internal,
                    format!("chunk {} is not the text of its span", chunk.ordinal),
                ));
            }
        }
        if let Some(generation) = document.generations.get_mut(&key.generation) {
            generation.fingerprint.clone_from(&content.fingerprint);
            generation.content = Some(content.clone());
        }
        Ok(())
    }

    pub(super) fn publish(&mut self, key: &DocumentKey, remark: Option<&str>) -> PortResult<Vec<DocumentId>> {
        let document = self.under_way(key)?;
        document.pending = None;
        document.published = Some(key.generation);
        document
            .generations
            .retain(|generation, _| *generation == key.generation);
        document.reason = remark.map(str::to_owned);
        document.settle();
        let file = document.file.clone();
        let copies: Vec<DocumentId> = self
            .documents
            .iter()
            .filter(|other| {
                other.id != key.document
                    && !file.sha256.is_empty()
                    && other.file.collection == file.collection
                    && other.file.sha256 == file.sha256
                    && other.state != DocumentState::Deleting
            })
            .map(|other| other.id.clone())
            .collect();
        self.mark_deleting(&copies);
        Ok(copies)
    }

    pub(super) fn fail(&mut self, key: &DocumentKey, reason: &str) -> PortResult<()> {
        let document = self.under_way(key)?;
        if let Some(published) = document.published {
            document.fall_back(published);
            let path = document.file.path.clone();
            if let Some(current) = document.generations.get_mut(&published) {
                current.file.path = path;
            }
        } else {
            document.pending = None;
            document.state = DocumentState::Failed;
            if let Some(generation) = document.generations.get_mut(&key.generation) {
                forget(generation);
            }
        }
        document.reason = Some(reason.to_owned());
        Ok(())
    }

    pub(super) fn withdraw(&mut self, key: &DocumentKey) {
        let Ok(document) = self.under_way(key) else {
            return;
        };
        let Some(published) = document.published else {
            self.documents.retain(|document| document.id != key.document);
            return;
        };
        document.fall_back(published);
        let old = document.generations[&published].file.clone();
        let taken = self.documents.iter().any(|other| {
            other.id != key.document && other.file.collection == old.collection && other.file.path == old.path
        });
        if let Some(document) = self
            .documents
            .iter_mut()
            .find(|document| document.id == key.document)
            && !taken
        {
            document.file.path = old.path;
        }
    }

    pub(super) fn requeue(&mut self, key: &DocumentKey) -> PortResult<()> {
        let document = self.under_way(key)?;
        document.state = DocumentState::Queued;
        if let Some(generation) = document.generations.get_mut(&key.generation) {
            forget(generation);
        }
        Ok(())
    }

    pub(super) fn mark_deleting(&mut self, ids: &[DocumentId]) {
        for document in self
            .documents
            .iter_mut()
            .filter(|document| ids.contains(&document.id))
        {
            document.state = DocumentState::Deleting;
            document.pending = None;
        }
    }

    pub(super) fn restore(&mut self, ids: &[DocumentId]) -> Vec<DocumentId> {
        let mut restored = Vec::new();
        for document in self
            .documents
            .iter_mut()
            .filter(|document| ids.contains(&document.id) && document.state == DocumentState::Deleting)
        {
            if let Some(published) = document.published {
                document.fall_back(published);
            } else {
                document.state = DocumentState::Failed;
                document
                    .reason
                    .get_or_insert_with(|| "it was deleted before it was finished".to_owned());
                document.generations.values_mut().for_each(forget);
            }
            restored.push(document.id.clone());
        }
        restored
    }

    pub(super) fn deleting(&self) -> Vec<DocumentId> {
        let deleting = |document: &&Document| document.state == DocumentState::Deleting;
        self.documents
            .iter()
            .filter(deleting)
            .map(|document| document.id.clone())
            .collect()
    }

    pub(super) fn hidden(&self) -> u64 {
        self.documents
            .iter()
            .filter(|document| document.state == DocumentState::Deleting)
            .filter_map(Document::current)
            .map(Generation::chunks)
            .sum()
    }

    pub(super) fn unfinished(&self) -> Vec<Unfinished> {
        let mut unfinished: Vec<(u64, Unfinished)> = self
            .documents
            .iter()
            .filter_map(|document| {
                let generation = document.pending?;
                let key = DocumentKey {
                    document: document.id.clone(),
                    generation,
                };
                let entry = Unfinished {
                    key,
                    collection: document.file.collection.clone(),
                    path: document.file.path.clone(),
                    state: document.state,
                };
                Some((document.generations.get(&generation)?.admission, entry))
            })
            .collect();
        unfinished.sort_by_key(|(admission, _)| *admission);
        unfinished.into_iter().map(|(_, entry)| entry).collect()
    }

    pub(super) fn list(&self, collection: Option<&CollectionName>) -> Vec<DocumentInfo> {
        let mut list: Vec<DocumentInfo> = self
            .documents
            .iter()
            .filter(|document| document.state != DocumentState::Deleting)
            .filter(|document| collection.is_none_or(|name| document.file.collection == *name))
            .map(Document::info)
            .collect();
        list.sort_by_key(|info| (info.title.to_lowercase(), info.path.clone(), info.id.clone()));
        list
    }

    pub(super) fn collections(&self) -> Vec<CollectionInfo> {
        let mut collections: BTreeMap<CollectionName, CollectionInfo> = BTreeMap::new();
        for document in self
            .documents
            .iter()
            .filter(|document| document.state != DocumentState::Deleting)
        {
            let name = document.file.collection.clone();
            let entry = collections.entry(name.clone()).or_insert(CollectionInfo {
                name,
                documents: 0,
                ready: 0,
                chunks: 0,
            });
            entry.documents += 1;
            entry.ready += u64::from(document.is_searchable());
            entry.chunks += document.current().map_or(0, Generation::chunks);
        }
        collections.into_values().collect()
    }

    pub(super) fn count(&self) -> CatalogueCount {
        let held = self.published();
        CatalogueCount {
            documents: self.documents.len() as u64,
            ready: held.len() as u64,
            chunks: held.iter().map(|held| held.chunks).sum(),
        }
    }

    pub(super) fn published(&self) -> Vec<HeldDocument> {
        let searchable = self.documents.iter().filter(|document| document.is_searchable());
        searchable
            .filter_map(|document| {
                Some(HeldDocument {
                    key: DocumentKey {
                        document: document.id.clone(),
                        generation: document.published?,
                    },
                    chunks: document.current()?.chunks(),
                })
            })
            .collect()
    }

    pub(super) fn resolve(&self, ids: &[ChunkId]) -> Vec<StoredChunk> {
        let current: Vec<StoredChunk> = self
            .published()
            .iter()
            .flat_map(|held| self.chunks(&held.key))
            .collect();
        ids.iter()
            .filter_map(|id| current.iter().find(|stored| stored.chunk.id == *id).cloned())
            .collect()
    }

    pub(super) fn chunks(&self, key: &DocumentKey) -> Vec<StoredChunk> {
        let Some(document) = self.find(&key.document) else {
            return Vec::new();
        };
        let Some(content) = document
            .generations
            .get(&key.generation)
            .and_then(|held| held.content.as_ref())
        else {
            return Vec::new();
        };
        let mut chunks: Vec<StoredChunk> = content
            .chunks
            .iter()
            .map(|chunk| StoredChunk {
                chunk: chunk.clone(),
                key: key.clone(),
                collection: document.file.collection.clone(),
                title: content.title.clone(),
                path: document.file.path.clone(),
            })
            .collect();
        chunks.sort_by_key(|stored| stored.chunk.ordinal);
        chunks
    }

    pub(super) fn text(&self, id: &DocumentId, start: u64, end: u64) -> Option<(u64, String)> {
        let document = self
            .find(id)
            .filter(|document| document.state != DocumentState::Deleting)?;
        let text = document
            .current()?
            .content
            .as_ref()
            .map_or("", |content| &content.text);
        let mut from = (start as usize).min(text.len());
        let mut to = (end as usize).clamp(from, text.len());
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        Some((from as u64, text[from..to].to_owned()))
    }

    pub(super) fn chunk_at(&self, id: &DocumentId, at: u64) -> Option<ChunkId> {
        let document = self
            .find(id)
            .filter(|document| document.state != DocumentState::Deleting)?;
        let chunks = &document.current()?.content.as_ref()?.chunks;
        let chunk = chunks.iter().rev().find(|chunk| chunk.start <= at)?;
        Some(chunk.id.clone())
    }
}

fn forget(generation: &mut Generation) {
    if let Some(content) = &mut generation.content {
        content.text.clear();
        content.chunks.clear();
        content.pages = None;
    }
}

fn admission(document: DocumentId, generation: u64, takes_over: Option<String>) -> Admission {
    Admission {
        key: DocumentKey { document, generation },
        unchanged: None,
        takes_over,
    }
}
