//! Terms of Chinese, Japanese and Korean runs.

/// Shortest and longest term, in characters.
const SHORTEST: usize = 2;
const LONGEST: usize = 8;

#[derive(PartialEq, Eq, Clone, Copy)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Hangul,
}

fn script(character: char) -> Script {
    match character {
        '\u{3041}'..='\u{3096}' => Script::Hiragana,
        '\u{30a1}'..='\u{30fe}' => Script::Katakana,
        '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        _ => Script::Han,
    }
}

/// Function characters of Chinese that stand between terms far more often than in them.
fn separates(character: char) -> bool {
    "的了是在和与與及或不有为為对對由从從到被把这這那也就都而之其并並".contains(character)
}

/// Hands out the terms of a run: stretches of one script that are neither too short nor too long. Hiragana is grammar.
pub(super) fn terms(run: &str, mut take: impl FnMut(&str)) {
    let mut begin = 0;
    let mut current = None;
    let mut length = 0;
    for (at, character) in run.char_indices() {
        let next = Some(script(character)).filter(|script| {
            *script != Script::Hiragana && !(*script == Script::Han && separates(character))
        });
        if next != current {
            if current.is_some() && (SHORTEST..=LONGEST).contains(&length) {
                take(&run[begin..at]);
            }
            (begin, current, length) = (at, next, 0);
        }
        length += 1;
    }
    if current.is_some() && (SHORTEST..=LONGEST).contains(&length) {
        take(&run[begin..]);
    }
}

/// Hands out every piece of two to four characters of a run's beginning: a question does not show where its terms end.
pub(super) fn pieces(run: &str, mut take: impl FnMut(&str)) {
    let starts: Vec<usize> = run
        .char_indices()
        .map(|(at, _)| at)
        .chain([run.len()])
        .take(33)
        .collect();
    for size in (2..=4).rev() {
        for window in starts.windows(size + 1) {
            take(&run[window[0]..window[size]]);
        }
    }
}
