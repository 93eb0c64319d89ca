//! The command line: the same engine as the window, for scripts and for people.
//!
//! Standard output carries the result and nothing else; progress, remarks and the log go to standard error. One module
//! a command; [`args`] is what may be written, [`exit`] how it ends.

pub mod args;
mod ask;
mod check;
mod doctor;
mod documents;
pub mod exit;
mod extract;
mod ingest;
mod interrupt;
mod lines;
mod output;
mod run;
mod search;
mod serve;
mod threads;

use crate::places::Places;
use crate::session::CLOSING_LIMIT;
use adrag_contract::{AppError, CollectionName, ErrorCode};
use adrag_core::Engine;
use args::Command;
use exit::{Ended, Exit, Stop};
use interrupt::Interrupt;
use output::Output;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs a command to its end.
pub fn run(command: Command, json: bool, places: &Places) -> ExitCode {
    let output = Output::new(json);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return fail(&AppError::new(
                ErrorCode::Internal,
                format!("no threads can be had: {error}"),
            ));
        }
    };
    let ended = runtime.block_on(perform(&command, places, &output));
    runtime.shutdown_timeout(CLOSING_LIMIT);
    conclude(&command, ended, &output).into()
}

async fn perform(command: &Command, places: &Places, output: &Output) -> Ended {
    let input = Input::check(command, output)?;
    let interrupt = Interrupt::listen();
    let engine = tokio::select! {
        opened = adrag_adapters::compose::open(places.options()?) => opened?,
        () = interrupt.given() => return Err(interrupt::stopped().into()),
    };
    let ended = execute(command, input, places, &engine, output, &interrupt).await;
    if tokio::time::timeout(CLOSING_LIMIT, engine.close()).await.is_err() {
        tracing::warn!("the engine did not end in time");
    }
    ended
}

async fn execute(
    command: &Command,
    input: Input,
    places: &Places,
    engine: &Arc<Engine>,
    output: &Output,
    interrupt: &Interrupt,
) -> Ended {
    match command {
        Command::Ingest(args) => ingest::ingest(args, engine, output, interrupt).await,
        Command::Ask(args) => ask::ask(args, input.history, engine, output, interrupt).await,
        Command::Extract(args) => interrupt.or(extract::extract(args, engine, output)).await,
        Command::Search(args) => interrupt.or(search::search(args, engine, output)).await,
        Command::Check(args) => interrupt.or(check::check(args, engine, output)).await,
        Command::Threads(args) => interrupt.or(threads::list(args, engine, output)).await,
        Command::Export(args) => interrupt.or(threads::export(args, engine, output)).await,
        Command::Documents(args) => interrupt.or(documents::list(args, engine, output)).await,
        Command::Delete(args) => interrupt.or(documents::delete(args, engine, output)).await,
        Command::Doctor => interrupt.or(doctor::doctor(engine, output)).await,
        Command::Serve(args) => serve::serve(args, &places.data_dir, engine, output, interrupt).await,
        Command::ExtractWorker => Err(Stop::Usage(
            "`extract-worker` is for the program itself".to_owned(),
        )),
    }
}

/// What is checked before the data folder is opened, so that wrong usage never waits for it.
#[derive(Default)]
struct Input {
    history: Vec<adrag_contract::Turn>,
}

impl Input {
    fn check(command: &Command, output: &Output) -> Result<Self, Stop> {
        match command {
            Command::Ask(args) => Ok(Self {
                history: ask::read_history(args.history.as_deref()).map_err(Stop::Usage)?,
            }),
            Command::Serve(args) => serve::check(args).map(|()| Self::default()),
            Command::Delete(args) => documents::confirm(args, output).map(|()| Self::default()),
            _ => Ok(Self::default()),
        }
    }
}

fn conclude(command: &Command, ended: Ended, output: &Output) -> Exit {
    match ended {
        Ok(exit) => exit,
        Err(Stop::Usage(why)) => {
            output.clear_progress();
            say_refusal(&why);
            Exit::Usage
        }
        Err(Stop::Failed(error)) => {
            output.error(&error);
            if output.json && output.json_line(&failure(command, &error)).is_err() {
                tracing::debug!("nobody reads standard output any more");
            }
            Exit::Failed
        }
        Err(Stop::Unread(error)) => {
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                output.note(&format!("error: standard output cannot be written: {error}"));
            }
            Exit::Failed
        }
    }
}

/// The last line of a command that failed: the shape of its result, empty, with the error.
fn failure(command: &Command, error: &AppError) -> Value {
    let mut line = match command {
        Command::Ingest(_) | Command::Documents(_) => json!({ "documents": [] }),
        Command::Extract(_) => json!({
            "state": "failed", "reason": error.message, "pages": null, "chars": 0, "text": "",
        }),
        Command::Search(_) => json!({ "hits": [], "took_ms": 0 }),
        Command::Ask(_) => return ask::last_line(None, Some(error), 0),
        Command::Delete(_) => json!({ "deleted": 0 }),
        Command::Threads(_) => json!({ "threads": [] }),
        Command::Serve(_)
        | Command::Export(_)
        | Command::Check(_)
        | Command::Doctor
        | Command::ExtractWorker => json!({}),
    };
    line["error"] = json!(error);
    line
}

/// Ends the program with an error of before any command began.
pub fn fail(error: &AppError) -> ExitCode {
    output::say_error(error);
    Exit::Failed.into()
}

/// Ends the program because the command line makes no sense.
pub fn refuse(why: &str) -> ExitCode {
    say_refusal(why);
    Exit::Usage.into()
}

/// Prints what the parser of the command line has to say: help, the version, or what is wrong.
pub fn say_usage(said: &clap::Error) -> ExitCode {
    if said.print().is_err() {
        return Exit::Failed.into();
    }
    if said.use_stderr() {
        Exit::Usage.into()
    } else {
        Exit::Done.into()
    }
}

fn say_refusal(why: &str) {
    eprintln!(
        "error: {}\n\nFor more information, try '--help'.",
        output::printable(why)
    );
}

/// The files of a bare `adrag FILE...`, absolute; what is neither a file nor a command is refused.
///
/// # Errors
/// What is wrong with which word.
pub fn absolute_files(files: &[PathBuf]) -> Result<Vec<String>, String> {
    files
        .iter()
        .map(|file| {
            if !file.exists() {
                return Err(format!("`{}` is neither a command nor a file", file.display()));
            }
            absolute(file).ok_or_else(|| format!("the name of `{}` is not Unicode", file.display()))
        })
        .collect()
}

/// The absolute form of a path, where it is Unicode.
fn absolute(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.into_os_string().into_string().ok()
}

/// The collection, once it is known to exist.
async fn known_collection(engine: &Engine, name: Option<&str>) -> Result<Option<CollectionName>, AppError> {
    let Some(name) = name else { return Ok(None) };
    let known = engine.list_collections().await?;
    if known.iter().any(|collection| collection.name.as_str() == name) {
        return Ok(Some(name.into()));
    }
    let names: Vec<String> = known
        .iter()
        .map(|collection| format!("`{}`", collection.name))
        .collect();
    let hint = if names.is_empty() {
        "there are no documents yet: add some with `adrag ingest PATH...`".to_owned()
    } else {
        format!("the collections are {}", names.join(", "))
    };
    Err(AppError::new(ErrorCode::NotFound, format!("there is no collection `{name}`")).with_hint(hint))
}
