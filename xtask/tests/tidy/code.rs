//! Just enough Rust to say which crates a file names: comments and texts are blanked, `use` trees are unrolled.

use std::collections::HashSet;

/// The source with the insides of comments, strings and character literals replaced by spaces.
pub fn blank(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => comment_end(bytes, at),
            b'"' => string_end(bytes, at + 1),
            b'r' | b'b' if starts_text(bytes, at) => match raw_end(bytes, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            b'\'' => character_end(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |length| at + length)
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether an `r` or a `b` can begin a literal: it is not the end of a longer word.
fn starts_text(bytes: &[u8], at: usize) -> bool {
    at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

/// The end of `r"..."`, `r#"..."#`, `br"..."`; none when this is no raw string.
fn raw_end(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(bytes[at] == b'b');
    if bytes.get(start) != Some(&b'r') {
        return None;
    }
    let hashes = bytes[start + 1..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let length = bytes[open + 1..]
        .windows(close.len())
        .position(|window| window == close)?;
    Some(open + 1 + length + close.len())
}

/// The end of a character literal; of a lifetime, only its apostrophe.
fn character_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => bytes[at + 3..]
            .iter()
            .position(|byte| *byte == b'\'')
            .map_or(bytes.len(), |end| at + end + 4),
        Some(first) => {
            let width = match first {
                0..=0x7f => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            if bytes.get(at + 1 + width) == Some(&b'\'') {
                at + 2 + width
            } else {
                at + 1
            }
        }
        None => bytes.len(),
    }
}

/// The words of the code, each with what stands right before it: `::` makes it a later part of a path.
pub fn words(blanked: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + blanked[rest..].find(is_word)?;
        let end = blanked[start..]
            .find(|character| !is_word(character))
            .map_or(blanked.len(), |length| start + length);
        rest = end;
        Some((start, &blanked[start..end]))
    })
}

/// The crates a file names: first parts of `use` paths and of paths in the code. A name that the file takes from our
/// own crate (`use crate::tantivy`) is ours there.
pub fn crates_named(source: &str) -> HashSet<String> {
    let blanked = blank(source);
    let mut named = HashSet::new();
    let mut ours = HashSet::new();
    let mut code = String::new();
    let mut rest = blanked.as_str();
    while let Some(start) = next_use(rest) {
        code.push_str(&rest[..start]);
        let end = rest[start..]
            .find(';')
            .map_or(rest.len(), |length| start + length + 1);
        for path in unroll(rest[start + 3..end].trim_end_matches(';')) {
            match path.split_first() {
                Some((first, more)) if ["crate", "self", "super"].contains(&first.as_str()) => {
                    ours.extend(more.last().cloned());
                }
                Some((first, _)) => {
                    named.insert(first.clone());
                }
                None => {}
            }
        }
        rest = &rest[end..];
    }
    code.push_str(rest);
    for (start, word) in words(&code) {
        let is_first = is_first_part(&code[..start]);
        if is_first && code[start + word.len()..].starts_with("::") && !ours.contains(word) {
            named.insert(word.to_owned());
        }
    }
    named
}

/// Whether a word after this text begins a path; `::sled` does, the second word of `crate::sled` does not.
fn is_first_part(before: &str) -> bool {
    match before.strip_suffix("::") {
        Some(head) => {
            !head.ends_with(|character: char| character.is_alphanumeric() || "_>".contains(character))
        }
        None => true,
    }
}

/// Where the next `use` stands as a word of its own.
fn next_use(text: &str) -> Option<usize> {
    words(text)
        .find(|(start, word)| *word == "use" && text[start + 3..].starts_with(char::is_whitespace))
        .map(|(start, _)| start)
}

/// `a::{b, c::{d as e, self}}` as paths: `a b`, `a c d`, `a c`.
fn unroll(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim().trim_start_matches("::");
    if let Some(open) = tree.find('{') {
        let head: Vec<String> = parts(&tree[..open]);
        let inside = tree[open + 1..]
            .trim_end()
            .strip_suffix('}')
            .unwrap_or(&tree[open + 1..]);
        return split_outside(inside)
            .into_iter()
            .flat_map(unroll)
            .map(|path| {
                head.iter()
                    .cloned()
                    .chain(path.into_iter().filter(|part| part != "self" || head.is_empty()))
                    .collect()
            })
            .collect();
    }
    let path = tree.split(" as ").next().unwrap_or(tree);
    let parts = parts(path);
    if parts.is_empty() { Vec::new() } else { vec![parts] }
}

fn parts(path: &str) -> Vec<String> {
    path.split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn split_outside(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    items
}

#[test]
fn comments_and_texts_are_blanked_and_nothing_else() {
    let source = "let a = \"tantivy::x\"; // sled::y\n/* ort /* z */ */ let b = r#\"lopdf\"#; let c = '\"'; fn f<'a>() {} let d = b'\\'';";
    let blanked = blank(source);
    for gone in ["tantivy", "sled", "ort", "lopdf"] {
        assert!(!blanked.contains(gone), "{gone} in {blanked}");
    }
    assert!(
        blanked.contains("fn f<'a>() {}") || blanked.contains("fn f< a>() {}"),
        "{blanked}"
    );
    assert!(blanked.contains("let d ="));
    assert_eq!(blanked.len(), source.len());
}

#[test]
fn crates_are_told_from_modules_of_the_same_name() {
    let named = |source: &str| {
        let mut names: Vec<String> = crates_named(source).into_iter().collect();
        names.sort();
        names
    };
    assert_eq!(named("use tantivy::{Index, schema::Schema};"), ["tantivy"]);
    assert_eq!(
        named("use crate::{ort::Embedder, tantivy::KeywordIndex};"),
        Vec::<String>::new()
    );
    assert_eq!(
        named("use crate::tantivy; fn f() { tantivy::open(); }"),
        Vec::<String>::new()
    );
    assert_eq!(
        named("fn f() -> tantivy::Result<()> { crate::sled::open() }"),
        ["crate", "tantivy"]
    );
    assert_eq!(named("use ::sled::Db as Store;"), ["sled"]);
    assert_eq!(named("fn f() { ::sled::open(\"x\") }"), ["sled"]);
}
