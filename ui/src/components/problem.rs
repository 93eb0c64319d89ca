//! What went wrong, with the next step as a button.

use super::icon::{Glyph, Icon};
use adrag_contract::AppError;
use leptos::prelude::*;

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
                <p>{error.message}</p>
                {error.hint.map(|hint| view! { <p class="quiet">{hint}</p> })}
            </div>
            {step.map(|(word, action)| view! { <button class="button" on:click=move |_| action.run(())>{word}</button> })}
        </div>
    }
}
