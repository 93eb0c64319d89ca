//! The watcher of folders on a real disk: the promises of its port.

use adrag_adapters::notify::NotifyFolderWatcher;
use adrag_contract::ErrorCode;
use adrag_core::ports::FolderWatcher;
use adrag_core::testing::watcher::{WatcherFixtures, conformance};
use std::path::Path;

#[tokio::test]
async fn keeps_the_promises_of_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for name in ["one", "other"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let write = |path: &str| {
        std::fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, "text").unwrap();
    };
    let fixtures = WatcherFixtures {
        one: path("one"),
        other: path("other"),
        missing: path("missing"),
        write: &write,
    };
    conformance(&NotifyFolderWatcher::default(), &fixtures).await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_cannot_be_followed_and_one_that_came_back_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs");
    let name = path.to_string_lossy().into_owned();
    let watcher = NotifyFolderWatcher::default();
    let error = watcher.follow(&name).await.unwrap_err();
    assert_eq!(error.error.code, ErrorCode::Disk);
    assert!(error.error.message.contains("docs"), "{error}");
    for _ in 0..2 {
        std::fs::create_dir(&path).unwrap();
        watcher.follow(&name).await.unwrap();
        std::fs::write(path.join("a.txt"), "text").unwrap();
        assert_eq!(watcher.changed().await, name);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
