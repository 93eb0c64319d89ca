//! The composer's memory: what was asked before, walked with the arrow keys.

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
}
