//! The pages: a list at the left, work in the middle, and on Chat the detail at the right.

pub mod chat;
pub mod library;
pub mod settings;
