//! Whether the sources of an answer are still there. An answer keeps its words and its passages for good; a document
//! that was deleted since is marked on its citations, and the passage is shown as it was.

use super::reader::Reading;
use adrag_contract::{DocumentId, DocumentInfo};
use std::collections::HashSet;

/// The words on whatever points at a document that is gone.
pub const REMOVED: &str = "source removed";

/// What the source pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Nothing was asked for.
    Nothing,
    /// The passage is on its way.
    Loading,
    /// The passage in its document.
    Passage,
    /// A passage of the web, as it was found.
    Page,
    /// The passage alone: its document was deleted.
    Removed,
    /// Why the passage cannot be shown.
    Failure,
}

/// The documents there are; nothing before they were loaded.
pub fn known(documents: Option<&[DocumentInfo]>) -> Option<HashSet<DocumentId>> {
    documents.map(|all| all.iter().map(|document| document.id.clone()).collect())
}

/// True once it is certain that a document is not there (any more). A page of the web has no document to lose.
pub fn is_removed(known: Option<&HashSet<DocumentId>>, document: &DocumentId) -> bool {
    !document.as_str().is_empty() && known.is_some_and(|known| !known.contains(document))
}

/// What is shown of a passage whose document is there or not. A passage that only its document's new version lacks is a
/// failure with its own words.
pub fn sight(reading: &Reading, is_removed: bool) -> Sight {
    match reading {
        Reading::Nothing => Sight::Nothing,
        _ if is_removed => Sight::Removed,
        Reading::Loading => Sight::Loading,
        Reading::Shown(_) => Sight::Passage,
        Reading::Page => Sight::Page,
        Reading::Failed(_) => Sight::Failure,
    }
}

/// A citation for screen readers.
pub fn citation_name(n: u32, title: Option<&str>, is_removed: bool) -> String {
    let mut name = format!("Citation {n}");
    if let Some(title) = title {
        name.push_str(&format!(": {title}"));
    }
    if is_removed {
        name.push_str(&format!(", {REMOVED}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{AppError, DocumentState, ErrorCode};

    fn document(id: &str) -> DocumentInfo {
        DocumentInfo {
            id: id.into(),
            collection: "default".into(),
            path: format!("/{id}"),
            title: id.to_owned(),
            kind: "text".to_owned(),
            state: DocumentState::Ready,
            reason: None,
            bytes: 1,
            chars: 1,
            pages: None,
            chunks: 1,
            updated_at_ms: 0,
        }
    }

    #[test]
    fn nothing_is_called_removed_before_the_documents_are_known() {
        let loaded = known(Some(&[document("a")]));
        assert!(!is_removed(known(None).as_ref(), &"b".into()));
        assert!(is_removed(loaded.as_ref(), &"b".into()));
        assert!(!is_removed(loaded.as_ref(), &"a".into()));
        assert!(is_removed(known(Some(&[])).as_ref(), &"a".into()));
        assert!(!is_removed(loaded.as_ref(), &"".into()), "a page of the web");
    }

    #[test]
    fn a_deleted_source_is_no_error_and_a_replaced_passage_is_one() {
        let gone = Reading::Failed(AppError::new(ErrorCode::NotFound, "gone"));
        assert_eq!(sight(&gone, true), Sight::Removed);
        assert_eq!(sight(&gone, false), Sight::Failure);
        assert_eq!(sight(&Reading::Loading, true), Sight::Removed);
        assert_eq!(sight(&Reading::Loading, false), Sight::Loading);
        assert_eq!(
            sight(&Reading::Nothing, true),
            Sight::Nothing,
            "no passage was asked for"
        );
    }

    #[test]
    fn a_passage_that_is_being_read_is_marked_when_its_document_is_deleted() {
        let view = adrag_contract::PassageView {
            document: document("a"),
            pages: None,
            headings: Vec::new(),
            before: String::new(),
            passage: "p".to_owned(),
            after: String::new(),
        };
        let shown = Reading::Shown(Box::new(view));
        assert_eq!(sight(&shown, false), Sight::Passage);
        assert_eq!(sight(&shown, true), Sight::Removed);
    }

    #[test]
    fn screen_readers_hear_that_the_source_is_gone() {
        assert_eq!(citation_name(2, Some("Lease"), false), "Citation 2: Lease");
        assert_eq!(
            citation_name(2, Some("Lease"), true),
            "Citation 2: Lease, source removed"
        );
        assert_eq!(citation_name(3, None, false), "Citation 3");
    }
}
