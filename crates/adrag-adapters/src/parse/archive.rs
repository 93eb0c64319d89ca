//! The ZIP archive under its caps. Member names are looked up, never used as paths; nothing is written to disk.

use super::encoding::normal_lines;
use super::failure::{ReadResult, Unreadable};
use super::limits::{MAX_ARCHIVE_MEMBERS, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_FLOOR_BYTES};
use encoding_rs::Encoding;
use std::io::{Cursor, Read};
use zip::ZipArchive;

pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    unpacked: u64,
    /// What the archive is, for messages: `DOCX`.
    what: &'static str,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], what: &'static str) -> ReadResult<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| Unreadable::corrupt(what, error))?;
        if zip.len() > MAX_ARCHIVE_MEMBERS {
            return Err(unsafe_archive(format!(
                "it has {} members, more than {MAX_ARCHIVE_MEMBERS}",
                zip.len()
            )));
        }
        Ok(Self {
            zip,
            unpacked: 0,
            what,
        })
    }

    /// What the archive is, for messages.
    pub(crate) fn what(&self) -> &'static str {
        self.what
    }

    /// Whether there is a member of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Unpacks every member and keeps none: for a library that opens the archive by itself and knows no caps.
    pub(crate) fn prove(&mut self) -> ReadResult<()> {
        for index in 0..self.zip.len() {
            self.unpack(index, |_| {})?;
        }
        Ok(())
    }

    /// Names that begin and end so, in order.
    pub(crate) fn names_like(&self, prefix: &str, suffix: &str) -> Vec<String> {
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
    pub(crate) fn read(&mut self, name: &str) -> ReadResult<Option<String>> {
        let Some(index) = self.zip.index_for_name(name) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        self.unpack(index, |piece| bytes.extend_from_slice(piece))?;
        let encoding = Encoding::for_bom(&bytes).map_or(encoding_rs::UTF_8, |(encoding, _)| encoding);
        let (text, _) = encoding.decode_with_bom_removal(&bytes);
        Ok(Some(normal_lines(text.into_owned())))
    }

    /// Unpacks a member piece by piece. The sizes in the archive may lie; only what really comes out counts.
    fn unpack(&mut self, index: usize, mut keep: impl FnMut(&[u8])) -> ReadResult<()> {
        let what = self.what;
        let mut member = self
            .zip
            .by_index(index)
            .map_err(|error| Unreadable::corrupt(what, error))?;
        if member.encrypted() {
            return Err(Unreadable::password());
        }
        let packed = member.compressed_size().max(1);
        let mut size = 0;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = member
                .read(&mut buffer)
                .map_err(|error| Unreadable::corrupt(what, error))?;
            if read == 0 {
                break;
            }
            keep(&buffer[..read]);
            size += read as u64;
            if size > RATIO_FLOOR_BYTES && size / packed > MAX_RATIO {
                return Err(unsafe_archive(format!(
                    "a part unpacks to more than {MAX_RATIO} times its size"
                )));
            }
            if self.unpacked + size > MAX_UNPACKED_BYTES {
                return Err(unsafe_archive("it unpacks to more than 200 MB".to_owned()));
            }
        }
        self.unpacked += size;
        Ok(())
    }
}

fn unsafe_archive(detail: String) -> Unreadable {
    Unreadable::new(format!("is refused as unsafe: {detail}"))
        .hint("open it in its own program and save it again, if you trust it")
}
