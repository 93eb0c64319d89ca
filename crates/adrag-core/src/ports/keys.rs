//! Keys of servers.

use super::PortResult;
use adrag_contract::{KeyName, KeyStatus};
use async_trait::async_trait;

/// Keeps keys where the operating system keeps them; without such a place, in memory until the program ends. Never in a
/// file.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Stores a key; an empty one removes it.
    async fn save(&self, name: KeyName, key: &str) -> PortResult<KeyStatus>;

    /// The key itself, for the adapter that needs it; never for the screen.
    async fn read(&self, name: KeyName) -> PortResult<Option<String>>;

    /// What may be known of it.
    async fn status(&self, name: KeyName) -> PortResult<KeyStatus>;
}
