//! The words every part of adRAG shares: ids, stages, events, commands, settings and errors.
//!
//! Types and their JSON only: no behaviour but the fold of a run's events ([`RunView`]), no I/O, no clock. The crate
//! builds for the host and for wasm32, so engine, shell, screen and command line cannot disagree about a word.
//! Start at [`RunEvent`] and [`RunView`].
#![warn(missing_docs)]

mod answer;
mod command;
mod doctor;
mod document;
mod error;
mod event;
mod ids;
mod pace;
mod settings;
mod stage;
mod thread;
mod view;
mod watch;

pub use answer::*;
pub use command::*;
pub use doctor::*;
pub use document::*;
pub use error::*;
pub use event::*;
pub use ids::*;
pub use pace::*;
pub use settings::*;
pub use stage::*;
pub use thread::*;
pub use view::*;
pub use watch::*;
