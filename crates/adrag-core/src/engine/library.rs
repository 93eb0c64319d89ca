//! The library: documents, collections, passages, deletion.

use super::{Engine, ExtractReport, detached};
use crate::project::remove_marked;
use adrag_contract::{
    AppError, CollectionInfo, CollectionName, DocumentId, DocumentInfo, DocumentState, ErrorCode,
    PassageView, ReadPassageRequest,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Most bytes of surrounding text on each side.
const MAX_AROUND: u64 = 20_000;

impl Engine {
    /// The documents of a collection, or all.
    ///
    /// # Errors
    /// When the collection does not exist or the catalogue cannot be read.
    pub async fn list_documents(
        &self,
        collection: Option<&CollectionName>,
    ) -> Result<Vec<DocumentInfo>, AppError> {
        if let Some(collection) = collection {
            self.known_collection(collection).await?;
        }
        Ok(self.ports.catalog.documents(collection).await?)
    }

    /// The collections that hold documents.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub async fn list_collections(&self) -> Result<Vec<CollectionInfo>, AppError> {
        Ok(self.ports.catalog.collections().await?)
    }

    /// Removes documents from every store at once; when it returns they hold nothing of them, and there is no way back.
    ///
    /// # Errors
    /// When one of them is unknown (then none is removed), or a store fails: the next start finishes it.
    pub async fn delete_documents(&self, documents: &[DocumentId]) -> Result<(), AppError> {
        for document in documents {
            self.known_document(document).await?;
        }
        self.remove(documents.to_vec()).await
    }

    /// Removes all documents of a collection, or of all, in the same way; how many there were.
    ///
    /// # Errors
    /// When the collection does not exist, or a store fails: the next start finishes it.
    pub async fn clear_documents(&self, collection: Option<&CollectionName>) -> Result<u64, AppError> {
        let documents = self.list_documents(collection).await?;
        let count = documents.len() as u64;
        self.remove(documents.into_iter().map(|document| document.id).collect())
            .await?;
        Ok(count)
    }

    pub(super) async fn remove(&self, documents: Vec<DocumentId>) -> Result<(), AppError> {
        // An ingestion under way writes the same projections: the deletion takes its turn.
        let _turn = self.ingesting.lock().await;
        let ports = self.ports.clone();
        detached(async move {
            ports.catalog.mark_deleting(&documents).await?;
            remove_marked(&ports, &documents).await
        })
        .await
    }

    /// A passage in its surrounding text.
    ///
    /// # Errors
    /// When the document is gone or its text no longer has that span.
    pub async fn read_passage(&self, request: &ReadPassageRequest) -> Result<PassageView, AppError> {
        let document = self.known_document(&request.document).await?;
        let around = request.around.min(MAX_AROUND);
        let (from, to) = request.span;
        let outer = (from.saturating_sub(around), to.saturating_add(around));
        let gone = || {
            AppError::new(
                ErrorCode::NotFound,
                format!("`{}` no longer has this passage", document.title),
            )
            .with_hint("the document was replaced since; ask again")
        };
        let (start, text) = self
            .ports
            .catalog
            .text(&request.document, outer.0, outer.1)
            .await?
            .ok_or_else(gone)?;
        let cut = |at: u64| {
            usize::try_from(at.saturating_sub(start))
                .ok()
                .filter(|at| text.is_char_boundary(*at))
        };
        let (Some(first), Some(last)) = (cut(from), cut(to)) else {
            return Err(gone());
        };
        if first > last {
            return Err(gone());
        }
        let chunk = match self.ports.catalog.chunk_at(&document.id, from).await? {
            Some(id) => self
                .ports
                .catalog
                .resolve(&[id])
                .await?
                .pop()
                .map(|stored| stored.chunk),
            None => None,
        };
        Ok(PassageView {
            pages: chunk.as_ref().and_then(|chunk| chunk.pages),
            headings: chunk.map(|chunk| chunk.headings).unwrap_or_default(),
            before: text[..first].to_owned(),
            passage: text[first..last].to_owned(),
            after: text[last..].to_owned(),
            document,
        })
    }

    /// Path of the original file of a document.
    ///
    /// # Errors
    /// When the document is unknown.
    pub async fn document_path(&self, document: &DocumentId) -> Result<String, AppError> {
        Ok(self.known_document(document).await?.path)
    }

    /// Reads a file as ingestion would, without keeping anything.
    ///
    /// # Errors
    /// Never for a bad file: that is a report with a reason.
    pub async fn extract(self: &Arc<Self>, path: &str) -> Result<ExtractReport, AppError> {
        let cancel = CancellationToken::new();
        let parsed = match self.ports.parser.inspect(path).await {
            Ok(file) => self.ports.parser.parse(&file, &cancel).await,
            Err(error) => Err(error),
        };
        Ok(match parsed {
            Ok(parsed) => {
                let empty = parsed.text.trim().is_empty();
                let remarks = parsed.remarks.join("; ");
                let reason = match (empty, remarks.is_empty()) {
                    (true, true) => Some("holds no text".to_owned()),
                    (_, true) => None,
                    (_, false) => Some(remarks),
                };
                ExtractReport {
                    state: if empty {
                        DocumentState::Empty
                    } else {
                        DocumentState::Ready
                    },
                    reason,
                    pages: parsed.pages,
                    chars: parsed.text.chars().count() as u64,
                    text: parsed.text,
                }
            }
            Err(error) => ExtractReport {
                state: DocumentState::Failed,
                reason: Some(error.to_string()),
                pages: None,
                chars: 0,
                text: String::new(),
            },
        })
    }

    /// A document that is not deleted.
    pub(super) async fn known_document(&self, id: &DocumentId) -> Result<DocumentInfo, AppError> {
        let found = self.ports.catalog.document(id).await?;
        found
            .filter(|document| document.state != DocumentState::Deleting)
            .ok_or_else(|| {
                AppError::new(ErrorCode::NotFound, format!("there is no document {id}"))
                    .with_hint("`adrag documents` lists them")
            })
    }

    pub(super) async fn known_collection(&self, name: &CollectionName) -> Result<(), AppError> {
        let collections = self.ports.catalog.collections().await?;
        if collections.iter().any(|collection| collection.name == *name) {
            return Ok(());
        }
        let names: Vec<String> = collections
            .iter()
            .map(|collection| format!("`{}`", collection.name))
            .collect();
        let hint = if names.is_empty() {
            "no documents have been added yet".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        Err(AppError::new(ErrorCode::NotFound, format!("there is no collection `{name}`")).with_hint(hint))
    }
}
