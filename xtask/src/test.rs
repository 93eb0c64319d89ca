//! `cargo xtask test`: every check, in the order in which a mistake is cheapest to find.
//!
//! Tests that need something this machine cannot have say so themselves; what could be had is handed to them in
//! the environment: `ADRAG_BIN`, `ADRAG_LLAMA_SERVER`, `ADRAG_TEST_GGUF`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::setup::Extras;
use crate::workspace::{UI, Workspace};
use crate::{process, run, setup, ui};

/// The module of the tests that drive a real window.
const WINDOW_TESTS: &str = "walk::";

#[derive(clap::Args)]
pub struct Options {
    /// Leave out clippy and the end-to-end tests in a window
    #[arg(long)]
    quick: bool,
    /// Handed on to `cargo test`, after its own `--` to the test programs
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut phases = Phases::default();
    phases.run("setup", || setup::ensure(workspace))?;
    let mut extras = Extras::default();
    phases.run("test models", || {
        extras = Extras::collect(workspace);
        Ok(())
    })?;
    phases.run("fmt", || {
        process::run(workspace.cargo().args(["fmt", "--all", "--check"]))
    })?;
    phases.run("ui", || ui::build(workspace))?;
    if !options.quick {
        phases.run("clippy (wasm32)", || process::run(&mut clippy_screen(workspace)))?;
    }
    let mut tally = Tally::default();
    phases.run("screen tests", || {
        tally = run_tests(&mut screen_tests(workspace))?;
        Ok(())
    })?;
    phases.run("build and clippy", || {
        process::run(&mut linted(workspace, &["build", "--all-targets"], options.quick))
    })?;
    phases.run("tests", || {
        let program = run_tests(&mut tests(workspace, options, &extras))?;
        tally.passed += program.passed;
        tally.failed += program.failed;
        tally.ignored += program.ignored;
        Ok(())
    })?;
    phases.print();
    println!(
        "{} passed, {} failed, {} skipped",
        tally.passed, tally.failed, tally.ignored
    );
    Ok(())
}

/// A build in which clippy takes the compiler's place for our own crates, with every warning an error.
///
/// `cargo clippy` would check all dependencies once more, which costs as much as building them; this way the lints see
/// all targets and the dependencies are compiled once. `--quick` leaves the lints out.
fn linted(workspace: &Workspace, arguments: &[&str], quick: bool) -> Command {
    let mut command = workspace.cargo();
    let (call, targets) = arguments.split_at(1);
    command
        .args(call)
        .args(["--workspace", "--exclude", UI])
        .args(targets);
    if !quick {
        // The form in which `cargo clippy` itself hands its arguments to the driver.
        command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    }
    command
}

/// The screen's logic, which needs no browser.
fn screen_tests(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.args(["test", "--package", UI, "--lib"]);
    command
}

fn clippy_screen(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.args([
        "clippy",
        "--package",
        UI,
        "--target",
        "wasm32-unknown-unknown",
        "--",
        "-D",
        "warnings",
    ]);
    command
}

fn tests(workspace: &Workspace, options: &Options, extras: &Extras) -> Command {
    let cargo = linted(workspace, &["test", "--no-fail-fast"], options.quick);
    let needs_display = cfg!(target_os = "linux") && !run::has_display() && !options.quick;
    let mut command = if needs_display { in_display(cargo) } else { cargo };
    let skip: &[&str] = if options.quick {
        &["--skip", WINDOW_TESTS]
    } else {
        &[]
    };
    if !skip.is_empty() || !options.arguments.is_empty() {
        command.arg("--").args(skip).args(&options.arguments);
    }
    command.env("ADRAG_BIN", workspace.program());
    for (name, path) in &extras.environment {
        command.env(name, path);
    }
    command
}

/// The same call inside a display and a session bus of its own.
fn in_display(inner: Command) -> Command {
    let mut command = Command::new("xvfb-run");
    command.args(["-a", "-s", "-screen 0 1440x900x24", "dbus-run-session", "--"]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.current_dir(inner.get_current_dir().unwrap_or(Path::new(".")));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Tally {
    /// Adds a closing line of a test program: `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line
            .split_once("test result: ")
            .and_then(|(_, rest)| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            let Some((count, what)) = part.split_once(' ') else {
                continue;
            };
            let count: u64 = count.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

/// Runs the tests, showing what they say as they say it, and adds up their closing lines.
fn run_tests(command: &mut Command) -> Result<Tally> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("the tests could not be started")?;
    let output = child.stdout.take().context("the tests have no output")?;
    let mut tally = Tally::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("the tests' output broke off")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.add(&line);
    }
    let status = child.wait().context("the tests did not end")?;
    if !status.success() {
        bail!(
            "{} passed, {} failed, {} skipped",
            tally.passed,
            tally.failed,
            tally.ignored
        );
    }
    if tally.passed == 0 {
        bail!("no test was run");
    }
    Ok(tally)
}

#[derive(Default)]
struct Phases {
    done: Vec<(&'static str, Duration)>,
}

impl Phases {
    fn run(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("== {name}");
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        self.done.push((name, took));
        match &result {
            Ok(()) => eprintln!("== {name}: {:.1} s", took.as_secs_f64()),
            Err(_) => eprintln!("== {name}: FAILED after {:.1} s", took.as_secs_f64()),
        }
        result.with_context(|| format!("phase `{name}` failed"))
    }

    fn print(&self) {
        for (name, took) in &self.done {
            println!("{name:<16} {:>8.1} s", took.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            tally.add(line);
        }
        assert_eq!((tally.passed, tally.failed, tally.ignored), (5, 4, 1));
    }

    #[test]
    fn a_failing_phase_is_named() {
        let mut phases = Phases::default();
        phases.run("fmt", || Ok(())).unwrap();
        let error = phases.run("clippy", || bail!("no")).unwrap_err();
        assert_eq!(format!("{error:#}"), "phase `clippy` failed: no");
        assert_eq!(phases.done.len(), 2);
    }

    #[test]
    fn the_display_wrapper_keeps_the_call_and_its_environment() {
        let mut inner = Command::new("cargo");
        inner.arg("test").env("A", "1").env_remove("B").current_dir("/");
        let outer = in_display(inner);
        let words: Vec<_> = outer
            .get_args()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        assert_eq!(words[words.len() - 2..], ["cargo", "test"]);
        assert_eq!(outer.get_envs().count(), 2);
        assert_eq!(outer.get_current_dir(), Some(Path::new("/")));
    }
}
