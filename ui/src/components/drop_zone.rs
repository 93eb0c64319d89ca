//! The place to put documents: drop, pick, or take the samples.

use super::icon::{Glyph, Icon};
use crate::state::use_app;
use leptos::prelude::*;

/// A large field that takes files.
#[component]
pub fn DropZone() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="drop-zone" class:over=move || app.dragging.get() data-testid="drop-zone">
            <span class="drop-mark"><Icon glyph=Glyph::Drop /></span>
            <p class="drop-title">"Drop files or folders here"</p>
            <p class="quiet">"PDF, Word, Markdown, HTML, CSV, JSON, text and source code. They stay on this computer."</p>
            <div class="drop-actions">
                <button class="button primary" data-testid="add-files" on:click=move |_| app.add_files()>"Add files"</button>
                <button class="button" data-testid="add-samples" on:click=move |_| app.shelf.add_samples()>"Try the sample documents"</button>
            </div>
        </div>
    }
}
