//! The shapes in which the source system tells of documents, counts and providers.

use adrag_contract::{DocumentInfo, EngineId, EngineStatus, Settings, StoreCounts};
use serde_json::{Value, json};

/// Counts, as the list of documents gives them.
pub fn counts(stores: &StoreCounts) -> Value {
    json!({
        "vector_count": stores.vector.points, "bm25_count": stores.keyword.chunks, "graph": graph(stores),
    })
}

/// The same counts, as uploading and deleting give them.
pub fn totals(stores: &StoreCounts) -> Value {
    json!({
        "vector_total": stores.vector.points, "bm25_total": stores.keyword.chunks, "graph": graph(stores),
    })
}

fn graph(stores: &StoreCounts) -> Value {
    json!({
        "documents": stores.graph.chunks, "entities": stores.graph.entities, "edges": stores.graph.edges,
    })
}

/// A document. Entities and edges are those of the whole graph: that is what the source system gives for edges, and
/// the graph keeps no count a document.
pub fn knowledge_base(document: &DocumentInfo, stores: &StoreCounts) -> Value {
    json!({
        "id": document.id, "name": file_name(&document.path), "uploaded_at": iso(document.updated_at_ms),
        "chunks": document.chunks, "vectors": document.chunks,
        "entities": stores.graph.entities, "edges": stores.graph.edges,
    })
}

/// The two providers it knows.
pub fn providers(engines: &[EngineStatus], settings: &Settings) -> Value {
    let provider = |engine: EngineId, model: &str| {
        let status = engines.iter().find(|status| status.engine == engine);
        json!({
            "id": engine, "label": engine.label(),
            "model": status.and_then(|status| status.model.as_deref()).unwrap_or(model),
            "available": status.is_some_and(|status| status.available),
            "models": status.map(|status| status.models.as_slice()).unwrap_or_default(),
        })
    };
    let mut ollama = provider(EngineId::Ollama, &settings.ollama.model);
    ollama["base_url"] = json!(settings.ollama.base_url);
    let default = match settings.engine {
        EngineId::Ollama => EngineId::Ollama,
        EngineId::Openai | EngineId::Quotes | EngineId::Local => EngineId::Openai,
    };
    json!({
        "providers": [provider(EngineId::Openai, &settings.openai.model), ollama], "default": default,
    })
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Milliseconds since the Unix epoch in the form of ISO 8601, UTC.
///
/// The date is counted in years that begin in March, as in Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
fn iso(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let since = days + 719_468;
    let (era, day_of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (
        day_of_year - (153 * shifted + 2) / 5 + 1,
        if shifted < 10 { shifted + 3 } else { shifted - 9 },
    );
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}+00:00",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        for (at, date) in [
            (0, "1970-01-01T00:00:00+00:00"),
            (951_782_400_000, "2000-02-29T00:00:00+00:00"),
            (1_764_597_599_999, "2025-12-01T13:59:59+00:00"),
            (-1, "1969-12-31T23:59:59+00:00"),
        ] {
            assert_eq!(iso(at), date);
        }
    }
}
