//! `adrag serve`: the engine for programs, until it is stopped.

use super::args::ServeArgs;
use super::exit::{Ended, Exit};
use super::interrupt::Interrupt;
use super::output::Output;
use crate::serve::{Options, Server};
use adrag_core::Engine;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs the command. The first line says where the door is and the token, once.
pub async fn serve(
    args: &ServeArgs,
    engine: &Arc<Engine>,
    data_dir: PathBuf,
    output: &Output,
    interrupt: &Interrupt,
) -> Ended {
    let options = Options {
        port: args.port,
        compat: args.compat,
        allow_origins: args.allow_origin.clone(),
        uploads: data_dir.join("uploads"),
    };
    let server = Server::open(engine.clone(), options).await?;
    if output.json {
        output.json_line(&json!({ "url": server.url(), "token": server.token(), "compat": args.compat }))?;
    } else {
        output.text(&format!("listening at {}", server.url()))?;
        if let Some(token) = server.token() {
            output.text(&format!("token {token}"))?;
        }
        output.note("stop it with Ctrl-C");
    }
    if let Some(run) = engine.resume().await? {
        output.note(&format!("what was unfinished goes on (run {run})"));
    }
    engine.follow_folders();
    server.run(interrupt.given()).await?;
    Ok(Exit::Done)
}
