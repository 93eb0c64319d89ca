//! The window's commands through Tauri's own path of a call, without a window.

use adrag::commands::Reach;
use adrag::desktop::Desktop;
use adrag::session::Session;
use adrag::window;
use adrag_contract::{AppError, COMMANDS, ErrorCode};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tauri::Url;
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;
use tauri::{App, WebviewWindow, WebviewWindowBuilder};

/// Writes down what it is asked.
#[derive(Default)]
struct FakeDesktop {
    asked: Mutex<Vec<String>>,
}

impl FakeDesktop {
    fn note(&self, what: String) -> Result<(), AppError> {
        self.asked.lock().unwrap().push(what);
        Ok(())
    }
}

impl Desktop for FakeDesktop {
    fn pick_files(&self) -> BoxFuture<'_, Result<Vec<PathBuf>, AppError>> {
        Box::pin(async { Ok(vec![PathBuf::from("/a.txt"), PathBuf::from("/b.pdf")]) })
    }
    fn pick_folder(&self) -> BoxFuture<'_, Result<Option<PathBuf>, AppError>> {
        Box::pin(async { Ok(Some(PathBuf::from("/docs"))) })
    }
    fn pick_target<'a>(&'a self, file_name: &'a str) -> BoxFuture<'a, Result<Option<PathBuf>, AppError>> {
        Box::pin(async move { Ok(Some(std::env::temp_dir().join(file_name))) })
    }
    fn open_path(&self, path: &Path) -> Result<(), AppError> {
        self.note(format!("path {}", path.display()))
    }
    fn reveal(&self, path: &Path) -> Result<(), AppError> {
        self.note(format!("reveal {}", path.display()))
    }
    fn open_url(&self, url: &Url) -> Result<(), AppError> {
        self.note(format!("url {url}"))
    }
}

struct Window {
    desktop: Arc<FakeDesktop>,
    webview: WebviewWindow<MockRuntime>,
    _app: App<MockRuntime>,
}

impl Window {
    /// With the real configuration and capabilities, over an engine that could not be opened.
    fn open() -> Self {
        let session = Session::default();
        session.opened(Err(AppError::new(
            ErrorCode::DataFolderInUse,
            "the data folder is in use",
        )
        .with_hint("close the other adRAG")));
        let desktop = Arc::new(FakeDesktop::default());
        let reach = Reach {
            session,
            desktop: desktop.clone(),
            samples: None,
        };
        let mut context = tauri::generate_context!();
        context.config_mut().app.windows.clear();
        let app = window::core(mock_builder(), reach).build(context).unwrap();
        let webview = WebviewWindowBuilder::new(&app, "main", Default::default())
            .build()
            .unwrap();
        Self {
            desktop,
            webview,
            _app: app,
        }
    }

    fn call(&self, command: &str, body: Value) -> Result<Value, Value> {
        self.call_from("tauri://localhost", command, body)
    }

    fn call_from(&self, page: &str, command: &str, body: Value) -> Result<Value, Value> {
        let request = InvokeRequest {
            cmd: command.to_owned(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: page.parse().unwrap(),
            body: InvokeBody::Json(body),
            headers: Default::default(),
            invoke_key: INVOKE_KEY.to_owned(),
        };
        get_ipc_response(&self.webview, request).map(|reply| reply.deserialize().unwrap())
    }
}

/// A request each command can read.
fn request(command: &str) -> Value {
    match command {
        "ask" => json!({ "question": "q" }),
        "cancel_run" | "pause_run" | "resume_run" | "run_snapshot" | "retry_document" | "open_document"
        | "undo_delete" => json!("id"),
        "open_link" => json!("https://example.org/"),
        "list_threads" => json!(""),
        "thread_runs" => json!("id"),
        "rename_thread" => json!({ "thread": "id", "title": "t" }),
        "delete_threads" => json!(["id"]),
        "export_thread" => json!({ "thread": "id", "format": "markdown" }),
        "add_files" => json!({ "paths": ["/a"], "collection": "default" }),
        "delete_documents" | "retry_documents" => json!(["id"]),
        "watch_folder" | "unwatch_folder" => json!({ "path": "/docs", "collection": "default" }),
        "read_passage" => json!({ "document": "id", "span": [0, 1], "around": 10 }),
        "save_settings" => json!({}),
        "save_key" => json!({ "name": "openai", "key": "k" }),
        _ => Value::Null,
    }
}

#[test]
fn every_command_of_the_contract_is_there_and_says_why_the_engine_is_not() {
    let window = Window::open();
    for command in COMMANDS {
        let reply = window.call(command, json!({ "request": request(command) }));
        match *command {
            "pick_files" => assert_eq!(reply, Ok(json!(["/a.txt", "/b.pdf"]))),
            "pick_folder" => assert_eq!(reply, Ok(json!("/docs"))),
            "open_link" => assert_eq!(reply, Ok(Value::Null)),
            _ => {
                let error: AppError = serde_json::from_value(reply.unwrap_err()).unwrap();
                assert_eq!(error.code, ErrorCode::DataFolderInUse, "{command}");
                assert_eq!(error.hint.as_deref(), Some("close the other adRAG"), "{command}");
            }
        }
    }
}

#[test]
fn a_request_that_does_not_fit_is_refused_with_an_app_error() {
    let window = Window::open();
    for body in [
        json!({ "request": { "question": 7 } }),
        json!({ "request": "q" }),
        json!({}),
        json!({ "question": "q" }),
    ] {
        let error: AppError = serde_json::from_value(window.call("ask", body.clone()).unwrap_err()).unwrap();
        assert_eq!(error.code, ErrorCode::InvalidRequest, "{body}");
        assert!(error.message.contains("`ask`"), "{error}");
    }
}

#[test]
fn only_web_links_reach_the_desktop() {
    let window = Window::open();
    for link in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://a@b.org",
        "x",
    ] {
        assert!(
            window.call("open_link", json!({ "request": link })).is_err(),
            "{link}"
        );
    }
    window
        .call("open_link", json!({ "request": "HTTPS://Example.org/a b" }))
        .unwrap();
    assert_eq!(
        *window.desktop.asked.lock().unwrap(),
        ["url https://example.org/a%20b"]
    );
}

#[test]
fn nothing_but_the_contract_is_answered() {
    let window = Window::open();
    for command in [
        "no_such_command",
        "plugin:fs|read_file",
        "plugin:shell|execute",
        "plugin:http|fetch",
        "plugin:dialog|open",
        "plugin:dialog|save",
        "plugin:opener|open_url",
        "plugin:opener|open_path",
        "plugin:opener|reveal_item_in_dir",
        "plugin:event|emit",
        "plugin:event|emit_to",
        "plugin:app|version",
        "plugin:path|resolve_directory",
        "plugin:window|create",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:webview|internal_toggle_devtools",
        "plugin:image|from_path",
        "plugin:menu|new",
        "plugin:resources|close",
    ] {
        assert!(window.call(command, json!({})).is_err(), "{command}");
    }
}

#[test]
fn a_page_from_elsewhere_may_give_no_command() {
    let window = Window::open();
    for page in ["https://example.org/", "http://127.0.0.1:8080/"] {
        let refused = window.call_from(page, "open_link", json!({ "request": "https://example.org/" }));
        assert!(refused.is_err(), "{page}");
    }
    assert!(window.desktop.asked.lock().unwrap().is_empty());
}
