//! The worker process: a real one (this test program run again) and ones that misbehave.
#![cfg(unix)]

use super::disk::fixtures;
use super::parse_with;
use adrag_adapters::parse::{FileParser, run_worker};
use adrag_core::ports::DocumentParser;
use adrag_core::testing::parser::conformance;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Not a test: what the script of [`real_worker`] runs.
#[test]
#[ignore = "runs as the worker of other tests"]
fn worker_entry() {
    std::process::exit(run_worker());
}

fn script(folder: &Path, body: &str) -> FileParser {
    let path = folder.join("worker.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    FileParser::new(Some((
        PathBuf::from("/bin/sh"),
        path.to_string_lossy().into_owned(),
    )))
}

fn real_worker(folder: &Path) -> FileParser {
    let program = std::env::current_exe().unwrap();
    // The harness prints lines of its own before the reply.
    let body = format!(
        "out=$('{}' worker::worker_entry --exact --ignored --nocapture -q); code=$?\n\
         [ $code -gt 128 ] && kill -$((code - 128)) $$\n\
         printf '%s\\n' \"$out\" | sed -n 's/^[^{{]*{{/{{/p'\nexit $code",
        program.display()
    );
    script(folder, &body)
}

#[tokio::test]
async fn a_real_worker_keeps_the_promises_of_the_port() {
    let (tools, docs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    conformance(&real_worker(tools.path()), &fixtures(docs.path())).await;
}

#[tokio::test]
async fn a_worker_that_misbehaves_is_one_failed_file_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("victim.txt");
    std::fs::write(&file, "text").unwrap();
    for (body, reason) in [
        ("kill -SEGV $$", "crashed on this file"),
        (
            "echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$",
            "more than 1 GB of memory",
        ),
        (
            "echo 'thread main has overflowed its stack' >&2; kill -ABRT $$",
            "nested too deeply",
        ),
        ("kill -XCPU $$", "took longer than 30 s"),
        ("exit 0", "answered nothing usable"),
        ("echo '{\"surprise\":1}'", "answered nothing usable"),
        ("echo 'why' >&2; exit 3", "why"),
    ] {
        let parser = script(folder.path(), body);
        let error = parse_with(&parser, &file).await.expect_err(body);
        assert!(error.error.message.contains(reason), "{body}: {error}");
    }
    let missing = FileParser::new(Some((PathBuf::from("/nowhere/adrag"), "x".to_owned())));
    assert!(
        parse_with(&missing, &file)
            .await
            .unwrap_err()
            .error
            .message
            .contains("could not be started")
    );
}

#[tokio::test]
async fn cancelling_ends_the_worker_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("victim.txt");
    std::fs::write(&file, "text").unwrap();
    let pid_file = folder.path().join("pid");
    let parser = script(
        folder.path(),
        &format!("echo $$ > '{}'; exec sleep 600", pid_file.display()),
    );
    let source = parser.inspect(&file.to_string_lossy()).await.unwrap();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let pid_seen = pid_file.clone();
    let stopper = tokio::spawn(async move {
        for _ in 0..200 {
            if std::fs::read_to_string(&pid_seen).is_ok_and(|pid| pid.ends_with('\n')) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let began = Instant::now();
        stop.cancel();
        began
    });
    let error = parser.parse(&source, &cancel).await.unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(stopper.await.unwrap().elapsed() < Duration::from_secs(5));
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    assert!(
        !Path::new(&format!("/proc/{}", pid.trim())).exists(),
        "the worker lives on"
    );
}
