//! JSON out of what a language model says: the whole reply, a fenced block in it, or the first object that parses.

use serde_json::{Map, Value};

/// The first JSON object of a reply, wherever it stands.
pub(super) fn object(reply: &str) -> Option<Map<String, Value>> {
    let whole = serde_json::from_str::<Value>(reply.trim()).ok();
    whole.and_then(into_object).or_else(|| {
        reply
            .match_indices('{')
            .take(64)
            .find_map(|(at, _)| {
                let mut values = serde_json::Deserializer::from_str(&reply[at..]).into_iter::<Value>();
                values.next()?.ok()
            })
            .and_then(into_object)
    })
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

/// A truth value, also as a word: "false" is false. Anything else is not one.
pub(super) fn truth(map: &Map<String, Value>, key: &str) -> Option<bool> {
    match map.get(key)? {
        Value::Bool(value) => Some(*value),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A text, trimmed and not empty.
pub(super) fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The texts of a list (or a single text), trimmed, not empty, at most `most` of them.
pub(super) fn texts(map: &Map<String, Value>, key: &str, most: usize) -> Vec<String> {
    let values = match map.get(key) {
        Some(Value::Array(values)) => values.as_slice(),
        Some(single @ Value::String(_)) => std::slice::from_ref(single),
        _ => &[],
    };
    values
        .iter()
        .filter_map(Value::as_str)
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .take(most)
        .map(str::to_owned)
        .collect()
}

/// A number between 0 and 1, also as a text.
pub(super) fn share(map: &Map<String, Value>, key: &str) -> Option<f32> {
    let value = match map.get(key)? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
    let share = value as f32;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_object_is_found_alone_fenced_and_among_words() {
        for reply in [
            "{\"a\": 1}",
            "```json\n{\"a\": 1}\n```",
            "Sure! {\"a\": 1} and {\"b\": 2}",
            "{oops {\"a\": 1}",
        ] {
            assert_eq!(object(reply).unwrap()["a"], 1, "{reply}");
        }
        assert_eq!(object("{\"a\": 1"), None);
        assert_eq!(object("[1]"), None);
    }

    #[test]
    fn words_for_truth_are_read_honestly() {
        let map = object(r#"{"a":"false","b":true,"c":1,"d":"maybe"}"#).unwrap();
        assert_eq!(truth(&map, "a"), Some(false));
        assert_eq!(truth(&map, "b"), Some(true));
        assert_eq!(truth(&map, "c"), None);
        assert_eq!(truth(&map, "d"), None);
    }

    #[test]
    fn a_share_outside_its_range_is_none() {
        let map = object(r#"{"a":"0.5","b":-1,"c":7}"#).unwrap();
        assert_eq!(share(&map, "a"), Some(0.5));
        assert_eq!(share(&map, "b"), None);
        assert_eq!(share(&map, "c"), None);
    }
}
