//! stub while probing
use super::failure::{ReadResult, Unreadable};
use adrag_core::ports::ParsedDocument;
pub(crate) fn read(_bytes: Vec<u8>) -> ReadResult<ParsedDocument> {
    Err(Unreadable::new("x"))
}
