//! Every route, declared once: the router and its description are both made from this list.

use super::{Shared, compat, native};
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post};

/// What a client may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their routes say what they do")]
pub enum Operation {
    Health,
    Describe,
    Doctor,
    ListProviders,
    ListCollections,
    ListDocuments,
    AddDocuments,
    ClearDocuments,
    DeleteDocument,
    Search,
    Ask,
    ListThreads,
    ListRuns,
    RunEvents,
    CancelRun,
    CompatHealth,
    CompatQuery,
    CompatUpload,
    CompatDocuments,
    CompatClear,
    CompatKnowledgeBases,
    CompatDeleteKnowledgeBase,
    CompatProviders,
}

/// How an operation looks from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// `get`, `post` or `delete`.
    pub method: &'static str,
    /// The path, ids in braces.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Kinds of body it takes.
    pub takes: &'static [&'static str],
    /// The kind of body it answers with when all is well.
    pub gives: &'static str,
    /// Whether it is one of the source system's.
    pub compat: bool,
}

const JSON: &str = "application/json";
const FORM_DATA: &str = "multipart/form-data";
const EVENTS: &str = "text/event-stream";

impl Operation {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::Health,
        Self::Describe,
        Self::Doctor,
        Self::ListProviders,
        Self::ListCollections,
        Self::ListDocuments,
        Self::AddDocuments,
        Self::ClearDocuments,
        Self::DeleteDocument,
        Self::Search,
        Self::Ask,
        Self::ListThreads,
        Self::ListRuns,
        Self::RunEvents,
        Self::CancelRun,
        Self::CompatHealth,
        Self::CompatQuery,
        Self::CompatUpload,
        Self::CompatDocuments,
        Self::CompatClear,
        Self::CompatKnowledgeBases,
        Self::CompatDeleteKnowledgeBase,
        Self::CompatProviders,
    ];

    /// How it looks from outside.
    pub fn route(self) -> Route {
        let native = |method, path, summary| Route {
            method,
            path,
            summary,
            takes: &[],
            gives: JSON,
            compat: false,
        };
        let compat = |method, path, summary| Route {
            compat: true,
            ..native(method, path, summary)
        };
        match self {
            Self::Health => native("get", "/v1/health", "Whether the server answers"),
            Self::Describe => native("get", "/v1/openapi.json", "This description"),
            Self::Doctor => native("get", "/v1/doctor", "What is there, what is wrong, what to do"),
            Self::ListProviders => native(
                "get",
                "/v1/providers",
                "The engines that write answers, asked now; up to 3 s",
            ),
            Self::ListCollections => native("get", "/v1/collections", "The collections"),
            Self::ListDocuments => native("get", "/v1/documents", "The documents of a collection, or all"),
            Self::AddDocuments => Route {
                takes: &[FORM_DATA, JSON],
                ..native(
                    "post",
                    "/v1/documents",
                    "Adds uploaded files (256 MB at most), or files and folders by their path, and answers when they are read",
                )
            },
            Self::ClearDocuments => native(
                "delete",
                "/v1/documents",
                "Removes the documents of a collection, or all with `all=true`",
            ),
            Self::DeleteDocument => native(
                "delete",
                "/v1/documents/{id}",
                "Removes a document from all stores",
            ),
            Self::Search => Route {
                takes: &[JSON],
                ..native("post", "/v1/search", "Passages for a question, best first")
            },
            Self::Ask => Route {
                takes: &[JSON],
                gives: EVENTS,
                ..native(
                    "post",
                    "/v1/ask",
                    "Answers a question as a stream of run events; closing the stream stops the run, unless `keep` is true",
                )
            },
            Self::ListThreads => native(
                "get",
                "/v1/threads",
                "The conversations that hold these words, the latest first; all without any",
            ),
            Self::ListRuns => native("get", "/v1/runs", "The latest questions, newest first"),
            Self::RunEvents => Route {
                gives: EVENTS,
                ..native(
                    "get",
                    "/v1/runs/{id}/events",
                    "The events of a run, from the one after `Last-Event-ID` on",
                )
            },
            Self::CancelRun => native("delete", "/v1/runs/{id}", "Stops a run"),
            Self::CompatHealth => compat("get", "/api/health", "Whether the server answers"),
            Self::CompatQuery => Route {
                takes: &[JSON],
                gives: EVENTS,
                ..compat("post", "/api/query", "Answers a question as a stream of frames")
            },
            Self::CompatUpload => Route {
                takes: &[FORM_DATA],
                ..compat(
                    "post",
                    "/api/upload",
                    "Adds the file of the field `file`, 50 MB at most",
                )
            },
            Self::CompatDocuments => compat("get", "/api/documents", "Counts of the stores"),
            Self::CompatClear => compat("delete", "/api/clear", "Removes every document"),
            Self::CompatKnowledgeBases => {
                compat("get", "/api/knowledge-bases", "The documents, newest first")
            }
            Self::CompatDeleteKnowledgeBase => compat(
                "delete",
                "/api/knowledge-bases/{id}",
                "Removes a document; an unknown one is no error",
            ),
            Self::CompatProviders => compat("get", "/api/providers", "OpenAI and Ollama, asked now"),
        }
    }

    /// What answers it.
    pub fn handler(self) -> MethodRouter<Shared> {
        // They count what they read of a form themselves.
        let form = DefaultBodyLimit::disable;
        match self {
            Self::Health => get(native::health),
            Self::Describe => get(native::describe),
            Self::Doctor => get(native::doctor),
            Self::ListProviders => get(native::providers),
            Self::ListCollections => get(native::list_collections),
            Self::ListDocuments => get(native::list_documents),
            Self::AddDocuments => post(native::add_documents).layer(form()),
            Self::ClearDocuments => delete(native::clear_documents),
            Self::DeleteDocument => delete(native::delete_document),
            Self::Search => post(native::search),
            Self::Ask => post(native::ask),
            Self::ListThreads => get(native::list_threads),
            Self::ListRuns => get(native::list_runs),
            Self::RunEvents => get(native::run_events),
            Self::CancelRun => delete(native::cancel_run),
            Self::CompatHealth => get(compat::health),
            Self::CompatQuery => post(compat::query),
            Self::CompatUpload => post(compat::upload).layer(form()),
            Self::CompatDocuments => get(compat::documents),
            Self::CompatClear => delete(compat::clear),
            Self::CompatKnowledgeBases => get(compat::knowledge_bases),
            Self::CompatDeleteKnowledgeBase => delete(compat::delete_knowledge_base),
            Self::CompatProviders => get(compat::list_providers),
        }
    }
}
