//! Workbooks, slides and OpenDocument files, made here part by part.

use super::word::archive;
use super::{blocks, parse_bytes, refusal};
use adrag_core::ports::BlockKind;
use std::time::Instant;

const MAIN: &str = r#"xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;
const SLIDE: &str = r#"xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006""#;
const ODF: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0""#;

fn relations(entries: &[(&str, &str, &str)]) -> String {
    let entries: String = entries
        .iter()
        .map(|(id, kind, target)| {
            format!(
                r#"<Relationship Id="{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"#
            )
        })
        .collect();
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>"#
    )
}

/// A workbook of one sheet with these rows as XML.
fn workbook(sheet: &str) -> Vec<u8> {
    let book = format!(
        r#"<workbook {MAIN}><sheets><sheet name="Stock" sheetId="1" r:id="rId1"/></sheets></workbook>"#
    );
    let styles = format!(
        r#"<styleSheet {MAIN}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
    );
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"#;
    archive(&[
        ("[Content_Types].xml", types.as_bytes()),
        (
            "_rels/.rels",
            relations(&[("rId1", "officeDocument", "xl/workbook.xml")]).as_bytes(),
        ),
        ("xl/workbook.xml", book.as_bytes()),
        (
            "xl/_rels/workbook.xml.rels",
            relations(&[
                ("rId1", "worksheet", "worksheets/sheet1.xml"),
                ("rId2", "styles", "styles.xml"),
            ])
            .as_bytes(),
        ),
        ("xl/styles.xml", styles.as_bytes()),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet {MAIN}>{sheet}</worksheet>").as_bytes(),
        ),
    ])
}

fn text_cell(at: &str, text: &str) -> String {
    format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

#[tokio::test]
async fn a_sheet_becomes_records_with_its_computed_values() {
    let rows = format!(
        r#"<sheetData><row r="1">{}{}{}</row><row r="2">{}<c r="B2"><f>2+2</f><v>4</v></c><c r="C2" s="1"><v>45292</v></c></row></sheetData>"#,
        text_cell("A1", "part"),
        text_cell("B1", "count"),
        text_cell("C1", "seen"),
        text_cell("A2", "QUOKKA-7731"),
    );
    let parsed = parse_bytes("stock.XLSX", &workbook(&rows)).await.unwrap();
    assert_eq!(parsed.kind, "xlsx");
    assert_eq!(
        blocks(&parsed),
        [
            (BlockKind::Heading(1), "Stock"),
            (
                BlockKind::TableRow,
                "part: QUOKKA-7731\ncount: 4\nseen: 2024-01-01"
            ),
        ]
    );
    // The same under no name at all, and under a text name.
    assert_eq!(parse_bytes("stock", &workbook(&rows)).await.unwrap().kind, "xlsx");
    assert!(
        refusal("stock.csv", &workbook(&rows))
            .await
            .contains("Excel workbook")
    );
}

/// bugs.md 7.
#[tokio::test]
async fn a_cell_at_the_far_corner_costs_no_grid() {
    let far = format!(
        r#"<dimension ref="A1:XFD9999999"/><sheetData><row r="1">{}</row><row r="1048576">{}</row></sheetData>"#,
        text_cell("A1", "near QUOKKA-7731"),
        text_cell("XFD1048576", "far QUOKKA-7731"),
    );
    let began = Instant::now();
    let parsed = parse_bytes("far.xlsx", &workbook(&far)).await.unwrap();
    assert_eq!(parsed.text.matches("QUOKKA-7731").count(), 2, "{}", parsed.text);
    assert!(began.elapsed().as_secs() < 10);

    let mut cells = String::from("<sheetData>");
    for row in 1..=1000 {
        cells.push_str(&format!(r#"<row r="{row}">"#));
        cells.push_str(&r#"<c s="1"/>"#.repeat(1000));
        cells.push_str("</row>");
    }
    cells.push_str(&format!(
        r#"<row r="1001">{}</row></sheetData>"#,
        text_cell("A1001", "QUOKKA-7731")
    ));
    // One byte of each cell differs, so that it does not pack like a bomb.
    match parse_bytes("styled.xlsx", &workbook(&cells)).await {
        Ok(parsed) => assert_eq!(parsed.text.matches("QUOKKA-7731").count(), 1),
        Err(error) => assert!(error.error.message.contains("times its size"), "{error}"),
    }
}

#[tokio::test]
async fn a_workbook_that_is_another_thing_is_read_as_that() {
    let page = b"<html><body><table><tr><th>part</th><th>count</th></tr><tr><td>seal</td><td>4</td></tr></table></body></html>";
    let parsed = parse_bytes("export.xls", page).await.unwrap();
    assert!(parsed.text.contains("part: seal; count: 4"), "{}", parsed.text);
    let parsed = parse_bytes("export.xls", b"part\tcount\nseal\t4\n")
        .await
        .unwrap();
    assert_eq!(parsed.text, "part: seal\ncount: 4\n");
    assert!(
        refusal("x.xlsx", b"plain words")
            .await
            .contains("is not a readable Excel workbook")
    );
}

#[tokio::test]
async fn a_bomb_in_a_workbook_or_a_book_is_refused() {
    let spaces = vec![b' '; 250 * 1024 * 1024];
    for (name, part) in [
        ("bomb.xlsx", "xl/workbook.xml"),
        ("bomb.pptx", "ppt/presentation.xml"),
        ("bomb.odt", "content.xml"),
        ("bomb.epub", "META-INF/container.xml"),
    ] {
        let began = Instant::now();
        let message = refusal(name, &archive(&[(part, &spaces)])).await;
        assert!(message.contains("unsafe"), "{name}: {message}");
        assert!(began.elapsed().as_secs() < 20, "{name}");
    }
}

fn slide(shapes: &str) -> String {
    format!("<p:sld {SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
}

fn shape(role: &str, text: &str) -> String {
    let role = if role.is_empty() {
        String::new()
    } else {
        format!(r#"<p:nvPr><p:ph type="{role}"/></p:nvPr>"#)
    };
    format!(
        "<p:sp><p:nvSpPr>{role}</p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

#[tokio::test]
async fn slides_come_in_the_order_shown_with_tables_and_notes() {
    let show = format!(
        r#"<p:presentation {SLIDE}><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>"#
    );
    let table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>part</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>count</a:t></a:r></a:p></a:tc></a:tr><a:tr><a:tc><a:p><a:r><a:t>seal</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>4</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>";
    let first = slide(&format!(
        "{}{}{}<mc:AlternateContent><mc:Choice>{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>",
        shape("title", "Stock"),
        shape("sldNum", "1"),
        table,
        shape("", "once"),
        shape("", "once")
    ));
    let second = slide(&shape("title", "Next"));
    let notes = format!(
        "<p:notes {SLIDE}>{}{}</p:notes>",
        shape("body", "say QUOKKA-7731"),
        shape("sldNum", "1")
    );
    let bytes = archive(&[
        (
            "_rels/.rels",
            relations(&[("rId1", "officeDocument", "ppt/presentation.xml")]).as_bytes(),
        ),
        ("ppt/presentation.xml", show.as_bytes()),
        (
            "ppt/_rels/presentation.xml.rels",
            relations(&[
                ("rId1", "slide", "slides/slide1.xml"),
                ("rId2", "slide", "slides/slide2.xml"),
            ])
            .as_bytes(),
        ),
        ("ppt/slides/slide1.xml", second.as_bytes()),
        ("ppt/slides/slide2.xml", first.as_bytes()),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            relations(&[("rId1", "notesSlide", "../notesSlides/notesSlide1.xml")]).as_bytes(),
        ),
        ("ppt/notesSlides/notesSlide1.xml", notes.as_bytes()),
    ]);
    let parsed = parse_bytes("talk.pptx", &bytes).await.unwrap();
    assert_eq!(
        blocks(&parsed),
        [
            (BlockKind::Heading(1), "Stock"),
            (BlockKind::TableRow, "part: seal\ncount: 4"),
            (BlockKind::Prose, "once"),
            (BlockKind::Prose, "say QUOKKA-7731"),
            (BlockKind::Heading(1), "Next"),
        ]
    );
    let pages: Vec<Option<u32>> = parsed.blocks.iter().map(|block| block.page).collect();
    assert_eq!(pages, [Some(1), Some(1), Some(1), Some(1), Some(2)]);
    assert_eq!((parsed.pages, parsed.title.as_deref()), (Some(2), Some("Stock")));
}

fn opendocument(kind: &str, body: &str) -> Vec<u8> {
    let content =
        format!("<office:document-content {ODF}><office:body>{body}</office:body></office:document-content>");
    archive(&[
        (
            "mimetype",
            format!("application/vnd.oasis.opendocument.{kind}").as_bytes(),
        ),
        ("content.xml", content.as_bytes()),
    ])
}

#[tokio::test]
async fn a_text_keeps_structure_and_loses_what_was_deleted() {
    let body = r#"<office:text><text:tracked-changes><text:changed-region><text:deletion><text:p>GONE</text:p></text:deletion></text:changed-region></text:tracked-changes>
        <text:h text:outline-level="2">Parts</text:h>
        <text:p>see<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note> QUOKKA-7731<text:s text:c="2"/>here<office:annotation><text:p>COMMENT</text:p></office:annotation></text:p>
        <text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>
        <table:table table:name="Table1"><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell><table:table-cell><text:p>count</text:p></table:table-cell></table:table-row>
        <table:table-row><table:table-cell><text:p>seal</text:p></table:table-cell><table:table-cell><text:p>4</text:p></table:table-cell></table:table-row></table:table></office:text>"#;
    let parsed = parse_bytes("a.odt", &opendocument("text", body)).await.unwrap();
    assert_eq!(
        blocks(&parsed),
        [
            (BlockKind::Heading(2), "Parts"),
            (BlockKind::Prose, "see QUOKKA-7731  here"),
            (BlockKind::Prose, "the note"),
            (BlockKind::ListItem, "one"),
            (BlockKind::TableRow, "part: seal\ncount: 4"),
        ]
    );
}

#[tokio::test]
async fn a_spreadsheet_and_a_presentation_are_read_too() {
    let sheet = r#"<office:spreadsheet><table:table table:name="Stock"><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/><table:table-cell><text:p>count</text:p></table:table-cell></table:table-row>
        <table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
        <table:table-row><table:table-cell><text:p>QUOKKA-7731</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/><table:table-cell><text:p>4</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>"#;
    let parsed = parse_bytes("a.ods", &opendocument("spreadsheet", sheet))
        .await
        .unwrap();
    assert_eq!(
        blocks(&parsed),
        [
            (BlockKind::Heading(1), "Stock"),
            (BlockKind::TableRow, "part: QUOKKA-7731\ncount: 4"),
        ]
    );
    let show = r#"<office:presentation><draw:page draw:name="p1"><draw:frame><draw:text-box><text:p>first</text:p></draw:text-box></draw:frame></draw:page><draw:page draw:name="p2"><draw:frame><draw:text-box><text:p>second</text:p></draw:text-box></draw:frame></draw:page></office:presentation>"#;
    let parsed = parse_bytes("show", &opendocument("presentation", show))
        .await
        .unwrap();
    assert_eq!((parsed.kind.as_str(), parsed.pages), ("odp", Some(2)));
    assert_eq!(parsed.blocks[1].page, Some(2));
}

#[tokio::test]
async fn an_encrypted_text_asks_for_its_password() {
    let bytes = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            b"<manifest:manifest xmlns:manifest=\"m\"><manifest:encryption-data/></manifest:manifest>",
        ),
        ("content.xml", b"\x8f\x01garbage"),
    ]);
    assert!(refusal("a.odt", &bytes).await.contains("protected by a password"));
}
