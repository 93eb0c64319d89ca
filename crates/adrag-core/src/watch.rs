//! What changed below a followed folder: pure, from what is known and what is seen. The looking and the doing is in
//! [`crate::engine`].

use crate::ports::{FileStamp, KnownFile};
use adrag_contract::DocumentId;
use std::collections::{HashMap, HashSet};

/// A file as it is seen now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeenFile {
    /// Absolute path.
    pub path: String,
    /// Its size and time.
    pub stamp: FileStamp,
}

/// The difference between what is known and what is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// New files and those whose size or time differs, in the order seen.
    pub offered: Vec<SeenFile>,
    /// Known files that are not seen: gone, or out of sight.
    pub missing: Vec<KnownFile>,
}

/// Compares what is known with what is seen.
pub fn compare(known: &[KnownFile], seen: &[SeenFile]) -> Difference {
    let stamps: HashMap<&str, FileStamp> = known
        .iter()
        .map(|file| (file.path.as_str(), file.stamp))
        .collect();
    let paths: HashSet<&str> = seen.iter().map(|file| file.path.as_str()).collect();
    Difference {
        offered: seen
            .iter()
            .filter(|file| stamps.get(file.path.as_str()) != Some(&file.stamp))
            .cloned()
            .collect(),
        missing: known
            .iter()
            .filter(|file| !paths.contains(file.path.as_str()))
            .cloned()
            .collect(),
    }
}

/// True when an empty place stands where the folder was: it is on another disk than before and none of its files is
/// there. An unmounted disk leaves such a place.
pub fn is_unmounted(was: Option<u64>, is: Option<u64>, known: &[KnownFile], seen: &[SeenFile]) -> bool {
    let paths: HashSet<&str> = seen.iter().map(|file| file.path.as_str()).collect();
    was != is && !known.is_empty() && !known.iter().any(|file| paths.contains(file.path.as_str()))
}

/// Files that share a document with one that is gone. Two files of the same bytes are one document, which stands at the path
/// seen last: when that one goes, the document moves to the other.
pub fn copies_of(gone: &[KnownFile], known: &[KnownFile], seen: &[SeenFile]) -> Vec<SeenFile> {
    let documents: HashSet<&DocumentId> = gone.iter().filter_map(|file| file.document.as_ref()).collect();
    let sharing: HashSet<&str> = known
        .iter()
        .filter(|file| {
            file.document
                .as_ref()
                .is_some_and(|document| documents.contains(document))
        })
        .map(|file| file.path.as_str())
        .collect();
    seen.iter()
        .filter(|file| sharing.contains(file.path.as_str()))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified_ns: i64) -> FileStamp {
        FileStamp {
            bytes: 10,
            modified_ns,
        }
    }

    fn known(path: &str, modified_ns: i64, document: &str) -> KnownFile {
        KnownFile {
            path: path.to_owned(),
            stamp: stamp(modified_ns),
            document: Some(document.into()),
        }
    }

    fn seen(path: &str, modified_ns: i64) -> SeenFile {
        SeenFile {
            path: path.to_owned(),
            stamp: stamp(modified_ns),
        }
    }

    #[test]
    fn new_and_touched_files_are_offered_and_unseen_ones_are_missing() {
        let before = [known("/a", 1, "A"), known("/b", 1, "B"), known("/c", 1, "C")];
        let now = [seen("/b", 1), seen("/c", 2), seen("/d", 1)];
        let difference = compare(&before, &now);
        assert_eq!(difference.offered, [seen("/c", 2), seen("/d", 1)]);
        assert_eq!(difference.missing, [known("/a", 1, "A")]);
        let mut grown = seen("/b", 1);
        grown.stamp.bytes = 11;
        assert_eq!(
            compare(&before, &[grown.clone()]).offered,
            [grown],
            "a size is enough"
        );
        assert_eq!(compare(&[], &[]), Difference::default());
    }

    #[test]
    fn an_empty_place_on_another_disk_is_no_deletion_of_everything() {
        let before = [known("/a", 1, "A")];
        assert!(is_unmounted(Some(7), Some(1), &before, &[]));
        assert!(is_unmounted(Some(7), Some(1), &before, &[seen("/other", 1)]));
        assert!(!is_unmounted(Some(7), Some(7), &before, &[]), "emptied by hand");
        assert!(
            !is_unmounted(Some(7), Some(8), &before, &[seen("/a", 5)]),
            "mounted again under another number"
        );
        assert!(!is_unmounted(None, None, &before, &[]));
        assert!(!is_unmounted(None, Some(1), &[], &[]), "nothing was there yet");
    }

    #[test]
    fn the_copy_of_a_file_that_went_takes_its_document_over() {
        let before = [known("/a", 1, "A"), known("/copy", 1, "A"), known("/b", 1, "B")];
        let now = [seen("/a", 1), seen("/b", 1)];
        let gone = compare(&before, &now).missing;
        assert_eq!(copies_of(&gone, &before, &now), [seen("/a", 1)]);
        assert!(copies_of(&[], &before, &now).is_empty());
    }
}
