//! Whether there is a display to open a window on: asked before GTK is, which would end the program without a word.

use adrag_contract::{AppError, ErrorCode};
use std::ffi::OsString;

/// Nothing when a window can probably be opened.
///
/// # Errors
/// When there is no display, with the command line as the way out.
pub fn reachable() -> Result<(), AppError> {
    if cfg!(all(unix, not(target_os = "macos"))) {
        let display = std::env::var_os("DISPLAY");
        let wayland = std::env::var_os("WAYLAND_DISPLAY");
        return check(display, wayland, |socket| std::path::Path::new(socket).exists());
    }
    Ok(())
}

/// The window could not be opened although there seemed to be a display.
pub fn no_window(why: &str) -> AppError {
    AppError::new(
        ErrorCode::Internal,
        format!("the window could not be opened: {why}"),
    )
    .with_hint(COMMAND_LINE)
}

const COMMAND_LINE: &str = "use the command line: `adrag ingest PATH...`, then `adrag ask \"QUESTION\"`; `adrag --help` \
    lists everything";

fn check(
    display: Option<OsString>,
    wayland: Option<OsString>,
    exists: impl Fn(&str) -> bool,
) -> Result<(), AppError> {
    if wayland.is_some_and(|name| !name.is_empty()) {
        return Ok(());
    }
    let display = display
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if display.is_empty() {
        return Err(none("there is no display to open the window on"));
    }
    match local_number(&display) {
        Some(number) if !exists(&format!("/tmp/.X11-unix/X{number}")) => {
            Err(none(&format!("the display `{display}` does not answer")))
        }
        _ => Ok(()),
    }
}

fn none(why: &str) -> AppError {
    AppError::new(ErrorCode::Unreachable, why).with_hint(COMMAND_LINE)
}

/// Number of a display of this machine; nothing for one over the network, which only connecting can try.
fn local_number(display: &str) -> Option<u32> {
    let rest = display
        .strip_prefix("unix:")
        .or_else(|| display.strip_prefix(':'))?;
    rest.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_believed_only_when_its_socket_is_there() {
        let some = |name: &str| Some(OsString::from(name));
        let there = |_: &str| true;
        let gone = |_: &str| false;
        assert!(check(None, None, there).is_err());
        assert!(check(some(""), some(""), there).is_err());
        assert!(check(some(":7"), None, gone).is_err());
        assert!(check(some(":7.0"), None, |socket| socket == "/tmp/.X11-unix/X7").is_ok());
        assert!(check(some("far:0"), None, gone).is_ok());
        assert!(check(None, some("wayland-0"), gone).is_ok());
    }

    #[test]
    fn without_a_display_the_command_line_is_offered() {
        let error = check(None, None, |_| true).unwrap_err();
        assert!(error.hint.unwrap().contains("adrag ingest"));
    }
}
