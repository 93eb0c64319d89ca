//! A run: its events, its cancellation, its budget. [`run_stage`] gives all eight stages the same start, end, timing
//! and failure.

mod context;
mod pause;
mod stage;

pub use context::{Budget, RunContext};
pub use pause::Pause;
pub use stage::{StageEnd, run_stage, run_stage_or};
