//! Word documents, one construct each, and archives made to do harm.

use super::{parse_bytes, refusal};
use adrag_core::ports::BlockKind;
use std::io::Write;
use std::time::Instant;
use zip::write::SimpleFileOptions;

const NAMESPACES: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml""#;

pub(super) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn part(root: &str, content: &str) -> String {
    format!(r#"<?xml version="1.0" encoding="UTF-8"?><w:{root} {NAMESPACES}>{content}</w:{root}>"#)
}

fn document(body: &str) -> String {
    part("document", &format!("<w:body>{body}</w:body>"))
}

fn docx(body: &str) -> Vec<u8> {
    archive(&[("word/document.xml", document(body).as_bytes())])
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[tokio::test]
async fn text_boxes_are_read_once() {
    let drawing = format!(
        "<wps:txbx><w:txbxContent>{}</w:txbxContent></wps:txbx>",
        paragraph("DRAWING")
    );
    let vml = format!(
        "<w:pict><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></w:pict>",
        paragraph("DRAWING")
    );
    let only_vml = format!(
        "<w:pict><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></w:pict>",
        paragraph("VML")
    );
    let body = format!(
        "{}<w:p><w:r>{only_vml}</w:r></w:p><w:p><w:r><w:t>before </w:t><mc:AlternateContent><mc:Choice Requires=\"wps\">\
         {drawing}</mc:Choice><mc:Fallback>{vml}</mc:Fallback></mc:AlternateContent><w:t>after</w:t></w:r></w:p>",
        paragraph("PLAIN")
    );
    let text = parse_bytes("a.docx", &docx(&body)).await.unwrap().text;
    for marker in ["PLAIN", "VML", "DRAWING", "before after"] {
        assert_eq!(text.matches(marker).count(), 1, "{marker} in {text:?}");
    }
}

#[tokio::test]
async fn a_choice_without_text_gives_way_to_its_fallback() {
    let body = "<w:p><mc:AlternateContent><mc:Choice Requires=\"x\"><w:r/></mc:Choice><mc:Fallback><w:r><w:t>SPARE</w:t>\
                </w:r></mc:Fallback></mc:AlternateContent></w:p>";
    assert!(
        parse_bytes("a.docx", &docx(body))
            .await
            .unwrap()
            .text
            .contains("SPARE")
    );
}

#[tokio::test]
async fn insertions_are_read_and_deletions_are_not() {
    let body = "<w:p><w:ins><w:r><w:t>INSERTED</w:t></w:r></w:ins><w:del><w:r><w:delText>DELETED</w:delText><w:t>GONE</w:t>\
                </w:r></w:del><w:moveFrom><w:r><w:t>MOVED</w:t></w:r></w:moveFrom><w:fldSimple w:instr=\"PAGE\"><w:r>\
                <w:t>FIELD</w:t></w:r></w:fldSimple><w:r><w:instrText>CODE</w:instrText></w:r><w:ruby><w:rt><w:r><w:t>READING\
                </w:t></w:r></w:rt><w:rubyBase><w:r><w:t>BASE</w:t></w:r></w:rubyBase></w:ruby><w:smartTag><w:r><w:t>TAG\
                </w:t></w:r></w:smartTag><w:sdt><w:sdtContent><w:r><w:t>CONTROL &amp; &#65;</w:t></w:r></w:sdtContent>\
                </w:sdt></w:p>";
    let text = parse_bytes("a.docx", &docx(body)).await.unwrap().text;
    for marker in ["INSERTED", "FIELD", "BASE", "TAG", "CONTROL & A"] {
        assert!(text.contains(marker), "{marker} in {text:?}");
    }
    for marker in ["DELETED", "GONE", "MOVED", "CODE", "READING"] {
        assert!(!text.contains(marker), "{marker} in {text:?}");
    }
}

#[tokio::test]
async fn notes_headers_headings_and_tables_keep_their_place() {
    let body = "<w:p><w:pPr><w:pStyle w:val=\"h1\"/></w:pPr><w:r><w:t>CHAPTER</w:t></w:r></w:p><w:p><w:r><w:t>noted</w:t>\
                <w:footnoteReference w:id=\"2\"/></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>part</w:t></w:r></w:p></w:tc>\
                <w:tc><w:p><w:r><w:t>torque</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>bolt</w:t></w:r></w:p>\
                </w:tc><w:tc><w:p><w:r><w:t>42 Nm</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:r><w:t>LAST</w:t></w:r></w:p>";
    let styles = part(
        "styles",
        "<w:style w:styleId=\"h1\"><w:name w:val=\"heading 2\"/></w:style>",
    );
    let notes = part(
        "footnotes",
        &format!("<w:footnote w:id=\"2\">{}</w:footnote>", paragraph("FOOTNOTE")),
    );
    let header = part("hdr", &paragraph("LETTERHEAD"));
    let bytes = archive(&[
        ("word/document.xml", document(body).as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
        ("word/header1.xml", header.as_bytes()),
        ("word/header2.xml", header.as_bytes()),
    ]);
    let parsed = parse_bytes("a.docx", &bytes).await.unwrap();
    let blocks: Vec<(BlockKind, &str)> = parsed
        .blocks
        .iter()
        .map(|block| (block.kind, &parsed.text[block.start..block.end]))
        .collect();
    assert_eq!(
        blocks,
        [
            (BlockKind::Prose, "LETTERHEAD"),
            (BlockKind::Heading(2), "CHAPTER"),
            (BlockKind::Prose, "noted"),
            (BlockKind::Prose, "FOOTNOTE"),
            (BlockKind::TableRow, "part | torque"),
            (BlockKind::TableRow, "part: bolt; torque: 42 Nm"),
            (BlockKind::Prose, "LAST"),
        ]
    );
}

#[tokio::test]
async fn a_zip_bomb_is_refused_soon() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default())
        .unwrap();
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..300 {
        zip.write_all(&spaces).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let began = Instant::now();
    let message = refusal("bomb.docx", &bytes).await;
    assert!(message.contains("unsafe"), "{message}");
    assert!(began.elapsed().as_secs() < 10);
}

#[tokio::test]
async fn archives_of_odd_shape_are_refused_or_harmless() {
    let many: Vec<(String, Vec<u8>)> = (0..6_000)
        .map(|n| (format!("word/{n}.xml"), Vec::new()))
        .collect();
    let mut members: Vec<(&str, &[u8])> = many
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()))
        .collect();
    let main = document(&paragraph("QUOKKA-7731"));
    members.push(("word/document.xml", main.as_bytes()));
    assert!(refusal("many.docx", &archive(&members)).await.contains("members"));

    let outside = archive(&[("../../evil", b"x"), ("word/document.xml", main.as_bytes())]);
    assert!(
        parse_bytes("outside.docx", &outside)
            .await
            .unwrap()
            .text
            .contains("QUOKKA-7731")
    );

    assert!(
        refusal("none.docx", &archive(&[("a.txt", b"x")]))
            .await
            .contains("no part")
    );
    assert!(
        refusal("sheet.docx", b"PK\x03\x04garbage")
            .await
            .contains("not a readable DOCX")
    );
}

#[tokio::test]
async fn unsafe_xml_is_refused() {
    let deep = document(&"<w:x>".repeat(100_000));
    assert!(
        refusal("deep.docx", &archive(&[("word/document.xml", deep.as_bytes())]))
            .await
            .contains("nested")
    );
    let laughs = format!(
        "<!DOCTYPE lolz [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>{}",
        document(&paragraph("&b;")).replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "")
    );
    assert!(
        refusal(
            "laughs.docx",
            &archive(&[("word/document.xml", laughs.as_bytes())])
        )
        .await
        .contains("unsafe XML")
    );
}

/// bugs.md 23: one template, written by programs that nest runs and paragraphs in their own ways.
#[tokio::test]
async fn the_same_words_are_the_same_text_however_they_are_nested() {
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let variants = [
        format!("<w:p>{}</w:p>", run("The pump takes QUOKKA-7731 seals.")),
        format!(
            "<w:p>{}{}{}</w:p>",
            run("The pump "),
            run("takes QUOKKA"),
            run("-7731 seals.")
        ),
        format!(
            "<w:p><w:proofErr w:type=\"spellStart\"/>{}<w:proofErr w:type=\"spellEnd\"/><w:hyperlink>{}</w:hyperlink></w:p>",
            run("The pump takes "),
            run("QUOKKA-7731 seals.")
        ),
        format!(
            "<w:p><w:smartTag>{}<w:smartTag>{}</w:smartTag></w:smartTag></w:p>",
            run("The pump takes "),
            run("QUOKKA-7731 seals.")
        ),
        format!(
            "<w:sdt><w:sdtContent><w:p><w:ins>{}</w:ins>{}</w:p></w:sdtContent></w:sdt>",
            run("The pump takes QUOKKA"),
            run("-7731 seals.")
        ),
    ];
    for body in variants {
        let parsed = parse_bytes("a.docx", &docx(&body)).await.unwrap();
        assert_eq!(parsed.text, "The pump takes QUOKKA-7731 seals.\n", "{body}");
    }
}
