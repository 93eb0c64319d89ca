//! `adrag serve`, the program itself, asked over HTTP.

mod answers;
mod compat;
mod door;
mod gates;
mod library;
