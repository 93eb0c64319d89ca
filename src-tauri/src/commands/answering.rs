//! Commands about questions and runs.

use super::Reach;
use crate::desktop;
use adrag_contract::{
    AppError, AskRequest, ErrorCode, ExportThreadRequest, RenameThreadRequest, RunEvent, RunId, RunSummary,
    ThreadId, ThreadSummary,
};

pub async fn ask(reach: Reach, request: AskRequest) -> Result<RunId, AppError> {
    reach.session.engine().await?.ask(request).await
}

pub async fn cancel_run(reach: Reach, run: RunId) -> Result<(), AppError> {
    // A run that ended in the same moment is as stopped as the person wanted it.
    reach.session.engine().await?.cancel(&run);
    Ok(())
}

pub async fn pause_run(reach: Reach, run: RunId) -> Result<(), AppError> {
    reach.session.engine().await?.pause(&run)
}

pub async fn resume_run(reach: Reach, run: RunId) -> Result<(), AppError> {
    reach.session.engine().await?.resume_run(&run)
}

pub async fn run_snapshot(reach: Reach, run: RunId) -> Result<Vec<RunEvent>, AppError> {
    reach.session.engine().await?.run_snapshot(&run).await
}

pub async fn list_runs(reach: Reach, (): ()) -> Result<Vec<RunSummary>, AppError> {
    reach.session.engine().await?.list_runs().await
}

pub async fn list_threads(reach: Reach, find: String) -> Result<Vec<ThreadSummary>, AppError> {
    reach.session.engine().await?.list_threads(&find).await
}

pub async fn thread_runs(reach: Reach, thread: ThreadId) -> Result<Vec<RunSummary>, AppError> {
    reach.session.engine().await?.thread_runs(&thread).await
}

pub async fn rename_thread(reach: Reach, request: RenameThreadRequest) -> Result<(), AppError> {
    let engine = reach.session.engine().await?;
    engine.rename_thread(&request.thread, &request.title).await
}

pub async fn delete_threads(reach: Reach, threads: Vec<ThreadId>) -> Result<(), AppError> {
    reach.session.engine().await?.delete_threads(&threads).await
}

pub async fn export_thread(reach: Reach, request: ExportThreadRequest) -> Result<Option<String>, AppError> {
    let engine = reach.session.engine().await?;
    let exported = engine.export_thread(&request.thread, request.format).await?;
    let Some(target) = reach.desktop.pick_target(&exported.file_name).await? else {
        return Ok(None);
    };
    let shown = target.display().to_string();
    tokio::fs::write(&target, exported.content)
        .await
        .map_err(|error| {
            AppError::new(
                ErrorCode::Disk,
                format!("`{shown}` could not be written: {error}"),
            )
            .with_hint("choose another folder, or look at the space left on the disk")
        })?;
    Ok(Some(shown))
}

pub async fn clear_runs(reach: Reach, (): ()) -> Result<(), AppError> {
    reach.session.engine().await?.clear_runs().await
}

pub async fn open_link(reach: Reach, link: String) -> Result<(), AppError> {
    reach.desktop.open_url(&desktop::web_link(&link)?)
}
