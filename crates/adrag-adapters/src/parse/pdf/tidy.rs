//! The text of a page made fit for search: ligatures unfolded, words joined that a line end cut, leaders shortened.

use std::collections::HashSet;

/// Shortest run of dots that is a leader and no ellipsis.
const LEADER: usize = 5;

/// Words of a document, by which a hyphen at a line end is judged.
#[derive(Default)]
pub(super) struct Vocabulary(HashSet<String>);

impl Vocabulary {
    pub(super) fn of<'a>(pages: impl IntoIterator<Item = &'a String>) -> Self {
        let mut words = HashSet::new();
        for page in pages {
            for line in page.lines() {
                let mut found = line.split(|c: char| !c.is_alphanumeric() && c != '-').peekable();
                while let Some(word) = found.next() {
                    // The last word of a line may be half a word.
                    if found.peek().is_some() && word.len() > 2 {
                        words.insert(word.to_lowercase());
                    }
                }
            }
        }
        Self(words)
    }

    fn knows(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }
}

/// Cleans the text of one page.
pub(super) fn tidy(page: &str, vocabulary: &Vocabulary) -> String {
    let mut lines: Vec<String> = page.lines().map(tidy_line).collect();
    for index in 1..lines.len() {
        let (before, after) = lines.split_at_mut(index);
        if let (Some(last), Some(next)) = (before.last_mut(), after.first_mut()) {
            join(last, next, vocabulary);
        }
    }
    lines.join("\n")
}

fn tidy_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\u{fb00}' => out.push_str("ff"),
            '\u{fb01}' => out.push_str("fi"),
            '\u{fb02}' => out.push_str("fl"),
            '\u{fb03}' => out.push_str("ffi"),
            '\u{fb04}' => out.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => out.push_str("st"),
            '\u{a0}' | '\t' => out.push(' '),
            c => out.push(radical(c)),
        }
    }
    shorten(out.trim())
}

/// The character a radical stands for: fonts map the glyph they share to the wrong one of the two, and nobody searches for
/// the radical. Those that NFKC folds are left to it.
fn radical(c: char) -> char {
    const RADICALS: &[(char, char)] = &[
        ('⻁', '虎'),
        ('⻄', '西'),
        ('⻅', '见'),
        ('⻆', '角'),
        ('⻉', '贝'),
        ('⻋', '车'),
        ('⻑', '長'),
        ('⻓', '长'),
        ('⻔', '门'),
        ('⻘', '青'),
        ('⻙', '韦'),
        ('⻚', '页'),
        ('⻛', '风'),
        ('⻜', '飞'),
        ('⻝', '食'),
        ('⻢', '马'),
        ('⻣', '骨'),
        ('⻤', '鬼'),
        ('⻥', '鱼'),
        ('⻦', '鸟'),
        ('⻨', '麦'),
        ('⻩', '黄'),
        ('⻫', '斉'),
        ('⻬', '齐'),
        ('⻭', '歯'),
        ('⻮', '齿'),
        ('⻯', '竜'),
        ('⻰', '龙'),
        ('⻲', '亀'),
    ];
    match c {
        '\u{2e80}'..='\u{2eff}' => RADICALS
            .iter()
            .find(|(radical, _)| *radical == c)
            .map_or(c, |(_, whole)| *whole),
        c => c,
    }
}

/// Long gaps become two spaces, dot leaders three dots.
fn shorten(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    while at < chars.len() {
        let run = chars[at..]
            .iter()
            .take_while(|c| matches!(c, '.' | ' ' | '_' | '·'))
            .count();
        let marks = chars[at..at + run].iter().filter(|c| **c != ' ').count();
        if marks >= LEADER {
            out.push_str(" ... ");
            at += run;
        } else if chars[at] == ' ' {
            let spaces = chars[at..].iter().take_while(|c| **c == ' ').count();
            out.push_str(if spaces > 1 { "  " } else { " " });
            at += spaces;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out.trim().to_owned()
}

/// Moves the rest of a cut word up to the line where the word begins.
fn join(line: &mut String, next: &mut String, vocabulary: &Vocabulary) {
    let Some(mark) = line
        .chars()
        .next_back()
        .filter(|c| matches!(c, '-' | '\u{ad}' | '\u{2010}'))
    else {
        return;
    };
    let stem_end = line.len() - mark.len_utf8();
    let head: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    let stem_start = line[..stem_end]
        .rfind(|c: char| !c.is_alphanumeric() && c != '-')
        .map_or(0, |at| at + line[at..].chars().next().map_or(0, char::len_utf8));
    let stem = &line[stem_start..stem_end];
    let lower = head.chars().next().is_some_and(char::is_lowercase);
    if !lower || !stem.chars().next_back().is_some_and(char::is_alphabetic) {
        return;
    }
    let joined = format!("{stem}{head}");
    let compound = format!("{stem}-{head}");
    // A compound written so elsewhere keeps its hyphen; so does one whose joined form nobody writes and whose stem is
    // compound already.
    let keep =
        mark != '\u{ad}' && !vocabulary.knows(&joined) && (vocabulary.knows(&compound) || stem.contains('-'));
    let word = if keep { compound } else { joined };
    // What hangs on the word (a comma, a full stop) goes with it.
    let tail = next[head.len()..]
        .find(char::is_whitespace)
        .map_or(next.len(), |at| head.len() + at);
    let hanging = next[head.len()..tail].to_owned();
    line.truncate(stem_start);
    line.push_str(&word);
    line.push_str(&hanging);
    next.replace_range(..tail, "");
    *next = next.trim_start().to_owned();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &str) {
        let pages = [page.to_owned(), "a just-in-time compiler is here.".to_owned()];
        assert_eq!(tidy(page, &Vocabulary::of(&pages)), expected);
    }

    #[test]
    fn cut_words_are_joined() {
        check("an impor-\ntant, word", "an important,\nword");
        check("soft\u{ad}\nware here", "software\nhere");
        check("by just-in-\ntime means", "by just-in-time\nmeans");
        check("pages 12-\n14 and", "pages 12-\n14 and");
        check("a list -\nitem", "a list -\nitem");
        check("end-", "end-");
    }

    #[test]
    fn ligatures_and_leaders() {
        check("ひとつの\u{2ed8}い照明", "ひとつの青い照明");
        check("e\u{fb03}cient \u{fb02}ow", "efficient flow");
        check("Chapter 1 . . . . . . . . 12", "Chapter 1 ... 12");
        check("Chapter 2.............13", "Chapter 2 ... 13");
        check("a      b... c", "a  b... c");
    }
}
