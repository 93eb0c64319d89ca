//! Where the person is, as the fragment of the address: it works under any scheme and survives a reload.

/// A section of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Section {
    /// Engines and keys.
    #[default]
    Engines,
    /// How documents are searched and cut.
    Retrieval,
    /// How answers are made.
    Answers,
    /// Searching the web.
    Web,
    /// How the window looks.
    Appearance,
    /// Where things are, and whether they are well.
    Storage,
}

impl Section {
    /// Every section, in the order shown.
    pub const ALL: [Self; 6] = [
        Self::Engines,
        Self::Retrieval,
        Self::Answers,
        Self::Web,
        Self::Appearance,
        Self::Storage,
    ];

    /// Its name in the address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engines => "engines",
            Self::Retrieval => "retrieval",
            Self::Answers => "answers",
            Self::Web => "web",
            Self::Appearance => "appearance",
            Self::Storage => "storage",
        }
    }

    /// Its name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Engines => "Engines",
            Self::Retrieval => "Search",
            Self::Answers => "Answers",
            Self::Web => "Web search",
            Self::Appearance => "Appearance",
            Self::Storage => "Storage and health",
        }
    }
}

/// A place in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// Questions and answers.
    #[default]
    Chat,
    /// Documents.
    Library,
    /// A section of the settings.
    Settings(Section),
}

impl Route {
    /// The place a fragment names; Chat for what is unknown.
    pub fn from_fragment(fragment: &str) -> Self {
        let mut parts = fragment
            .trim_start_matches('#')
            .trim_start_matches('/')
            .split('/');
        match (parts.next(), parts.next()) {
            (Some("library"), _) => Self::Library,
            (Some("settings"), section) => Self::Settings(
                Section::ALL
                    .into_iter()
                    .find(|known| Some(known.as_str()) == section)
                    .unwrap_or_default(),
            ),
            _ => Self::Chat,
        }
    }

    /// The fragment that names the place.
    pub fn fragment(self) -> String {
        match self {
            Self::Chat => "#/chat".to_owned(),
            Self::Library => "#/library".to_owned(),
            Self::Settings(section) => format!("#/settings/{}", section.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_survives_the_address() {
        let settings = Section::ALL.into_iter().map(Route::Settings);
        for route in [Route::Chat, Route::Library].into_iter().chain(settings) {
            assert_eq!(Route::from_fragment(&route.fragment()), route);
        }
    }

    #[test]
    fn what_is_unknown_is_chat() {
        for fragment in ["", "#", "#/lab", "#/../etc", "nonsense"] {
            assert_eq!(Route::from_fragment(fragment), Route::Chat);
        }
        assert_eq!(
            Route::from_fragment("#/settings/nothing"),
            Route::Settings(Section::Engines)
        );
    }
}
