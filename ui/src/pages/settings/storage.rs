//! Where things are, how much there is, what is wrong and what to do: the program's own examination.

use crate::components::icon::{Glyph, Icon};
use crate::components::mark::StageMark;
use crate::components::problem::Problem;
use crate::state::format::{count, file_name};
use crate::state::use_app;
use adrag_contract::{DoctorReport, ModelStatus, RowStatus, VectorStoreSettings};
use leptos::prelude::*;

/// The section.
#[component]
pub fn Storage() -> impl IntoView {
    let app = use_app();
    let preferences = app.preferences;
    preferences.examine();
    view! {
        <div class="section-lead">
            <p class="quiet">"What each store holds, and whether everything is in order."</p>
            <button class="button" disabled=move || preferences.is_examining.get() on:click=move |_| preferences.examine()>
                <Icon glyph=Glyph::Again />{move || if preferences.is_examining.get() { "Examining" } else { "Examine again" }}
            </button>
        </div>
        {move || match preferences.doctor.get() {
            None => view! { <p class="quiet">"Examining"</p> }.into_any(),
            Some(Err(error)) => view! { <Problem error=error step=Some(("Try again", Callback::new(move |()| preferences.examine()))) /> }.into_any(),
            Some(Ok(report)) => shown(report).into_any(),
        }}
    }
}

fn shown(report: DoctorReport) -> impl IntoView {
    let settings = use_app().preferences.settings;
    let vectors = move || {
        settings.with(|settings| match &settings.vector_store {
            VectorStoreSettings::Embedded => "inside the program".to_owned(),
            VectorStoreSettings::Sidecar { .. } => "a qdrant program of its own".to_owned(),
            VectorStoreSettings::Remote { url } => url.clone(),
        })
    };
    let stores = report.stores;
    let line = |name: &'static str, facts: Vec<(u64, &'static str)>| {
        let facts = facts
            .into_iter()
            .map(|(number, what)| view! { <span><strong>{count(number)}</strong>" "{what}</span> })
            .collect_view();
        view! { <div class="numbers-row"><dt>{name}</dt><dd>{facts}</dd></div> }
    };
    let is_well = report.problems.is_empty();
    view! {
        {is_well.then(|| view! { <p class="all-well"><StageMark status=RowStatus::Done />"Everything is in order"</p> })}
        {report.problems.into_iter().map(|problem| view! { <Problem error=problem step=None /> }).collect_view()}
        <section class="card">
            <header class="card-head"><h2>"Stores"</h2></header>
            <dl class="numbers">
                {line("Catalogue", vec![(stores.catalogue.documents, "documents"), (stores.catalogue.ready, "ready"), (stores.catalogue.chunks, "chunks")])}
                {line("Vectors", vec![(stores.vector.points, "points")])}
                {line("Words", vec![(stores.keyword.chunks, "chunks")])}
                {line("Graph", vec![(stores.graph.entities, "entities"), (stores.graph.edges, "edges"), (stores.graph.chunks, "chunks")])}
            </dl>
        </section>
        <section class="card">
            <header class="card-head"><h2>"Local models"</h2></header>
            <ul class="models">{report.models.into_iter().map(model).collect_view()}</ul>
        </section>
        <section class="card">
            <header class="card-head"><h2>"Place"</h2></header>
            <dl class="numbers">
                <div class="numbers-row"><dt>"Data folder"</dt><dd class="mono">{report.data_dir}</dd></div>
                <div class="numbers-row"><dt>"Vectors live"</dt><dd>{vectors}</dd></div>
                <div class="numbers-row"><dt>"Version"</dt><dd>{report.version}</dd></div>
            </dl>
        </section>
        {(!report.repaired.is_empty()).then(|| view! {
            <section class="card">
                <header class="card-head"><h2>"Mended at the start"</h2></header>
                <ul class="plain-list">{report.repaired.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}</ul>
            </section>
        })}
    }
}

fn model(model: ModelStatus) -> impl IntoView {
    let status = if model.usable {
        RowStatus::Done
    } else {
        RowStatus::Failed
    };
    let file = file_name(&model.path).to_owned();
    view! {
        <li title=model.path>
            <StageMark status=status />
            <span class="model-role">{model.role}</span>
            <span>{model.name}</span>
            <span class="quiet mono">{if model.usable { file } else { "missing or damaged".to_owned() }}</span>
        </li>
    }
}
