//! What stands at a path, without reading it.

use adrag_contract::{AppError, ErrorCode};
use adrag_core::ports::{FileStamp, Presence};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Links are followed, as they are when the file is read.
pub(super) fn look(path: &Path) -> Presence {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Presence::Folder(disk(&metadata)),
        Ok(metadata) if metadata.is_file() => match metadata.modified() {
            Ok(modified) => Presence::File(FileStamp {
                bytes: metadata.len(),
                modified_ns: since_epoch(modified),
            }),
            Err(error) => unknown(path, &error.to_string()),
        },
        Ok(_) => unknown(path, "it is neither a file nor a folder"),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Presence::Gone
        }
        Err(error) => unknown(path, &error.to_string()),
    }
}

fn unknown(path: &Path, why: &str) -> Presence {
    Presence::Unknown(AppError::new(
        ErrorCode::UnreadableFile,
        format!("`{}` cannot be looked at: {why}", path.display()),
    ))
}

fn since_epoch(time: SystemTime) -> i64 {
    let (span, sign) = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after, 1),
        Err(before) => (before.duration(), -1),
    };
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX) * sign
}

#[cfg(unix)]
fn disk(metadata: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::dev(metadata))
}

/// A drive that is not there has no path here, so its number is not needed.
#[cfg(not(unix))]
fn disk(_metadata: &Metadata) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_time_before_the_epoch_is_a_time() {
        assert_eq!(since_epoch(UNIX_EPOCH + Duration::from_nanos(5)), 5);
        assert_eq!(since_epoch(UNIX_EPOCH - Duration::from_nanos(5)), -5);
    }
}
