//! Numbers, sizes, durations and dates as people read them. Dates need an offset from the bridge: no clock here.

/// "420 ms", "1.2 s", "2 min 5 s".
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => format!("{:.1} s", tenths(ms)),
        10_000..60_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

fn tenths(ms: u64) -> f64 {
    (ms / 100) as f64 / 10.0
}

/// "12 chunks/s", "0.4 chunks/s": one digit after the point below ten.
pub fn rate(per_second: f64) -> String {
    if per_second < 9.95 {
        format!("{per_second:.1} chunks/s")
    } else {
        format!("{per_second:.0} chunks/s")
    }
}

/// "less than a minute left", "about 3 min left", "about 2 h left": an estimate is not told to the second.
pub fn time_left(ms: u64) -> String {
    match ms.div_ceil(60_000) {
        ..=1 => "less than a minute left".to_owned(),
        minutes @ 2..90 => format!("about {minutes} min left"),
        minutes => format!("about {} h left", (minutes + 30) / 60),
    }
}

/// "512 B", "3.4 MB": powers of 1000, one digit after the point below ten.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if value < 9.95 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

/// "12,345".
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 document", "3 documents".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// The last part of a path, whichever slash it uses.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}

/// "p. 4" or "pp. 4-6".
pub fn pages(first: u32, last: u32) -> String {
    if first == last {
        format!("p. {first}")
    } else {
        format!("pp. {first}\u{2013}{last}")
    }
}

/// At most `most` characters, with an ellipsis where something was left out.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\u{2026}", text[..end].trim_end()),
    }
}

/// A message as a sentence of its own: its first letter raised, unless it begins with a name in backticks.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The parts of a message in turn: plain text, then what stood between backticks, and so on.
pub fn quoted_parts(text: &str) -> Vec<String> {
    text.split('`').map(str::to_owned).collect()
}

/// Text of hostile origin for one line: no control, bidirectional or zero-width characters.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_invisible(*c))
        .collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Which heading of a list by time an entry goes under; both times in local milliseconds.
pub fn day_group(then_ms: i64, now_ms: i64) -> &'static str {
    const DAY: i64 = 86_400_000;
    match now_ms.div_euclid(DAY) - then_ms.div_euclid(DAY) {
        ..=0 => "Today",
        1 => "Yesterday",
        2..=6 => "This week",
        7..=30 => "This month",
        _ => "Earlier",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_like_speech() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_249, "1.2 s"),
            (9_999, "9.9 s"),
            (10_400, "10 s"),
            (125_000, "2 min 5 s"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn an_estimate_is_told_roughly() {
        for (ms, text) in [
            (0, "less than a minute left"),
            (60_000, "less than a minute left"),
            (60_001, "about 2 min left"),
            (3_600_000, "about 60 min left"),
            (5_400_000, "about 2 h left"),
            (36_000_000, "about 10 h left"),
        ] {
            assert_eq!(time_left(ms), text);
        }
        assert_eq!(rate(0.42), "0.4 chunks/s");
        assert_eq!(rate(9.96), "10 chunks/s");
        assert_eq!(rate(41.6), "42 chunks/s");
    }

    #[test]
    fn sizes_have_one_digit_below_ten() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (3_400_000, "3.4 MB"),
            (9_960, "10 kB"),
            (999_700, "1.0 MB"),
            (12_000_000_000, "12 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "document", "documents"), "1 document");
        assert_eq!(counted(0, "document", "documents"), "0 documents");
    }

    #[test]
    fn file_names_come_from_either_kind_of_path() {
        assert_eq!(file_name("/a/b.pdf"), "b.pdf");
        assert_eq!(file_name("C:\\a\\b.pdf"), "b.pdf");
        assert_eq!(file_name("/a/b/"), "b");
        assert_eq!(file_name(""), "");
    }

    #[test]
    fn a_message_begins_like_a_sentence_and_keeps_its_names() {
        assert_eq!(sentence("nothing answers"), "Nothing answers");
        assert_eq!(sentence("`x` is gone"), "`x` is gone");
        assert_eq!(sentence(""), "");
        assert_eq!(quoted_parts("at `x` now"), ["at ", "x", " now"]);
    }

    #[test]
    fn a_right_to_left_override_cannot_disguise_a_name() {
        assert_eq!(plain("in\u{202e}fdp.exe\n"), "infdp.exe ");
    }

    #[test]
    fn shortening_counts_characters_not_bytes() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü\u{2026}");
    }

    #[test]
    fn days_are_calendar_days() {
        let day = 86_400_000;
        assert_eq!(day_group(10 * day - 1, 10 * day), "Yesterday");
        assert_eq!(day_group(10 * day, 11 * day - 1), "Today");
        assert_eq!(day_group(0, 100 * day), "Earlier");
    }
}
