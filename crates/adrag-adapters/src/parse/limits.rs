//! The limits a file is read under. Nothing here is a preference: each stops a file that was made to do harm.

use std::time::Duration;

/// Largest file accepted, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 52_428_800;
/// Most text taken from one file, in bytes. Tables grow while they are read: every cell gets its column's name.
pub(crate) const MAX_TEXT_BYTES: usize = 96 * 1024 * 1024;
/// Wall time for one file.
pub(crate) const MAX_WALL: Duration = Duration::from_secs(30);
/// Processor time the worker may use, in seconds.
pub(crate) const MAX_CPU_SECONDS: u64 = 30;
/// Address space the worker may use, in bytes.
pub(crate) const MAX_MEMORY_BYTES: u64 = 1 << 30;
/// Largest reply of the worker, in bytes: the text once more, escaped, with the blocks beside it.
pub(crate) const MAX_REPLY_BYTES: u64 = 192 * 1024 * 1024;
/// Stack of the thread that reads; readers are iterative, libraries not always.
pub(crate) const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Most members of an archive.
pub(crate) const MAX_ARCHIVE_MEMBERS: usize = 5_000;
/// Most bytes unpacked from one archive, all members together.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 200 * 1024 * 1024;
/// Largest ratio of unpacked to packed bytes, looked at from [`RATIO_FLOOR_BYTES`] on.
pub(crate) const MAX_RATIO: u64 = 100;
/// Small members may pack better than [`MAX_RATIO`] without being bombs.
pub(crate) const RATIO_FLOOR_BYTES: u64 = 4 * 1024 * 1024;
/// Deepest nesting of XML elements.
pub(crate) const MAX_XML_DEPTH: usize = 256;

/// Deepest folder below the one that is listed.
pub(crate) const MAX_FOLDER_DEPTH: usize = 64;
/// Most files of one listing.
pub(crate) const MAX_LISTED_FILES: usize = 200_000;
