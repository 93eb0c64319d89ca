//! Commands about questions and runs.

use super::Reach;
use crate::desktop;
use adrag_contract::{AppError, AskRequest, RunEvent, RunId, RunSummary};

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

pub async fn clear_runs(reach: Reach, (): ()) -> Result<(), AppError> {
    reach.session.engine().await?.clear_runs().await
}

pub async fn open_link(reach: Reach, link: String) -> Result<(), AppError> {
    reach.desktop.open_url(&desktop::web_link(&link)?)
}
