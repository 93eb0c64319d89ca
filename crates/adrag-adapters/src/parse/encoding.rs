//! Bytes to text: byte-order mark, UTF-8, UTF-16 without a mark, a declared charset, then statistics.

use super::failure::ReadResult;
use super::format::{Format, binary};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// Text with `\n` line ends, and a remark when characters were lost.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) remark: Option<String>,
}

/// Decodes the bytes of a text file of any encoding.
///
/// # Errors
/// When the bytes are no text.
pub(crate) fn decode(bytes: &[u8], format: Format) -> ReadResult<Decoded> {
    let (encoding, skip) = match bom(bytes) {
        Some(found) => found,
        None => (detect(bytes, format)?, 0),
    };
    let Some(encoding) = encoding else {
        return Ok(finish(utf32(&bytes[skip..], bytes[0] == 0), "UTF-32"));
    };
    let (text, _) = encoding.decode_without_bom_handling(&bytes[skip..]);
    Ok(finish(text.into_owned(), encoding.name()))
}

/// Whether the beginning of a file reads as text.
pub(crate) fn is_text(head: &[u8]) -> bool {
    bom(head).is_some() || utf16_without_bom(head).is_some() || !is_binary(head)
}

/// The encoding a byte-order mark names, and its length; no encoding stands for UTF-32.
fn bom(bytes: &[u8]) -> Option<(Option<&'static Encoding>, usize)> {
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Some((None, 4));
    }
    Encoding::for_bom(bytes).map(|(encoding, length)| (Some(encoding), length))
}

fn detect(bytes: &[u8], format: Format) -> ReadResult<Option<&'static Encoding>> {
    if let Some(encoding) = utf16_without_bom(bytes) {
        return Ok(Some(encoding));
    }
    if is_binary(bytes) {
        return Err(binary(Some(format), "no known text encoding"));
    }
    if bytes.is_ascii() && escapes_to_japanese(bytes) {
        return Ok(Some(ISO_2022_JP));
    }
    if mostly_utf8(bytes) {
        return Ok(Some(UTF_8));
    }
    if format == Format::Html
        && let Some(declared) = declared_charset(bytes)
        && !declared.decode_without_bom_handling(bytes).1
    {
        return Ok(Some(declared));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    Ok(Some(detector.guess(None, Utf8Detection::Allow)))
}

/// UTF-16 shows as NUL bytes on one side only; the text that results must be free of controls.
fn utf16_without_bom(bytes: &[u8]) -> Option<&'static Encoding> {
    let even = bytes.iter().step_by(2).filter(|byte| **byte == 0).count();
    let odd = bytes.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count();
    let encoding = match (even, odd) {
        (0, odd) if odd > 0 => UTF_16LE,
        (even, 0) if even > 0 => UTF_16BE,
        _ => return None,
    };
    let whole = &bytes[..bytes.len() & !1];
    let (text, bad) = encoding.decode_without_bom_handling(whole);
    let clean = text
        .chars()
        .all(|c| c == '\t' || c == '\n' || c == '\r' || c == '\u{c}' || !c.is_control());
    let private = text
        .chars()
        .filter(|c| ('\u{e000}'..='\u{f8ff}').contains(c))
        .count();
    (!bad && clean && private == 0).then_some(encoding)
}

fn is_binary(bytes: &[u8]) -> bool {
    let odd = bytes
        .iter()
        .filter(|byte| matches!(byte, 0..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
        .count();
    let nul = bytes.iter().filter(|byte| **byte == 0).count();
    // One stray control character is dirt; a share of them is data.
    nul > bytes.len() / 1000 || odd > 1 && odd > bytes.len() / 100 || (nul > 0 && bytes.len() < 1000)
}

fn escapes_to_japanese(bytes: &[u8]) -> bool {
    bytes
        .windows(3)
        .any(|found| matches!(found, b"\x1b$B" | b"\x1b$@" | b"\x1b(J"))
}

/// A log with one broken line is UTF-8 all the same.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    bad == 0 || bad * 20 < good
}

/// The charset of a `meta` element, wherever it stands: some pages begin with 40 kB of script.
fn declared_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let lower = bytes.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = find(&lower[from..], b"charset") {
        let rest = &lower[from + at + b"charset".len()..];
        let label: Vec<u8> = rest
            .iter()
            .copied()
            .skip_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'"' | b'\''))
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
            .take(40)
            .collect();
        if let Some(encoding) = Encoding::for_label(&label) {
            return Some(encoding);
        }
        from += at + b"charset".len();
    }
    None
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|found| found == wanted)
}

fn utf32(bytes: &[u8], big_endian: bool) -> String {
    let unit = |four: &[u8]| {
        let four = [four[0], four[1], four[2], four[3]];
        let code = if big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    bytes.chunks_exact(4).map(unit).collect()
}

fn finish(text: String, encoding: &str) -> Decoded {
    let lost = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    let remark = (lost > 0).then(|| format!("{lost} characters could not be decoded (read as {encoding})"));
    Decoded {
        text: normal_lines(text),
        remark,
    }
}

/// The same text with `\n` line ends, without NUL and inner byte-order marks.
pub(crate) fn normal_lines(text: String) -> String {
    if !text.contains(['\r', '\0', '\u{feff}']) {
        return text;
    }
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace(['\0', '\u{feff}'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAGRAPH: &str = "Die Brücke über den Fluß wurde 1907 für Fußgänger geöffnet; die Gebühr betrug fünf \
                             Pfennige, Kinder zahlten nichts. QUOKKA-7731 steht später am Geländer.\n";

    fn utf16(text: &str, little: bool) -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    }

    #[test]
    fn one_paragraph_reads_the_same_in_every_encoding() {
        let mut marked = vec![0xef, 0xbb, 0xbf];
        marked.extend(PARAGRAPH.as_bytes());
        let mut utf16_marked = vec![0xff, 0xfe];
        utf16_marked.extend(utf16(PARAGRAPH, true));
        let (windows, _, _) = encoding_rs::WINDOWS_1252.encode(PARAGRAPH);
        for (name, bytes) in [
            ("UTF-8", PARAGRAPH.as_bytes().to_vec()),
            ("UTF-8 with mark", marked),
            ("UTF-16 with mark", utf16_marked),
            ("UTF-16 LE", utf16(PARAGRAPH, true)),
            ("UTF-16 BE", utf16(PARAGRAPH, false)),
            ("Windows-1252", windows.into_owned()),
        ] {
            let decoded = decode(&bytes, Format::Text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(decoded.text, PARAGRAPH, "{name}");
            assert_eq!(decoded.remark, None, "{name}");
        }
    }

    #[test]
    fn japanese_and_russian_are_detected() {
        let japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。";
        let russian = "В начале июля, в чрезвычайно жаркое время, под вечер, один молодой человек вышел из своей каморки.";
        for (encoding, text) in [
            (encoding_rs::SHIFT_JIS, japanese),
            (encoding_rs::EUC_JP, japanese),
            (encoding_rs::ISO_2022_JP, japanese),
            (encoding_rs::KOI8_R, russian),
            (encoding_rs::WINDOWS_1251, russian),
        ] {
            let (bytes, _, _) = encoding.encode(text);
            assert_eq!(
                decode(&bytes, Format::Text).unwrap().text,
                text,
                "{}",
                encoding.name()
            );
        }
    }

    #[test]
    fn binary_is_refused_and_one_bad_byte_is_not() {
        let noise: Vec<u8> = (0..4000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        assert!(decode(&noise, Format::Text).is_err());
        let mut log = "Größe geändert\n".repeat(40).into_bytes();
        log.push(0xff);
        let decoded = decode(&log, Format::Text).unwrap();
        assert!(decoded.text.starts_with("Größe geändert"));
        assert!(decoded.remark.is_some());
    }

    #[test]
    fn a_charset_declared_late_is_found() {
        let page = format!(
            "<html><!--{}--><meta charset=\"koi8-r\"><p>Континент",
            " ".repeat(50_000)
        );
        let (bytes, _, _) = encoding_rs::KOI8_R.encode(&page);
        assert!(decode(&bytes, Format::Html).unwrap().text.ends_with("Континент"));
    }
}
