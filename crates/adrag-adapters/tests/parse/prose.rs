//! Books, e-mails, notebooks and rich text, made here.

use super::word::archive;
use super::{blocks, parse_bytes, refusal};
use adrag_core::ports::BlockKind;

const CONTAINER: &[u8] = br#"<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book/a.opf"/></rootfiles></container>"#;
const PACKAGE: &[u8] = br#"<?xml version="1.0"?><!DOCTYPE package PUBLIC "x" "http://example.invalid/x.dtd"><package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Pump Book</dc:title></metadata><manifest><item id="two" href="text/two%20b.xhtml"/><item id="one" href="one.xhtml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/><itemref idref="none"/></spine></package>"#;

#[tokio::test]
async fn a_book_is_read_in_the_order_of_its_spine() {
    let bytes = archive(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("book/a.opf", PACKAGE),
        (
            "book/text/two b.xhtml",
            b"<html><head><title/></head><body><h1>Two</h1><p>QUOKKA-7731</p></body></html>",
        ),
        (
            "book/one.xhtml",
            b"<html><body><h1>One</h1><script>x()</script><p>first</p></body></html>",
        ),
    ]);
    for name in ["book.epub", "book"] {
        let parsed = parse_bytes(name, &bytes).await.unwrap();
        assert_eq!(
            blocks(&parsed),
            [
                (BlockKind::Heading(1), "One"),
                (BlockKind::Prose, "first"),
                (BlockKind::Heading(1), "Two"),
                (BlockKind::Prose, "QUOKKA-7731"),
            ]
        );
        assert_eq!(parsed.title.as_deref(), Some("The Pump Book"));
    }
}

#[tokio::test]
async fn a_locked_book_says_so_and_scrambled_fonts_lock_nothing() {
    for (way, locked) in [
        ("http://www.idpf.org/2008/embedding", false),
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", true),
    ] {
        let lock = format!(
            r#"<encryption><EncryptedData><EncryptionMethod Algorithm="{way}"/></EncryptedData></encryption>"#
        );
        let bytes = archive(&[
            ("META-INF/container.xml", CONTAINER),
            ("META-INF/encryption.xml", lock.as_bytes()),
            ("book/a.opf", PACKAGE),
            ("book/one.xhtml", b"<p>first</p>"),
        ]);
        if locked {
            assert!(refusal("a.epub", &bytes).await.contains("copy protection"));
        } else {
            let parsed = parse_bytes("a.epub", &bytes).await.unwrap();
            assert_eq!(parsed.remarks, ["chapters missing from the file: 1"]);
        }
    }
}

#[tokio::test]
async fn an_entity_of_its_own_in_a_book_is_refused() {
    let package = br#"<!DOCTYPE package [<!ENTITY a "b">]><package><manifest/></package>"#;
    let bytes = archive(&[("META-INF/container.xml", CONTAINER), ("book/a.opf", package)]);
    assert!(refusal("a.epub", &bytes).await.contains("unsafe"));
}

#[tokio::test]
async fn an_e_mail_says_who_wrote_what_and_carries_the_one_inside() {
    let mail = b"From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@example.org, B <b@example.org>\r\nDate: Mon, 1 Jan 2024 10:00:00 +0100\r\nSubject: Pump\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nM=FCller wrote QUOKKA-7731.\r\n--y\r\nContent-Type: text/html\r\n\r\n<p>Not this</p>\r\n--y--\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@example.org\r\nSubject: Inner\r\n\r\nThe inner one.\r\n--x\r\nContent-Type: application/pdf; name=plan.pdf\r\nContent-Disposition: attachment; filename=plan.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--x--\r\n";
    let parsed = parse_bytes("a.eml", mail).await.unwrap();
    assert_eq!(parsed.title.as_deref(), Some("Pump"));
    let text = &parsed.text;
    for wanted in [
        "From: Jürgen <j@example.org>",
        "To: a@example.org, B <b@example.org>",
        "Date: 2024-01-01T10:00:00+01:00",
        "Müller wrote QUOKKA-7731.",
        "The inner one.",
        "Attachments: plan.pdf",
    ] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted} in {text}");
    }
    assert!(!text.contains("Not this"), "{text}");
    let page = b"From: a@example.org\r\nSubject: Page\r\nContent-Type: text/html\r\n\r\n<script>no</script><p>Only <b>HTML</b></p>";
    let parsed = parse_bytes("b.eml", page).await.unwrap();
    assert!(
        parsed.text.contains("Only HTML") && !parsed.text.contains("no\n"),
        "{}",
        parsed.text
    );
}

#[tokio::test]
async fn a_notebook_is_text_code_and_what_was_printed() {
    let notebook = serde_json::json!({"cells": [
        {"cell_type": "markdown", "source": ["# Pumps\n", "\n", "All of them."]},
        {"cell_type": "code", "source": "print('x')", "outputs": [
            {"output_type": "stream", "text": ["QUOKKA-7731\n"]},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure>"]}}]},
        {"cell_type": "raw", "source": []}], "nbformat": 4});
    let parsed = parse_bytes("a.ipynb", notebook.to_string().as_bytes())
        .await
        .unwrap();
    assert_eq!(
        blocks(&parsed),
        [
            (BlockKind::Heading(1), "Pumps"),
            (BlockKind::Prose, "All of them."),
            (BlockKind::Code, "print('x')"),
            (BlockKind::Code, "QUOKKA-7731"),
            (BlockKind::Code, "<Figure>"),
        ]
    );
    assert_eq!(
        (parsed.kind.as_str(), parsed.title.as_deref()),
        ("notebook", Some("Pumps"))
    );
    let parsed = parse_bytes("b.ipynb", b"{\"a\": 1}").await.unwrap();
    assert_eq!(parsed.remarks, ["not a Jupyter notebook, read as JSON"]);
}

#[tokio::test]
async fn rich_text_is_read_under_any_name() {
    for name in ["a.rtf", "a.txt", "a"] {
        let parsed = parse_bytes(name, br"{\rtf1\ansi QUOKKA-7731 \'e4\par}")
            .await
            .unwrap();
        assert_eq!(
            (parsed.kind.as_str(), parsed.text.as_str()),
            ("rtf", "QUOKKA-7731 ä\n"),
            "{name}"
        );
    }
    assert!(
        refusal("a.rtf", b"no rich text")
            .await
            .contains("is not a readable RTF")
    );
}
