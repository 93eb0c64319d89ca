//! Commands about documents.

use super::Reach;
use crate::desktop;
use adrag_contract::{
    AddFilesRequest, AppError, CollectionInfo, CollectionName, Deletion, DeletionId, DocumentId,
    DocumentInfo, ErrorCode, PassageView, ReadPassageRequest, RunId, WatchFolderRequest, WatchedFolder,
};
use std::path::{Path, PathBuf};

/// The collection of the sample documents, so that they never mix with the person's own.
const SAMPLES: &str = "samples";

pub async fn pick_files(reach: Reach, (): ()) -> Result<Vec<String>, AppError> {
    let files = reach.desktop.pick_files().await?;
    files.into_iter().map(utf8).collect()
}

pub async fn pick_folder(reach: Reach, (): ()) -> Result<Option<String>, AppError> {
    let folder = reach.desktop.pick_folder().await?;
    folder.map(utf8).transpose()
}

pub async fn watch_folder(reach: Reach, request: WatchFolderRequest) -> Result<(), AppError> {
    reach.session.engine().await?.watch_folder(&request).await
}

pub async fn unwatch_folder(reach: Reach, request: WatchFolderRequest) -> Result<(), AppError> {
    reach.session.engine().await?.unwatch_folder(&request).await
}

pub async fn list_watched(reach: Reach, (): ()) -> Result<Vec<WatchedFolder>, AppError> {
    reach.session.engine().await?.list_watched().await
}

pub async fn add_files(reach: Reach, request: AddFilesRequest) -> Result<RunId, AppError> {
    reach.session.engine().await?.add_files(request).await
}

pub async fn add_samples(reach: Reach, (): ()) -> Result<RunId, AppError> {
    let engine = reach.session.engine().await?;
    let folder = reach.samples.ok_or_else(|| {
        AppError::new(
            ErrorCode::NotFound,
            "the sample documents are not part of this installation",
        )
        .with_hint("add documents of your own")
    })?;
    let request = AddFilesRequest {
        paths: vec![utf8(folder)?],
        collection: SAMPLES.into(),
    };
    engine.add_files(request).await
}

pub async fn retry_document(reach: Reach, document: DocumentId) -> Result<RunId, AppError> {
    reach.session.engine().await?.retry_document(&document).await
}

pub async fn retry_documents(reach: Reach, documents: Vec<DocumentId>) -> Result<RunId, AppError> {
    reach.session.engine().await?.retry_documents(&documents).await
}

pub async fn list_documents(
    reach: Reach,
    collection: Option<CollectionName>,
) -> Result<Vec<DocumentInfo>, AppError> {
    reach
        .session
        .engine()
        .await?
        .list_documents(collection.as_ref())
        .await
}

pub async fn list_collections(reach: Reach, (): ()) -> Result<Vec<CollectionInfo>, AppError> {
    reach.session.engine().await?.list_collections().await
}

pub async fn delete_documents(reach: Reach, documents: Vec<DocumentId>) -> Result<Deletion, AppError> {
    reach.session.engine().await?.discard_documents(&documents).await
}

pub async fn clear_documents(reach: Reach, collection: Option<CollectionName>) -> Result<Deletion, AppError> {
    reach
        .session
        .engine()
        .await?
        .discard_collection(collection.as_ref())
        .await
}

pub async fn undo_delete(reach: Reach, deletion: DeletionId) -> Result<u64, AppError> {
    reach.session.engine().await?.undo_delete(&deletion).await
}

pub async fn read_passage(reach: Reach, request: ReadPassageRequest) -> Result<PassageView, AppError> {
    reach.session.engine().await?.read_passage(&request).await
}

pub async fn open_document(reach: Reach, document: DocumentId) -> Result<(), AppError> {
    let path = reach.session.engine().await?.document_path(&document).await?;
    desktop::open_document(&*reach.desktop, Path::new(&path))
}

fn utf8(path: PathBuf) -> Result<String, AppError> {
    path.into_os_string().into_string().map_err(|name| {
        AppError::new(
            ErrorCode::UnreadableFile,
            format!("the name of `{}` is not Unicode", name.to_string_lossy()),
        )
        .with_hint("rename the file and add it again")
    })
}
