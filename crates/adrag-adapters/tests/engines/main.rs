//! The engines against servers that behave and misbehave, and against a real `llama-server` where there is one.

mod conformance;
mod faults;
mod local;
mod local_real;
mod probes;
mod requests;
mod support;
