//! `adrag serve`: opens the door for programs and keeps it open until it is stopped.

use super::args::ServeArgs;
use super::exit::{Ended, Exit, Stop};
use super::interrupt::Interrupt;
use super::output::Output;
use crate::serve::{Options, Server};
use adrag_contract::{AppError, ErrorCode};
use adrag_core::Engine;
use serde_json::json;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

/// Shortest token that is taken from a file: what is shorter can be guessed.
const SHORTEST: usize = 16;

/// Where it listens unless told otherwise; with `--compat` where the source system does.
const PORT: u16 = 5_151;
const COMPAT_PORT: u16 = 5_000;

/// What makes no sense is said before the data folder is opened.
///
/// # Errors
/// What is wrong, for a person.
pub fn check(args: &ServeArgs) -> Result<(), Stop> {
    address(args).map(drop)?;
    for origin in &args.allow_origin {
        let rest = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        let host = rest.map(|rest| rest.trim_end_matches('/'));
        if host.is_none_or(|host| host.is_empty() || host.contains(['/', '*', '?', '#', '@'])) {
            return Err(Stop::Usage(format!(
                "`--allow-origin {origin}` is no origin: write `http://HOST[:PORT]`"
            )));
        }
    }
    Ok(())
}

/// Runs the command.
pub async fn serve(
    args: &ServeArgs,
    data_dir: &Path,
    engine: &Arc<Engine>,
    output: &Output,
    interrupt: &Interrupt,
) -> Ended {
    let (token, is_fresh) = token(args)?;
    let options = Options {
        address: address(args)?,
        token: token.clone(),
        compat: args.compat,
        origins: args.allow_origin.clone(),
    };
    let server = Server::bind(engine.clone(), data_dir, options).await?;
    let url = format!("http://{}", server.address());
    if output.json {
        output.json_line(&json!({
            "url": url, "token": is_fresh.then_some(&token), "token_file": args.token_file, "compat": args.compat,
        }))?;
    } else {
        output.text(&format!("adRAG answers at {url}; Ctrl-C ends it"))?;
        match &args.token_file {
            Some(file) => output.text(&format!("Token   in {}", file.display()))?,
            None => output.text(&format!("Token   {token}"))?,
        }
    }
    if args.compat {
        output.note("note: every program on this machine may use the routes under /api without a token");
    }
    if !server.address().ip().is_loopback() {
        output.note("note: other machines reach this port; the token travels unencrypted");
    }
    if let Some(run) = engine.resume().await? {
        output.note(&format!("note: what was unfinished goes on (run {run})"));
    }
    engine.follow_folders();
    let stop = interrupt.clone();
    server.run(async move { stop.given().await }).await?;
    Ok(Exit::Done)
}

fn address(args: &ServeArgs) -> Result<SocketAddr, Stop> {
    let host: IpAddr = match args.host.as_str() {
        "localhost" => IpAddr::from([127, 0, 0, 1]),
        host => host
            .parse()
            .map_err(|_| Stop::Usage(format!("`--host {host}` is no IP address")))?,
    };
    if !host.is_loopback() && !args.allow_remote {
        return Err(Stop::Usage(format!(
            "`--host {host}` lets other machines in; add `--allow-remote` if that is meant"
        )));
    }
    if !host.is_loopback() && args.compat {
        return Err(Stop::Usage(
            "`--compat` answers without a token and is for this machine only".to_owned(),
        ));
    }
    let port = args.port.unwrap_or(if args.compat { COMPAT_PORT } else { PORT });
    Ok(SocketAddr::new(host, port))
}

/// The token, and whether nobody knows it yet.
fn token(args: &ServeArgs) -> Result<(String, bool), AppError> {
    let Some(file) = &args.token_file else {
        return Ok((fresh(), true));
    };
    let refuse = |why: String| {
        AppError::new(
            ErrorCode::InvalidRequest,
            format!("the token file `{}` cannot be used: {why}", file.display()),
        )
        .with_hint("name a file that is not there yet: a fresh token is written to it")
    };
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let token = text.trim();
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(refuse(format!(
                    "it must hold {SHORTEST} or more visible ASCII characters on one line"
                )));
            }
            Ok((token.to_owned(), false))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = fresh();
            private(file)
                .and_then(|mut file| file.write_all(token.as_bytes()))
                .map_err(|error| refuse(error.to_string()))?;
            Ok((token, false))
        }
        Err(error) => Err(refuse(error.to_string())),
    }
}

/// 244 random bits.
fn fresh() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    half() + &half()
}

/// A new file that nobody else may read.
fn private(file: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(file)
}
