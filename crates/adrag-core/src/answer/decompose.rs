//! A question that plainly asks for several things, cut into one search each. Rules only, for the forms that leave no doubt; a
//! language model sees more, where there is one.

/// Words that begin a question of its own behind an `and`.
const ASKING: [&str; 14] = [
    "who", "what", "when", "where", "which", "whose", "why", "how", "is", "are", "was", "were", "does", "did",
];
/// What stands before two things that are compared.
const COMPARING: [(&str, &str); 6] = [
    ("difference between ", " and "),
    ("differences between ", " and "),
    ("compare ", " and "),
    ("compare ", " with "),
    ("compare ", " to "),
    ("comparison of ", " and "),
];
/// A part with fewer letters asks for nothing.
const MIN_PART_CHARS: usize = 8;

/// The searches of a question beside itself; none when it asks for one thing.
pub(super) fn decompose(question: &str) -> Vec<String> {
    let question = question.trim();
    let parts = compared(question)
        .or_else(|| opposed(question))
        .unwrap_or_else(|| asked_one_by_one(question));
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// "Compare the seal of HX-40 and HX-60": the seal of HX-40, the seal of HX-60.
fn compared(question: &str) -> Option<Vec<String>> {
    let lower = question.to_lowercase();
    if lower.len() != question.len() {
        return None;
    }
    COMPARING.iter().find_map(|(opening, joint)| {
        let from = lower.find(opening)? + opening.len();
        let at = from + lower[from..].find(joint)?;
        let (left, right) = (&question[from..at], &question[at + joint.len()..]);
        Some(both(left, right.trim_end_matches(['?', '.', '!'])))
    })
}

/// "HX-40 versus HX-60".
fn opposed(question: &str) -> Option<Vec<String>> {
    [" versus ", " vs. ", " vs "].iter().find_map(|joint| {
        let (left, right) = question.split_once(joint)?;
        Some(both(left, right.trim_end_matches(['?', '.', '!'])))
    })
}

/// Two things, the second with what it shares with the first written out.
fn both(left: &str, right: &str) -> Vec<String> {
    let (left, right) = (left.trim(), right.trim());
    let words: Vec<&str> = left.split_whitespace().collect();
    let own = right.split_whitespace().count();
    let shared = words
        .iter()
        .rposition(|word| {
            matches!(
                word.to_lowercase().as_str(),
                "of" | "for" | "in" | "at" | "from" | "by"
            )
        })
        .filter(|at| own < words.len() && *at + 1 < words.len());
    let right = match shared {
        Some(at) => format!("{} {right}", words[..=at].join(" ")),
        None => right.to_owned(),
    };
    [left.to_owned(), right]
        .into_iter()
        .filter(|part| part.chars().any(char::is_alphanumeric))
        .collect()
}

/// "Who built it, and when was it closed? Why?": a search for each question in it.
fn asked_one_by_one(question: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for sentence in question.split_inclusive(['?', '？']) {
        let mut rest = sentence;
        while let Some(at) = second_question(rest) {
            parts.push(rest[..at].to_owned());
            rest = rest[at..].trim_start_matches([',', ' ']);
            rest = rest.strip_prefix("and ").unwrap_or(rest);
        }
        parts.push(rest.to_owned());
    }
    parts
        .into_iter()
        .map(|part| part.trim().trim_end_matches(',').to_owned())
        .filter(|part| part.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_PART_CHARS)
        .collect()
}

/// Where `and who`, `and when` ... begins a second question.
fn second_question(text: &str) -> Option<usize> {
    text.match_indices(" and ").find_map(|(at, joint)| {
        let next = text[at + joint.len()..].split_whitespace().next()?.to_lowercase();
        ASKING.contains(&next.as_str()).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::decompose;

    #[test]
    fn what_is_compared_is_searched_one_by_one() {
        for (question, parts) in [
            (
                "Compare the seal kit of the HX-40 and the HX-60.",
                vec!["the seal kit of the HX-40", "the seal kit of the HX-60"],
            ),
            (
                "What is the difference between ridge regression and lasso?",
                vec!["ridge regression", "lasso"],
            ),
            ("HX-40 vs HX-60", vec!["HX-40", "HX-60"]),
            (
                "Who led the survey, and when was the harbour closed?",
                vec!["Who led the survey", "when was the harbour closed?"],
            ),
        ] {
            assert_eq!(decompose(question), parts, "{question}");
        }
    }

    #[test]
    fn one_question_stays_one() {
        for question in [
            "Which seal kit does the HX-40 use?",
            "Who wrote War and Peace?",
            "What do bread and butter cost?",
            "",
            "?",
            "vs",
        ] {
            assert_eq!(decompose(question), Vec::<String>::new(), "{question}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_without_harm(question in "\\PC{0,200}") {
            for part in decompose(&question) {
                proptest::prop_assert!(part.chars().any(char::is_alphanumeric));
            }
        }
    }
}
