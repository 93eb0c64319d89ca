//! One paragraph in several encodings and formats.

use super::parse_bytes;
use adrag_core::ports::BlockKind;

#[tokio::test]
async fn one_table_reads_the_same_in_every_encoding() {
    let text = "artikel;größe\nMüllbeutel, reißfest;60 l\nÖlkännchen QUOKKA-7731;1 l\n";
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let bare: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let (windows, _, _) = encoding_rs::WINDOWS_1252.encode(text);
    for (name, bytes) in [
        ("utf8", text.as_bytes()),
        ("utf8 with mark", &marked),
        ("utf16 with mark", &utf16),
        ("utf16", &bare),
        ("windows-1252", &windows),
    ] {
        let parsed = parse_bytes("t.csv", bytes)
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let rows: Vec<&str> = parsed
            .blocks
            .iter()
            .map(|block| &parsed.text[block.start..block.end])
            .collect();
        assert_eq!(
            rows,
            [
                "artikel: Müllbeutel, reißfest\ngröße: 60 l",
                "artikel: Ölkännchen QUOKKA-7731\ngröße: 1 l"
            ],
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_kind_follows_content_and_extension() {
    for (name, content, kind) in [
        ("a.RS", "fn main() {}\n", "rust"),
        ("a.tsx", "const a = 1;\n", "typescript"),
        ("a", "<!doctype html><p>x", "html"),
        ("a.svelte", "<p>x</p>", "svelte"),
        ("a.json", "{\"a\": 1}", "json"),
        ("a.unknown", "plain words", "text"),
    ] {
        assert_eq!(
            parse_bytes(name, content.as_bytes()).await.unwrap().kind,
            kind,
            "{name}"
        );
    }
}

#[tokio::test]
async fn line_ends_become_line_feeds() {
    let parsed = parse_bytes("a.md", b"# A\r\n\r\ntext\rmore\r\n").await.unwrap();
    assert_eq!(parsed.text, "# A\n\ntext\nmore\n");
    assert_eq!(parsed.blocks[0].kind, BlockKind::Heading(1));
}
