//! The ZIP archive under its caps. Member names are looked up, never used as paths; nothing is written to disk.

use super::super::encoding::normal_lines;
use super::super::failure::{ReadResult, Unreadable};
use super::super::limits::{MAX_ARCHIVE_MEMBERS, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_FLOOR_BYTES};
use encoding_rs::Encoding;
use std::io::{Cursor, Read};
use zip::ZipArchive;

pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    unpacked: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> ReadResult<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| Unreadable::corrupt("DOCX", error))?;
        if zip.len() > MAX_ARCHIVE_MEMBERS {
            return Err(unsafe_archive(format!(
                "it has {} members, more than {MAX_ARCHIVE_MEMBERS}",
                zip.len()
            )));
        }
        Ok(Self { zip, unpacked: 0 })
    }

    /// Names that begin and end so, in order.
    pub(super) fn names_like(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .zip
            .file_names()
            .filter_map(Result::ok)
            .filter(|name| name.starts_with(prefix) && name.ends_with(suffix))
            .map(|name| name.into_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// A member as text; nothing when there is none of that name.
    pub(super) fn read(&mut self, name: &str) -> ReadResult<Option<String>> {
        let Some(index) = self.zip.index_for_name(name) else {
            return Ok(None);
        };
        let mut member = self
            .zip
            .by_index(index)
            .map_err(|error| Unreadable::corrupt("DOCX", error))?;
        if member.encrypted() {
            return Err(Unreadable::password());
        }
        let packed = member.compressed_size().max(1);
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        // The sizes in the archive may lie; only what really comes out counts.
        loop {
            let read = member
                .read(&mut buffer)
                .map_err(|error| Unreadable::corrupt("DOCX", error))?;
            if read == 0 {
                break;
            }
            bytes.extend_from_slice(&buffer[..read]);
            let size = bytes.len() as u64;
            if size > RATIO_FLOOR_BYTES && size / packed > MAX_RATIO {
                return Err(unsafe_archive(format!(
                    "a part unpacks to more than {MAX_RATIO} times its size"
                )));
            }
            if self.unpacked + size > MAX_UNPACKED_BYTES {
                return Err(unsafe_archive("it unpacks to more than 200 MB".to_owned()));
            }
        }
        self.unpacked += bytes.len() as u64;
        let encoding = Encoding::for_bom(&bytes).map_or(encoding_rs::UTF_8, |(encoding, _)| encoding);
        let (text, _) = encoding.decode_with_bom_removal(&bytes);
        Ok(Some(normal_lines(text.into_owned())))
    }
}

fn unsafe_archive(detail: String) -> Unreadable {
    Unreadable::new(format!("is refused as unsafe: {detail}"))
        .hint("open it in Word and save it again, if you trust it")
}
