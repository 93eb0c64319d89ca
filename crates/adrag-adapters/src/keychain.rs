//! Keys in the keychain of the operating system; where there is none, in memory until the program ends. Never in a file.
//!
//! For scripts a key may also come from the environment. It is only read there, after keychain and memory.

use adrag_contract::{ErrorCode, KeyName, KeyStatus};
use adrag_core::ports::{KeyStore, PortError, PortResult};
use async_trait::async_trait;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;

/// A keychain that waits for a person to unlock it is not waited for longer.
const LIMIT: Duration = Duration::from_secs(3);
/// Windows keeps at most 2,560 bytes.
const LONGEST_KEY: usize = 2_000;
/// Of shorter keys the last four characters would give away too much.
const SHORTEST_SHOWN: usize = 12;

/// The keychain, with memory and environment behind it.
pub struct Keychain {
    service: String,
    /// Keys that the keychain did not take.
    session: Mutex<HashMap<KeyName, String>>,
    environment: Box<Environment>,
    worker: OnceLock<mpsc::Sender<Job>>,
}

/// From the name of a variable to its value.
type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What the keychain answered.
enum Held {
    Key(Option<String>),
    /// There is no keychain on this system.
    Nowhere,
    /// It did not answer in time: it may be locked.
    Silent,
}

enum Task {
    Read,
    Write(String),
    Remove,
}

struct Job {
    service: String,
    name: KeyName,
    task: Task,
    reply: oneshot::Sender<PortResult<Held>>,
}

impl Keychain {
    /// The keychain entries of a service, with the environment of this process behind them.
    pub fn new(service: impl Into<String>) -> Self {
        Self::with_environment(service, |name| std::env::var(name).ok())
    }

    /// The same over another environment: a function from a variable's name to its value.
    pub fn with_environment(
        service: impl Into<String>,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            service: service.into(),
            session: Mutex::default(),
            environment: Box::new(environment),
            worker: OnceLock::new(),
        }
    }

    fn session(&self) -> MutexGuard<'_, HashMap<KeyName, String>> {
        self.session
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn environment_key(&self, name: KeyName) -> Option<String> {
        variables(name)
            .iter()
            .filter_map(|variable| (self.environment)(variable))
            .map(|key| key.trim().to_owned())
            .find(|key| !key.is_empty())
    }

    async fn ask(&self, name: KeyName, task: Task) -> PortResult<Held> {
        let (reply, answer) = oneshot::channel();
        let job = Job {
            service: self.service.clone(),
            name,
            task,
            reply,
        };
        let worker = self.worker.get_or_init(start_worker);
        if worker.send(job).is_err() {
            return Ok(Held::Nowhere);
        }
        match tokio::time::timeout(LIMIT, answer).await {
            Ok(Ok(held)) => held,
            Ok(Err(_)) => Ok(Held::Nowhere),
            Err(_) => Ok(Held::Silent),
        }
    }

    /// The key and whether only this session holds it.
    async fn find(&self, name: KeyName) -> PortResult<(Option<String>, bool)> {
        let session = self.session().get(&name).cloned();
        if session.is_some() {
            return Ok((session, true));
        }
        let held = self.ask(name, Task::Read).await?;
        let environment = self.environment_key(name);
        match held {
            Held::Key(Some(key)) => Ok((Some(key), false)),
            Held::Key(None) => Ok((environment.clone(), environment.is_some())),
            Held::Nowhere => Ok((environment, true)),
            Held::Silent if environment.is_some() => Ok((environment, true)),
            Held::Silent => Err(locked()),
        }
    }
}

impl fmt::Debug for Keychain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keychain")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyStore for Keychain {
    async fn save(&self, name: KeyName, key: &str) -> PortResult<KeyStatus> {
        let key = key.trim();
        if key.is_empty() {
            self.session().remove(&name);
            if let Held::Silent = self.ask(name, Task::Remove).await? {
                return Err(locked());
            }
            return self.status(name).await;
        }
        if key.len() > LONGEST_KEY || key.chars().any(|c| !c.is_ascii_graphic()) {
            return Err(
                PortError::rejected(ErrorCode::InvalidRequest, "this is not a key")
                    .with_hint("copy the key alone, without spaces or line breaks"),
            );
        }
        match self.ask(name, Task::Write(key.to_owned())).await? {
            Held::Key(_) => {
                self.session().remove(&name);
                Ok(status_of(name, Some(key), false))
            }
            Held::Nowhere | Held::Silent => {
                self.session().insert(name, key.to_owned());
                Ok(status_of(name, Some(key), true))
            }
        }
    }

    async fn read(&self, name: KeyName) -> PortResult<Option<String>> {
        Ok(self.find(name).await?.0)
    }

    async fn status(&self, name: KeyName) -> PortResult<KeyStatus> {
        let (key, session_only) = self.find(name).await?;
        Ok(status_of(name, key.as_deref(), session_only))
    }
}

fn status_of(name: KeyName, key: Option<&str>, session_only: bool) -> KeyStatus {
    let last_four = key.filter(|key| key.len() >= SHORTEST_SHOWN).map(|key| {
        let from = key.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
        key[from..].to_owned()
    });
    KeyStatus {
        name,
        stored: key.is_some(),
        last_four,
        session_only,
    }
}

fn variables(name: KeyName) -> &'static [&'static str] {
    match name {
        KeyName::Openai => &["ADRAG_OPENAI_KEY", "OPENAI_API_KEY"],
        KeyName::Qdrant => &["ADRAG_QDRANT_KEY"],
    }
}

fn locked() -> PortError {
    PortError::transient(ErrorCode::Timeout, "the keychain of the system did not answer")
        .with_hint("unlock the keychain and try again")
}

/// A thread of its own, because a call into a locked keychain may never return: a blocking task of the runtime would then
/// keep the program from ending. It ends when the [`Keychain`] is dropped.
fn start_worker() -> mpsc::Sender<Job> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let spawned = std::thread::Builder::new()
        .name("keychain".to_owned())
        .spawn(move || {
            for job in jobs {
                // Its caller has given up, and was told so.
                if job.reply.is_closed() {
                    continue;
                }
                let held = perform(&job);
                // A caller that gave up meanwhile was told so.
                job.reply.send(held).ok();
            }
        });
    if let Err(error) = spawned {
        tracing::warn!(%error, "cannot start the keychain thread: keys are kept for this session only");
    }
    sender
}

fn perform(job: &Job) -> PortResult<Held> {
    use keyring::Error;
    let outcome = keyring::Entry::new(&job.service, job.name.as_str()).and_then(|entry| match &job.task {
        Task::Read => entry.get_password().map(Some),
        Task::Write(key) => entry.set_password(key).map(|()| None),
        Task::Remove => entry.delete_credential().map(|()| None),
    });
    match outcome {
        Ok(key) => Ok(Held::Key(key)),
        Err(Error::NoEntry) => Ok(Held::Key(None)),
        // Their text is left out on purpose: it could quote the entry.
        Err(Error::BadEncoding(_) | Error::BadDataFormat(..) | Error::Ambiguous(_)) => Err(
            PortError::permanent(ErrorCode::Internal, "the keychain entry of this key is damaged")
                .with_hint("remove the entry in the system's keychain program and enter the key again"),
        ),
        Err(Error::NoDefaultStore | Error::NoStorageAccess(_) | Error::PlatformFailure(_)) => {
            Ok(Held::Nowhere)
        }
        Err(_) => {
            tracing::warn!("the keychain refused: keys are kept for this session only");
            Ok(Held::Nowhere)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keychain(environment: &'static [(&'static str, &'static str)]) -> Keychain {
        let service = format!("adrag-test-{}", uuid::Uuid::new_v4());
        Keychain::with_environment(service, move |wanted| {
            let found = environment.iter().find(|(name, _)| *name == wanted)?;
            Some(found.1.to_owned())
        })
    }

    #[tokio::test]
    async fn a_key_of_the_environment_serves_until_one_is_saved() {
        let keys = keychain(&[("OPENAI_API_KEY", " sk-environment-1 ")]);
        assert_eq!(
            keys.read(KeyName::Openai).await.unwrap().as_deref(),
            Some("sk-environment-1")
        );
        keys.save(KeyName::Openai, "sk-saved-by-hand").await.unwrap();
        assert_eq!(
            keys.read(KeyName::Openai).await.unwrap().as_deref(),
            Some("sk-saved-by-hand")
        );
        keys.save(KeyName::Openai, "").await.unwrap();
        assert_eq!(
            keys.read(KeyName::Openai).await.unwrap().as_deref(),
            Some("sk-environment-1")
        );
        assert_eq!(keys.read(KeyName::Qdrant).await.unwrap(), None);
    }

    #[tokio::test]
    async fn our_own_variable_goes_before_the_common_one() {
        let keys = keychain(&[
            ("OPENAI_API_KEY", "sk-common-000"),
            ("ADRAG_OPENAI_KEY", "sk-our-own-00"),
        ]);
        assert_eq!(
            keys.read(KeyName::Openai).await.unwrap().as_deref(),
            Some("sk-our-own-00")
        );
    }

    #[tokio::test]
    async fn the_debug_form_holds_no_key() {
        let keys = keychain(&[("OPENAI_API_KEY", "sk-canary-7731")]);
        keys.save(KeyName::Openai, "sk-canary-7731-saved").await.unwrap();
        assert!(!format!("{keys:?}").contains("canary"));
        keys.save(KeyName::Openai, "").await.unwrap();
    }
}
