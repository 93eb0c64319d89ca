//! What a file is, by its content first and its extension second.

use super::archive::Archive;
use super::failure::{ReadResult, Unreadable};

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Pdf,
    Docx,
    Workbook(Book),
    /// PowerPoint.
    Slides,
    /// `odt`, `odp` or `ods`.
    OpenDocument(&'static str),
    Rtf,
    Epub,
    /// An e-mail.
    Mail,
    /// Jupyter.
    Notebook,
    Html,
    Markdown,
    Csv,
    Json,
    /// The language's name.
    Code(&'static str),
    Text,
}

/// The ways in which Excel has kept its workbooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Book {
    Xls,
    Xlsb,
    Xlsx,
}

impl Format {
    /// What a file of this format is called, with its article; none for formats that are text.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Pdf => "a PDF",
            Self::Docx => "a DOCX document",
            Self::Workbook(_) => "an Excel workbook",
            Self::Slides => "a PowerPoint presentation",
            Self::OpenDocument(_) => "an OpenDocument file",
            Self::Epub => "an EPUB book",
            Self::Rtf => "an RTF document",
            _ => return None,
        })
    }

    /// Whether files of this format are ZIP archives.
    fn is_zipped(self) -> bool {
        matches!(
            self,
            Self::Docx
                | Self::Workbook(Book::Xlsx | Book::Xlsb)
                | Self::Slides
                | Self::OpenDocument(_)
                | Self::Epub
        )
    }
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
        "json" | "jsonl" | "ndjson" | "geojson" => Format::Json,
        "ipynb" => Format::Notebook,
        "xlsx" | "xlsm" | "xltx" | "xltm" => Format::Workbook(Book::Xlsx),
        "xlsb" => Format::Workbook(Book::Xlsb),
        "xls" | "xlt" => Format::Workbook(Book::Xls),
        "pptx" | "pptm" | "ppsx" | "potx" => Format::Slides,
        "odt" | "ott" => Format::OpenDocument("odt"),
        "odp" | "otp" => Format::OpenDocument("odp"),
        "ods" | "ots" => Format::OpenDocument("ods"),
        "rtf" => Format::Rtf,
        "epub" => Format::Epub,
        "eml" | "mht" | "mhtml" => Format::Mail,
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
        return ole(bytes);
    }
    if let Some(what) = binary_name(bytes) {
        return Err(binary(promised, what));
    }
    if bytes.starts_with(b"{\\rtf") {
        return Ok(Format::Rtf);
    }
    match promised {
        Some(Format::Pdf) => Err(Unreadable::corrupt("PDF", "it does not begin like one")),
        Some(Format::Docx) => Err(Unreadable::corrupt("DOCX", "it is not a ZIP archive")),
        Some(format) if format.is_zipped() => Err(Unreadable::corrupt(
            format
                .name()
                .unwrap_or_default()
                .split_once(' ')
                .unwrap_or_default()
                .1,
            "it is not a ZIP archive",
        )),
        // Programs save web pages and plain tables under this name.
        Some(Format::Workbook(_)) if looks_like_html(bytes) => Ok(Format::Html),
        Some(Format::Workbook(_)) => Ok(Format::Csv),
        Some(Format::Rtf) => Err(Unreadable::corrupt("RTF", "it does not begin like one")),
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
    let expected = promised.and_then(Format::name).unwrap_or("text");
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
    let found = zip_content(bytes);
    match (promised, found) {
        // Another archive under the name of one: what it holds decides.
        (None, Ok(format)) => Ok(format),
        (Some(promised), Ok(format)) if promised.is_zipped() => Ok(format),
        (Some(promised), Err(_)) if promised.is_zipped() => Ok(promised),
        (Some(promised), Ok(format)) => Err(binary(
            Some(promised),
            format
                .name()
                .unwrap_or_default()
                .split_once(' ')
                .unwrap_or_default()
                .1,
        )),
        (Some(promised), Err(what)) => Err(binary(Some(promised), what)),
        (None, Err(what)) => Err(
            Unreadable::new(format!("is of a kind that is not supported ({what})"))
                .hint("unpack it and add the files it holds"),
        ),
    }
}

/// The format of a ZIP archive by its members, or what else it is. A damaged archive is looked at as bytes.
fn zip_content(bytes: &[u8]) -> Result<Format, &'static str> {
    let mut archive = Archive::open(bytes, "ZIP archive").ok();
    let has = |name: &str| match &archive {
        Some(archive) => archive.has(name),
        None => bytes.windows(name.len()).any(|found| found == name.as_bytes()),
    };
    let members = [
        ("word/document.xml", Format::Docx),
        ("xl/workbook.xml", Format::Workbook(Book::Xlsx)),
        ("xl/workbook.bin", Format::Workbook(Book::Xlsb)),
        ("ppt/presentation.xml", Format::Slides),
        ("META-INF/container.xml", Format::Epub),
    ];
    if let Some((_, format)) = members.into_iter().find(|(name, _)| has(name)) {
        return Ok(format);
    }
    let mimetype = archive
        .as_mut()
        .and_then(|archive| archive.read("mimetype").ok().flatten())
        .unwrap_or_default();
    match mimetype
        .trim()
        .strip_prefix("application/vnd.oasis.opendocument.")
    {
        Some(kind) if kind.starts_with("text") => Ok(Format::OpenDocument("odt")),
        Some(kind) if kind.starts_with("presentation") => Ok(Format::OpenDocument("odp")),
        Some(kind) if kind.starts_with("spreadsheet") => Ok(Format::OpenDocument("ods")),
        Some(_) => Err("OpenDocument drawing or formula"),
        None => Err("ZIP archive"),
    }
}

fn ole(bytes: &[u8]) -> ReadResult<Format> {
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
        return Err(Unreadable::password());
    }
    let what = if holds("WordDocument") {
        "Word 97-2003 document"
    } else if holds("Workbook") || holds("Book") {
        return Ok(Format::Workbook(Book::Xls));
    } else if holds("PowerPoint Document") {
        "PowerPoint 97-2003 presentation"
    } else {
        "Microsoft compound file"
    };
    Err(
        Unreadable::new(format!("is of a kind that is not supported ({what})"))
            .hint("save it as DOCX or PDF and add that"),
    )
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}
