//! Rich text (RTF): one pass over the bytes with a stack of groups, no recursion. Text, headings by outline level, table rows,
//! notes, headers and footers; deleted and hidden text, pictures and objects are left out.

mod codes;
mod lexer;

use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::records::Records;
use adrag_core::ports::{BlockKind, ParsedDocument};
use codes::{code_page, symbol};
use encoding_rs::{Encoding, WINDOWS_1252};
use lexer::{Lexer, Piece};
use std::collections::HashMap;

/// Deepest nesting of groups.
const MAX_GROUPS: usize = 4_096;

pub(crate) fn read(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let mut reader = Reader::new();
    for piece in Lexer::new(bytes) {
        reader.piece(piece)?;
    }
    reader.finish()
}

/// Where the text of a group goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    /// Nowhere: tables of fonts and colours, pictures, what only programs read.
    Nowhere,
    Fonts,
    Title,
    /// A footnote or an endnote: behind the paragraph it stands in.
    Note,
    /// A header or footer.
    Margin,
}

/// What a group inherits and restores.
#[derive(Clone)]
struct Group {
    place: Place,
    /// Characters that stand for one Unicode character for old readers.
    fallback: usize,
    encoding: &'static Encoding,
    /// Deleted or hidden.
    unseen: bool,
}

struct Reader {
    builder: DocumentBuilder,
    groups: Vec<Group>,
    group: Group,
    /// The document's own encoding.
    default: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    /// Bytes not decoded yet: a character may take two.
    bytes: Vec<u8>,
    /// First half of a character beyond the first plane.
    surrogate: Option<u16>,
    /// Fallback characters still to be passed over.
    pass: usize,
    paragraph: String,
    side: String,
    notes: Vec<String>,
    margins: Vec<String>,
    title: String,
    heading: Option<u8>,
    in_table: bool,
    row: Vec<(usize, String)>,
    records: Option<Records>,
}

impl Reader {
    fn new() -> Self {
        Self {
            builder: DocumentBuilder::default(),
            groups: Vec::new(),
            group: Group {
                place: Place::Body,
                fallback: 1,
                encoding: WINDOWS_1252,
                unseen: false,
            },
            default: WINDOWS_1252,
            fonts: HashMap::new(),
            font: 0,
            bytes: Vec::new(),
            surrogate: None,
            pass: 0,
            paragraph: String::new(),
            side: String::new(),
            notes: Vec::new(),
            margins: Vec::new(),
            title: String::new(),
            heading: None,
            in_table: false,
            row: Vec::new(),
            records: None,
        }
    }

    fn piece(&mut self, piece: Piece<'_>) -> ReadResult<()> {
        match piece {
            Piece::Open => {
                self.decode();
                self.pass = 0;
                if self.groups.len() >= MAX_GROUPS {
                    return Err(Unreadable::new(format!(
                        "is refused as unsafe: groups nested deeper than {MAX_GROUPS}"
                    )));
                }
                self.groups.push(self.group.clone());
            }
            Piece::Close => self.close(),
            Piece::Byte(byte) if self.pass > 0 => {
                let _ = byte;
                self.pass -= 1;
            }
            Piece::Byte(byte) => self.bytes.push(byte),
            Piece::Destination => self.enter(Place::Nowhere),
            Piece::Word(word, value) => self.word(word, value)?,
        }
        Ok(())
    }

    fn close(&mut self) {
        self.decode();
        self.pass = 0;
        let Some(outer) = self.groups.pop() else { return };
        let left = std::mem::replace(&mut self.group, outer);
        if left.place != self.group.place {
            match left.place {
                Place::Note => self.notes.push(std::mem::take(&mut self.side)),
                Place::Margin => {
                    let text = std::mem::take(&mut self.side);
                    if text.chars().any(char::is_alphabetic) && !self.margins.contains(&text) {
                        self.margins.push(text);
                    }
                }
                _ => {}
            }
        }
    }

    fn enter(&mut self, place: Place) {
        if self.group.place != Place::Nowhere {
            self.group.place = place;
        }
    }

    fn word(&mut self, word: &str, value: Option<i32>) -> ReadResult<()> {
        if self.pass > 0 && symbol(word).is_some() {
            self.pass -= 1;
            return Ok(());
        }
        self.decode();
        match word {
            "fonttbl" => self.enter(Place::Fonts),
            "info" | "colortbl" | "stylesheet" | "pict" | "objdata" | "themedata" | "datastore"
            | "listtable" | "listoverridetable" | "revtbl" | "rsidtbl" | "generator" | "filetbl"
            | "xmlnstbl" | "fldinst" => {
                self.enter(Place::Nowhere);
            }
            // Stands inside `info`, which is passed over.
            "title" => self.group.place = Place::Title,
            "footnote" => self.enter(Place::Note),
            "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr" | "footerf" => {
                self.enter(Place::Margin);
            }
            "ansicpg" => {
                self.default = code_page(value.unwrap_or(1252)).unwrap_or(WINDOWS_1252);
                self.group.encoding = self.default;
            }
            "mac" => {
                self.default = encoding_rs::MACINTOSH;
                self.group.encoding = self.default;
            }
            "f" if self.group.place == Place::Fonts => self.font = value.unwrap_or(0),
            "fcharset" => {
                if let Some(encoding) = codes::charset(value.unwrap_or(0)) {
                    self.fonts.insert(self.font, encoding);
                }
            }
            "f" => {
                self.group.encoding = self
                    .fonts
                    .get(&value.unwrap_or(0))
                    .copied()
                    .unwrap_or(self.default);
            }
            "plain" => {
                self.group.encoding = self.default;
                self.group.unseen = false;
            }
            "uc" => self.group.fallback = usize::try_from(value.unwrap_or(1)).unwrap_or(1).min(16),
            "u" => {
                self.unicode(value.unwrap_or(0));
                self.pass = self.group.fallback;
            }
            "v" | "deleted" => self.group.unseen = value != Some(0),
            "pard" => {
                self.heading = None;
                self.in_table = false;
            }
            "intbl" => self.in_table = true,
            "outlinelevel" => {
                self.heading = value
                    .and_then(|level| u8::try_from(level).ok())
                    .filter(|level| *level < 9)
                    .map(|level| level + 1);
            }
            "par" | "sect" | "page" => self.end_paragraph()?,
            "cell" => self.end_cell(),
            "row" => self.end_row()?,
            _ => {
                if let Some(text) = symbol(word) {
                    self.write(text);
                }
            }
        }
        Ok(())
    }

    fn unicode(&mut self, value: i32) {
        // Numbers are signed 16 bits; what lies beyond is written as two.
        let unit = (value & 0xffff) as u16;
        let text = match (self.surrogate.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.surrogate = Some(unit);
                return;
            }
            (Some(high), low) => String::from_utf16_lossy(&[high, low]),
            (None, unit) => String::from_utf16_lossy(&[unit]),
        };
        self.write(&text);
    }

    fn decode(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (text, _) = self.group.encoding.decode_without_bom_handling(&bytes);
        self.write(&text);
    }

    fn write(&mut self, text: &str) {
        if self.group.unseen {
            return;
        }
        match self.group.place {
            Place::Body => self.paragraph.push_str(text),
            Place::Note | Place::Margin => self.side.push_str(text),
            Place::Title => self.title.push_str(text),
            Place::Nowhere | Place::Fonts => {}
        }
    }

    fn end_paragraph(&mut self) -> ReadResult<()> {
        match self.group.place {
            Place::Note | Place::Margin => self.side.push('\n'),
            Place::Body if self.in_table => self.paragraph.push(' '),
            Place::Body => {
                if let Some(records) = self.records.take() {
                    records.finish(&mut self.builder)?;
                }
                let text = std::mem::take(&mut self.paragraph);
                let kind = self.heading.map_or(BlockKind::Prose, BlockKind::Heading);
                self.builder.push(kind, &text)?;
                self.push_notes()?;
            }
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.row.push((self.row.len(), text));
    }

    fn end_row(&mut self) -> ReadResult<()> {
        let row = std::mem::take(&mut self.row);
        self.records
            .get_or_insert_with(Records::default)
            .push(&mut self.builder, &row)?;
        self.push_notes()
    }

    fn push_notes(&mut self) -> ReadResult<()> {
        for note in std::mem::take(&mut self.notes) {
            self.builder.push(BlockKind::Prose, &note)?;
        }
        Ok(())
    }

    fn finish(mut self) -> ReadResult<ParsedDocument> {
        self.decode();
        self.in_table = false;
        self.group.place = Place::Body;
        if !self.row.is_empty() {
            self.end_row()?;
        }
        self.end_paragraph()?;
        for margin in std::mem::take(&mut self.margins) {
            self.builder.push(BlockKind::Prose, &margin)?;
        }
        let title = Some(self.title.trim().to_owned())
            .filter(|title| !title.is_empty())
            .or_else(|| self.builder.first_heading());
        let mut parsed = self.builder.finish("rtf");
        parsed.title = title;
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rtf: &str) -> String {
        read(rtf.as_bytes()).unwrap().text
    }

    #[test]
    fn text_in_every_spelling_comes_out() {
        assert_eq!(
            text(r"{\rtf1\ansi\ansicpg1252 M\'fcll \u8364?5 \{x\}\par{\b bold} \u-10179?\u-8694?\par}"),
            "Müll €5 {x}\n\nbold 😊\n"
        );
        let russian = r"{\rtf1\ansi{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\f1 \'cf\'f0\'e8}\par}";
        assert_eq!(text(russian), "При\n");
        let japanese = r"{\rtf1\ansi{\fonttbl{\f1\fcharset128 M;}}\f1 \'93\'fa\'96{}\'7b\par}";
        assert!(text(japanese).starts_with('日'));
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        let rtf = r"{\rtf1{\*\generator x;}{\info{\title The title}{\author A}}{\stylesheet{\s1 heading 1;}}kept {\deleted gone}{\v hidden}{\pict ffd8}\bin3 {}}after\par}";
        let parsed = read(rtf.as_bytes()).unwrap();
        assert_eq!(parsed.text, "kept after\n");
        assert_eq!(parsed.title.as_deref(), Some("The title"));
    }

    #[test]
    fn headings_tables_and_notes_keep_their_place() {
        let rtf = r"{\rtf1{\header Letterhead\par}\pard\outlinelevel0 Parts\par\pard see{\footnote the note} here\par\trowd\pard\intbl part\cell count\cell\row\pard\intbl seal\cell 4\cell\row\pard end\par}";
        let parsed = read(rtf.as_bytes()).unwrap();
        let blocks: Vec<(BlockKind, &str)> = parsed
            .blocks
            .iter()
            .map(|block| (block.kind, &parsed.text[block.start..block.end]))
            .collect();
        assert_eq!(
            blocks,
            [
                (BlockKind::Heading(1), "Parts"),
                (BlockKind::Prose, "see here"),
                (BlockKind::Prose, "the note"),
                (BlockKind::TableRow, "part: seal\ncount: 4"),
                (BlockKind::Prose, "end"),
                (BlockKind::Prose, "Letterhead"),
            ]
        );
    }

    #[test]
    fn hostile_shapes_end_soon() {
        assert!(read("{".repeat(1_000_000).as_bytes()).is_err());
        assert_eq!(text(&"}".repeat(100_000)), "");
        assert_eq!(text("{\\rtf1 \\bin99999999 x"), "");
        assert_eq!(text("{\\rtf1 \\u"), "\0".trim_matches('\0'));
    }
}
