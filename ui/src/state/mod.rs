//! What is on the screen. The pure parts (`markdown`, `marks`, `format`, `library`, `composer`, `route`, `follow`, `sources`,
//! `watched`) know no signals and are tested on the host; the others hold signals and give commands through the bridge.
//!
//! One [`App`] is made at the start and handed down as context. It is `Copy`: signals are handles.

pub mod chat;
pub mod composer;
pub mod follow;
pub mod format;
pub mod library;
pub mod markdown;
pub mod marks;
pub mod notices;
pub mod preferences;
pub mod reader;
pub mod route;
pub mod runs;
pub mod shelf;
pub mod sources;
pub mod threads;
pub mod trace;
pub mod watched;

use crate::bridge::{self, FileDrag};
use adrag_contract::{Event, RunEvent, RunKind};
use chat::Chat;
use leptos::prelude::*;
use leptos::task::spawn_local;
use notices::{Confirm, Notices};
use preferences::Preferences;
use reader::Reader;
use route::Route;
use runs::Runs;
use shelf::Shelf;

/// Everything on the screen.
#[derive(Clone, Copy)]
pub struct App {
    /// Where the person is.
    pub route: RwSignal<Route>,
    /// Runs that are followed.
    pub runs: Runs,
    /// The conversation.
    pub chat: Chat,
    /// The documents.
    pub shelf: Shelf,
    /// Settings, keys, engines.
    pub preferences: Preferences,
    /// The pane at the right.
    pub reader: Reader,
    /// What the person was told.
    pub notices: Notices,
    /// What the person is asked before something is lost.
    pub confirm: RwSignal<Option<Confirm>>,
    /// Whether the sheet of shortcuts is open.
    pub sheet: RwSignal<bool>,
    /// Whether files hover over the window.
    pub dragging: RwSignal<bool>,
}

/// The screen's state, from anywhere below [`App::begin`].
pub fn use_app() -> App {
    expect_context::<App>()
}

impl App {
    /// Makes the state, provides it and starts listening.
    pub fn begin() -> Self {
        let notices = Notices::new();
        let runs = Runs::new(notices);
        let preferences = Preferences::new(notices);
        let app = Self {
            route: RwSignal::new(Route::from_fragment(&bridge::fragment())),
            runs,
            chat: Chat::new(runs, preferences, notices),
            shelf: Shelf::new(notices),
            preferences,
            reader: Reader::new(notices),
            notices,
            confirm: RwSignal::new(None),
            sheet: RwSignal::new(false),
            dragging: RwSignal::new(false),
        };
        provide_context(app);
        app.listen();
        app
    }

    /// Goes to a place.
    pub fn go(self, route: Route) {
        bridge::set_fragment(&route.fragment());
        self.route.set(route);
    }

    /// Asks before something is lost.
    pub fn ask_first(self, confirm: Confirm) {
        self.confirm.set(Some(confirm));
    }

    /// Opens the picker and adds what was picked.
    pub fn add_files(self) {
        self.shelf.pick();
    }

    fn listen(self) {
        bridge::on_fragment(move |fragment| self.route.set(Route::from_fragment(&fragment)));
        spawn_local(async move {
            let listening = bridge::on_run_event(move |event| self.receive(event)).await;
            self.notices.report(listening);
            // Only now: whatever happens from here on is heard.
            self.preferences.load();
            self.shelf.refresh();
            self.chat.restore();
            let dragging = bridge::on_file_drag(move |drag| self.drag(drag)).await;
            self.notices.report(dragging);
        });
    }

    fn receive(self, event: RunEvent) {
        let changes_shelf = matches!(
            event.event,
            Event::DocumentStateChanged { .. } | Event::RunCancelled { .. }
        ) || matches!(
            &event.event,
            Event::RunStarted {
                kind: RunKind::Ingest { .. }
            }
        ) || event.event.is_terminal();
        let ends = event.event.is_terminal();
        self.runs.receive(event);
        if changes_shelf {
            self.shelf.refresh_soon();
        }
        if ends {
            self.chat.refresh_threads();
        }
    }

    fn drag(self, drag: FileDrag) {
        self.dragging.set(drag == FileDrag::Entered);
        if let FileDrag::Dropped(paths) = drag
            && !paths.is_empty()
        {
            self.go(Route::Library);
            self.shelf.add(paths);
        }
    }
}
