//! Fields of the settings: a name, what it is for, the control, and a way back to the default.

use super::icon::{Glyph, Icon};
use leptos::prelude::*;

/// A row: name and explanation at the left, the control at the right.
#[component]
pub fn Field(
    /// Its name.
    label: &'static str,
    /// What it is for.
    #[prop(optional)]
    about: &'static str,
    /// Goes back to the default; shown while it differs from it.
    #[prop(optional)]
    reset: Option<(Signal<bool>, Callback<()>)>,
    /// The control, which must carry `id`.
    children: Children,
    /// The control's id.
    id: &'static str,
) -> impl IntoView {
    view! {
        <div class="field">
            <div class="field-words">
                <label for=id>{label}</label>
                {(!about.is_empty()).then(|| view! { <p class="quiet">{about}</p> })}
            </div>
            <div class="field-control">
                {reset.map(|(differs, action)| view! {
                    <button
                        class="button quiet square"
                        title="Back to the default"
                        aria-label=format!("{label}: back to the default")
                        class:hidden=move || !differs.get()
                        on:click=move |_| action.run(())
                    >
                        <Icon glyph=Glyph::Again />
                    </button>
                })}
                {children()}
            </div>
        </div>
    }
}

/// A number within bounds, taken over when the field is left.
#[component]
pub fn NumberField(
    /// Its id.
    id: &'static str,
    /// Its name.
    label: &'static str,
    /// What it is for.
    about: &'static str,
    /// The value.
    #[prop(into)]
    value: Signal<f64>,
    /// The default.
    default: f64,
    /// Smallest and largest.
    bounds: (f64, f64),
    /// Step of the arrows.
    #[prop(default = 1.0)]
    step: f64,
    /// Takes the new value.
    change: Callback<f64>,
) -> impl IntoView {
    let shown = move || tidy(value.get());
    let differs = Signal::derive(move || (value.get() - default).abs() > 1e-6);
    let reset = Callback::new(move |()| change.run(default));
    view! {
        <Field id=id label=label about=about reset=(differs, reset)>
            <input
                id=id
                class="input number"
                type="number"
                min=bounds.0.to_string()
                max=bounds.1.to_string()
                step=step.to_string()
                prop:value=shown
                on:change:target=move |event| {
                    match event.target().value().parse::<f64>() {
                        Ok(number) if number.is_finite() => {
                            let number = number.clamp(bounds.0, bounds.1);
                            event.target().set_value(&tidy(number));
                            change.run(number);
                        }
                        _ => event.target().set_value(&tidy(value.get_untracked())),
                    }
                }
            />
        </Field>
    }
}

fn tidy(number: f64) -> String {
    // A setting kept in single precision reads 0.5, not 0.50000001.
    ((number * 1e4).round() / 1e4).to_string()
}

/// A text, taken over when the field is left.
#[component]
pub fn TextField(
    /// Its id.
    id: &'static str,
    /// Its name.
    label: &'static str,
    /// What it is for.
    #[prop(optional)]
    about: &'static str,
    /// The value.
    #[prop(into)]
    value: Signal<String>,
    /// What an empty field stands for.
    #[prop(into, optional)]
    placeholder: String,
    /// Known values to choose from.
    #[prop(into, default = Signal::stored(Vec::new()))]
    choices: Signal<Vec<String>>,
    /// Takes the new value.
    change: Callback<String>,
) -> impl IntoView {
    let list = format!("{id}-choices");
    view! {
        <Field id=id label=label about=about>
            <input
                id=id
                class="input text"
                type="text"
                autocomplete="off"
                spellcheck="false"
                list=list.clone()
                placeholder=placeholder
                prop:value=move || value.get()
                on:change:target=move |event| change.run(event.target().value().trim().to_owned())
            />
            <datalist id=list>
                {move || choices.get().into_iter().map(|choice| view! { <option value=choice></option> }).collect_view()}
            </datalist>
        </Field>
    }
}

/// A switch.
#[component]
pub fn Toggle(
    /// Its id.
    id: &'static str,
    /// Its name.
    label: &'static str,
    /// What it is for.
    #[prop(optional)]
    about: &'static str,
    /// Whether it is on.
    #[prop(into)]
    value: Signal<bool>,
    /// Takes the new value.
    change: Callback<bool>,
) -> impl IntoView {
    view! {
        <Field id=id label=label about=about>
            <input
                id=id
                class="switch"
                type="checkbox"
                role="switch"
                prop:checked=move || value.get()
                on:change:target=move |event| change.run(event.target().checked())
            />
        </Field>
    }
}
