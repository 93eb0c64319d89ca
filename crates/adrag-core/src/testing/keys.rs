//! The fake and the conformance suite of the key store.

use crate::ports::{KeyStore, PortResult};
use adrag_contract::{KeyName, KeyStatus};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Mutex;

/// Keys in memory.
#[derive(Default)]
pub struct FakeKeyStore {
    keys: Mutex<HashMap<KeyName, String>>,
}

impl FakeKeyStore {
    /// A store that holds one key.
    pub fn holding(name: KeyName, key: &str) -> Self {
        Self {
            keys: Mutex::new(HashMap::from([(name, key.to_owned())])),
        }
    }
}

#[async_trait]
impl KeyStore for FakeKeyStore {
    async fn save(&self, name: KeyName, key: &str) -> PortResult<KeyStatus> {
        match key.trim() {
            "" => self.keys.lock().unwrap().remove(&name),
            key => self.keys.lock().unwrap().insert(name, key.to_owned()),
        };
        self.status(name).await
    }

    async fn read(&self, name: KeyName) -> PortResult<Option<String>> {
        Ok(self.keys.lock().unwrap().get(&name).cloned())
    }

    async fn status(&self, name: KeyName) -> PortResult<KeyStatus> {
        let key = self.read(name).await?;
        Ok(KeyStatus {
            name,
            stored: key.is_some(),
            last_four: key
                .filter(|key| key.len() >= 12)
                .map(|key| key[key.len() - 4..].to_owned()),
            session_only: true,
        })
    }
}

/// What every key store promises. Takes an empty store and leaves it empty.
pub async fn conforms(keys: &dyn KeyStore) {
    let name = KeyName::Openai;
    assert!(
        !keys.status(name).await.unwrap().stored,
        "an empty store holds no key"
    );
    assert_eq!(
        keys.read(name).await.unwrap(),
        None,
        "an empty store gives no key"
    );

    let status = keys.save(name, "  sk-conformance-7731 \n").await.unwrap();
    assert!(status.stored, "a saved key is stored");
    assert_eq!(
        status.last_four.as_deref(),
        Some("7731"),
        "the last four of a long key are shown"
    );
    assert_eq!(
        keys.read(name).await.unwrap().as_deref(),
        Some("sk-conformance-7731"),
        "a key is read as it was saved, without the space around it"
    );
    assert_eq!(
        keys.status(name).await.unwrap(),
        status,
        "saving and asking tell the same"
    );
    assert!(
        !keys.status(KeyName::Qdrant).await.unwrap().stored,
        "keys do not mix"
    );

    let status = keys.save(name, "short-key-1").await.unwrap();
    assert_eq!(status.last_four, None, "nothing is shown of a short key");
    assert_eq!(
        keys.read(name).await.unwrap().as_deref(),
        Some("short-key-1"),
        "a key is replaced"
    );

    let status = keys.save(name, "").await.unwrap();
    assert!(!status.stored, "an empty key removes the stored one");
    assert_eq!(keys.read(name).await.unwrap(), None, "a removed key is gone");
    keys.save(name, "")
        .await
        .expect("removing what is not there is no error");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fake_conforms() {
        conforms(&FakeKeyStore::default()).await;
    }
}
