//! A web link in an answer. A model may have been talked into writing it, so it opens only after a question that shows
//! the whole address.

use super::Ink;
use crate::bridge;
use crate::components::icon::{Glyph, Icon};
use crate::state::format;
use crate::state::notices::{Confirm, Detail};
use crate::state::use_app;
use adrag_contract::OpenLink;
use leptos::prelude::*;
use leptos::task::spawn_local;

/// A label that asks before it opens its address.
#[component]
pub fn WebLink(
    /// The address.
    url: String,
    /// What stands in the text.
    label: String,
    /// The answer it stands in.
    ink: Ink,
) -> impl IntoView {
    let app = use_app();
    let title = url.clone();
    let ask = move |_| {
        let url = url.clone();
        let is_known = ink
            .citations
            .with_untracked(|all| all.iter().any(|citation| citation.text.contains(&url)));
        let mut details = vec![Detail::address(&url)];
        if let Some((_, query)) = url.split_once('?') {
            details.push(Detail::quiet(format!(
                "It carries a query of {}.",
                format::counted(query.chars().count() as u64, "character", "characters")
            )));
        }
        if !is_known {
            details.push(Detail::strong(
                "This link is not in the passages the answer cites.",
            ));
        }
        app.ask_first(Confirm {
            title: "Open this link in the browser?".to_owned(),
            body: "It leaves adRAG. The address was written by the engine that answered.".to_owned(),
            details,
            yes: "Open link",
            is_destructive: false,
            action: Callback::new(move |()| {
                let url = url.clone();
                spawn_local(async move {
                    app.notices.report(bridge::call::<OpenLink>(&url).await);
                });
            }),
        });
    };
    view! { <button class="web-link" title=title on:click=ask>{label}<Icon glyph=Glyph::Link /></button> }
}
