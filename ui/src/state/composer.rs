//! The composer's memory: what was asked before, walked with the arrow keys, and the turns sent along.

use adrag_contract::{Role, Turn};

/// Most turns sent along with a question.
pub const MOST_TURNS: usize = 8;
/// Most characters of one turn sent along.
const MOST_CHARS: usize = 4_000;

/// Questions asked before, oldest first, and the place in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recall {
    asked: Vec<String>,
    at: Option<usize>,
    draft: String,
}

impl Recall {
    /// Remembers a question and leaves the past.
    pub fn remember(&mut self, question: &str) {
        if self.asked.last().map(String::as_str) != Some(question) {
            self.asked.push(question.to_owned());
        }
        self.at = None;
    }

    /// The question before the one shown; `shown` is kept for the way back.
    pub fn earlier(&mut self, shown: &str) -> Option<String> {
        let at = match self.at {
            None if self.asked.is_empty() => return None,
            None => {
                self.draft = shown.to_owned();
                self.asked.len() - 1
            }
            Some(0) => return None,
            Some(at) => at - 1,
        };
        self.at = Some(at);
        self.asked.get(at).cloned()
    }

    /// The question after the one shown; the draft after the last.
    pub fn later(&mut self) -> Option<String> {
        let at = self.at? + 1;
        if at < self.asked.len() {
            self.at = Some(at);
            return self.asked.get(at).cloned();
        }
        self.at = None;
        Some(std::mem::take(&mut self.draft))
    }
}

/// The turns of a conversation as a request carries them: the latest, cut to a bound.
pub fn history(exchanges: impl IntoIterator<Item = (String, Option<String>)>) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (question, answer) in exchanges {
        // A question that got no answer would read as if the program had stayed silent.
        if let Some(answer) = answer {
            turns.push(turn(Role::User, &question));
            turns.push(turn(Role::Assistant, &answer));
        }
    }
    turns.split_off(turns.len().saturating_sub(MOST_TURNS))
}

fn turn(role: Role, content: &str) -> Turn {
    Turn {
        role,
        content: content.chars().take(MOST_CHARS).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrow_keys_walk_the_past_and_come_back_to_the_draft() {
        let mut recall = Recall::default();
        assert_eq!(recall.earlier("x"), None);
        recall.remember("one");
        recall.remember("two");
        recall.remember("two");
        assert_eq!(recall.earlier("draft").as_deref(), Some("two"));
        assert_eq!(recall.earlier("two").as_deref(), Some("one"));
        assert_eq!(recall.earlier("one"), None);
        assert_eq!(recall.later().as_deref(), Some("two"));
        assert_eq!(recall.later().as_deref(), Some("draft"));
        assert_eq!(recall.later(), None);
    }

    #[test]
    fn only_answered_questions_are_sent_along_and_the_latest_win() {
        let turns = history((0..10).map(|n| (format!("q{n}"), (n != 9).then(|| format!("a{n}")))));
        assert_eq!(turns.len(), MOST_TURNS);
        assert_eq!(turns[0].content, "q5");
        assert_eq!(turns.last().map(|turn| turn.content.as_str()), Some("a8"));
    }

    #[test]
    fn a_long_turn_is_cut() {
        let turns = history([("q".to_owned(), Some("ä".repeat(10_000)))]);
        assert_eq!(turns[1].content.chars().count(), 4_000);
    }
}
