//! Parts of the screen, each with its own style sheet section. They read [`crate::state`] and know no browser.

pub mod answer;
pub mod drop_zone;
pub mod field;
pub mod icon;
pub mod mark;
pub mod overlay;
pub mod pane;
pub mod problem;
pub mod rail;
pub mod splitter;
pub mod tracker;
