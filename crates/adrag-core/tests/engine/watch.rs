//! Followed folders: what is added, touched, moved and deleted there is followed; what vanished takes nothing along.

use crate::bench::{Bench, down};
use adrag_contract::{
    CollectionName, DocumentInfo, DocumentState, ErrorCode, Event, WatchFolderRequest, WatchState,
};
use adrag_core::ports::{EntityGraph, Followed, KeywordIndex, VectorIndex, WatchList};
use std::time::Duration;

const FOLDER: &str = "/docs";

fn docs() -> WatchFolderRequest {
    WatchFolderRequest {
        path: FOLDER.to_owned(),
        collection: CollectionName::default(),
    }
}

/// A bench that follows a folder with these files, all ready.
async fn following(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::new().await;
    bench.parser.put_folder(FOLDER);
    for (path, text) in files {
        bench.parser.put(path, text);
    }
    bench.engine.follow_folders();
    bench.engine.watch_folder(&docs()).await.unwrap();
    stands(&bench, WatchState::Following).await;
    assert_eq!(documents(&bench).await.len(), files.len());
    bench
}

async fn standing(bench: &Bench) -> (WatchState, u64) {
    let watched = bench.engine.list_watched().await.unwrap();
    (watched[0].state, watched[0].files)
}

async fn stands(bench: &Bench, state: WatchState) {
    bench
        .in_time(&format!("the folder is {state:?}"), async |bench| {
            standing(bench).await.0 == state
        })
        .await;
}

async fn documents(bench: &Bench) -> Vec<DocumentInfo> {
    bench.engine.list_documents(None).await.unwrap()
}

async fn paths(bench: &Bench) -> Vec<String> {
    let mut paths: Vec<String> = documents(bench)
        .await
        .into_iter()
        .map(|document| document.path)
        .collect();
    paths.sort();
    paths
}

/// A new file that tells when a look is over: what was seen is remembered last of all.
async fn look_is_over(bench: &Bench, number: u32) {
    let path = format!("{FOLDER}/zz-{number}.txt");
    bench.parser.put(&path, &format!("Sentinel number {number}."));
    bench.watcher.touch(&path);
    let folder = Followed {
        collection: CollectionName::default(),
        path: FOLDER.to_owned(),
    };
    bench
        .in_time("the look is over", async |bench| {
            let (_, known) = bench.watch_list.known(&folder).await.unwrap();
            known.iter().any(|file| file.path == path)
        })
        .await;
}

#[tokio::test]
async fn files_of_a_followed_folder_become_documents_and_new_ones_follow() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    assert!(bench.finds("QUOKKA").await);
    assert_eq!(standing(&bench).await, (WatchState::Following, 1));
    bench.parser.put("/docs/deep/b.txt", "Marker WOMBAT was here.");
    bench.parser.put("/elsewhere/c.txt", "Marker NUMBAT was here.");
    bench.watcher.touch("/docs/deep/b.txt");
    bench
        .in_time("the new file is found", async |bench| bench.finds("WOMBAT").await)
        .await;
    assert!(!bench.finds("NUMBAT").await);
}

#[tokio::test]
async fn a_touched_file_is_read_again_and_the_others_are_not() {
    let bench = following(&[
        ("/docs/a.txt", "Marker QUOKKA was here."),
        ("/docs/b.txt", "Another text."),
    ])
    .await;
    let inspected = bench.parser.inspected();
    bench.parser.put("/docs/a.txt", "Marker WOMBAT is here.");
    bench.watcher.touch("/docs/a.txt");
    bench
        .in_time("the new text is found", async |bench| bench.finds("WOMBAT").await)
        .await;
    assert!(!bench.finds("QUOKKA").await);
    assert_eq!(bench.parser.inspected(), inspected + 1);
}

#[tokio::test]
async fn after_a_start_only_what_changed_meanwhile_is_read() {
    let mut bench = following(&[
        ("/docs/a.txt", "Marker QUOKKA was here."),
        ("/docs/b.txt", "Another text."),
        ("/docs/c.txt", "A third text."),
    ])
    .await;
    bench
        .in_time("all are remembered", async |bench| standing(bench).await.1 == 3)
        .await;
    bench.engine.close().await;
    let inspected = bench.parser.inspected();
    bench.parser.put("/docs/d.txt", "Marker WOMBAT was here.");
    bench.parser.remove("/docs/b.txt");
    bench.restart().await;
    assert_eq!(standing(&bench).await, (WatchState::Waiting, 3));
    bench.engine.follow_folders();
    bench.engine.follow_folders();
    stands(&bench, WatchState::Following).await;
    assert_eq!(paths(&bench).await, ["/docs/a.txt", "/docs/c.txt", "/docs/d.txt"]);
    assert_eq!(
        bench.parser.inspected(),
        inspected + 1,
        "only the new one is read"
    );
}

#[tokio::test]
async fn a_moved_file_stays_its_document_and_embeds_nothing() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    let before = documents(&bench).await;
    let embedded = bench.embedder.embedded();
    bench.parser.rename("/docs/a.txt", "/docs/deep/b.txt");
    bench.watcher.touch("/docs/a.txt");
    bench
        .in_time("it stands at its new path", async |bench| {
            paths(bench).await == ["/docs/deep/b.txt"]
        })
        .await;
    assert_eq!(documents(&bench).await[0].id, before[0].id);
    assert_eq!(bench.embedder.embedded(), embedded);
    look_is_over(&bench, 1).await;
    assert_eq!(paths(&bench).await, ["/docs/deep/b.txt", "/docs/zz-1.txt"]);
}

#[tokio::test]
async fn a_deleted_file_takes_its_document_out_of_every_store() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    bench.parser.remove("/docs/a.txt");
    bench.watcher.touch("/docs/a.txt");
    bench
        .in_time("the document is gone", async |bench| {
            documents(bench).await.is_empty()
        })
        .await;
    bench
        .in_time("no store holds it", async |bench| {
            bench.vectors.count().await.unwrap() == 0
                && bench.keywords.count().await.unwrap() == 0
                && bench.graph.count().await.unwrap().chunks == 0
        })
        .await;
    assert_eq!(
        standing(&bench).await.0,
        WatchState::Following,
        "an empty folder is there"
    );
}

#[tokio::test]
async fn a_copy_that_is_deleted_leaves_the_text_to_the_other_file() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    bench.parser.put("/docs/copy.txt", "Marker QUOKKA was here.");
    bench.watcher.touch("/docs/copy.txt");
    bench
        .in_time("both files are known", async |bench| standing(bench).await.1 == 2)
        .await;
    assert_eq!(paths(&bench).await, ["/docs/copy.txt"], "one text, one document");
    bench.parser.remove("/docs/copy.txt");
    bench.watcher.touch("/docs/copy.txt");
    bench
        .in_time("the document stands at the other file", async |bench| {
            paths(bench).await == ["/docs/a.txt"]
        })
        .await;
    assert!(bench.finds("QUOKKA").await);
}

#[tokio::test]
async fn a_folder_that_vanished_deletes_nothing_and_is_found_again() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    let inspected = bench.parser.inspected();
    bench.parser.rename("/docs/a.txt", "/kept/a.txt");
    bench.parser.remove_folder(FOLDER);
    bench.watcher.touch(FOLDER);
    stands(&bench, WatchState::Missing).await;
    assert!(bench.finds("QUOKKA").await, "its documents stay");
    assert!(bench.watcher.followed().is_empty());
    bench.parser.put_folder(FOLDER);
    bench.parser.rename("/kept/a.txt", "/docs/a.txt");
    stands(&bench, WatchState::Following).await;
    assert_eq!(bench.watcher.followed(), [FOLDER]);
    assert_eq!(paths(&bench).await, ["/docs/a.txt"]);
    assert_eq!(bench.parser.inspected(), inspected, "nothing was read for it");
}

#[tokio::test]
async fn an_unmounted_disk_leaves_an_empty_place_and_deletes_nothing() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    bench.parser.rename("/docs/a.txt", "/kept/a.txt");
    bench.parser.change_disk();
    bench.watcher.touch(FOLDER);
    stands(&bench, WatchState::Missing).await;
    assert!(bench.finds("QUOKKA").await);
    bench.parser.rename("/kept/a.txt", "/docs/a.txt");
    bench.parser.change_disk();
    stands(&bench, WatchState::Following).await;
    bench.parser.remove("/docs/a.txt");
    bench.watcher.touch(FOLDER);
    bench
        .in_time(
            "a file deleted on the disk that came back is followed",
            async |bench| documents(bench).await.is_empty(),
        )
        .await;
}

#[tokio::test]
async fn a_part_that_cannot_be_seen_deletes_nothing() {
    let bench = following(&[
        ("/docs/a.txt", "One."),
        ("/docs/private/b.txt", "Marker QUOKKA was here."),
    ])
    .await;
    bench.parser.hide("/docs/private", true);
    look_is_over(&bench, 1).await;
    assert!(bench.finds("QUOKKA").await);
    assert_eq!(paths(&bench).await.len(), 3);
}

#[tokio::test]
async fn a_document_the_person_deleted_stays_away_until_its_file_changes() {
    let bench = following(&[
        ("/docs/a.txt", "Marker QUOKKA was here."),
        ("/docs/b.txt", "Two."),
    ])
    .await;
    let listed = documents(&bench).await;
    let deleted = listed
        .iter()
        .find(|document| document.path == "/docs/a.txt")
        .unwrap();
    bench
        .engine
        .delete_documents(std::slice::from_ref(&deleted.id))
        .await
        .unwrap();
    bench.parser.remove("/docs/b.txt");
    look_is_over(&bench, 1).await;
    bench
        .in_time("only the new file is left", async |bench| {
            paths(bench).await == ["/docs/zz-1.txt"]
        })
        .await;
    bench.parser.put("/docs/a.txt", "Marker WOMBAT is here.");
    bench.watcher.touch("/docs/a.txt");
    bench
        .in_time("its new text is found", async |bench| bench.finds("WOMBAT").await)
        .await;
}

#[tokio::test]
async fn a_folder_followed_no_more_keeps_its_documents_and_its_changes_are_left_alone() {
    let bench = following(&[("/docs/a.txt", "Marker QUOKKA was here.")]).await;
    bench.engine.unwatch_folder(&docs()).await.unwrap();
    bench
        .in_time("the watcher left it", async |bench| {
            bench.watcher.followed().is_empty()
        })
        .await;
    assert!(bench.engine.list_watched().await.unwrap().is_empty());
    assert!(bench.finds("QUOKKA").await);
    let twice = bench.engine.unwatch_folder(&docs()).await.unwrap_err();
    assert_eq!(twice.code, ErrorCode::NotFound);
}

#[tokio::test]
async fn where_the_system_tells_nothing_the_folder_is_looked_at_from_time_to_time() {
    let bench = Bench::new().await;
    bench.watcher.refuse(FOLDER);
    bench.parser.put("/docs/a.txt", "Marker QUOKKA was here.");
    bench.engine.follow_folders();
    bench.engine.watch_folder(&docs()).await.unwrap();
    stands(&bench, WatchState::Polled).await;
    let watched = bench.engine.list_watched().await.unwrap();
    assert!(watched[0].reason.is_some());
    bench.parser.put("/docs/b.txt", "Marker WOMBAT was here.");
    bench
        .in_time("the new file is found", async |bench| bench.finds("WOMBAT").await)
        .await;
}

#[tokio::test]
async fn what_a_stopped_job_left_is_added_at_the_next_start_or_when_it_is_touched() {
    let mut bench = Bench::new().await;
    for (path, text) in [
        ("/docs/a.txt", "Marker QUOKKA was here."),
        ("/docs/b.txt", "Two."),
    ] {
        bench.parser.put(path, text);
        bench.parser.delay(path, Duration::from_secs(600));
    }
    let (runs, mut started) = tokio::sync::mpsc::unbounded_channel();
    bench.engine.on_event(move |event| {
        if matches!(event.event, Event::RunStarted { .. }) {
            let _ = runs.send(event.run.clone());
        }
    });
    bench.engine.follow_folders();
    bench.engine.watch_folder(&docs()).await.unwrap();
    let run = started.recv().await.unwrap();
    bench.engine.cancel(&run);
    stands(&bench, WatchState::Following).await;
    assert_eq!(standing(&bench).await.1, 0, "it is not taken for done");
    bench.parser.delay("/docs/a.txt", Duration::ZERO);
    bench.parser.put("/docs/b.txt", "Marker WOMBAT was here.");
    look_is_over(&bench, 1).await;
    assert_eq!(
        paths(&bench).await,
        ["/docs/b.txt", "/docs/zz-1.txt"],
        "what was stopped does not begin again by itself"
    );
    bench.engine.close().await;
    bench.restart().await;
    bench.engine.follow_folders();
    bench
        .in_time("it is found after a start", async |bench| {
            bench.finds("QUOKKA").await
        })
        .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_tried_at_every_look_and_goes_with_its_file() {
    let bench = Bench::new().await;
    bench.parser.put("/docs/bad.txt", "x");
    bench.parser.fail("/docs/bad.txt", down("the reader"));
    bench.engine.follow_folders();
    bench.engine.watch_folder(&docs()).await.unwrap();
    stands(&bench, WatchState::Following).await;
    assert_eq!(documents(&bench).await[0].state, DocumentState::Failed);
    let inspected = bench.parser.inspected();
    look_is_over(&bench, 1).await;
    assert_eq!(
        bench.parser.inspected(),
        inspected + 1,
        "only the new file is read"
    );
    bench.parser.remove("/docs/bad.txt");
    bench.watcher.touch("/docs/bad.txt");
    bench
        .in_time("its document is gone", async |bench| {
            paths(bench).await == ["/docs/zz-1.txt"]
        })
        .await;
}

#[tokio::test]
async fn only_a_folder_that_is_there_can_be_followed() {
    let bench = Bench::new().await;
    bench.parser.put("/docs/a.txt", "One.");
    for (path, collection, code) in [
        ("/nowhere", "default", ErrorCode::NotFound),
        ("/docs/a.txt", "default", ErrorCode::NotFound),
        ("docs", "default", ErrorCode::InvalidRequest),
        ("/docs", " ", ErrorCode::InvalidRequest),
    ] {
        let request = WatchFolderRequest {
            path: path.to_owned(),
            collection: collection.into(),
        };
        let error = bench.engine.watch_folder(&request).await.unwrap_err();
        assert_eq!(error.code, code, "{path} {collection}");
    }
    for path in ["/docs", "/docs/"] {
        let request = WatchFolderRequest {
            path: path.to_owned(),
            ..docs()
        };
        bench.engine.watch_folder(&request).await.unwrap();
    }
    assert_eq!(
        bench.engine.list_watched().await.unwrap().len(),
        1,
        "once is enough"
    );
}
