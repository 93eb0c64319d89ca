//! The built program in a real WebKit window: add documents, ask, follow the citation to its passage.
//!
//! It needs `WebKitWebDriver` and a display or `Xvfb`, and says `skipped: why` where they are absent. Screenshots land
//! in `target/e2e`.
#![allow(clippy::unwrap_used)]

mod display;
mod driver;
mod page;
mod walk;
