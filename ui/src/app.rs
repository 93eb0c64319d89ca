//! The frame: rail, page, and what lies over them. Shortcuts are bound here, once.

use crate::bridge::{self, Key};
use crate::components::overlay::Overlays;
use crate::components::rail::Rail;
use crate::pages;
use crate::state::App as State;
use crate::state::route::{Route, Section};
use leptos::prelude::*;

/// The screen.
#[component]
pub fn App() -> impl IntoView {
    let app = State::begin();
    bridge::on_key(move |key| shortcut(app, key));
    let page = move || match app.route.get() {
        Route::Chat => view! { <pages::chat::ChatPage /> }.into_any(),
        Route::Library => view! { <pages::library::LibraryPage /> }.into_any(),
        Route::Settings(section) => view! { <pages::settings::SettingsPage section=section /> }.into_any(),
    };
    view! {
        <div class="frame">
            <Rail />
            {page}
        </div>
        <Overlays />
    }
}

/// Does what a key stands for; true when it stands for something.
fn shortcut(app: State, key: &Key) -> bool {
    // A dialog has the keyboard to itself; Escape closes it by the browser's own doing.
    if app.confirm.with_untracked(Option::is_some) || app.sheet.get_untracked() {
        return false;
    }
    let is_chat = app.route.get_untracked() == Route::Chat;
    match (key.name.as_str(), key.command) {
        ("1", true) => app.go(Route::Chat),
        ("2", true) => app.go(Route::Library),
        ("3", true) => app.go(Route::Settings(Section::default())),
        ("o", true) => app.add_files(),
        ("n", true) => {
            app.go(Route::Chat);
            app.chat.begin_anew();
        }
        // In a field it undoes what was typed.
        ("z", true) if !key.typing => return app.notices.take_latest_step(),
        ("Escape", _) => return escape(app),
        _ if key.command || key.alt || key.typing => return false,
        ("?", _) => app.sheet.set(true),
        ("/", _) if is_chat => bridge::focus("composer"),
        ("j", _) if is_chat => app.reader.step(app.chat, true),
        ("k", _) if is_chat => app.reader.step(app.chat, false),
        ("b", _) if is_chat => app.reader.back(),
        _ => return false,
    }
    true
}

fn escape(app: State) -> bool {
    if app.reader.glimpse.with_untracked(Option::is_some) {
        app.reader.end_glimpse();
    } else if app
        .chat
        .exchanges
        .with_untracked(|all| all.last().is_some_and(|last| untrack(|| last.is_busy())))
    {
        app.chat.stop();
    } else if app.reader.is_open.get_untracked() && bridge::window_width() < crate::state::reader::NARROW {
        app.reader.is_open.set(false);
    } else {
        return false;
    }
    true
}
