//! The window: there at once, with the engine opened behind it.
//!
//! What belongs to a real desktop (plugins, the event loop) is here; [`core`] is what tests can run without one.

use crate::commands::{self, Reach};
use crate::desktop::SystemDesktop;
use crate::places::{self, Places};
use crate::session::Session;
use crate::{cli, display, events};
use adrag_contract::{AddFilesRequest, CollectionName};
use adrag_core::Engine;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Builder, Manager, RunEvent, Runtime, Url, Wry};

/// Opens the window, adds `files` once the engine is open, and ends the program when the window is closed.
///
/// It returns only when there is no window to open.
pub fn run(places: Places, files: &[PathBuf]) -> ExitCode {
    let files = match cli::absolute_files(files) {
        Ok(files) => files,
        Err(why) => return cli::refuse(&why),
    };
    if let Err(error) = display::reachable() {
        return cli::fail(&error);
    }
    let session = Session::default();
    let desktop = Arc::new(SystemDesktop::<Wry>::default());
    let context = tauri::generate_context!();
    let reach = Reach {
        session: session.clone(),
        desktop: desktop.clone(),
        samples: places::samples(resources(&context).as_deref()),
    };
    let built = core(Builder::<Wry>::default(), reach)
        .plugin(tauri_plugin_dialog::init())
        .plugin(stay_on_own_pages())
        .setup(move |app| {
            desktop.attach(app.handle().clone());
            tauri::async_runtime::spawn(open(places, session, app.handle().clone(), files));
            Ok(())
        })
        .build(context);
    match built {
        Ok(app) => app.run(|app, event| {
            if let RunEvent::Exit = event {
                tauri::async_runtime::block_on(app.state::<Reach>().session.close());
            }
        }),
        Err(error) => return cli::fail(&display::no_window(&error.to_string())),
    }
    ExitCode::SUCCESS
}

/// Commands and their state: everything of the program that needs no desktop.
pub fn core<R: Runtime>(builder: Builder<R>, reach: Reach) -> Builder<R> {
    builder.manage(reach).invoke_handler(commands::handler())
}

/// True for pages that come with the program; the web view goes nowhere else.
pub fn is_own_page(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => url.host_str() == Some("tauri.localhost"),
        "about" => url.as_str() == "about:blank",
        _ => false,
    }
}

fn stay_on_own_pages<R: Runtime>() -> TauriPlugin<R> {
    tauri::plugin::Builder::<R>::new("own-pages")
        .on_navigation(|_, url| is_own_page(url))
        .build()
}

async fn open<R: Runtime>(places: Places, session: Session, app: AppHandle<R>, files: Vec<String>) {
    let opened = match places.options() {
        Ok(options) => adrag_adapters::compose::open(options).await,
        Err(error) => Err(error),
    };
    match &opened {
        Ok(engine) => {
            events::relay(engine, app);
            session.opened(opened.clone());
            go_on(engine, files).await;
        }
        Err(error) => {
            tracing::error!(%error, "the engine could not be opened");
            session.opened(opened);
        }
    }
}

async fn go_on(engine: &Arc<Engine>, files: Vec<String>) {
    if let Err(error) = engine.resume().await {
        tracing::error!(%error, "what was left unfinished could not be taken up");
    }
    engine.follow_folders();
    if files.is_empty() {
        return;
    }
    let request = AddFilesRequest {
        paths: files,
        collection: CollectionName::default(),
    };
    if let Err(error) = engine.add_files(request).await {
        tracing::error!(%error, "the files of the command line could not be added");
    }
}

fn resources<R: Runtime>(context: &tauri::Context<R>) -> Option<PathBuf> {
    let found = tauri::utils::platform::resource_dir(context.package_info(), &tauri::utils::Env::default());
    match found {
        Ok(folder) => Some(folder),
        Err(error) => {
            tracing::warn!(%error, "the folder of the program's resources was not found");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_web_view_stays_on_the_programs_own_pages() {
        for (url, own) in [
            ("tauri://localhost/", true),
            ("tauri://localhost/library", true),
            ("http://tauri.localhost/", true),
            ("about:blank", true),
            ("https://example.org/", false),
            ("http://localhost/", false),
            ("tauri://evil/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,x", false),
            ("https://tauri.localhost.evil.org/", false),
        ] {
            assert_eq!(is_own_page(&Url::parse(url).unwrap()), own, "{url}");
        }
    }
}
