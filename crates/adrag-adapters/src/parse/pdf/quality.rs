//! Whether the text of a page is text: a font without a Unicode map yields glyph codes that look like letters.

/// Words needed before anything is said about them.
const MIN_WORDS: usize = 12;

/// Whether most of a page's text is codes, not characters.
pub(super) fn is_unreadable(page: &str) -> bool {
    let visible = page.chars().filter(|c| !c.is_whitespace()).count();
    if visible == 0 {
        return false;
    }
    let broken = page.chars().filter(|c| is_broken(*c)).count();
    if broken * 10 > visible * 3 {
        return true;
    }
    if mixes_scripts(page) {
        return true;
    }
    let (mut words, mut odd) = (0usize, 0usize);
    for word in page.split_whitespace() {
        // A page in another script has no case to judge by.
        if word.chars().count() >= 4 && word.chars().any(|c| c.is_ascii_alphabetic()) {
            words += 1;
            odd += usize::from(is_odd_word(word));
        }
    }
    words >= MIN_WORDS && odd * 2 > words
}

/// Whether letters of one word come from different scripts more often than any writing does: codes taken for characters.
fn mixes_scripts(page: &str) -> bool {
    let (mut pairs, mut crossed) = (0usize, 0usize);
    for word in page.split_whitespace() {
        let scripts: Vec<u32> = word.chars().filter(|c| c.is_alphabetic()).map(script).collect();
        pairs += scripts.len().saturating_sub(1);
        crossed += scripts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    }
    pairs >= 8 && crossed * 5 > pairs * 2
}

/// A number for the script of a letter, coarse: what is written together counts as one.
fn script(c: char) -> u32 {
    match c {
        '\0'..='\u{24f}' | '\u{1d00}'..='\u{1eff}' | '\u{2100}'..='\u{214f}' | '\u{2c60}'..='\u{2c7f}' => 0,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => 1,
        '\u{400}'..='\u{52f}' => 2,
        '\u{600}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' => {
            3
        }
        '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}' => 4,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}' => 5,
        // Mathematical letters stand beside any other.
        '\u{1d400}'..='\u{1d7ff}' => 0,
        c => 6 + (u32::from(c) >> 7),
    }
}

/// Characters that no text has.
fn is_broken(c: char) -> bool {
    matches!(c, char::REPLACEMENT_CHARACTER | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
        || c.is_control() && !c.is_whitespace()
}

/// Case that changes in the middle, or marks between letters, as shifted codes have them.
fn is_odd_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    if word.contains("://") || word.contains('@') {
        return false;
    }
    let chars: Vec<char> = word.chars().collect();
    let rises = chars
        .windows(2)
        .filter(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
        .count();
    let mixes = chars
        .windows(3)
        .filter(|three| {
            three[0].is_alphabetic()
                && three[2].is_alphabetic()
                && matches!(
                    three[1],
                    '\\' | '~' | '^' | '$' | '%' | '"' | '|' | '<' | '>' | '0'..='9'
                )
        })
        .count();
    rises + mixes >= 1
        && !word
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_codes() {
        for text in [
            "The quick brown fox jumps over the lazy dog near a river bank, where iPhone and JavaScript live at \
             https://example.org in 2024 with HX40C-23-4417 and several other ordinary words",
            "Část účtu byla převedena na jiný účet během posledního čtvrtletí roku a zbytek zůstal",
            "会議の議事録は昨日作成された。",
            "",
        ] {
            assert!(!is_unreadable(text), "{text}");
        }
        assert!(is_unreadable("ģіމ ģіމ ģіމ ģіމ ģіމ ģіމ"));
        assert!(is_unreadable("\u{fffd}\u{fffd}\u{fffd} ab"));
        assert!(is_unreadable("\u{e001}\u{e002}\u{e003}\u{e004}"));
    }
}
