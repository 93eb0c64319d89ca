//! The edge between the middle and the pane at the right, to be dragged or moved with the arrow keys.

use crate::bridge;
use leptos::prelude::*;

const NAME: &str = "--pane-width";
const NARROWEST: f64 = 300.0;
const WIDEST: f64 = 720.0;
const USUAL: f64 = 400.0;

/// The edge.
#[component]
pub fn Splitter() -> impl IntoView {
    let width = RwSignal::new(
        bridge::remembered("pane")
            .and_then(|text| text.parse::<f64>().ok())
            .map_or(USUAL, |width| width.clamp(NARROWEST, WIDEST)),
    );
    let is_dragged = RwSignal::new(false);
    Effect::new(move |_| bridge::set_property(NAME, &format!("{}px", width.get())));
    let resize = move |to: f64| width.set(to.round().clamp(NARROWEST, WIDEST));
    let keep = move || bridge::remember("pane", &width.get_untracked().to_string());
    view! {
        <div
            class="splitter"
            role="separator"
            tabindex="0"
            aria-orientation="vertical"
            aria-label="Width of the side pane"
            aria-valuemin=NARROWEST.to_string()
            aria-valuemax=WIDEST.to_string()
            aria-valuenow=move || width.get().to_string()
            class:dragged=move || is_dragged.get()
            on:pointerdown=move |event| {
                bridge::capture_pointer(&event);
                is_dragged.set(true);
            }
            on:pointermove=move |event| {
                if is_dragged.get_untracked() {
                    resize(bridge::window_width() - f64::from(event.client_x()));
                }
            }
            on:pointerup=move |_| {
                is_dragged.set(false);
                keep();
            }
            on:dblclick=move |_| {
                width.set(USUAL);
                keep();
            }
            on:keydown=move |event| {
                match event.key().as_str() {
                    "ArrowLeft" => resize(width.get_untracked() + 24.0),
                    "ArrowRight" => resize(width.get_untracked() - 24.0),
                    _ => return,
                }
                event.prevent_default();
                keep();
            }
        ></div>
    }
}
