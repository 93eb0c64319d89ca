//! `adrag search`: finds passages.

use super::args::SearchArgs;
use super::exit::{Ended, Exit};
use super::known_collection;
use super::lines::lines;
use super::output::Output;
use adrag_contract::{SearchHit, Store};
use adrag_core::Engine;
use adrag_core::engine::SearchRequest;

/// Runs the command.
pub async fn search(args: &SearchArgs, engine: &Engine, output: &Output) -> Ended {
    let collection = known_collection(engine, args.collection.as_deref()).await?;
    let request = |question: &str| SearchRequest {
        question: question.to_owned(),
        stores: args.store.stores(),
        rerank: args.reranked(),
        top: args.top as usize,
        collection: collection.clone(),
    };
    if let Some(file) = &args.file {
        for (_, question) in lines(file)? {
            output.json_line(&engine.search(request(&question)).await?)?;
        }
        return Ok(Exit::Done);
    }
    let reply = engine
        .search(request(args.question.as_deref().unwrap_or_default()))
        .await?;
    if output.json {
        output.json_line(&reply)?;
        return Ok(Exit::Done);
    }
    for (at, hit) in reply.hits.iter().enumerate() {
        output.text(&describe(at + 1, hit))?;
    }
    let reranked = reply.hits.iter().any(|hit| hit.rerank_score.is_some());
    if !reranked && !reply.hits.is_empty() && args.reranked() == Some(true) {
        output.note("note: nothing could rerank them, they stand in fused order; see `adrag doctor`");
    }
    output.note(&match reply.hits.len() {
        0 => "nothing was found".to_owned(),
        hits => format!("{hits} passages in {} ms", reply.took_ms),
    });
    Ok(Exit::Done)
}

fn describe(number: usize, hit: &SearchHit) -> String {
    let page = hit.page.map(|page| format!(", page {page}")).unwrap_or_default();
    let stores: Vec<&str> = hit.stores.iter().copied().map(Store::as_str).collect();
    let rerank = hit
        .rerank_score
        .map(|score| format!(", rerank {score:.3}"))
        .unwrap_or_default();
    format!(
        "{number}. {}{page}  ({}; score {:.4}{rerank})\n{}\n",
        hit.path,
        stores.join(", "),
        hit.score,
        indent(&hit.text)
    )
}

/// The text on indented lines, with empty ones left out.
pub fn indent(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(|line| format!("   {line}"))
        .collect();
    lines.join("\n")
}
