//! Followed folders as the library tells of them.

use super::format;
use adrag_contract::{CollectionName, WatchState, WatchedFolder};

/// The folders of the collection shown, or all.
pub fn of_collection(all: &[WatchedFolder], chosen: Option<&CollectionName>) -> Vec<WatchedFolder> {
    all.iter()
        .filter(|folder| chosen.is_none_or(|name| folder.collection == *name))
        .cloned()
        .collect()
}

/// How it stands with a folder, in a few words.
pub fn words(folder: &WatchedFolder) -> String {
    match folder.state {
        WatchState::Waiting => "not looked at yet".to_owned(),
        WatchState::Following => format::counted(folder.files, "file", "files"),
        WatchState::Polled => format!(
            "{}, looked at every minute",
            format::counted(folder.files, "file", "files")
        ),
        WatchState::Missing => "not there; its documents stay".to_owned(),
        WatchState::Failed => "could not be looked at".to_owned(),
    }
}

/// Whether a person should look at it.
pub fn is_trouble(state: WatchState) -> bool {
    matches!(state, WatchState::Missing | WatchState::Failed)
}

/// Its name on the wire, for styles and tests.
pub fn state_name(state: WatchState) -> &'static str {
    match state {
        WatchState::Waiting => "waiting",
        WatchState::Following => "following",
        WatchState::Polled => "polled",
        WatchState::Missing => "missing",
        WatchState::Failed => "failed",
    }
}

/// The whole path, and why it stands as it does.
pub fn title(folder: &WatchedFolder) -> String {
    let path = format::plain(&folder.path);
    match &folder.reason {
        Some(reason) => format!("{path}\n{}", format::sentence(&format::plain(reason))),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(collection: &str, state: WatchState) -> WatchedFolder {
        WatchedFolder {
            path: "/a/docs".to_owned(),
            collection: collection.into(),
            state,
            reason: None,
            files: 12,
        }
    }

    #[test]
    fn a_collection_lists_its_own_folders() {
        let all = [
            folder("one", WatchState::Following),
            folder("two", WatchState::Following),
        ];
        assert_eq!(of_collection(&all, None).len(), 2);
        let two = of_collection(&all, Some(&"two".into()));
        assert_eq!(two, [all[1].clone()]);
        assert!(of_collection(&all, Some(&"three".into())).is_empty());
    }

    #[test]
    fn a_missing_folder_says_that_nothing_is_lost() {
        for (state, told, trouble) in [
            (WatchState::Waiting, "not looked at yet", false),
            (WatchState::Following, "12 files", false),
            (WatchState::Polled, "12 files, looked at every minute", false),
            (WatchState::Missing, "not there; its documents stay", true),
            (WatchState::Failed, "could not be looked at", true),
        ] {
            assert_eq!(words(&folder("one", state)), told);
            assert_eq!(is_trouble(state), trouble, "{state:?}");
            assert_eq!(serde_json::to_value(state).unwrap(), state_name(state));
        }
    }

    #[test]
    fn the_reason_stands_below_the_path() {
        let mut failed = folder("one", WatchState::Failed);
        assert_eq!(title(&failed), "/a/docs");
        failed.reason = Some("too many files".to_owned());
        assert_eq!(title(&failed), "/a/docs\nToo many files");
    }
}
