//! `adrag check`: checks answers against passages, without searching anything.

use super::args::CheckArgs;
use super::exit::{Ended, Exit, Stop};
use super::lines::lines;
use super::output::Output;
use adrag_core::Engine;
use adrag_core::engine::CheckRequest;

/// Runs the command: one JSON object for each line, an `error` where a line could not be checked.
pub async fn check(args: &CheckArgs, engine: &Engine, output: &Output) -> Ended {
    let mut failed = 0_usize;
    let texts = lines(&args.file)?;
    for (at, text) in &texts {
        let request: CheckRequest = serde_json::from_str(text)
            .map_err(|error| Stop::Usage(format!("line {at} of `{}`: {error}", args.file.display())))?;
        match engine.check(&request).await {
            Ok(reply) => output.json_line(&reply)?,
            Err(error) => {
                failed += 1;
                output.json_line(&serde_json::json!({ "error": error }))?;
            }
        }
    }
    Ok(match failed {
        0 => Exit::Done,
        all if all == texts.len() => Exit::Failed,
        _ => Exit::Partly,
    })
}
