//! Settings, keys and engines as the window knows them. Every change is saved at once.

use super::notices::Notices;
use crate::bridge;
use adrag_contract::{
    AppError, Doctor, DoctorReport, EngineId, EngineStatus, GetSettings, KeyName, KeyStatus, ListKeys,
    ProbeEngines, SaveKey, SaveKeyRequest, SaveSettings, Settings,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// Settings, keys and engines.
#[derive(Clone, Copy)]
pub struct Preferences {
    /// The settings; the defaults before they were loaded.
    pub settings: RwSignal<Settings>,
    /// What is known of the keys.
    pub keys: RwSignal<Vec<KeyStatus>>,
    /// How the engines are doing; nothing before the first probe.
    pub engines: RwSignal<Option<Vec<EngineStatus>>>,
    /// Whether they are being asked.
    pub is_probing: RwSignal<bool>,
    /// The report of the last examination.
    pub doctor: RwSignal<Option<Result<DoctorReport, AppError>>>,
    /// Whether one is under way.
    pub is_examining: RwSignal<bool>,
    is_loaded: StoredValue<bool>,
    probes: StoredValue<u64>,
    notices: Notices,
}

impl Preferences {
    /// The defaults.
    pub fn new(notices: Notices) -> Self {
        Self {
            settings: RwSignal::new(Settings::default()),
            keys: RwSignal::new(Vec::new()),
            engines: RwSignal::new(None),
            is_probing: RwSignal::new(false),
            doctor: RwSignal::new(None),
            is_examining: RwSignal::new(false),
            is_loaded: StoredValue::new(false),
            probes: StoredValue::new(0),
            notices,
        }
    }

    /// Reads what is stored.
    pub fn load(self) {
        spawn_local(async move {
            if let Some(settings) = self.notices.report(bridge::call::<GetSettings>(&()).await) {
                bridge::set_theme(settings.theme);
                self.settings.set(settings);
                self.is_loaded.set_value(true);
            }
            if let Some(keys) = self.notices.report(bridge::call::<ListKeys>(&()).await) {
                self.keys.set(keys);
            }
            self.probe();
        });
    }

    /// Changes settings and saves them.
    pub fn change(self, change: impl FnOnce(&mut Settings)) {
        // Saving defaults over what could not be read would lose it.
        if !self.is_loaded.get_value() {
            self.load();
            return;
        }
        let before = self.settings.get_untracked();
        self.settings.update(change);
        let settings = self.settings.get_untracked();
        if settings == before {
            return;
        }
        bridge::set_theme(settings.theme);
        let affects_engines = (&before.openai, &before.ollama, &before.local)
            != (&settings.openai, &settings.ollama, &settings.local);
        spawn_local(async move {
            match bridge::call::<SaveSettings>(&settings).await {
                Ok(()) if affects_engines => self.probe(),
                Ok(()) => {}
                Err(error) => {
                    // What the engine refused is not what it works with.
                    self.notices.fail(&error);
                    bridge::set_theme(before.theme);
                    self.settings.set(before);
                }
            }
        });
    }

    /// Stores a key, or removes it when empty.
    pub fn save_key(self, name: KeyName, key: String) {
        spawn_local(async move {
            let removed = key.is_empty();
            let saved = bridge::call::<SaveKey>(&SaveKeyRequest { name, key }).await;
            if let Some(status) = self.notices.report(saved) {
                self.keys.update(|keys| {
                    keys.retain(|known| known.name != status.name);
                    keys.push(status);
                });
                self.notices
                    .tell(if removed { "Key removed" } else { "Key saved" });
                self.probe();
            }
        });
    }

    /// Asks every engine how it is doing.
    pub fn probe(self) {
        let number = self.probes.get_value() + 1;
        self.probes.set_value(number);
        self.is_probing.set(true);
        spawn_local(async move {
            let statuses = bridge::call::<ProbeEngines>(&()).await;
            // An older probe that comes late speaks of older settings.
            if self.probes.get_value() != number {
                return;
            }
            if let Some(statuses) = self.notices.report(statuses) {
                self.engines.set(Some(statuses));
            }
            self.is_probing.set(false);
        });
    }

    /// Examines everything.
    pub fn examine(self) {
        if self.is_examining.get_untracked() {
            return;
        }
        self.is_examining.set(true);
        spawn_local(async move {
            self.doctor.set(Some(bridge::call::<Doctor>(&()).await));
            self.is_examining.set(false);
        });
    }

    /// How an engine is doing, once it was asked.
    pub fn engine(self, engine: EngineId) -> Option<EngineStatus> {
        self.engines.with(|all| {
            all.as_ref()?
                .iter()
                .find(|status| status.engine == engine)
                .cloned()
        })
    }

    /// What is known of a key.
    pub fn key(self, name: KeyName) -> Option<KeyStatus> {
        self.keys
            .with(|keys| keys.iter().find(|status| status.name == name).cloned())
    }
}
