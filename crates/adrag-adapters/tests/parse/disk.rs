//! The file system: sizes, names, links, pipes, permissions, and the suite of the port.

use super::{parse, parse_bytes};
use adrag_adapters::parse::FileParser;
use adrag_contract::ErrorCode;
use adrag_core::ports::DocumentParser;
use adrag_core::testing::parser::{MARKER, ParserFixtures, conformance};
use std::path::Path;

pub(super) fn fixtures(folder: &Path) -> ParserFixtures {
    let put = |name: &str, content: &str| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_string_lossy().into_owned()
    };
    ParserFixtures {
        folder: folder.to_string_lossy().into_owned(),
        readable: put("readable.md", &format!("# Title\n\n{MARKER}\n")),
        empty: put("empty.txt", ""),
        broken: put("broken.pdf", "%PDF-1.4 and nothing else"),
        missing: folder.join("missing.txt").to_string_lossy().into_owned(),
    }
}

#[tokio::test]
async fn the_parser_keeps_the_promises_of_the_port() {
    let folder = tempfile::tempdir().unwrap();
    conformance(&FileParser::new(None), &fixtures(folder.path())).await;
}

#[tokio::test]
async fn the_size_limit_is_inclusive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.txt");
    let parser = FileParser::new(None);
    std::fs::write(&path, vec![b'x'; 52_428_800]).unwrap();
    let source = parser.inspect(&path.to_string_lossy()).await.unwrap();
    assert_eq!(source.bytes, 52_428_800);
    std::fs::write(&path, vec![b'x'; 52_428_801]).unwrap();
    let error = parser.inspect(&path.to_string_lossy()).await.unwrap_err();
    assert!(error.error.message.contains("too large"), "{error}");
}

#[tokio::test]
async fn odd_names_are_read() {
    let long = "n".repeat(240) + ".txt";
    for name in [
        "x.PDF.TXT",
        "no-extension",
        "CON.txt",
        "報告 😀.md",
        "trailing.txt.",
        "space .txt ",
        &long,
    ] {
        let parsed = parse_bytes(name, b"QUOKKA-7731 in a file")
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(parsed.text.contains("QUOKKA-7731"), "{name}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_plain_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let parser = FileParser::new(None);
    let pipe = folder.path().join("pipe.txt");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        let error = parser.inspect(&pipe.to_string_lossy()).await.unwrap_err();
        assert!(error.error.message.contains("device or a pipe"), "{error}");
    } else {
        println!("skipped: no mkfifo on this machine");
    }
    let link = folder.path().join("zero.txt");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    let error = parser.inspect(&link.to_string_lossy()).await.unwrap_err();
    assert!(error.error.message.contains("device or a pipe"), "{error}");
    let error = parser
        .inspect(&folder.path().to_string_lossy())
        .await
        .unwrap_err();
    assert!(error.error.message.contains("is a folder"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_without_permission_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locked.txt");
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let error = parse(&path).await.unwrap_err();
    assert!(error.error.message.contains("no permission"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_lists_documents_only_and_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("docs");
    std::fs::create_dir_all(root.join("b/.hidden")).unwrap();
    for name in ["b/two.md", "one.txt", "notes", "b/.hidden/x.txt", ".dot.txt"] {
        std::fs::write(root.join(name), "text").unwrap();
    }
    std::fs::write(root.join("photo.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    std::fs::write(folder.path().join("outside.txt"), "text").unwrap();
    std::os::unix::fs::symlink(folder.path(), root.join("loop")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("outside.txt"), root.join("link.txt")).unwrap();
    let listed = FileParser::new(None).list(&root.to_string_lossy()).await.unwrap();
    let names: Vec<&str> = listed
        .iter()
        .map(|path| path.strip_prefix(&*root.to_string_lossy()).unwrap())
        .collect();
    assert_eq!(names, ["/b/two.md", "/notes", "/one.txt"]);
}

#[tokio::test]
async fn a_missing_file_is_not_found() {
    let error = parse(Path::new("/nowhere/at-all.txt")).await.unwrap_err();
    assert_eq!(error.error.code, ErrorCode::NotFound);
}
