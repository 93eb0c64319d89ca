//! The numbers of searching, cutting and answering, each with its default and a way back.

use crate::components::field::{NumberField, TextField, Toggle};
use crate::state::use_app;
use adrag_contract::{AnswerSettings, ChunkingSettings, Fusion, JUDGE, RetrievalSettings, Settings};
use leptos::prelude::*;

const MEGABYTE: f64 = 1_048_576.0;

fn number(read: fn(&Settings) -> f64) -> Signal<f64> {
    let settings = use_app().preferences.settings;
    Signal::derive(move || settings.with(read))
}

fn on(read: fn(&Settings) -> bool) -> Signal<bool> {
    let settings = use_app().preferences.settings;
    Signal::derive(move || settings.with(read))
}

fn text(read: fn(&Settings) -> String) -> Signal<String> {
    let settings = use_app().preferences.settings;
    Signal::derive(move || settings.with(read))
}

/// The ids of models offered; any other of the list of models may be typed.
fn models(ids: &[&str]) -> Signal<Vec<String>> {
    Signal::stored(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn write<T: 'static>(apply: fn(&mut Settings, T)) -> Callback<T> {
    let preferences = use_app().preferences;
    Callback::new(move |value: T| preferences.change(|settings| apply(settings, value)))
}

/// The judge, where a field was left empty.
fn filled(model: String) -> String {
    if model.is_empty() { JUDGE.to_owned() } else { model }
}

/// How documents are searched and cut.
#[component]
pub fn Retrieval() -> impl IntoView {
    let default = RetrievalSettings::default();
    let cut = ChunkingSettings::default();
    view! {
        <section class="card">
            <header class="card-head"><h2>"Stores"</h2></header>
            <div class="card-fields">
                <Toggle id="vector" label="Vectors" about="Finds what means the same in other words." value=on(|all| all.retrieval.vector) change=write(|all, value| all.retrieval.vector = value) />
                <Toggle id="keyword" label="Words" about="Finds exact words, names and numbers." value=on(|all| all.retrieval.keyword) change=write(|all, value| all.retrieval.keyword = value) />
                <Toggle id="graph" label="Graph" about="Finds passages that share people, places and things." value=on(|all| all.retrieval.graph) change=write(|all, value| all.retrieval.graph = value) />
                <Toggle id="decompose" label="Divide questions" about="A question that asks for several things is searched for one by one." value=on(|all| all.retrieval.decompose) change=write(|all, value| all.retrieval.decompose = value) />
                <NumberField id="per-store" label="Hits per store" about="Asked of each store." value=number(|all| f64::from(all.retrieval.per_store))
                    default=f64::from(default.per_store) bounds=(1.0, 200.0) change=write(|all, value| all.retrieval.per_store = value as u32) />
                <NumberField id="store-timeout" label="Wait for a store" about="Milliseconds; then the others answer alone." value=number(|all| all.retrieval.store_timeout_ms as f64)
                    default=default.store_timeout_ms as f64 bounds=(100.0, 120_000.0) step=100.0 change=write(|all, value| all.retrieval.store_timeout_ms = value as u64) />
            </div>
        </section>
        <section class="card">
            <header class="card-head"><h2>"Ranking"</h2></header>
            <div class="card-fields">
                <Toggle id="convex" label="Mix by scores" about="Instead of by ranks: each store's scores are scaled and weighed." value=on(|all| all.retrieval.fusion == Fusion::Convex)
                    change=write(|all, value| all.retrieval.fusion = if value { Fusion::Convex } else { Fusion::Rrf }) />
                <NumberField id="weight-vector" label="Weight of vectors" about="0 leaves this store out of the mix." value=number(|all| f64::from(all.retrieval.weights.vector))
                    default=f64::from(default.weights.vector) bounds=(0.0, 10.0) step=0.1 change=write(|all, value| all.retrieval.weights.vector = value as f32) />
                <NumberField id="weight-keyword" label="Weight of words" about="0 leaves this store out of the mix." value=number(|all| f64::from(all.retrieval.weights.keyword))
                    default=f64::from(default.weights.keyword) bounds=(0.0, 10.0) step=0.1 change=write(|all, value| all.retrieval.weights.keyword = value as f32) />
                <NumberField id="weight-graph" label="Weight of the graph" about="0 leaves this store out of the mix." value=number(|all| f64::from(all.retrieval.weights.graph))
                    default=f64::from(default.weights.graph) bounds=(0.0, 10.0) step=0.1 change=write(|all, value| all.retrieval.weights.graph = value as f32) />
                <NumberField id="rrf-k" label="Fusion constant" about="Larger values weigh first places less." value=number(|all| f64::from(all.retrieval.rrf_k))
                    default=f64::from(default.rrf_k) bounds=(1.0, 1_000.0) change=write(|all, value| all.retrieval.rrf_k = value as f32) />
                <Toggle id="rerank" label="Rerank" about="Reads each candidate against the question." value=on(|all| all.retrieval.rerank) change=write(|all, value| all.retrieval.rerank = value) />
                <TextField id="reranker" label="Reranker" about="Model that reads them; from the next start on." value=text(|all| all.retrieval.reranker.clone())
                    choices=models(&[JUDGE, "ms-marco-MiniLM-L-6-v2", "embedder"]) change=write(|all, value| all.retrieval.reranker = filled(value)) />
                <NumberField id="pool" label="Candidates" about="Passages the reranker reads." value=number(|all| f64::from(all.retrieval.pool))
                    default=f64::from(default.pool) bounds=(1.0, 200.0) change=write(|all, value| all.retrieval.pool = value as u32) />
                <NumberField id="rerank-weight" label="Weight of the reranker" about="0 keeps the fused order, 1 takes the reranker's." value=number(|all| f64::from(all.retrieval.rerank_weight))
                    default=f64::from(default.rerank_weight) bounds=(0.0, 1.0) step=0.05 change=write(|all, value| all.retrieval.rerank_weight = value as f32) />
                <NumberField id="keep" label="Passages kept" about="Read for the answer." value=number(|all| f64::from(all.retrieval.keep))
                    default=f64::from(default.keep) bounds=(1.0, 50.0) change=write(|all, value| all.retrieval.keep = value as u32) />
                <NumberField id="per-document" label="Per document" about="Most passages of one document among them." value=number(|all| f64::from(all.retrieval.per_document))
                    default=f64::from(default.per_document) bounds=(1.0, 50.0) change=write(|all, value| all.retrieval.per_document = value as u32) />
            </div>
        </section>
        <section class="card">
            <header class="card-head"><div class="card-words"><h2>"Cutting"</h2><p class="quiet">"Holds for documents added from now on."</p></div></header>
            <div class="card-fields">
                <NumberField id="chunk-tokens" label="Tokens of a chunk" about="With its heading; at most what the embedder reads." value=number(|all| f64::from(all.chunking.max_tokens))
                    default=f64::from(cut.max_tokens) bounds=(32.0, 512.0) change=write(|all, value| all.chunking.max_tokens = value as u32) />
                <NumberField id="chunk-overlap" label="Overlap" about="Tokens repeated from the chunk before." value=number(|all| f64::from(all.chunking.overlap_tokens))
                    default=f64::from(cut.overlap_tokens) bounds=(0.0, 128.0) change=write(|all, value| all.chunking.overlap_tokens = value as u32) />
                <NumberField id="largest-file" label="Largest file" about="Megabytes; a larger one is refused." value=number(|all| all.ingest.max_file_bytes as f64 / MEGABYTE)
                    default=50.0 bounds=(1.0, 50.0) change=write(|all, value| all.ingest.max_file_bytes = (value * MEGABYTE) as u64) />
            </div>
        </section>
    }
}

/// How answers are made.
#[component]
pub fn Answers() -> impl IntoView {
    let default = AnswerSettings::default();
    view! {
        <section class="card">
            <header class="card-head"><h2>"Writing"</h2></header>
            <div class="card-fields">
                <NumberField id="context" label="Evidence in the prompt" about="Most model tokens." value=number(|all| f64::from(all.answer.context_tokens))
                    default=f64::from(default.context_tokens) bounds=(200.0, 100_000.0) step=100.0 change=write(|all, value| all.answer.context_tokens = value as u32) />
                <NumberField id="quotes" label="Quoted sentences" about="Most sentences of an answer without a language model." value=number(|all| f64::from(all.answer.quotes))
                    default=f64::from(default.quotes) bounds=(1.0, 20.0) change=write(|all, value| all.answer.quotes = value as u32) />
            </div>
        </section>
        <section class="card">
            <header class="card-head"><h2>"Checking"</h2></header>
            <div class="card-fields">
                <TextField id="checker" label="Checker" about="Model that checks every sentence; from the next start on." value=text(|all| all.answer.checker.clone())
                    choices=models(&[JUDGE, "nli-deberta-v3-base"]) change=write(|all, value| all.answer.checker = filled(value)) />
                <NumberField id="abstain-below" label="Say nothing below" about="Probability that the documents answer, below which the answer is that they do not say." value=number(|all| f64::from(all.answer.abstain_below))
                    default=f64::from(default.abstain_below) bounds=(0.0, 1.0) step=0.05 change=write(|all, value| all.answer.abstain_below = value as f32) />
                <Toggle id="critic" label="Critic" about="A language model checks the answer besides the local check." value=on(|all| all.answer.critic) change=write(|all, value| all.answer.critic = value) />
                <NumberField id="passes" label="Passes" about="Most tries at one question; a further one searches for what was missing." value=number(|all| f64::from(all.answer.passes))
                    default=f64::from(default.passes) bounds=(1.0, 5.0) change=write(|all, value| all.answer.passes = value as u32) />
            </div>
        </section>
        <section class="card">
            <header class="card-head"><h2>"Bounds"</h2></header>
            <div class="card-fields">
                <NumberField id="llm-calls" label="Model calls" about="Most calls of the language model for one question." value=number(|all| f64::from(all.answer.llm_calls))
                    default=f64::from(default.llm_calls) bounds=(1.0, 50.0) change=write(|all, value| all.answer.llm_calls = value as u32) />
                <NumberField id="llm-tokens" label="Tokens" about="Most tokens it reads and writes for one question; 0 for no limit." value=number(|all| all.answer.llm_tokens as f64)
                    default=default.llm_tokens as f64 bounds=(0.0, 10_000_000.0) step=1_000.0 change=write(|all, value| all.answer.llm_tokens = value as u64) />
                <NumberField id="run-timeout" label="Time" about="Most seconds for one question." value=number(|all| all.answer.run_timeout_s as f64)
                    default=default.run_timeout_s as f64 bounds=(5.0, 3_600.0) change=write(|all, value| all.answer.run_timeout_s = value as u64) />
            </div>
        </section>
    }
}
