//! Every setting with its default: what is absent in a stored file is the default, so old files keep working.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An engine that can write an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineId {
    /// No language model: verbatim sentences of the documents, cited.
    #[default]
    Quotes,
    /// OpenAI or any server that speaks its protocol.
    Openai,
    /// An Ollama server.
    Ollama,
    /// A `llama-server` that the program starts itself.
    Local,
}

impl EngineId {
    /// Every engine, in the order shown.
    pub const ALL: [Self; 4] = [Self::Quotes, Self::Openai, Self::Ollama, Self::Local];

    /// Name on the wire and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Openai => "openai",
            Self::Ollama => "ollama",
            Self::Local => "local",
        }
    }

    /// Name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Quotes => "Quotes",
            Self::Openai => "OpenAI-compatible",
            Self::Ollama => "Ollama",
            Self::Local => "Local model",
        }
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for EngineId {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.as_str() == name)
            .ok_or_else(|| format!("unknown engine `{name}`: one of quotes, openai, ollama, local"))
    }
}

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The engine used when a question names none.
    pub engine: EngineId,
    /// OpenAI-compatible servers.
    pub openai: OpenaiSettings,
    /// Ollama.
    pub ollama: OllamaSettings,
    /// The program's own `llama-server`.
    pub local: LocalSettings,
    /// How documents are searched.
    pub retrieval: RetrievalSettings,
    /// How answers are made.
    pub answer: AnswerSettings,
    /// How documents are cut.
    pub chunking: ChunkingSettings,
    /// Where vectors live. Takes effect at the next start.
    pub vector_store: VectorStoreSettings,
    /// Searching the web.
    pub web: WebSettings,
    /// How files are taken in.
    pub ingest: IngestSettings,
    /// How the window looks.
    pub theme: Theme,
}

/// An OpenAI-compatible server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenaiSettings {
    /// Base URL, up to and including the version segment.
    pub base_url: String,
    /// Model name.
    pub model: String,
    /// Organisation, if the account has several.
    pub organisation: Option<String>,
    /// Longest silence of the server before the run gives up, seconds.
    pub timeout_s: u64,
    /// Tries after a rate limit or a server fault.
    pub retries: u32,
}

impl Default for OpenaiSettings {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "gpt-4o-mini".to_owned(),
            organisation: None,
            timeout_s: 60,
            retries: 2,
        }
    }
}

/// An Ollama server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OllamaSettings {
    /// Base URL of the server.
    pub base_url: String,
    /// Model name; the server's first when empty.
    pub model: String,
    /// Context window asked for, tokens.
    pub num_ctx: u32,
    /// Longest silence of the server before the run gives up, seconds.
    pub timeout_s: u64,
    /// Tries after a server fault.
    pub retries: u32,
}

impl Default for OllamaSettings {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:11434".to_owned(),
            model: String::new(),
            num_ctx: 8192,
            timeout_s: 120,
            retries: 2,
        }
    }
}

/// The program's own `llama-server`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalSettings {
    /// The `llama-server` program; searched on PATH when absent.
    pub binary: Option<String>,
    /// The GGUF file.
    pub model_file: Option<String>,
    /// Context window, tokens.
    pub context_tokens: u32,
    /// Threads; 0 lets the server choose.
    pub threads: u32,
    /// Longest wait for the server to load the model, seconds.
    pub start_timeout_s: u64,
    /// Longest silence of the server before the run gives up, seconds.
    pub timeout_s: u64,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self {
            binary: None,
            model_file: None,
            context_tokens: 4096,
            threads: 0,
            start_timeout_s: 120,
            timeout_s: 120,
        }
    }
}

/// How documents are searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetrievalSettings {
    /// Hits asked of each store.
    pub per_store: u32,
    /// How the stores' lists become one.
    pub fusion: Fusion,
    /// How much each store's list counts.
    pub weights: StoreWeights,
    /// Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009: 60), ranks 1-based.
    pub rrf_k: f32,
    /// What reranks: id of a model, or `embedder` for the embedder's best sentence. Takes effect at the next start.
    pub reranker: String,
    /// Fused candidates that the reranker scores.
    pub pool: u32,
    /// Passages kept for the answer.
    pub keep: u32,
    /// Most passages of one document among those kept.
    pub per_document: u32,
    /// Whether the pool is reranked.
    pub rerank: bool,
    /// Share of the reranker's probability in the blend with the fused score, 0 to 1.
    pub rerank_weight: f32,
    /// Longest wait for one store, milliseconds.
    pub store_timeout_ms: u64,
    /// Whether vectors are searched.
    pub vector: bool,
    /// Whether words are searched.
    pub keyword: bool,
    /// Whether the entity graph is searched.
    pub graph: bool,
    /// Whether rules cut a question that plainly asks for several things into one search each.
    pub decompose: bool,
}

impl Default for RetrievalSettings {
    fn default() -> Self {
        Self {
            per_store: 30,
            fusion: Fusion::Rrf,
            weights: StoreWeights::default(),
            rrf_k: 60.0,
            reranker: JUDGE.to_owned(),
            pool: 30,
            keep: 6,
            per_document: 3,
            rerank: true,
            rerank_weight: 0.15,
            store_timeout_ms: 10_000,
            vector: true,
            keyword: true,
            graph: true,
            decompose: true,
        }
    }
}

/// How the stores' lists become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// By ranks: reciprocal rank fusion.
    #[default]
    Rrf,
    /// By scores: each list scaled to 0 to 1, then their weighted mean.
    Convex,
}

/// How much each store's list counts in the fusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoreWeights {
    /// Vectors.
    pub vector: f32,
    /// Words.
    pub keyword: f32,
    /// The entity graph names passages about the same things, not passages that answer: a second opinion.
    pub graph: f32,
    /// The web.
    pub web: f32,
}

impl Default for StoreWeights {
    fn default() -> Self {
        Self {
            vector: 1.0,
            keyword: 1.0,
            graph: 0.4,
            web: 1.0,
        }
    }
}

impl StoreWeights {
    /// The weight of a store; never negative.
    pub fn of(&self, store: crate::Store) -> f32 {
        match store {
            crate::Store::Vector => self.vector,
            crate::Store::Keyword => self.keyword,
            crate::Store::Graph => self.graph,
            crate::Store::Web => self.web,
        }
        .max(0.0)
    }
}

/// Id of our own judge: it reranks and checks unless another model is chosen.
pub const JUDGE: &str = "adrag-judge";

/// How answers are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnswerSettings {
    /// Most model tokens of evidence in the prompt.
    pub context_tokens: u32,
    /// Most passes over the stages.
    pub passes: u32,
    /// Most calls of the language model in one run.
    pub llm_calls: u32,
    /// Most tokens the language model may read and write in one run; 0 for no limit.
    pub llm_tokens: u64,
    /// Longest run, seconds.
    pub run_timeout_s: u64,
    /// Sentences of an answer of the `quotes` engine, at most.
    pub quotes: u32,
    /// What checks the sentences of an answer: id of a model. Takes effect at the next start.
    pub checker: String,
    /// The program says "the documents do not say" when the probability that they answer is below this, 0 to 1; 0 never.
    pub abstain_below: f32,
    /// Whether a language model checks the answer besides the local check.
    pub critic: bool,
}

impl Default for AnswerSettings {
    fn default() -> Self {
        Self {
            context_tokens: 2_000,
            passes: 2,
            llm_calls: 8,
            llm_tokens: 60_000,
            run_timeout_s: 300,
            quotes: 4,
            checker: JUDGE.to_owned(),
            abstain_below: 0.43,
            critic: true,
        }
    }
}

/// How documents are cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChunkingSettings {
    /// Most model tokens of a chunk with its header; never above what the embedder reads.
    pub max_tokens: u32,
    /// Tokens of the previous chunk repeated at the start of the next, at most.
    pub overlap_tokens: u32,
}

impl Default for ChunkingSettings {
    fn default() -> Self {
        Self {
            max_tokens: 200,
            overlap_tokens: 24,
        }
    }
}

/// Where vectors live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum VectorStoreSettings {
    /// Qdrant's engine inside the program.
    #[default]
    Embedded,
    /// The official `qdrant` program, started and stopped by ours.
    Sidecar {
        /// The program; searched on PATH when absent.
        binary: Option<String>,
    },
    /// A Qdrant server elsewhere; its key is in the keychain.
    Remote {
        /// URL of its gRPC port.
        url: String,
    },
}

/// Searching the web. Off unless the person switches it on: their words leave the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebSettings {
    /// Whether the web may be searched at all; a question may still leave it out.
    pub enabled: bool,
    /// Provider ids in order of preference: `duckduckgo`, `wikipedia`, `searxng`.
    pub providers: Vec<String>,
    /// Address of a SearXNG instance of one's own; needed by `searxng`.
    pub searxng_url: Option<String>,
    /// Pages taken from a search, at most.
    pub results: u32,
    /// Whether a pass whose documents do not answer may go to the web by itself.
    pub escalate: bool,
    /// Longest wait for one provider, milliseconds.
    pub timeout_ms: u64,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            providers: vec!["duckduckgo".to_owned(), "wikipedia".to_owned()],
            searxng_url: None,
            results: 8,
            escalate: true,
            timeout_ms: 5_000,
        }
    }
}

/// How files are taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IngestSettings {
    /// Largest file taken in, in bytes; at most [`LARGEST_FILE_BYTES`].
    pub max_file_bytes: u64,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            max_file_bytes: LARGEST_FILE_BYTES,
        }
    }
}

/// No larger file is read, whatever the setting.
pub const LARGEST_FILE_BYTES: u64 = 52_428_800;

/// How the window looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Which key of the keychain is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyName {
    /// Key of the OpenAI-compatible server.
    Openai,
    /// Key of the remote Qdrant server.
    Qdrant,
}

impl KeyName {
    /// Name in the keychain.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Qdrant => "qdrant",
        }
    }
}

/// What may be known of a key outside the keychain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyStatus {
    /// The key.
    pub name: KeyName,
    /// Whether one is stored.
    pub stored: bool,
    /// Its last four characters, when it is long enough for that to be safe.
    pub last_four: Option<String>,
    /// True when there is no keychain and the key is kept in memory until the program ends.
    pub session_only: bool,
}

/// How an engine is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineStatus {
    /// The engine.
    pub engine: EngineId,
    /// Whether it could answer now.
    pub available: bool,
    /// The model it would use.
    pub model: Option<String>,
    /// Models it offers, as it says itself.
    pub models: Vec<String>,
    /// Version or address worth showing.
    pub about: Option<String>,
    /// Why it is not available.
    pub error: Option<crate::AppError>,
    /// How long the probe took, milliseconds.
    pub took_ms: u64,
}
