//! The screen: what the person sees and does. It decides nothing about documents or answers.
//!
//! `bridge/` is the only folder that knows a browser or the shell; `state/` holds what is on the screen, its pure parts
//! tested on the host; `components/` and `pages/` draw it. Start at [`app`] and at [`state`].

pub mod app;
pub mod bridge;
pub mod components;
pub mod pages;
pub mod state;

/// Mounts the screen into the page.
pub fn start() {
    bridge::mount(app::App);
}
