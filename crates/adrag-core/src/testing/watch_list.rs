//! A watch list in memory, and the promises every [`WatchList`] keeps.

use crate::ports::{FileStamp, Followed, KnownFile, PortResult, WatchList};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Debug, Default)]
struct Folder {
    disk: Option<u64>,
    files: BTreeMap<String, KnownFile>,
}

/// A [`WatchList`] that forgets everything when it is dropped.
#[derive(Debug, Default)]
pub struct FakeWatchList(Mutex<BTreeMap<Followed, Folder>>);

#[async_trait]
impl WatchList for FakeWatchList {
    async fn followed(&self) -> PortResult<Vec<(Followed, u64)>> {
        let folders = self.0.lock().unwrap();
        Ok(folders
            .iter()
            .map(|(folder, kept)| (folder.clone(), kept.files.len() as u64))
            .collect())
    }

    async fn add(&self, folder: &Followed) -> PortResult<()> {
        self.0.lock().unwrap().entry(folder.clone()).or_default();
        Ok(())
    }

    async fn remove(&self, folder: &Followed) -> PortResult<bool> {
        Ok(self.0.lock().unwrap().remove(folder).is_some())
    }

    async fn known(&self, folder: &Followed) -> PortResult<(Option<u64>, Vec<KnownFile>)> {
        let folders = self.0.lock().unwrap();
        Ok(folders.get(folder).map_or((None, Vec::new()), |kept| {
            (kept.disk, kept.files.values().cloned().collect())
        }))
    }

    async fn note(
        &self,
        folder: &Followed,
        disk: Option<u64>,
        seen: &[KnownFile],
        gone: &[String],
    ) -> PortResult<()> {
        if let Some(kept) = self.0.lock().unwrap().get_mut(folder) {
            kept.disk = disk;
            for path in gone {
                kept.files.remove(path);
            }
            for file in seen {
                kept.files.insert(file.path.clone(), file.clone());
            }
        }
        Ok(())
    }
}

fn folder(collection: &str, path: &str) -> Followed {
    Followed {
        collection: collection.into(),
        path: path.to_owned(),
    }
}

fn file(path: &str, modified_ns: i64, document: Option<&str>) -> KnownFile {
    KnownFile {
        path: path.to_owned(),
        stamp: FileStamp {
            bytes: 7,
            modified_ns,
        },
        document: document.map(Into::into),
    }
}

/// Every sentence of [`WatchList`] as a check. Takes an empty list.
pub async fn conformance(list: &dyn WatchList) {
    assert!(list.followed().await.unwrap().is_empty());
    let (one, other) = (folder("a", "/docs"), folder("b", "/docs"));
    list.add(&other).await.unwrap();
    list.add(&one).await.unwrap();
    assert_eq!(
        list.followed().await.unwrap(),
        [(one.clone(), 0), (other.clone(), 0)],
        "two collections may follow one folder"
    );
    assert_eq!(list.known(&one).await.unwrap(), (None, Vec::new()));

    // A time before 1970 and the largest number of a disk come back as they were.
    let seen = [
        file("/docs/b", -5, None),
        file("/docs/a", 1_700_000_000_123_456_789, Some("A")),
    ];
    list.note(&one, Some(u64::MAX), &seen, &[]).await.unwrap();
    assert_eq!(
        list.known(&one).await.unwrap(),
        (Some(u64::MAX), vec![seen[1].clone(), seen[0].clone()]),
        "by path"
    );
    assert_eq!(
        list.known(&other).await.unwrap(),
        (None, Vec::new()),
        "each for itself"
    );
    list.add(&one).await.unwrap();
    assert_eq!(
        list.followed().await.unwrap()[0].1,
        2,
        "followed again it stays as it is"
    );

    let touched = file("/docs/a", 9, Some("B"));
    let gone = ["/docs/b".to_owned(), "/docs/unknown".to_owned()];
    list.note(&one, None, std::slice::from_ref(&touched), &gone)
        .await
        .unwrap();
    assert_eq!(list.known(&one).await.unwrap(), (None, vec![touched.clone()]));

    assert!(list.remove(&one).await.unwrap());
    assert!(!list.remove(&one).await.unwrap(), "it is not followed any more");
    list.note(&one, Some(1), &[touched], &[]).await.unwrap();
    assert_eq!(list.known(&one).await.unwrap(), (None, Vec::new()));
    list.add(&one).await.unwrap();
    assert_eq!(
        list.known(&one).await.unwrap(),
        (None, Vec::new()),
        "its files were forgotten"
    );
    for folder in [one, other] {
        list.remove(&folder).await.unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_keeps_the_promises_of_the_port() {
        conformance(&FakeWatchList::default()).await;
    }
}
