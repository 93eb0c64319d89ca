//! The one way out of the screen: to the shell, to the browser around it, or to a scripted demo.
//!
//! Nothing outside this folder knows a browser or the shell. In a plain browser, without the shell, the demo answers
//! the same commands with a few scripted documents, so that every view can be seen and tested without an engine.

mod demo;
mod dom;
mod shell;

pub use dom::*;

use adrag_contract::{AppError, Command, ErrorCode, RunEvent};
use std::cell::OnceCell;

/// Who answers commands.
enum Bridge {
    Shell(shell::Shell),
    Demo(demo::Demo),
}

thread_local! {
    static BRIDGE: OnceCell<Bridge> = const { OnceCell::new() };
}

fn with_bridge<T>(work: impl FnOnce(&Bridge) -> T) -> T {
    BRIDGE.with(|cell| {
        work(cell.get_or_init(|| match shell::Shell::find() {
            Some(shell) => Bridge::Shell(shell),
            None => Bridge::Demo(demo::Demo::new()),
        }))
    })
}

/// What a drag of files from outside does over the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDrag {
    /// It came over the window.
    Entered,
    /// It left, or ended elsewhere.
    Left,
    /// These paths were dropped.
    Dropped(Vec<String>),
}

/// True when no shell is there and the answers are scripted.
pub fn is_demo() -> bool {
    with_bridge(|bridge| matches!(bridge, Bridge::Demo(_)))
}

/// Gives a command and waits for its reply.
///
/// # Errors
/// The shell's own error, or one that says that it could not be understood.
pub async fn call<C: Command>(request: &C::Request) -> Result<C::Reply, AppError> {
    enum Way {
        Shell(shell::Shell),
        Demo(demo::Demo),
    }
    let way = with_bridge(|bridge| match bridge {
        Bridge::Shell(shell) => Way::Shell(shell.clone()),
        Bridge::Demo(demo) => Way::Demo(demo.clone()),
    });
    let request = serde_json::to_value(request).map_err(|error| garbled(C::NAME, &error.to_string()))?;
    let reply = match way {
        Way::Shell(shell) => shell.invoke(C::NAME, &request).await?,
        Way::Demo(demo) => demo.invoke(C::NAME, request).await?,
    };
    serde_json::from_value(reply).map_err(|error| garbled(C::NAME, &error.to_string()))
}

/// Listens to the events of all runs, for as long as the window lives. Resolves once it does listen.
///
/// # Errors
/// When the shell refuses; without events nothing would ever appear.
pub async fn on_run_event(listener: impl Fn(RunEvent) + 'static) -> Result<(), AppError> {
    enum Way {
        Shell(shell::Shell),
        Demo(demo::Demo),
    }
    let way = with_bridge(|bridge| match bridge {
        Bridge::Shell(shell) => Way::Shell(shell.clone()),
        Bridge::Demo(demo) => Way::Demo(demo.clone()),
    });
    match way {
        Way::Shell(shell) => shell.on_run_event(listener).await,
        Way::Demo(demo) => {
            demo.on_run_event(listener);
            Ok(())
        }
    }
}

/// Listens to files dragged from other programs, for as long as the window lives. A plain browser gives no paths.
///
/// # Errors
/// When the shell refuses.
pub async fn on_file_drag(listener: impl Fn(FileDrag) + 'static) -> Result<(), AppError> {
    let shell = with_bridge(|bridge| match bridge {
        Bridge::Shell(shell) => Some(shell.clone()),
        Bridge::Demo(_) => None,
    });
    match shell {
        Some(shell) => shell.on_file_drag(listener).await,
        None => Ok(()),
    }
}

fn garbled(command: &str, why: &str) -> AppError {
    AppError::new(
        ErrorCode::Internal,
        format!("`{command}` could not be understood: {why}"),
    )
    .with_hint("window and program are of different versions: restart the program")
}
