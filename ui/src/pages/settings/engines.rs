//! The engines: one card each, with its own fields.

use super::engine_card::{Card, KeyField};
use crate::components::field::{NumberField, TextField};
use crate::components::icon::{Glyph, Icon};
use crate::state::use_app;
use adrag_contract::{EngineId, KeyName, LocalSettings, OllamaSettings, OpenaiSettings, Settings};
use leptos::prelude::*;

/// The section.
#[component]
pub fn Engines() -> impl IntoView {
    let app = use_app();
    let preferences = app.preferences;
    view! {
        <div class="section-lead">
            <p class="quiet">"The engine in use answers every question. One that runs elsewhere is sent the question and the passages it reads; Quotes and a local model send nothing."</p>
            <button class="button" disabled=move || preferences.is_probing.get() on:click=move |_| preferences.probe()>
                <Icon glyph=Glyph::Again />{move || if preferences.is_probing.get() { "Checking" } else { "Check again" }}
            </button>
        </div>
        <Card engine=EngineId::Quotes about="Verbatim sentences of your documents, cited. Needs no language model and works offline." />
        <Card engine=EngineId::Ollama about="A language model served by Ollama, usually on this computer."><Ollama /></Card>
        <Card engine=EngineId::Openai about="OpenAI, or any server that speaks its protocol: Groq, LM Studio, vLLM, llama-server."><Openai /></Card>
        <Card engine=EngineId::Local about="A GGUF file, run by a llama-server that adRAG starts and stops."><Local /></Card>
    }
}

fn text(read: impl Fn(&Settings) -> String + Send + Sync + 'static) -> Signal<String> {
    let settings = use_app().preferences.settings;
    Signal::derive(move || settings.with(|settings| read(settings)))
}

fn number(read: impl Fn(&Settings) -> f64 + Send + Sync + 'static) -> Signal<f64> {
    let settings = use_app().preferences.settings;
    Signal::derive(move || settings.with(|settings| read(settings)))
}

fn write<T: 'static>(apply: impl Fn(&mut Settings, T) + Send + Sync + 'static) -> Callback<T> {
    let preferences = use_app().preferences;
    Callback::new(move |value: T| preferences.change(|settings| apply(settings, value)))
}

fn models(engine: EngineId) -> Signal<Vec<String>> {
    let preferences = use_app().preferences;
    Signal::derive(move || {
        preferences
            .engine(engine)
            .map(|status| status.models)
            .unwrap_or_default()
    })
}

/// An empty field stands for the default.
fn or_default(value: String, default: String) -> String {
    if value.is_empty() { default } else { value }
}

fn optional(value: String) -> Option<String> {
    (!value.is_empty()).then_some(value)
}

#[component]
fn Ollama() -> impl IntoView {
    let default = OllamaSettings::default();
    let base = default.base_url.clone();
    view! {
        <TextField id="ollama-url" label="Address" value=text(|all| all.ollama.base_url.clone()) placeholder=default.base_url.clone()
            change=write(move |all, value| all.ollama.base_url = or_default(value, base.clone())) />
        <TextField id="ollama-model" label="Model" about="The server's first when empty." value=text(|all| all.ollama.model.clone()) placeholder="first one installed"
            choices=models(EngineId::Ollama) change=write(|all, value| all.ollama.model = value) />
        <NumberField id="ollama-context" label="Context window" about="Tokens the model may read at once." value=number(|all| f64::from(all.ollama.num_ctx))
            default=f64::from(default.num_ctx) bounds=(512.0, 262_144.0) step=512.0 change=write(|all, value: f64| all.ollama.num_ctx = value as u32) />
        <NumberField id="ollama-timeout" label="Patience" about="Seconds of silence before a run gives up." value=number(|all| all.ollama.timeout_s as f64)
            default=default.timeout_s as f64 bounds=(1.0, 3_600.0) change=write(|all, value: f64| all.ollama.timeout_s = value as u64) />
    }
}

#[component]
fn Openai() -> impl IntoView {
    let default = OpenaiSettings::default();
    let (base, model) = (default.base_url.clone(), default.model.clone());
    view! {
        <KeyField name=KeyName::Openai />
        <TextField id="openai-url" label="Base URL" about="Up to and including the version, as in /v1." value=text(|all| all.openai.base_url.clone()) placeholder=default.base_url.clone()
            change=write(move |all, value| all.openai.base_url = or_default(value, base.clone())) />
        <TextField id="openai-model" label="Model" value=text(|all| all.openai.model.clone()) placeholder=default.model.clone()
            choices=models(EngineId::Openai) change=write(move |all, value| all.openai.model = or_default(value, model.clone())) />
        <TextField id="openai-organisation" label="Organisation" about="Only for accounts that have several." value=text(|all| all.openai.organisation.clone().unwrap_or_default())
            change=write(|all, value| all.openai.organisation = optional(value)) />
        <NumberField id="openai-timeout" label="Patience" about="Seconds of silence before a run gives up." value=number(|all| all.openai.timeout_s as f64)
            default=default.timeout_s as f64 bounds=(1.0, 3_600.0) change=write(|all, value: f64| all.openai.timeout_s = value as u64) />
    }
}

#[component]
fn Local() -> impl IntoView {
    let default = LocalSettings::default();
    view! {
        <TextField id="local-model" label="Model file" about="Path of a GGUF file." value=text(|all| all.local.model_file.clone().unwrap_or_default()) placeholder="/path/to/model.gguf"
            change=write(|all, value| all.local.model_file = optional(value)) />
        <TextField id="local-binary" label="llama-server" about="Searched on PATH when empty." value=text(|all| all.local.binary.clone().unwrap_or_default()) placeholder="llama-server"
            change=write(|all, value| all.local.binary = optional(value)) />
        <NumberField id="local-context" label="Context window" about="Tokens the model may read at once." value=number(|all| f64::from(all.local.context_tokens))
            default=f64::from(default.context_tokens) bounds=(512.0, 131_072.0) step=512.0 change=write(|all, value: f64| all.local.context_tokens = value as u32) />
        <NumberField id="local-threads" label="Threads" about="0 lets the server choose." value=number(|all| f64::from(all.local.threads))
            default=f64::from(default.threads) bounds=(0.0, 256.0) change=write(|all, value: f64| all.local.threads = value as u32) />
    }
}
