//! What may be written on the command line. Names and defaults are a contract with scripts.

use adrag_contract::{EngineId, ExportFormat, Store};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Answers questions from your own documents and shows the proof.
#[derive(Debug, Parser)]
#[command(
    name = "adrag",
    version,
    after_help = "Without a command the window opens, and FILES are added.\n\
        Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done in part."
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Files and folders to add when the window opens
    #[arg(value_name = "FILES")]
    pub files: Vec<PathBuf>,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Folder of documents, indexes and settings [default: the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add files and folders
    Ingest(IngestArgs),
    /// Print the text that would be indexed
    Extract(ExtractArgs),
    /// Find passages
    Search(SearchArgs),
    /// Answer a question, with citations
    Ask(AskArgs),
    /// List the conversations
    Threads(ThreadsArgs),
    /// Write a conversation with its proof
    Export(ExportArgs),
    /// Check answers against passages, sentence by sentence
    Check(CheckArgs),
    /// List the documents
    Documents(DocumentsArgs),
    /// Remove documents from all stores
    Delete(DeleteArgs),
    /// Say what is there, what is wrong and what to do
    Doctor,
    /// Answer other programs over HTTP, on this machine
    Serve(ServeArgs),
    /// Read one file under limits, for the program itself
    #[command(name = "extract-worker", hide = true)]
    ExtractWorker,
}

/// `adrag ingest`.
#[derive(Args, Debug)]
pub struct IngestArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Collection they go to
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = filled)]
    pub collection: String,
}

/// `adrag extract`.
#[derive(Args, Debug)]
pub struct ExtractArgs {
    /// File to read
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

/// `adrag search`.
#[derive(Args, Debug)]
pub struct SearchArgs {
    /// What to look for
    #[arg(value_name = "Q", value_parser = filled, required_unless_present = "file")]
    pub question: Option<String>,
    /// Look for each line of a file (`-`: standard input); prints one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with = "question")]
    pub file: Option<PathBuf>,
    /// Store to ask; `hybrid` asks all and fuses
    #[arg(long, value_enum, default_value_t = StoreChoice::Hybrid)]
    pub store: StoreChoice,
    /// Rerank the passages [default: as in the settings]
    #[arg(long, overrides_with = "no_rerank")]
    pub rerank: bool,
    /// Leave the passages in the order of the stores
    #[arg(long, overrides_with = "rerank")]
    pub no_rerank: bool,
    /// Most passages to print
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub top: u32,
    /// Collection to search [default: all]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
}

impl SearchArgs {
    /// Whether the passages are reranked, where the command line says so.
    pub fn reranked(&self) -> Option<bool> {
        match (self.rerank, self.no_rerank) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// A store, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StoreChoice {
    /// Dense vectors
    Vector,
    /// Words
    Keyword,
    /// Entity graph
    Graph,
    /// All three, fused
    Hybrid,
}

impl StoreChoice {
    /// The stores it stands for.
    pub fn stores(self) -> Vec<Store> {
        match self {
            Self::Vector => vec![Store::Vector],
            Self::Keyword => vec![Store::Keyword],
            Self::Graph => vec![Store::Graph],
            Self::Hybrid => Store::LOCAL.to_vec(),
        }
    }
}

/// `adrag ask`.
#[derive(Args, Debug)]
pub struct AskArgs {
    /// The question
    #[arg(value_name = "Q", value_parser = filled)]
    pub question: String,
    /// Engine that writes the answer: quotes, openai, ollama or local [default: as in the settings]
    #[arg(long)]
    pub engine: Option<EngineId>,
    /// Model of the engine [default: as in the settings]
    #[arg(long, value_name = "M", value_parser = filled)]
    pub model: Option<String>,
    /// Base URL of the engine's server [default: as in the settings]
    #[arg(long, value_name = "U", value_parser = filled)]
    pub base_url: Option<String>,
    /// Collection to search [default: all]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// JSON list of `{role, content}`: the turns before
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Conversation it is asked in, as `adrag threads` lists it
    #[arg(long, value_name = "ID", value_parser = filled, conflicts_with = "history")]
    pub thread: Option<String>,
    /// Let the web be searched for this question, where the settings switched it on
    #[arg(long, conflicts_with = "no_web")]
    pub web: bool,
    /// Keep the web out of this question
    #[arg(long)]
    pub no_web: bool,
}

/// `adrag threads`.
#[derive(Args, Debug)]
pub struct ThreadsArgs {
    /// Only those whose names, questions or answers hold this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub find: String,
}

/// `adrag export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Id of the conversation, as `adrag threads` lists it
    #[arg(value_name = "THREAD", value_parser = filled)]
    pub thread: String,
    /// Form: markdown, html or json
    #[arg(long, default_value = "markdown")]
    pub format: ExportFormat,
    /// File to write; standard output when absent
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `adrag check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// JSON Lines (`-`: standard input) of `{question, answer, passages}`; prints one JSON object a line
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `adrag documents`.
#[derive(Args, Debug)]
pub struct DocumentsArgs {
    /// Collection to list [default: all]
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
}

/// `adrag delete`.
#[derive(Args, Debug)]
pub struct DeleteArgs {
    /// Which documents.
    #[command(flatten)]
    pub which: Which,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// `adrag serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Port; 0 takes any free one [default: 5151, with --compat 5000]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Address to listen on; any but this machine's own wants --allow-remote
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = filled)]
    pub host: String,
    /// Let other machines reach the port
    #[arg(long)]
    pub allow_remote: bool,
    /// File that holds the token; written with a fresh one when it is not there [default: a fresh one, printed]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Serve also the routes and frames of the system adRAG replaces, without a token, for its front end
    #[arg(long)]
    pub compat: bool,
    /// Let web pages of this origin ask (may be given several times)
    #[arg(long, value_name = "URL", value_parser = filled)]
    pub allow_origin: Vec<String>,
}

/// Which documents.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct Which {
    /// Ids, as `adrag documents` prints them
    #[arg(value_name = "ID", value_parser = filled)]
    pub ids: Vec<String>,
    /// Every document of a collection
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub collection: Option<String>,
    /// Every document
    #[arg(long)]
    pub all: bool,
}

fn filled(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_of_every_command_stand_before_or_after_it() {
        for line in [
            "adrag --json --data-dir d documents",
            "adrag documents --json --data-dir d",
        ] {
            let cli = parse(line).unwrap();
            assert!(cli.common.json && cli.common.data_dir.is_some(), "{line}");
            assert!(matches!(cli.command, Some(Command::Documents(_))), "{line}");
        }
    }

    #[test]
    fn words_that_are_no_command_are_files_for_the_window() {
        let cli = parse("adrag a.txt b").unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.files.len(), 2);
    }

    #[test]
    fn the_later_of_two_contrary_options_counts() {
        let reranked = |line: &str| match parse(line).unwrap().command {
            Some(Command::Search(search)) => search.reranked(),
            other => panic!("{other:?}"),
        };
        assert_eq!(reranked("adrag search q"), None);
        assert_eq!(reranked("adrag search q --rerank"), Some(true));
        assert_eq!(reranked("adrag search q --rerank --no-rerank"), Some(false));
        assert_eq!(reranked("adrag search q --no-rerank --rerank"), Some(true));
    }

    #[test]
    fn delete_wants_exactly_one_way_to_name_documents() {
        for line in [
            "adrag delete",
            "adrag delete --yes",
            "adrag delete a --all",
            "adrag delete --all --collection c",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
        for line in [
            "adrag delete a b",
            "adrag delete --all --yes",
            "adrag delete --collection c",
        ] {
            assert!(parse(line).is_ok(), "{line}");
        }
    }
}
