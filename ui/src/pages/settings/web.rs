//! Searching the web: whether at all, by whom, and what leaves the machine then.

use crate::components::field::{NumberField, TextField, Toggle};
use crate::state::use_app;
use adrag_contract::{Settings, WebSettings};
use leptos::prelude::*;

/// Providers by id, with what a person should know.
const PROVIDERS: [(&str, &str, &str); 3] = [
    (
        "duckduckgo",
        "DuckDuckGo",
        "Finds most; it may refuse a program that asks often.",
    ),
    ("wikipedia", "Wikipedia", "An encyclopedia; it answers reliably."),
    (
        "searxng",
        "SearXNG",
        "An instance of your own, at the address below.",
    ),
];

/// The section.
#[component]
pub fn Web() -> impl IntoView {
    let preferences = use_app().preferences;
    let default = WebSettings::default();
    let read = move |read: fn(&WebSettings) -> f64| {
        Signal::derive(move || preferences.settings.with(|settings| read(&settings.web)))
    };
    let is_on = move |id: &'static str| {
        Signal::derive(move || {
            preferences
                .settings
                .with(|settings| settings.web.providers.iter().any(|known| known == id))
        })
    };
    let write = move |apply: fn(&mut Settings, f64)| {
        Callback::new(move |value: f64| preferences.change(|settings| apply(settings, value)))
    };
    let providers = PROVIDERS.map(|(id, label, about)| {
        let choose =
            Callback::new(move |on: bool| preferences.change(|settings| choose(&mut settings.web, id, on)));
        view! { <Toggle id=id label=label about=about value=is_on(id) change=choose /> }
    });
    let enabled = Signal::derive(move || preferences.settings.with(|settings| settings.web.enabled));
    let escalate = Signal::derive(move || preferences.settings.with(|settings| settings.web.escalate));
    let address = Signal::derive(move || {
        preferences
            .settings
            .with(|settings| settings.web.searxng_url.clone().unwrap_or_default())
    });
    view! {
        <section class="card">
            <header class="card-head"><div class="card-words"><h2>"Web search"</h2>
                <p class="quiet">"Off, nothing is sent. On, the words of your question go to the providers below, and the first pages they find are read. Nothing of your documents is ever sent. Whether a provider allows programs to search is between you and it."</p></div></header>
            <div class="card-fields">
                <Toggle id="web-enabled" label="Search the web" about="Each question can still leave it out." value=enabled
                    change=Callback::new(move |on| preferences.change(|settings| settings.web.enabled = on)) />
                <Toggle id="web-escalate" label="When documents do not answer" about="Search the web by itself; else only when the question asks for it." value=escalate
                    change=Callback::new(move |on| preferences.change(|settings| settings.web.escalate = on)) />
            </div>
        </section>
        <section class="card">
            <header class="card-head"><div class="card-words"><h2>"Providers"</h2><p class="quiet">"Asked in this order; the next when one fails or is slow."</p></div></header>
            <div class="card-fields">
                {providers.collect_view()}
                <TextField id="searxng-url" label="SearXNG address" about="Its settings must allow the format json." value=address placeholder="http://127.0.0.1:8888"
                    change=Callback::new(move |value: String| preferences.change(|settings| settings.web.searxng_url = (!value.is_empty()).then_some(value))) />
                <NumberField id="web-results" label="Pages" about="Taken from a search, at most." value=read(|web| f64::from(web.results))
                    default=f64::from(default.results) bounds=(1.0, 20.0) change=write(|all, value| all.web.results = value as u32) />
                <NumberField id="web-timeout" label="Wait for a provider" about="Milliseconds." value=read(|web| web.timeout_ms as f64)
                    default=default.timeout_ms as f64 bounds=(500.0, 60_000.0) step=500.0 change=write(|all, value| all.web.timeout_ms = value as u64) />
            </div>
        </section>
    }
}

/// Switches a provider, keeping the order in which they are shown.
fn choose(web: &mut WebSettings, id: &str, on: bool) {
    web.providers = PROVIDERS
        .iter()
        .map(|(known, ..)| *known)
        .filter(|known| {
            if *known == id {
                on
            } else {
                web.providers.iter().any(|chosen| chosen == known)
            }
        })
        .map(str::to_owned)
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_keep_their_order() {
        let mut web = WebSettings::default();
        choose(&mut web, "searxng", true);
        choose(&mut web, "duckduckgo", false);
        choose(&mut web, "duckduckgo", true);
        assert_eq!(web.providers, ["duckduckgo", "wikipedia", "searxng"]);
        choose(&mut web, "wikipedia", false);
        assert_eq!(web.providers, ["duckduckgo", "searxng"]);
    }
}
