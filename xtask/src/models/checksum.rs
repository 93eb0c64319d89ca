//! SHA-256 of files, as lower-case hexadecimal.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

pub fn of_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let count = file
            .read(&mut buffer)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        if count == 0 {
            return Ok(hexadecimal(digest));
        }
        digest.update(&buffer[..count]);
    }
}

/// A checksum over several named contents, whatever their order of arrival must be decided by the caller.
#[derive(Default)]
pub struct Summary(Sha256);

impl Summary {
    pub fn add(&mut self, name: &str, content: &[u8]) {
        // Lengths first, so that no two different lists look the same.
        self.0.update((name.len() as u64).to_le_bytes());
        self.0.update(name.as_bytes());
        self.0.update((content.len() as u64).to_le_bytes());
        self.0.update(content);
    }

    pub fn finish(self) -> String {
        hexadecimal(self.0)
    }
}

fn hexadecimal(digest: Sha256) -> String {
    let mut text = Vec::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to memory cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_everybody_else_computes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(
            of_file(&path).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn moving_a_byte_from_a_name_to_a_content_changes_the_summary() {
        let of = |name: &str, content: &[u8]| {
            let mut summary = Summary::default();
            summary.add(name, content);
            summary.finish()
        };
        assert_ne!(of("ab", b"c"), of("a", b"bc"));
    }
}
