//! What a file is, by its content first and its extension second.

use super::failure::{ReadResult, Unreadable};

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Pdf,
    Docx,
    Html,
    Markdown,
    Csv,
    Json,
    /// The language's name.
    Code(&'static str),
    Text,
}

/// Extensions of source code and configuration with the language's name.
const CODE: &[(&str, &str)] = &[
    ("js", "javascript"),
    ("jsx", "javascript"),
    ("mjs", "javascript"),
    ("cjs", "javascript"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("css", "css"),
    ("scss", "scss"),
    ("sass", "sass"),
    ("less", "less"),
    ("py", "python"),
    ("pyi", "python"),
    ("java", "java"),
    ("c", "c"),
    ("h", "c"),
    ("cpp", "cpp"),
    ("cc", "cpp"),
    ("cxx", "cpp"),
    ("hpp", "cpp"),
    ("hh", "cpp"),
    ("cs", "csharp"),
    ("go", "go"),
    ("rb", "ruby"),
    ("php", "php"),
    ("rs", "rust"),
    ("sh", "shell"),
    ("bash", "shell"),
    ("zsh", "shell"),
    ("fish", "shell"),
    ("ps1", "powershell"),
    ("bat", "batch"),
    ("cmd", "batch"),
    ("pl", "perl"),
    ("pm", "perl"),
    ("swift", "swift"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("scala", "scala"),
    ("r", "r"),
    ("m", "objective-c"),
    ("mm", "objective-c"),
    ("vb", "visual-basic"),
    ("lua", "lua"),
    ("dart", "dart"),
    ("sql", "sql"),
    ("svelte", "svelte"),
    ("vue", "vue"),
    ("yml", "yaml"),
    ("yaml", "yaml"),
    ("toml", "toml"),
    ("ini", "ini"),
    ("cfg", "ini"),
    ("conf", "ini"),
    ("xml", "xml"),
    ("xsd", "xml"),
    ("svg", "xml"),
    ("tex", "latex"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("erl", "erlang"),
    ("hs", "haskell"),
    ("ml", "ocaml"),
    ("clj", "clojure"),
    ("jl", "julia"),
    ("nim", "nim"),
    ("zig", "zig"),
    ("groovy", "groovy"),
    ("gradle", "gradle"),
    ("proto", "protobuf"),
    ("graphql", "graphql"),
    ("tf", "terraform"),
    ("cmake", "cmake"),
    ("diff", "diff"),
    ("patch", "diff"),
];

/// Beginnings of files that are no text, with their name for people.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"\0\0\x01\0", "icon"),
    (b"8BPS", "Photoshop image"),
    (b"OggS", "Ogg audio or video"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"\x1aE\xdf\xa3", "Matroska video"),
    (b"\x7fELF", "ELF program"),
    (b"\xcf\xfa\xed\xfe", "macOS program"),
    (b"\xca\xfe\xba\xbe", "Java class or macOS program"),
    (b"\0asm", "WebAssembly module"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\0\x01\0\0\0", "TrueType font"),
    (b"OTTO\0", "OpenType font"),
];

const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The extension of a file name, lower case, trailing dots and spaces ignored.
pub(crate) fn extension(name: &str) -> String {
    let name = name.trim_end_matches(['.', ' ']);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
        _ => String::new(),
    }
}

/// The format an extension promises.
pub(crate) fn by_extension(extension: &str) -> Option<Format> {
    let format = match extension {
        "pdf" => Format::Pdf,
        "docx" | "docm" | "dotx" => Format::Docx,
        "html" | "htm" | "xhtml" => Format::Html,
        "md" | "markdown" | "mdown" | "mkd" => Format::Markdown,
        "csv" | "tsv" => Format::Csv,
        "json" | "jsonl" | "ndjson" | "geojson" | "ipynb" => Format::Json,
        "txt" | "text" | "log" | "rst" | "adoc" | "org" => Format::Text,
        _ => {
            let (_, language) = CODE.iter().find(|(known, _)| *known == extension)?;
            Format::Code(language)
        }
    };
    Some(format)
}

/// Decides how a file is read.
///
/// # Errors
/// When its content is of a kind that holds no text, or not the kind its extension promises.
pub(crate) fn detect(name: &str, bytes: &[u8]) -> ReadResult<Format> {
    let promised = by_extension(&extension(name));
    if starts_as_pdf(bytes, promised == Some(Format::Pdf)) {
        return Ok(Format::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return zip_format(bytes, promised);
    }
    if bytes.starts_with(OLE) {
        return Err(ole(bytes));
    }
    if let Some(what) = binary_name(bytes) {
        return Err(binary(promised, what));
    }
    if bytes.starts_with(b"{\\rtf") {
        return Err(
            Unreadable::new("is a rich-text (RTF) document, which is not supported").hint("save it as DOCX"),
        );
    }
    match promised {
        Some(Format::Pdf) => Err(Unreadable::corrupt("PDF", "it does not begin like one")),
        Some(Format::Docx) => Err(Unreadable::corrupt("DOCX", "it is not a ZIP archive")),
        Some(format) => Ok(format),
        None if looks_like_html(bytes) => Ok(Format::Html),
        None => Ok(Format::Text),
    }
}

/// What kind of binary data this begins as, if it is a known one.
pub(crate) fn binary_name(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(name);
    }
    match (bytes.get(..4), bytes.get(8..12)) {
        (Some(b"RIFF"), Some(b"WEBP")) => Some("WebP image"),
        (Some(b"RIFF"), Some(b"WAVE")) => Some("WAV audio"),
        (Some(b"RIFF"), Some(b"AVI ")) => Some("AVI video"),
        _ if bytes.get(4..8) == Some(b"ftyp") => Some("MP4 video or HEIC image"),
        _ if bytes.starts_with(b"BM") && bytes.get(6..10) == Some(&[0; 4]) => Some("BMP image"),
        _ if bytes.starts_with(b"MZ") && bytes.iter().take(256).any(|byte| *byte == 0) => {
            Some("Windows program")
        }
        _ => None,
    }
}

/// The refusal of binary data under a name that promises something else.
pub(crate) fn binary(promised: Option<Format>, what: &str) -> Unreadable {
    let expected = match promised {
        Some(Format::Pdf) => "a PDF",
        Some(Format::Docx) => "a DOCX document",
        _ => "text",
    };
    Unreadable::new(format!("holds binary data ({what}), not {expected}"))
        .hint("check the file and its extension")
}

fn starts_as_pdf(bytes: &[u8], promised: bool) -> bool {
    // Readers accept junk before the header; a text that merely mentions it must not become a PDF.
    let window = if promised { 1024 } else { 0 };
    let head = &bytes[..bytes.len().min(window + 5)];
    head.windows(5).any(|found| found == b"%PDF-")
}

fn zip_format(bytes: &[u8], promised: Option<Format>) -> ReadResult<Format> {
    let holds = |name: &[u8]| bytes.windows(name.len()).any(|found| found == name);
    if promised == Some(Format::Docx) || holds(b"word/document.xml") {
        return Ok(Format::Docx);
    }
    let what = if holds(b"xl/workbook.xml") {
        "Excel workbook"
    } else if holds(b"ppt/presentation.xml") {
        "PowerPoint presentation"
    } else if holds(b"application/epub+zip") {
        "EPUB book"
    } else if holds(b"application/vnd.oasis.opendocument") {
        "OpenDocument file"
    } else {
        "ZIP archive"
    };
    match promised {
        Some(promised) => Err(binary(Some(promised), what)),
        None => Err(
            Unreadable::new(format!("is of a kind that is not supported ({what})"))
                .hint("save it as PDF, DOCX, CSV or plain text and add that"),
        ),
    }
}

fn ole(bytes: &[u8]) -> Unreadable {
    let utf16 = |name: &str| {
        name.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let holds = |name: &str| {
        let name = utf16(name);
        bytes.windows(name.len()).any(|found| found == name)
    };
    if holds("EncryptedPackage") || holds("EncryptionInfo") {
        return Unreadable::password();
    }
    let what = if holds("WordDocument") {
        "Word 97-2003 document"
    } else if holds("Workbook") {
        "Excel 97-2003 workbook"
    } else if holds("PowerPoint Document") {
        "PowerPoint 97-2003 presentation"
    } else {
        "Microsoft compound file"
    };
    Unreadable::new(format!("is of a kind that is not supported ({what})"))
        .hint("save it as DOCX or PDF and add that")
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}
