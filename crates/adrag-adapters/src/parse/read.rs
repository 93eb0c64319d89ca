//! From bytes to a document: one function for the worker and for reading in-process.

use super::encoding::decode;
use super::failure::{ReadResult, Unreadable};
use super::format::{Book, Format, detect};
use super::limits::{MAX_TEXT_BYTES, STACK_BYTES};
use super::{
    csv_table, docx, epub, html, json, mail, markdown, notebook, opendocument, pdf, rtf, slides, source_text,
    workbook,
};
use adrag_core::ports::ParsedDocument;

/// Reads the bytes of a file on a thread of its own with a large stack. A panic of a library is a file that cannot be
/// read; a real stack overflow ends the process, which is why the program reads in a worker.
pub(super) fn read_guarded(name: String, bytes: Vec<u8>) -> ReadResult<ParsedDocument> {
    let thread = std::thread::Builder::new()
        .name("read-document".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || read(&name, bytes))
        .map_err(|error| Unreadable::new(format!("could not be read: no thread for it ({error})")))?;
    thread.join().unwrap_or_else(|_| Err(crashed()))
}

/// The reader itself failed on the file.
pub(super) fn crashed() -> Unreadable {
    Unreadable::new("could not be read: the reader crashed on this file")
        .hint("the file may be damaged; open it in its own program and save it again")
}

fn read(name: &str, bytes: Vec<u8>) -> ReadResult<ParsedDocument> {
    if bytes.is_empty() {
        return Ok(empty("text", "the file is empty (0 bytes)"));
    }
    let format = detect(name, &bytes)?;
    let mut parsed = match format {
        Format::Pdf => pdf::read(bytes)?,
        Format::Docx => docx::read(&bytes)?,
        Format::Workbook(Book::Xlsx) => workbook::read_zipped(&bytes, false)?,
        Format::Workbook(Book::Xlsb) => workbook::read_zipped(&bytes, true)?,
        Format::Workbook(Book::Xls) => workbook::read_xls(&bytes)?,
        Format::Slides => slides::read(&bytes)?,
        Format::OpenDocument(kind) => opendocument::read(kind, &bytes)?,
        Format::Rtf => rtf::read(&bytes)?,
        Format::Epub => epub::read(&bytes)?,
        Format::Mail => mail::read(&bytes)?,
        _ => read_text(format, &bytes)?,
    };
    if parsed.text.len() > MAX_TEXT_BYTES {
        return Err(Unreadable::too_much_text());
    }
    parsed.title = parsed
        .title
        .map(|title| tidy_title(&title))
        .filter(|title| !title.is_empty());
    if parsed.text.trim().is_empty() {
        // Nothing to cite: no white space, no blocks.
        parsed.text.clear();
        parsed.blocks.clear();
        if parsed.remarks.is_empty() {
            parsed.remarks.push("the file holds no text".to_owned());
        }
    }
    Ok(parsed)
}

fn read_text(format: Format, bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let decoded = decode(bytes, format)?;
    let text = decoded.text;
    let mut parsed = match format {
        Format::Html => html::read(&text)?,
        Format::Markdown => markdown::read(text),
        Format::Csv => csv_table::read(&text)?,
        Format::Json => json::read(text)?,
        Format::Notebook => notebook::read(text)?,
        Format::Code(language) => source_text::read_code(language, text),
        _ => source_text::read_plain(text),
    };
    parsed.remarks.extend(decoded.remark);
    Ok(parsed)
}

fn empty(kind: &str, remark: &str) -> ParsedDocument {
    ParsedDocument {
        kind: kind.to_owned(),
        remarks: vec![remark.to_owned()],
        ..ParsedDocument::default()
    }
}

fn tidy_title(title: &str) -> String {
    let shown: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    shown
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(300)
        .collect()
}
