//! The engines against servers that behave and misbehave, and against a real `llama-server` where there is one.
#![allow(clippy::unwrap_used)]

mod conformance;
mod faults;
mod local;
mod local_real;
mod probes;
mod requests;
mod support;
mod web;
