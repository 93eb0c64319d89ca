//! The rules of the house, kept by tests: who may depend on whom, who may name which vendor, how long a file may
//! be, what its head must say, and what never belongs into a repository.
//!
//! Every rule is a function from small inputs to a list of faults. It is run on this repository, and on inputs that
//! break it, so that a rule which finds nothing is known to be able to find something.
#![allow(clippy::unwrap_used)]

mod code;
mod direction;
mod house;
mod licences;
mod sources;
mod spdx;
mod vendors;

/// Fails with every fault on a line of its own.
fn expect_no_faults(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}
