//! Following a run: folds its events and says when some were missed. Fetching them is the caller's work.

use adrag_contract::{RunEvent, RunView};

/// What the caller has to do after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the view is up to date.
    Folded,
    /// Ask for a snapshot and hand it to [`Follow::restore`].
    Fetch,
    /// Nothing: a snapshot is on its way and the event waits for it.
    Held,
}

/// A run that is being followed.
#[derive(Clone, Debug, Default)]
pub struct Follow {
    /// The run as known so far.
    pub view: RunView,
    held: Vec<RunEvent>,
    fetching: bool,
}

impl Follow {
    /// Takes the next live event.
    pub fn receive(&mut self, event: RunEvent) -> Step {
        if self.fetching {
            self.held.push(event);
            return Step::Held;
        }
        if self.view.apply(&event).is_ok() {
            return Step::Folded;
        }
        self.held.push(event);
        self.fetching = true;
        Step::Fetch
    }

    /// Marks a snapshot as asked for; false when one is already on its way.
    pub fn begin_fetch(&mut self) -> bool {
        !std::mem::replace(&mut self.fetching, true)
    }

    /// Folds a snapshot and what waited for it.
    pub fn restore(&mut self, snapshot: &[RunEvent]) -> Step {
        self.fetching = false;
        for event in snapshot {
            // A snapshot is gapless from 0; what was folded before is ignored by the view.
            if self.view.apply(event).is_err() {
                return Step::Folded;
            }
        }
        let mut held = std::mem::take(&mut self.held).into_iter();
        while let Some(event) = held.next() {
            if self.view.apply(&event).is_err() {
                self.held = std::iter::once(event).chain(held).collect();
                self.fetching = true;
                return Step::Fetch;
            }
        }
        Step::Folded
    }

    /// The snapshot could not be had: what follows without a gap is folded, and the next event asks again.
    pub fn give_up(&mut self) {
        self.fetching = false;
        for event in std::mem::take(&mut self.held) {
            if self.view.apply(&event).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adrag_contract::{Event, RunStatus};

    fn log(texts: &[&str]) -> Vec<RunEvent> {
        let mut events: Vec<Event> = texts
            .iter()
            .map(|text| Event::AnswerDelta {
                text: (*text).to_owned(),
            })
            .collect();
        events.push(Event::RunCancelled {
            documents: Vec::new(),
        });
        (0..)
            .zip(events)
            .map(|(seq, event)| RunEvent {
                run: "r".into(),
                seq,
                at_ms: 0,
                attempt: 1,
                event,
            })
            .collect()
    }

    #[test]
    fn events_in_order_fold_at_once() {
        let mut follow = Follow::default();
        for event in log(&["a", "b"]) {
            assert_eq!(follow.receive(event), Step::Folded);
        }
        assert_eq!(follow.view.text, "ab");
        assert_eq!(follow.view.status, RunStatus::Cancelled);
    }

    #[test]
    fn a_gap_asks_once_and_loses_nothing() {
        let all = log(&["a", "b", "c"]);
        let mut follow = Follow::default();
        assert_eq!(follow.receive(all[0].clone()), Step::Folded);
        assert_eq!(follow.receive(all[2].clone()), Step::Fetch);
        assert_eq!(follow.receive(all[3].clone()), Step::Held);
        assert!(!follow.begin_fetch());
        assert_eq!(follow.restore(&all[..3]), Step::Folded);
        assert_eq!(follow.view.text, "abc");
        assert!(follow.view.is_over());
    }

    #[test]
    fn without_a_snapshot_the_events_that_follow_are_kept() {
        let all = log(&["a", "b"]);
        let mut follow = Follow::default();
        assert!(follow.begin_fetch());
        for event in &all {
            assert_eq!(follow.receive(event.clone()), Step::Held);
        }
        follow.give_up();
        assert!(follow.view.is_over());
    }

    #[test]
    fn a_snapshot_older_than_the_gap_asks_again() {
        let all = log(&["a", "b", "c"]);
        let mut follow = Follow::default();
        assert_eq!(follow.receive(all[2].clone()), Step::Fetch);
        assert_eq!(follow.restore(&all[..1]), Step::Fetch);
        assert_eq!(follow.restore(&all), Step::Folded);
        assert_eq!(follow.view.text, "abc");
    }
}
