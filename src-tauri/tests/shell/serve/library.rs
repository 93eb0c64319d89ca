//! Documents over HTTP: what is uploaded is kept as long as a document needs it, and no longer.

use super::door::{BRIDGE, Door, filled};
use crate::program::Place;
use serde_json::json;
use std::path::PathBuf;

/// Every file under the folder of uploads.
fn uploads(place: &Place) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![place.data().join("uploads")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn an_upload_is_read_listed_found_and_removed_with_its_file() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let added = door
        .ask("POST", "/v1/documents")
        .file("bridge.md", BRIDGE.as_bytes())
        .send()
        .is(200);
    assert_eq!(added["documents"][0]["state"], "ready", "{added}");
    let listed = door.ask("GET", "/v1/documents").send().is(200);
    let document = &listed["documents"][0];
    assert_eq!(document["id"], added["documents"][0]["id"]);
    assert_eq!(
        uploads(&place),
        [PathBuf::from(document["path"].as_str().unwrap())]
    );
    let search = json!({ "question": "Vellmar span" });
    let found = door.ask("POST", "/v1/search").json(&search).send().is(200);
    assert!(!found["hits"].as_array().unwrap().is_empty());
    let path = format!("/v1/documents/{}", document["id"].as_str().unwrap());
    assert_eq!(door.ask("DELETE", &path).send().is(200)["deleted"], 1);
    assert_eq!(uploads(&place), Vec::<PathBuf>::new());
    door.ask("DELETE", &path).send().fault(404);
}

#[test]
fn the_same_bytes_under_another_name_take_the_place_of_the_first() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    for name in ["bridge.md", "bridge.md", "Brücke.md"] {
        door.ask("POST", "/v1/documents")
            .file(name, BRIDGE.as_bytes())
            .send()
            .is(200);
        assert_eq!(uploads(&place).len(), 1, "{name}");
    }
    let listed = door.ask("GET", "/v1/documents").send().is(200);
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1, "{listed}");
    assert!(
        listed["documents"][0]["path"]
            .as_str()
            .unwrap()
            .ends_with("Brücke.md")
    );
}

#[test]
fn a_name_that_climbs_out_stays_inside() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let outside = place.data().parent().unwrap().join("escaped.txt");
    for name in ["../../../escaped.txt", "..\\..\\escaped.txt", "/tmp/escaped.txt"] {
        door.ask("POST", "/v1/documents")
            .file(name, name.as_bytes())
            .send()
            .is(200);
    }
    assert!(!outside.exists());
    let files = uploads(&place);
    assert_eq!(files.len(), 3);
    assert!(
        files.iter().all(|file| file.ends_with("escaped.txt")),
        "{files:?}"
    );
}

#[test]
fn what_cannot_be_read_is_said_and_not_kept() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let broken = door
        .ask("POST", "/v1/documents")
        .file("a.pdf", b"%PDF-1.7\nno document")
        .send()
        .is(200);
    assert_eq!(broken["documents"][0]["state"], "failed", "{broken}");
    assert!(!broken["documents"][0]["reason"].as_str().unwrap().is_empty());
    assert_eq!(uploads(&place), Vec::<PathBuf>::new());
    let listed = door.ask("GET", "/v1/documents").send().is(200);
    assert_eq!(listed["documents"], json!([]));
}

#[test]
fn what_no_document_needs_is_removed_at_the_next_start() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    door.ask("POST", "/v1/documents")
        .file("bridge.md", BRIDGE.as_bytes())
        .send()
        .is(200);
    assert_eq!(door.terminate(), Some(0));
    std::fs::write(place.data().join("uploads/.part-1"), "half").unwrap();
    assert_eq!(uploads(&place).len(), 2);
    let door = Door::open(&place, &[]);
    assert_eq!(uploads(&place).len(), 1);
    drop(door);
    place.run(["delete", "--all", "--yes"]).exits(0);
    let _door = Door::open(&place, &[]);
    assert_eq!(uploads(&place), Vec::<PathBuf>::new());
}

#[test]
fn paths_of_this_machine_are_added_and_their_files_stay_when_all_is_cleared() {
    let place = Place::new();
    let file = place.write("bridge.md", BRIDGE);
    let door = Door::open(&place, &[]);
    let paths = json!({ "paths": [file], "collection": "works" });
    let added = door.ask("POST", "/v1/documents").json(&paths).send().is(200);
    assert_eq!(added["documents"][0]["state"], "ready", "{added}");
    let collections = door.ask("GET", "/v1/collections").send().is(200);
    assert_eq!(collections["collections"][0]["name"], "works");
    let cleared = door
        .ask("DELETE", "/v1/documents?collection=works")
        .send()
        .is(200);
    assert_eq!(cleared["deleted"], 1);
    assert!(file.exists());
}

#[test]
fn the_engines_are_listed() {
    let door_of = filled();
    let door = Door::open(&door_of, &[]);
    let providers = door.ask("GET", "/v1/providers").send().is(200);
    assert_eq!(providers["default"], "quotes");
    assert_eq!(providers["engines"].as_array().unwrap().len(), 4);
}
