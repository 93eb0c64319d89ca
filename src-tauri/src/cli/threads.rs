//! `adrag threads` and `adrag export`.

use super::args::{ExportArgs, ThreadsArgs};
use super::exit::{Ended, Exit};
use super::output::Output;
use adrag_contract::{AppError, ErrorCode, ThreadId};
use adrag_core::Engine;
use serde_json::json;

/// Runs `adrag threads`.
pub async fn list(args: &ThreadsArgs, engine: &Engine, output: &Output) -> Ended {
    let threads = engine.list_threads(&args.find).await?;
    if output.json {
        output.json_line(&json!({ "threads": threads }))?;
        return Ok(Exit::Done);
    }
    for thread in &threads {
        let title = thread.title.split_whitespace().collect::<Vec<_>>().join(" ");
        output.text(&format!("{}  {:>3}  {title}", thread.thread, thread.questions))?;
    }
    output.note(&format!("{} conversations", threads.len()));
    Ok(Exit::Done)
}

/// Runs `adrag export`. With `--json` and without a file the content is a field of one object.
pub async fn export(args: &ExportArgs, engine: &Engine, output: &Output) -> Ended {
    let exported = engine
        .export_thread(&ThreadId::new(&args.thread), args.format)
        .await?;
    let Some(file) = &args.output else {
        if output.json {
            output.json_line(&json!({ "file_name": exported.file_name, "content": exported.content }))?;
        } else {
            output.text(exported.content.trim_end())?;
        }
        return Ok(Exit::Done);
    };
    std::fs::write(file, &exported.content).map_err(|error| {
        AppError::new(
            ErrorCode::Disk,
            format!("`{}` could not be written: {error}", file.display()),
        )
        .with_hint("check the folder and the space left on the disk")
    })?;
    if output.json {
        output.json_line(&json!({ "file": file.display().to_string() }))?;
    } else {
        output.note(&format!("written to {}", file.display()));
    }
    Ok(Exit::Done)
}
