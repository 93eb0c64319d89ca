//! The fakes and the conformance suite of language models and engines.

mod conformance;
mod fake;

pub use conformance::{Behaviour, ChatFixture, conforms};
pub use fake::{FakeChatModel, FakeEngines, FakeReply};
