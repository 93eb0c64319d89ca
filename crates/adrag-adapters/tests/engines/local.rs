//! The life of the sidecar, with shell scripts in the place of the server.
#![cfg(unix)]

use crate::support::{choice, engines};
use adrag_contract::{EngineId, ErrorCode, Settings};
use adrag_core::ports::Engines;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const INNER: &str = "ADRAG_TEST_SIDECAR_FOLDER";

/// Settings whose `llama-server` is a script, with a file that looks like a model.
fn settings_with(folder: &Path, script: &str) -> Settings {
    let program = folder.join("llama-server");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let model = folder.join("tiny.gguf");
    std::fs::write(&model, b"GGUF\x03\0\0\0").unwrap();
    let mut settings = Settings::default();
    settings.local.binary = Some(program.to_string_lossy().into_owned());
    settings.local.model_file = Some(model.to_string_lossy().into_owned());
    settings.local.start_timeout_s = 1;
    settings
}

fn pid_in(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

async fn is_gone(pid: u32) -> bool {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    for _ in 0..40 {
        if !folder.exists() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
async fn a_server_that_cannot_start_is_told_in_its_own_words_and_not_for_ever_tried() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings_with(
        folder.path(),
        &format!(
            "echo started >> {}/starts; echo 'error: unknown model architecture' >&2; exit 1",
            folder.path().display()
        ),
    );
    let engines = engines();
    let cancel = CancellationToken::new();
    for _ in 0..5 {
        let error = engines
            .open(&choice(EngineId::Local), &settings, &cancel)
            .await
            .err()
            .unwrap();
        assert_eq!(error.error.code, ErrorCode::Unreachable);
        assert!(
            error.error.message.contains("unknown model architecture"),
            "{error}"
        );
    }
    let error = engines
        .open(&choice(EngineId::Local), &settings, &cancel)
        .await
        .err()
        .unwrap();
    assert!(error.error.message.contains("within a minute"), "{error}");
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 5, "it is not started again");
}

#[tokio::test]
async fn a_server_that_takes_too_long_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let settings = settings_with(
        folder.path(),
        &format!("echo $$ > {}; exec sleep 60", pid.display()),
    );
    let engines = engines();
    let started = Instant::now();
    let outcome = engines
        .open(&choice(EngineId::Local), &settings, &CancellationToken::new())
        .await;
    assert_eq!(outcome.err().unwrap().error.code, ErrorCode::Timeout);
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "took {:?}",
        started.elapsed()
    );
    assert!(is_gone(pid_in(&pid).unwrap()).await, "the process goes on");
}

#[tokio::test]
async fn a_stop_ends_a_server_that_is_starting() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let mut settings = settings_with(
        folder.path(),
        &format!("echo $$ > {}; exec sleep 60", pid.display()),
    );
    settings.local.start_timeout_s = 60;
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let engines = engines();
    let stopping = async move {
        tokio::time::sleep(Duration::from_millis(600)).await;
        stop.cancel();
        Instant::now()
    };
    let open = async {
        let outcome = engines.open(&choice(EngineId::Local), &settings, &cancel).await;
        (outcome.err().unwrap(), Instant::now())
    };
    let ((error, ended), stopped) = futures::join!(open, stopping);
    assert!(error.is_cancelled(), "{error}");
    assert!(ended.duration_since(stopped) < Duration::from_secs(2));
    assert!(is_gone(pid_in(&pid).unwrap()).await, "the process goes on");
}

#[tokio::test]
async fn what_is_missing_is_named_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let mut settings = settings_with(folder.path(), "exit 0");
    std::fs::write(folder.path().join("tiny.gguf"), b"<html>").unwrap();
    let error = engines()
        .open(&choice(EngineId::Local), &settings, &cancel)
        .await
        .err()
        .unwrap();
    assert_eq!(error.error.code, ErrorCode::ModelMissing);
    assert!(error.error.message.contains("tiny.gguf"), "{error}");
    settings.local.binary = Some(folder.path().join("absent").to_string_lossy().into_owned());
    let error = engines()
        .open(&choice(EngineId::Local), &settings, &cancel)
        .await
        .err()
        .unwrap();
    assert!(error.error.message.contains("absent"), "{error}");
}

/// Not a test of its own: the process that [`a_server_dies_with_a_program_that_is_killed`] kills.
#[tokio::test]
async fn inner_process_that_waits_for_its_server() {
    let Some(folder) = std::env::var_os(INNER) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let pid = folder.join("pid");
    let mut settings = settings_with(&folder, &format!("echo $$ > {}; exec sleep 60", pid.display()));
    settings.local.start_timeout_s = 60;
    let outcome = engines()
        .open(&choice(EngineId::Local), &settings, &CancellationToken::new())
        .await;
    panic!("this process should have been killed: {:?}", outcome.err());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_dies_with_a_program_that_is_killed() {
    let has_setpriv =
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|f| f.join("setpriv").is_file());
    if !has_setpriv {
        println!("skipped: no setpriv");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "local::inner_process_that_waits_for_its_server"])
        .env(INNER, folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut server = None;
    for _ in 0..200 {
        server = pid_in(&folder.path().join("pid"));
        if server.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let server = server.expect("the server did not start");
    assert!(
        Path::new(&format!("/proc/{server}")).exists(),
        "the server does not run"
    );
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(is_gone(server).await, "the server outlived the program");
}
