//! PDF files written by hand: fonts with and without a Unicode map, columns, and four that once killed parsers.

use super::{parse_bytes, refusal};
use std::time::{Duration, Instant};

/// A file of numbered objects with a cross-reference table; object 1 is the catalogue.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", index + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let table = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).into_bytes());
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    out.extend(
        format!(
            "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n",
            objects.len() + 1
        )
        .into_bytes(),
    );
    out
}

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<<{dictionary}/Length {}>>\nstream\n", data.len()).into_bytes();
    object.extend(data);
    object.extend(b"\nendstream");
    object
}

/// A page with one font, object 5, and more objects from 6 on.
fn page(content: &str, font: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
            .to_vec(),
        stream("", content.as_bytes()),
        font.as_bytes().to_vec(),
    ];
    objects.extend_from_slice(more);
    pdf(&objects)
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

fn cmap(map: &str) -> Vec<u8> {
    stream(
        "",
        format!(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n1 begincodespacerange\n<0000> \
             <FFFF>\nendcodespacerange\n{map}\nendcmap end end"
        )
        .as_bytes(),
    )
}

const DESCENDANT: &[u8] =
    b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)\
/Supplement 0>>/DW 600/FontDescriptor 7 0 R>>";
const DESCRIPTOR: &[u8] =
    b"<</Type/FontDescriptor/FontName/X/Flags 4/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700\
/StemV 80/FontBBox[0 0 1000 1000]>>";

#[tokio::test]
async fn an_invisible_text_layer_is_read_through_its_unicode_map() {
    let codes: String = "QUOKKA-7731"
        .chars()
        .map(|c| format!("{:04X}", c as u32 - 0x20))
        .collect();
    let content = format!("BT 3 Tr /F1 12 Tf 72 700 Td <{codes}> Tj ET");
    let font =
        "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 8 0 R>>";
    let map = cmap("1 beginbfrange\n<0001> <005E> <0021>\nendbfrange");
    let bytes = page(&content, font, &[DESCENDANT.to_vec(), DESCRIPTOR.to_vec(), map]);
    let parsed = parse_bytes("ocr.pdf", &bytes).await.unwrap();
    assert!(parsed.text.contains("QUOKKA-7731"), "{:?}", parsed.text);
    assert_eq!(parsed.pages, Some(1));
    assert_eq!(parsed.blocks[0].page, Some(1));
}

#[tokio::test]
async fn glyph_codes_without_a_map_never_become_text() {
    let content = format!("BT /F1 12 Tf 72 700 Td <{}> Tj ET", "0123045607890ABC".repeat(20));
    let font = "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]>>";
    let bytes = page(&content, font, &[DESCENDANT.to_vec(), DESCRIPTOR.to_vec()]);
    let parsed = parse_bytes("codes.pdf", &bytes).await.unwrap();
    assert!(!parsed.text.contains("Identity-H"), "{:?}", parsed.text);
    assert_eq!(parsed.text, "", "codes were taken for text");
    assert!(!parsed.remarks.is_empty());
}

#[tokio::test]
async fn one_unmapped_character_costs_one_character() {
    let font = format!(
        "<</Type/Font/Subtype/Type1/BaseFont/XMATH/FirstChar 58/LastChar 63/Widths[{}]/ToUnicode 6 0 R/FontDescriptor \
         7 0 R>>",
        "500 ".repeat(6)
    );
    let content = "BT /F1 12 Tf 72 700 Td <3C3F3F3F> Tj ET";
    let map = cmap("1 beginbfchar\n<3F> <0041>\nendbfchar");
    let parsed = parse_bytes("math.pdf", &page(content, &font, &[map, DESCRIPTOR.to_vec()]))
        .await
        .unwrap();
    assert!(parsed.text.contains("AAA"), "{:?}", parsed.text);
}

#[tokio::test]
async fn columns_are_read_one_after_the_other() {
    let mut content = String::from("BT /F1 10 Tf ");
    for line in 0..30 {
        let y = 740 - line * 20;
        content.push_str(&format!(
            "1 0 0 1 60 {y} Tm (left column talks about pumps {line}) Tj "
        ));
        content.push_str(&format!(
            "1 0 0 1 330 {y} Tm (right column talks about birds {line}) Tj "
        ));
    }
    content.push_str("ET");
    let parsed = parse_bytes("columns.pdf", &page(&content, HELVETICA, &[]))
        .await
        .unwrap();
    let flat = parsed.text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("about pumps 0 left column talks about pumps 1"),
        "{flat}"
    );
    assert!(flat.find("birds 0") > flat.find("pumps 29"), "{flat}");
}

#[tokio::test]
async fn a_page_without_text_is_remarked() {
    let parsed = parse_bytes("blank.pdf", &page("0 0 10 10 re f", HELVETICA, &[]))
        .await
        .unwrap();
    assert_eq!(parsed.text, "");
    assert_eq!(parsed.remarks, ["page 1 has no text layer"]);
}

#[tokio::test]
async fn what_is_no_pdf_says_so() {
    for bytes in [b"%PDF-1.4\nnothing".as_slice(), b"plain words"] {
        let message = refusal("x.pdf", bytes).await;
        assert!(message.contains("is not a readable PDF"), "{message}");
    }
}

/// The four ways: each ends within seconds with text or a reason.
#[tokio::test]
async fn files_that_killed_parsers_end_soon() {
    let text = "BT /F1 12 Tf 72 700 Td (QUOKKA-7731) Tj ET ";
    let inline = page(
        &format!("{text} BI /W 8 /H 8 /BPC 8 ID xxxxxxxx EI"),
        HELVETICA,
        &[],
    );
    let colour = pdf(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>/XObject<</I 6 0 R>>>>/Contents 4 0 R>>"
            .to_vec(),
        stream("", format!("{text} /I Do").as_bytes()),
        HELVETICA.as_bytes().to_vec(),
        stream("/Type/XObject/Subtype/Image/Width 8/Height 8/BitsPerComponent 8/ColorSpace[]", b"xxxxxxxx"),
    ]);
    let widths = {
        let mut out = b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n".to_vec();
        let place = out.len();
        out.extend(b"2 0 obj\n");
        out.extend(stream(
            "/Type/XRef/Size 3/Root 1 0 R/W[1 9223372036854775807 4294967295]",
            &[0; 32],
        ));
        out.extend(format!("\nendobj\nstartxref\n{place}\n%%EOF\n").into_bytes());
        out
    };
    let circle = pdf(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Pages/Kids[2 0 R]/Count 1/Parent 2 0 R>>".to_vec(),
    ]);
    let bookmarks = pdf(&[
        b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
            .to_vec(),
        stream("", text.as_bytes()),
        HELVETICA.as_bytes().to_vec(),
        b"<</First 7 0 R/Last 7 0 R>>".to_vec(),
        b"<</Title(A)/Next 7 0 R/First 7 0 R>>".to_vec(),
    ]);
    for (name, bytes, readable) in [
        ("inline-image", inline, true),
        ("empty-colour-space", colour, true),
        ("bookmark-circle", bookmarks, true),
        ("absurd-widths", widths, false),
        ("page-tree-circle", circle, false),
    ] {
        let began = Instant::now();
        let result = parse_bytes("x.pdf", &bytes).await;
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{name} took {:?}",
            began.elapsed()
        );
        match result {
            Ok(parsed) if readable => {
                assert!(parsed.text.contains("QUOKKA-7731"), "{name}: {:?}", parsed.text)
            }
            Ok(parsed) => assert!(
                parsed.text.is_empty() && !parsed.remarks.is_empty(),
                "{name}: {parsed:?}"
            ),
            Err(error) => assert!(!readable, "{name}: {error}"),
        }
    }
}
