//! What the program tells the person, and what it asks before something is lost.

use crate::bridge;
use adrag_contract::AppError;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Something told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number, for the list.
    pub id: u64,
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether something went wrong; such a notice stays until it is closed.
    pub is_error: bool,
}

/// What was told and not closed yet.
#[derive(Clone, Copy)]
pub struct Notices {
    /// Oldest first.
    pub all: RwSignal<Vec<Notice>>,
    next: StoredValue<u64>,
}

impl Notices {
    const SHOWN_FOR_MS: u32 = 5_000;
    const MOST: usize = 4;

    /// Nothing told yet.
    pub fn new() -> Self {
        Self {
            all: RwSignal::new(Vec::new()),
            next: StoredValue::new(0),
        }
    }

    /// Tells something that went well; it goes by itself.
    pub fn tell(self, text: impl Into<String>) {
        let id = self.push(text.into(), None, false);
        spawn_local(async move {
            bridge::sleep(Self::SHOWN_FOR_MS).await;
            self.close(id);
        });
    }

    /// Tells what went wrong.
    pub fn fail(self, error: &AppError) {
        self.push(error.message.clone(), error.hint.clone(), true);
    }

    /// The value of a result, its error told.
    pub fn report<T>(self, result: Result<T, AppError>) -> Option<T> {
        result.map_err(|error| self.fail(&error)).ok()
    }

    /// Closes one.
    pub fn close(self, id: u64) {
        self.all.update(|all| all.retain(|notice| notice.id != id));
    }

    fn push(self, text: String, hint: Option<String>, is_error: bool) -> u64 {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.all.update(|all| {
            // The same fault told twice is told once.
            all.retain(|notice| notice.text != text);
            all.push(Notice {
                id,
                text,
                hint,
                is_error,
            });
            let excess = all.len().saturating_sub(Self::MOST);
            all.drain(..excess);
        });
        id
    }
}

impl Default for Notices {
    fn default() -> Self {
        Self::new()
    }
}

/// A question with two answers.
#[derive(Clone)]
pub struct Confirm {
    /// What would be done, as a question.
    pub title: String,
    /// What will be lost, or what will happen.
    pub body: String,
    /// Named things: documents, the parts of an address.
    pub details: Vec<Detail>,
    /// The word on the button that does it.
    pub yes: &'static str,
    /// Whether something is lost.
    pub is_destructive: bool,
    /// Does it.
    pub action: Callback<()>,
}

/// A line below a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Quiet part before.
    pub before: String,
    /// Part that matters.
    pub strong: String,
    /// Quiet part after.
    pub after: String,
}

impl Detail {
    /// A line that matters as a whole.
    pub fn strong(text: impl Into<String>) -> Self {
        Self {
            before: String::new(),
            strong: text.into(),
            after: String::new(),
        }
    }

    /// A quiet line.
    pub fn quiet(text: impl Into<String>) -> Self {
        Self {
            before: text.into(),
            strong: String::new(),
            after: String::new(),
        }
    }

    /// A web address with its host marked, so that a look-alike is seen.
    pub fn address(url: &str) -> Self {
        let begin = url.find("://").map_or(0, |at| at + 3);
        let rest = &url[begin..];
        let authority = &rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())];
        let host = authority.rfind('@').map_or(0, |at| at + 1);
        let (from, to) = (begin + host, begin + authority.len());
        Self {
            before: url[..from].to_owned(),
            strong: url[from..to].to_owned(),
            after: url[to..].to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_the_browser_would_connect_to() {
        for (url, host) in [
            ("https://a.example/b?c", "a.example"),
            ("https://bank.example@evil.example/x", "evil.example"),
            ("https://evil.example?bank.example/", "evil.example"),
            ("https://evil.example\\@bank.example/", "evil.example"),
            ("http://[::1]:80/", "[::1]:80"),
        ] {
            let detail = Detail::address(url);
            assert_eq!(detail.strong, host);
            assert_eq!(format!("{}{}{}", detail.before, detail.strong, detail.after), url);
        }
    }
}
