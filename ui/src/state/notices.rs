//! What the program tells the person, and what it asks before something is lost.

use crate::bridge;
use adrag_contract::AppError;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Something told.
#[derive(Clone)]
pub struct Notice {
    /// Its number, for the list.
    pub id: u64,
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether something went wrong; such a notice stays until it is closed.
    pub is_error: bool,
    /// What can be done about it here.
    pub step: Option<Step>,
}

/// What a notice offers to do.
#[derive(Clone)]
pub struct Step {
    /// The word on its button.
    pub word: &'static str,
    /// Does it.
    pub action: Callback<()>,
}

impl Notice {
    /// Room for one more of at most `most`: the same words told twice are told once, and what offers something to do goes
    /// last.
    fn make_room(all: &mut Vec<Self>, text: &str, most: usize) {
        all.retain(|notice| notice.step.is_some() || notice.text != text);
        while all.len() >= most.max(1) {
            let oldest = all.iter().position(|notice| notice.step.is_none()).unwrap_or(0);
            all.remove(oldest);
        }
    }
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
        let id = self.push(text.into(), None, false, None);
        self.close_later(id, Self::SHOWN_FOR_MS);
    }

    /// Tells something that can be answered for a while; it goes by itself when that is over.
    pub fn offer(self, text: impl Into<String>, step: Step, for_ms: u64) {
        let id = self.push(text.into(), None, false, Some(step));
        self.close_later(id, u32::try_from(for_ms).unwrap_or(u32::MAX));
    }

    /// Does what the latest notice offers to do; false when none offers anything.
    pub fn take_latest_step(self) -> bool {
        let latest = self.all.with_untracked(|all| {
            all.iter()
                .rev()
                .find_map(|notice| notice.step.clone().map(|step| (notice.id, step)))
        });
        match latest {
            Some((id, step)) => {
                self.take_step(id, &step);
                true
            }
            None => false,
        }
    }

    /// Does what a notice offers to do, and closes it.
    pub fn take_step(self, id: u64, step: &Step) {
        self.close(id);
        step.action.run(());
    }

    /// Tells what went wrong.
    pub fn fail(self, error: &AppError) {
        self.push(error.message.clone(), error.hint.clone(), true, None);
    }

    /// The value of a result, its error told.
    pub fn report<T>(self, result: Result<T, AppError>) -> Option<T> {
        result.map_err(|error| self.fail(&error)).ok()
    }

    /// Closes one.
    pub fn close(self, id: u64) {
        self.all.update(|all| all.retain(|notice| notice.id != id));
    }

    fn close_later(self, id: u64, after_ms: u32) {
        spawn_local(async move {
            bridge::sleep(after_ms).await;
            self.close(id);
        });
    }

    fn push(self, text: String, hint: Option<String>, is_error: bool, step: Option<Step>) -> u64 {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.all.update(|all| {
            Notice::make_room(all, &text, Self::MOST);
            all.push(Notice {
                id,
                text,
                hint,
                is_error,
                step,
            });
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

    fn notice(id: u64, text: &str, offers: bool) -> Notice {
        Notice {
            id,
            text: text.to_owned(),
            hint: None,
            is_error: false,
            step: offers.then(|| Step {
                word: "Undo",
                action: Callback::new(|()| {}),
            }),
        }
    }

    fn ids(all: &[Notice]) -> Vec<u64> {
        all.iter().map(|notice| notice.id).collect()
    }

    #[test]
    fn what_can_be_undone_is_not_pushed_out_by_what_is_only_told() {
        let owner = Owner::new();
        owner.set();
        let mut all = vec![notice(0, "a", true), notice(1, "b", false), notice(2, "c", false)];
        Notice::make_room(&mut all, "d", 3);
        assert_eq!(ids(&all), [0, 2]);
        Notice::make_room(&mut all, "a", 3);
        assert_eq!(ids(&all), [0, 2], "two deletions of the same words are two");
        Notice::make_room(&mut all, "c", 3);
        assert_eq!(ids(&all), [0], "the same fault told twice is told once");
        let mut all = vec![notice(0, "a", true), notice(1, "b", true)];
        Notice::make_room(&mut all, "c", 2);
        assert_eq!(ids(&all), [1], "where all of them can be undone, the oldest goes");
    }

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
