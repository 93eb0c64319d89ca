//! `adrag doctor`: what is there, what is wrong, what to do.

use super::exit::{Ended, Exit};
use super::output::Output;
use adrag_contract::{AppError, DoctorReport, EngineStatus, ErrorCode};
use adrag_core::Engine;
use std::fmt::Write;

/// Runs the command.
pub async fn doctor(engine: &Engine, output: &Output) -> Ended {
    let report = engine.doctor().await;
    if output.json {
        output.json_line(&report)?;
    } else {
        output.text(&describe(&report))?;
    }
    Ok(if is_usable(&report) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Without a model or a store the program still serves; without its folder it does not.
fn is_usable(report: &DoctorReport) -> bool {
    let fatal = |error: &AppError| {
        matches!(
            error.code,
            ErrorCode::DataFolderInUse | ErrorCode::Disk | ErrorCode::Internal
        )
    };
    !report.problems.iter().any(fatal)
}

fn describe(report: &DoctorReport) -> String {
    let mut text = format!("adRAG {}\nData    {}\n", report.version, report.data_dir);
    let stores = &report.stores;
    let mut line = |what: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what:<8}{value}");
    };
    line(
        "Library",
        format!(
            "{} documents, {} ready, {} chunks",
            stores.catalogue.documents, stores.catalogue.ready, stores.catalogue.chunks
        ),
    );
    line(
        "Stores",
        format!(
            "vector {} points, keyword {} chunks, graph {} chunks, {} entities, {} edges",
            stores.vector.points,
            stores.keyword.chunks,
            stores.graph.chunks,
            stores.graph.entities,
            stores.graph.edges
        ),
    );
    for model in &report.models {
        let state = if model.usable { "ok" } else { "missing" };
        line(
            "Model",
            format!("{} {}: {state} ({})", model.role, model.name, model.path),
        );
    }
    for engine in &report.engines {
        line("Engine", describe_engine(engine));
    }
    for repaired in &report.repaired {
        line("Mended", repaired.clone());
    }
    if report.problems.is_empty() {
        line("", "Nothing is wrong".to_owned());
    }
    for problem in &report.problems {
        line("Problem", problem.message.clone());
        if let Some(hint) = &problem.hint {
            line("  do", hint.clone());
        }
    }
    text.trim_end().to_owned()
}

fn describe_engine(engine: &EngineStatus) -> String {
    let model = engine
        .model
        .as_ref()
        .map(|model| format!(" {model}"))
        .unwrap_or_default();
    let state = match &engine.error {
        _ if engine.available => "available".to_owned(),
        Some(error) => error.to_string(),
        None => "not available".to_owned(),
    };
    format!("{}{model}: {state}", engine.engine.label())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::StoreCounts;

    fn report(problems: Vec<AppError>) -> DoctorReport {
        DoctorReport {
            version: "0".to_owned(),
            data_dir: "/d".to_owned(),
            models: vec![],
            stores: StoreCounts::default(),
            engines: vec![],
            repaired: vec![],
            problems,
        }
    }

    #[test]
    fn a_missing_model_is_named_with_what_to_do_and_is_no_failure() {
        let problem =
            AppError::new(ErrorCode::ModelMissing, "no embedder").with_hint("run `cargo xtask setup`");
        let report = report(vec![problem]);
        assert!(is_usable(&report));
        let text = describe(&report);
        assert!(
            text.contains("no embedder") && text.contains("cargo xtask setup"),
            "{text}"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_failure() {
        assert!(!is_usable(&report(vec![AppError::new(
            ErrorCode::Disk,
            "read-only"
        )])));
    }
}
