//! Icons, drawn here in one hand: a 24 px grid, 1.75 px round strokes, no fill.

use leptos::prelude::*;

/// Which icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Glyph {
    Chat,
    Library,
    Settings,
    Plus,
    Send,
    Stop,
    Pause,
    Resume,
    Again,
    Copy,
    Check,
    Close,
    Back,
    Forward,
    Return,
    Open,
    Search,
    Trash,
    Pencil,
    Save,
    Warning,
    Panel,
    Folder,
    File,
    Drop,
    Key,
    Link,
    Quote,
    Sparkle,
    Keyboard,
    Up,
    Down,
}

impl Glyph {
    /// The strokes, as one path.
    fn path(self) -> &'static str {
        match self {
            Self::Chat => {
                "M4 6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-7l-4.5 4v-4H6a2 2 0 0 1-2-2zM8 8.5h8M8 12h5"
            }
            Self::Library => "M5 4h3v16H5zM10.5 4h3v16h-3zM16 5.2l2.9-.8L22 19l-2.9.8zM5 8h3M10.5 8h3",
            Self::Settings => {
                "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5M8 14.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5"
            }
            Self::Plus => "M12 5v14M5 12h14",
            Self::Send => "M12 19V5M6 11l6-6 6 6",
            Self::Stop => "M7 7h10v10H7z",
            Self::Pause => "M9 6.5v11M15 6.5v11",
            Self::Resume => "M8 5.5l10.5 6.5L8 18.5z",
            Self::Again => "M20 12a8 8 0 1 1-2.4-5.7M20 4v4.5h-4.5",
            Self::Copy => "M9 9h10v11H9zM15 9V5a1 1 0 0 0-1-1H6a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3",
            Self::Check => "M5 12.5l4.5 4.5L19 7.5",
            Self::Close => "M6 6l12 12M18 6L6 18",
            Self::Back => "M14.5 5.5L8 12l6.5 6.5",
            Self::Forward => "M9.5 5.5L16 12l-6.5 6.5",
            Self::Return => "M9 14l-5-5 5-5M4 9h10a6 6 0 0 1 6 6v4",
            Self::Open => "M13 5h6v6M19 5l-8.5 8.5M17 14v4a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1h4",
            Self::Search => "M11 4.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M16 16l4 4",
            Self::Pencil => "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
            Self::Save => "M12 4v11M7.5 10.5 12 15l4.5-4.5M5 19h14",
            Self::Trash => {
                "M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 12a1 1 0 0 0 1 1h7.4a1 1 0 0 0 1-1l.8-12M10.5 11v5M13.5 11v5"
            }
            Self::Warning => "M12 4.5l8.5 15h-17zM12 10v4.5M12 17.2v.1",
            Self::Panel => "M4 5h16v14H4zM15 5v14",
            Self::Folder => {
                "M3.5 7a1 1 0 0 1 1-1h5l2 2.5h8a1 1 0 0 1 1 1V18a1 1 0 0 1-1 1h-15a1 1 0 0 1-1-1z"
            }
            Self::File => "M6 4h8l4.5 4.5V20H6zM14 4v4.5h4.5M9 13h6.5M9 16.5h4.5",
            Self::Drop => "M12 4v10M7.5 10l4.5 4.5 4.5-4.5M4.5 16v3a1 1 0 0 0 1 1h13a1 1 0 0 0 1-1v-3",
            Self::Key => {
                "M15.5 4.5a4.5 4.5 0 1 1-3.2 7.7L5 19.5H3.8V16.5H6.5V14H9l1.8-1.8a4.5 4.5 0 0 1 4.7-7.7M16.5 8v.1"
            }
            Self::Link => {
                "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1"
            }
            Self::Quote => {
                "M5 16.5V11a4 4 0 0 1 4-4M5 11.5h4.5v5H5M14 16.5V11a4 4 0 0 1 4-4M14 11.5h4.5v5H14"
            }
            Self::Sparkle => "M12 4l1.9 5.6L19.5 12l-5.6 2.4L12 20l-1.9-5.6L4.5 12l5.6-2.4z",
            Self::Keyboard => "M3.5 7h17v10h-17zM7 10.5v.1M10.5 10.5v.1M14 10.5v.1M17.5 10.5v.1M8 13.8h8",
            Self::Up => "M6 14.5L12 8.5l6 6",
            Self::Down => "M6 9.5l6 6 6-6",
        }
    }
}

/// An icon. It says nothing to screen readers: what it stands on has a name.
#[component]
pub fn Icon(
    /// Which one.
    glyph: Glyph,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path d=glyph.path() />
        </svg>
    }
}
