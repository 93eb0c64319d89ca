//! `adrag extract`: prints the text that would be indexed.

use super::args::ExtractArgs;
use super::exit::{Ended, Exit};
use super::output::Output;
use adrag_contract::{AppError, DocumentState, ErrorCode};
use adrag_core::Engine;
use std::sync::Arc;

/// Runs the command.
pub async fn extract(args: &ExtractArgs, engine: &Arc<Engine>, output: &Output) -> Ended {
    let path = super::absolute(&args.path).ok_or_else(|| {
        AppError::new(
            ErrorCode::UnreadableFile,
            format!("the name of `{}` is not Unicode", args.path.display()),
        )
    })?;
    let report = engine.extract(&path).await?;
    let failed = report.state == DocumentState::Failed;
    if output.json {
        output.json_line(&report)?;
    } else if !failed {
        output.text(&report.text)?;
    }
    match &report.reason {
        Some(reason) if failed => output.error(&AppError::new(ErrorCode::UnreadableFile, reason)),
        Some(reason) => output.note(&format!("note: {reason}")),
        None => {}
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
