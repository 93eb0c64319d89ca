//! Words in tantivy: BM25 over one folder, with terms made by [`analyzer`] and questions turned into term matches by
//! [`query`].
//!
//! The text itself is not stored, only its terms; a hit is the id of a chunk. Writes are gathered and committed by
//! `flush` alone, because a commit waits for the disk; until then nothing of them is visible or safe. Statistics are
//! over the whole index, so that a scope does not change a score.

mod analyzer;
mod query;

use crate::projection::{
    FolderLock, blocking, disk_error, guarded, held_document, held_key, is_vacant, set_aside,
};
use adrag_contract::{ChunkId, DocumentId, ErrorCode};
use adrag_core::ports::{
    DocumentKey, HeldDocument, KeywordChunk, KeywordIndex, PortError, PortResult, Scope, StoreHit,
};
use analyzer::View;
use async_trait::async_trait;
use query::Weights;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::collector::TopDocs;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing, TextOptions, Value,
};
use tantivy::{DocSet, Index, IndexReader, IndexWriter, ReloadPolicy, TERMINATED, TantivyError, Term};

/// Memory of the one thread that writes.
const WRITER_BYTES: usize = 50_000_000;
/// Hits given by one search at most, whatever is asked for.
const MAX_HITS: usize = 100_000;

/// A [`KeywordIndex`] in a folder of this program.
pub struct TantivyKeywordIndex {
    shared: Arc<Shared>,
}

struct Shared {
    index: Index,
    reader: IndexReader,
    writing: Mutex<Writing>,
    fields: Fields,
    weights: Weights,
    _lock: FolderLock,
}

/// What stands between a write and its commit.
struct Writing {
    /// Absent after a failure, until the next write.
    writer: Option<IndexWriter>,
    /// Writes that were accepted went with a writer that broke: the next flush says so.
    lost: bool,
}

/// The fields of the schema.
#[derive(Clone, Copy, Debug)]
struct Fields {
    chunk: Field,
    document: Field,
    collection: Field,
    held: Field,
    /// Folded and stemmed terms of title, headings and text.
    words: Field,
    /// Exact terms of the same.
    exact: Field,
    /// Folded and stemmed terms of title and headings.
    header: Field,
}

impl std::fmt::Debug for TantivyKeywordIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyKeywordIndex")
            .field("index", &self.shared.index)
            .finish_non_exhaustive()
    }
}

impl TantivyKeywordIndex {
    /// Opens the index in a folder, or makes it.
    ///
    /// A folder that cannot be read, or was made with other terms, is renamed and an empty index takes its place; the
    /// text says so. Every file is read once and checked against its sum.
    ///
    /// # Errors
    /// `DataFolderInUse` when another instance has it open; `Disk` when the folder cannot be made or renamed.
    pub async fn open(folder: impl Into<PathBuf>) -> PortResult<(Self, Option<String>)> {
        let folder = folder.into();
        blocking("keyword index", move || {
            Self::open_now(&folder, Weights::default())
        })
        .await
    }

    fn open_now(folder: &Path, weights: Weights) -> PortResult<(Self, Option<String>)> {
        let lock = FolderLock::take(folder)?;
        let mut note = None;
        let mut opened = guarded(|| open_index(folder));
        if let Err(why) = &opened
            && !is_vacant(folder)
        {
            note = Some(set_aside(
                folder,
                "the keyword index",
                &format!("it could not be read ({why})"),
            )?);
            opened = guarded(|| open_index(folder));
        }
        let (index, reader, fields) = opened.map_err(|why| {
            PortError::permanent(
                ErrorCode::StoreFailed,
                format!("cannot make a keyword index in `{}`: {why}", folder.display()),
            )
        })?;
        let writer = new_writer(&index).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => crate::projection::in_use(folder),
            error => port_error(&error),
        })?;
        let shared = Shared {
            index,
            reader,
            writing: Mutex::new(Writing {
                writer: Some(writer),
                lost: false,
            }),
            fields,
            weights,
            _lock: lock,
        };
        Ok((
            Self {
                shared: Arc::new(shared),
            },
            note,
        ))
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, TantivyError> + Send + 'static,
    ) -> PortResult<T> {
        let shared = Arc::clone(&self.shared);
        blocking("keyword index", move || {
            work(&shared).map_err(|error| port_error(&error))
        })
        .await
    }

    async fn remove(&self, query: Box<dyn Query>) -> PortResult<()> {
        self.with(move |shared| shared.write(|writer| writer.delete_query(query).map(|_| ())))
            .await
    }
}

#[async_trait]
impl KeywordIndex for TantivyKeywordIndex {
    async fn add(&self, chunks: Vec<KeywordChunk>) -> PortResult<()> {
        self.with(move |shared| {
            let fields = shared.fields;
            shared.write(|writer| {
                for chunk in &chunks {
                    writer.add_document(document(chunk, &fields))?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn search(&self, text: &str, limit: usize, scope: &Scope) -> PortResult<Vec<StoreHit>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let shared = &self.shared;
        let Some(query) = query::query(text, scope, &shared.fields, shared.weights) else {
            return Ok(Vec::new());
        };
        self.with(move |shared| {
            let searcher = shared.reader.searcher();
            let best = TopDocs::with_limit(limit.min(MAX_HITS)).order_by_score();
            let mut hits = Vec::new();
            for (score, address) in searcher.search(&*query, &best)? {
                let stored: TantivyDocument = searcher.doc(address)?;
                let chunk = stored
                    .get_first(shared.fields.chunk)
                    .and_then(|value| value.as_str());
                let Some(chunk) = chunk else {
                    return Err(TantivyError::InternalError(
                        "a document without its chunk".to_owned(),
                    ));
                };
                hits.push(StoreHit {
                    chunk: ChunkId::new(chunk),
                    score,
                });
            }
            Ok(hits)
        })
        .await
    }

    async fn delete(&self, document: &DocumentId, keep: Option<u64>) -> PortResult<()> {
        let fields = &self.shared.fields;
        let mut clauses = vec![(Occur::Must, equals(fields.document, document.as_str()))];
        if let Some(generation) = keep {
            let kept = DocumentKey {
                document: document.clone(),
                generation,
            };
            clauses.push((Occur::MustNot, equals(fields.held, &held_key(&kept))));
        }
        self.remove(Box::new(BooleanQuery::new(clauses))).await
    }

    async fn delete_generation(&self, key: &DocumentKey) -> PortResult<()> {
        self.remove(equals(self.shared.fields.held, &held_key(key))).await
    }

    async fn clear(&self) -> PortResult<()> {
        self.remove(Box::new(AllQuery)).await
    }

    async fn flush(&self) -> PortResult<()> {
        self.with(Shared::commit).await
    }

    async fn count(&self) -> PortResult<u64> {
        Ok(self.shared.reader.searcher().num_docs())
    }

    async fn held(&self) -> PortResult<Vec<HeldDocument>> {
        let counts = self.with(Shared::held).await?;
        counts
            .into_iter()
            .map(|(value, chunks)| held_document(&value, chunks, "keyword index"))
            .collect()
    }
}

impl Shared {
    /// Writes. A failure breaks the writer; the next write has a new one.
    fn write(
        &self,
        work: impl FnOnce(&mut IndexWriter) -> Result<(), TantivyError>,
    ) -> Result<(), TantivyError> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = match &mut writing.writer {
            Some(writer) => writer,
            absent => absent.insert(new_writer(&self.index)?),
        };
        let result = work(writer);
        if result.is_err() {
            writing.writer = None;
            writing.lost = true;
        }
        result
    }

    /// Commits what was written since the last time, all of it or, with an error, nothing.
    fn commit(&self) -> Result<(), TantivyError> {
        let lost = {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let lost = std::mem::take(&mut writing.lost);
            if lost {
                writing.writer = None;
            }
            lost
        };
        if lost {
            let message = "an earlier failure took what was written since the last flush";
            return Err(TantivyError::SystemError(message.to_owned()));
        }
        let committed = self.write(|writer| writer.commit().map(|_| ()));
        if committed.is_err() {
            // The caller learns it here; the next flush is about later writes.
            self.writing.lock().unwrap_or_else(PoisonError::into_inner).lost = false;
        }
        committed?;
        self.reader.reload()
    }

    /// Chunks by generation, of what is committed and not deleted.
    fn held(&self) -> Result<BTreeMap<String, u64>, TantivyError> {
        let mut counts = BTreeMap::new();
        for segment in self.reader.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.fields.held)?;
            let mut terms = inverted.terms().stream()?;
            while terms.advance() {
                let mut postings =
                    inverted.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
                let mut alive = 0;
                let mut at = postings.doc();
                while at != TERMINATED {
                    if segment.alive_bitset().is_none_or(|bitset| bitset.is_alive(at)) {
                        alive += 1;
                    }
                    at = postings.advance();
                }
                if alive > 0 {
                    let value = String::from_utf8_lossy(terms.key()).into_owned();
                    *counts.entry(value).or_default() += alive;
                }
            }
        }
        Ok(counts)
    }
}

fn open_index(folder: &Path) -> Result<(Index, IndexReader, Fields), String> {
    let (schema, fields) = schema();
    std::fs::create_dir_all(folder).map_err(|error| disk_error("make", folder, &error).to_string())?;
    let directory = MmapDirectory::open(folder).map_err(|error| error.to_string())?;
    let index = Index::open_or_create(directory, schema).map_err(|error| error.to_string())?;
    for (name, view) in [(analyzer::WORDS, View::Words), (analyzer::EXACT, View::Exact)] {
        index.tokenizers().register(name, analyzer::analyzer(view));
    }
    let torn = index.validate_checksum().map_err(|error| error.to_string())?;
    if let Some(file) = torn.iter().next() {
        return Err(format!("`{}` is damaged", file.display()));
    }
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .map_err(|error: TantivyError| error.to_string())?;
    Ok((index, reader, fields))
}

fn new_writer(index: &Index) -> Result<IndexWriter, TantivyError> {
    index.writer_with_num_threads(1, WRITER_BYTES)
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let terms = |analyzer: &str| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(analyzer)
            .set_index_option(IndexRecordOption::WithFreqs);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = Fields {
        chunk: builder.add_text_field("chunk", STRING | STORED),
        document: builder.add_text_field("document", STRING),
        collection: builder.add_text_field("collection", STRING),
        held: builder.add_text_field("held", STRING),
        words: builder.add_text_field("words", terms(analyzer::WORDS)),
        exact: builder.add_text_field("exact", terms(analyzer::EXACT)),
        header: builder.add_text_field("header", terms(analyzer::WORDS)),
    };
    (builder.build(), fields)
}

fn document(chunk: &KeywordChunk, fields: &Fields) -> TantivyDocument {
    let header = format!("{}\n{}", chunk.title, chunk.headings);
    let whole = format!("{header}\n{}", chunk.text);
    let mut document = TantivyDocument::new();
    document.add_text(fields.chunk, chunk.chunk.as_str());
    document.add_text(fields.document, chunk.key.document.as_str());
    document.add_text(fields.collection, chunk.collection.as_str());
    document.add_text(fields.held, held_key(&chunk.key));
    document.add_text(fields.words, &whole);
    document.add_text(fields.exact, &whole);
    document.add_text(fields.header, &header);
    document
}

fn equals(field: Field, value: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(
        Term::from_field_text(field, value),
        IndexRecordOption::Basic,
    ))
}

fn port_error(error: &TantivyError) -> PortError {
    let text = error.to_string();
    let message = format!("the keyword index failed: {text}");
    if text.contains("No space left") || text.contains("StorageFull") {
        return PortError::permanent(ErrorCode::Disk, message)
            .with_hint("make room on the disk and try again");
    }
    PortError::permanent(ErrorCode::StoreFailed, message)
}
