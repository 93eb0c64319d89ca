//! What went wrong, with the next step as a button.

use super::icon::{Glyph, Icon};
use crate::state::format;
use adrag_contract::AppError;
use leptos::prelude::*;

/// A message of the program, with the names in it set as names.
pub fn said(message: &str) -> Vec<AnyView> {
    let parts = format::quoted_parts(&format::sentence(message));
    (0..)
        .zip(parts)
        .map(|(at, part): (usize, String)| {
            if at % 2 == 1 {
                view! { <code>{part}</code> }.into_any()
            } else {
                part.into_any()
            }
        })
        .collect()
}

/// An error in its place.
#[component]
pub fn Problem(
    /// What happened.
    error: AppError,
    /// The word on the button and what it does.
    #[prop(optional_no_strip)]
    step: Option<(&'static str, Callback<()>)>,
) -> impl IntoView {
    view! {
        <div class="problem" role="alert" data-testid="problem">
            <Icon glyph=Glyph::Warning />
            <div class="problem-words">
                <p>{said(&error.message)}</p>
                {error.hint.map(|hint| view! { <p class="quiet">{said(&hint)}</p> })}
            </div>
            {step.map(|(word, action)| view! { <button class="button" on:click=move |_| action.run(())>{word}</button> })}
        </div>
    }
}
