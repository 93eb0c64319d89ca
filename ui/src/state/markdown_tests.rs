//! What an answer may and may not become on the screen.

use super::*;
use adrag_contract::{Claim, Verdict};

fn plain(text: &str) -> Tree {
    parse(text, &Marks::default())
}

fn cited(text: &str, numbers: &[u32]) -> Tree {
    parse(text, &Marks::new(&[], numbers.iter().copied()))
}

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned(), None)
}

fn every_inline(blocks: &[Block]) -> Vec<Inline> {
    fn walk(inlines: &[Inline], all: &mut Vec<Inline>) {
        for inline in inlines {
            all.push(inline.clone());
            match inline {
                Inline::Emphasis(inner)
                | Inline::Strong(inner)
                | Inline::Strike(inner)
                | Inline::Tied(inner)
                | Inline::Link(_, inner) => walk(inner, all),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    for block in blocks {
        match block {
            Block::Paragraph(inlines) | Block::Heading(_, inlines) => walk(inlines, &mut all),
            Block::List(_, items) => items.iter().for_each(|item| all.extend(every_inline(item))),
            Block::Quote(inner) => all.extend(every_inline(inner)),
            Block::Table(_, head, rows) => {
                head.iter()
                    .chain(rows.iter().flatten())
                    .for_each(|cell| walk(cell, &mut all));
            }
            Block::Code(..) | Block::Rule => {}
        }
    }
    all
}

fn depth(block: &Block) -> usize {
    1 + match block {
        Block::Quote(inner) => inner.iter().map(depth).max().unwrap_or(0),
        Block::List(_, items) => items.iter().flatten().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn the_usual_forms_are_drawn() {
    let tree = plain("# T\n\nA *b* **c** `d`\n\n- x\n- y\n\n3. z\n\n> q\n\n```rust\nfn a() {}\n```\n\n---\n");
    assert_eq!(tree.blocks[0], Block::Heading(1, vec![text("T")]));
    assert_eq!(
        tree.blocks[1],
        Block::Paragraph(vec![
            text("A "),
            Inline::Emphasis(vec![text("b")]),
            text(" "),
            Inline::Strong(vec![text("c")]),
            text(" "),
            Inline::Code("d".to_owned()),
        ])
    );
    let item = |of: &str| vec![Block::Paragraph(vec![text(of)])];
    assert_eq!(tree.blocks[2], Block::List(None, vec![item("x"), item("y")]));
    assert_eq!(tree.blocks[3], Block::List(Some(3), vec![item("z")]));
    assert_eq!(tree.blocks[4], Block::Quote(item("q")));
    assert_eq!(
        tree.blocks[5],
        Block::Code("rust".to_owned(), "fn a() {}\n".to_owned())
    );
    assert_eq!(tree.blocks[6], Block::Rule);
}

#[test]
fn tables_keep_head_rows_and_alignment() {
    let tree = plain("| a | b |\n|---|--:|\n| 1 | 2 |\n");
    let cell = |of: &str| vec![text(of)];
    assert_eq!(
        tree.blocks,
        [Block::Table(
            vec![false, true],
            vec![cell("a"), cell("b")],
            vec![vec![cell("1"), cell("2")]]
        )]
    );
}

#[test]
fn a_nested_list_stays_inside_its_item() {
    let tree = plain("- a\n  - b\n");
    let inner = Block::List(None, vec![vec![Block::Paragraph(vec![text("b")])]]);
    assert_eq!(
        tree.blocks,
        [Block::List(
            None,
            vec![vec![Block::Paragraph(vec![text("a")]), inner]]
        )]
    );
}

#[test]
fn known_citations_become_chips_and_others_stay_text() {
    let tree = cited("So it is. [1][2] Not [7].", &[1, 2]);
    assert_eq!(
        tree.blocks,
        [Block::Paragraph(vec![
            text("So it "),
            Inline::Tied(vec![text("is. "), Inline::Citation(1), Inline::Citation(2)]),
            text(" Not [7].")
        ])]
    );
}

#[test]
fn a_citation_cannot_be_turned_into_a_link() {
    let tree = cited("So it is. [1]\n\n[1]: https://evil.example/?q=secret\n", &[1]);
    assert_eq!(
        tree.blocks,
        [Block::Paragraph(vec![
            text("So it "),
            Inline::Tied(vec![text("is. "), Inline::Citation(1)]),
        ])]
    );
}

#[test]
fn a_citation_in_code_is_code() {
    let tree = cited("`a[1]`\n\n    b[1]\n", &[1]);
    assert_eq!(
        tree.blocks[0],
        Block::Paragraph(vec![Inline::Code("a[1]".to_owned())])
    );
    assert_eq!(tree.blocks[1], Block::Code(String::new(), "b[1]\n".to_owned()));
}

#[test]
fn every_claim_ends_in_one_mark() {
    let source = "One **is so. [1]** Two is not.\n\n- Three.\n";
    let claim = |sentence: &str, begin: u64| Claim {
        sentence: sentence.to_owned(),
        span: (begin, begin + sentence.len() as u64),
        verdict: Verdict::Partly,
        support: None,
        citations: Vec::new(),
    };
    let claims = [
        claim("One **is so. [1]**", 0),
        claim("Two is not.", 19),
        claim("Three.", 34),
    ];
    let tree = parse(source, &Marks::new(&claims, [1]));
    let marks: Vec<Inline> = every_inline(&tree.blocks)
        .into_iter()
        .filter(|inline| matches!(inline, Inline::Mark(_)))
        .collect();
    assert_eq!(marks, [Inline::Mark(0), Inline::Mark(1), Inline::Mark(2)]);
}

#[test]
fn raw_html_is_text_and_images_are_their_words() {
    let tree = plain(
        "a <b onclick=x()>c</b> ![alt *text*](https://evil.example/x.png)\n\n<script>alert(1)</script>\n",
    );
    let shown: String = every_inline(&tree.blocks)
        .iter()
        .filter(|i| matches!(i, Inline::Text(..)))
        .map(plain_text)
        .collect();
    assert!(
        shown.contains("<b onclick=x()>") && shown.contains("<script>alert(1)</script>"),
        "{shown}"
    );
    assert!(
        shown.contains("alt text") && !shown.contains("evil.example"),
        "{shown}"
    );
    assert!(
        !every_inline(&tree.blocks)
            .iter()
            .any(|inline| matches!(inline, Inline::Link(..)))
    );
}

#[test]
fn only_web_addresses_are_links() {
    for hostile in [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        "[x](file:///etc/passwd)",
        "[x](//evil.example)",
        "[x](/relative)",
        "[x](vbscript:x)",
        "[x](tauri://localhost)",
        "<javascript:alert(1)>",
        "[x][r]\n\n[r]: javascript:alert(1)",
        "[x](&#106;avascript:alert(1))",
        "[x](mailto:a@b.c)",
    ] {
        let tree = plain(hostile);
        assert!(
            !every_inline(&tree.blocks)
                .iter()
                .any(|inline| matches!(inline, Inline::Link(..))),
            "{hostile}"
        );
    }
    let tree = plain("[x](https://a.example/b)");
    assert_eq!(
        tree.blocks,
        [Block::Paragraph(vec![Inline::Link(
            "https://a.example/b".to_owned(),
            vec![text("x")]
        )])]
    );
}

#[test]
fn hostile_sizes_are_bounded() {
    let wide: String = format!("{}\n{}\n", "|a".repeat(10_000), "|-".repeat(10_000));
    let inputs = [
        "> ".repeat(20_000),
        "[".repeat(50_000),
        "*".repeat(100_000),
        "- ".repeat(20_000),
        "![".repeat(50_000),
        "<a ".repeat(30_000),
        "`".repeat(100_000),
        "[a](https://a.example) ".repeat(2_000),
        "*a **b ".repeat(10_000),
        wide.clone(),
        format!("{wide}{}", "|b\n".repeat(100)),
    ];
    for input in inputs {
        let tree = cited(&input, &[1]);
        let all = every_inline(&tree.blocks);
        assert!(tree.blocks.iter().map(depth).max().unwrap_or(0) <= MOST_DEPTH);
        assert!(
            all.iter()
                .filter(|inline| matches!(inline, Inline::Link(..)))
                .count()
                <= MOST_LINKS
        );
        let cells: usize = tree
            .blocks
            .iter()
            .map(|block| match block {
                Block::Table(_, head, rows) => head.len() + rows.iter().map(Vec::len).sum::<usize>(),
                _ => 0,
            })
            .sum();
        assert!(cells <= MOST_CELLS);
    }
    let long = plain(&"ä".repeat(MOST_BYTES));
    assert!(long.cut);
    assert!(
        every_inline(&long.blocks)
            .iter()
            .map(|inline| plain_text(inline).len())
            .sum::<usize>()
            <= MOST_BYTES
    );
}

#[test]
fn an_answer_that_is_still_growing_never_fails() {
    let source = "## Héading\n\nText [1] and **bold [2]** `code`.\n\n| a | b |\n|---|---|\n| 1 | [2] |\n\n```\nx\n```\n";
    for end in (0..=source.len()).filter(|end| source.is_char_boundary(*end)) {
        let shown: usize = every_inline(&cited(&source[..end], &[1, 2]).blocks).len();
        assert!(shown <= source.len());
    }
}
