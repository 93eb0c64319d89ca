//! stub
use leptos::prelude::*;
#[component]
pub fn App() -> impl IntoView { crate::state::App::begin(); }
