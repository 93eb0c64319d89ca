//! What must hold after every start: the catalogue and its three projections agree on what is there.

use std::collections::BTreeSet;

use serde_json::Value;

/// The faults in what `adrag documents` and `adrag doctor` say; `before` are the paths that were ready earlier.
pub fn check(documents: &Value, doctor: &Value, before: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let list = documents["documents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let ready: Vec<&Value> = list.iter().filter(|document| is_ready(document)).collect();
    for document in &ready {
        if document["chunks"].as_u64().unwrap_or(0) == 0 {
            faults.push(format!("{} is ready without a chunk", document["path"]));
        }
    }
    let expected: u64 = ready
        .iter()
        .filter_map(|document| document["chunks"].as_u64())
        .sum();
    let stores = &doctor["stores"];
    for (store, key) in [("vector", "points"), ("keyword", "chunks"), ("graph", "chunks")] {
        match stores[store][key].as_u64() {
            Some(count) if count == expected => {}
            Some(count) => faults.push(format!(
                "{store} holds {count} chunks, the ready documents have {expected}"
            )),
            None => faults.push(format!("doctor does not say what {store} holds")),
        }
    }
    match stores["catalogue"]["ready"].as_u64() {
        Some(count) if count == ready.len() as u64 => {}
        other => faults.push(format!(
            "the catalogue counts {other:?} ready documents, the list has {}",
            ready.len()
        )),
    }
    let now = ready_paths(documents);
    faults.extend(
        before
            .difference(&now)
            .map(|path| format!("`{path}` was ready and is not any more")),
    );
    faults
}

pub fn ready_paths(documents: &Value) -> BTreeSet<String> {
    let list = documents["documents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .filter(|document| is_ready(document))
        .filter_map(|document| document["path"].as_str().map(str::to_owned))
        .collect()
}

fn is_ready(document: &Value) -> bool {
    document["state"].as_str() == Some("ready")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn documents() -> Value {
        json!({"documents": [
            {"path": "a.md", "state": "ready", "chunks": 3},
            {"path": "b.md", "state": "queued", "chunks": 0},
        ]})
    }

    fn doctor(vector: u64, keyword: u64, graph: u64) -> Value {
        json!({"stores": {
            "vector": {"points": vector}, "keyword": {"chunks": keyword}, "graph": {"chunks": graph},
            "catalogue": {"documents": 2, "ready": 1, "chunks": 3},
        }})
    }

    #[test]
    fn stores_that_agree_are_sound() {
        assert_eq!(
            check(&documents(), &doctor(3, 3, 3), &BTreeSet::new()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_store_with_too_much_or_too_little_is_named() {
        let faults = check(&documents(), &doctor(3, 5, 0), &BTreeSet::new());
        assert_eq!(faults.len(), 2);
        assert!(faults[0].contains("keyword holds 5") && faults[1].contains("graph holds 0"));
    }

    #[test]
    fn a_document_that_was_ready_must_stay_ready() {
        let before = BTreeSet::from(["b.md".to_owned()]);
        assert!(check(&documents(), &doctor(3, 3, 3), &before)[0].contains("was ready"));
    }

    #[test]
    fn silence_of_the_doctor_is_a_fault() {
        assert!(!check(&documents(), &json!({}), &BTreeSet::new()).is_empty());
    }
}
