//! A question and its answer: the strip of stages, the text, what became of it, and what can be done with it.

use crate::bridge;
use crate::components::answer::AnswerText;
use crate::components::icon::{Glyph, Icon};
use crate::components::problem::Problem;
use crate::components::tracker::Strip;
use crate::state::chat::Exchange;
use crate::state::reader::Side;
use crate::state::route::{Route, Section};
use crate::state::trace::grounding_label;
use crate::state::{format, threads, use_app};
use adrag_contract::{AppError, EngineId, ErrorCode, Grounding, RunStatus, StageDetail, StageId};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// What the foot of an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
struct Foot {
    status: RunStatus,
    has_text: bool,
    abstained: bool,
    direct: bool,
    grounding: Option<Grounding>,
    engine: String,
    took_ms: Option<u64>,
    error: Option<AppError>,
    broken_off: Option<AppError>,
    rewritten: Option<String>,
    passages: usize,
}

/// One exchange of the conversation.
#[component]
pub fn ExchangeView(
    /// The exchange.
    exchange: Exchange,
) -> impl IntoView {
    let app = use_app();
    let key = exchange.key;
    let is_last = Memo::new(move |_| {
        app.chat
            .exchanges
            .with(|all| all.last().is_some_and(|last| last.key == key))
    });
    let for_foot = exchange.clone();
    let foot = Memo::new(move |_| read_foot(&for_foot));
    let refusal = exchange.refusal.clone();
    let (for_title, for_strip, for_text, for_copy) = (
        exchange.clone(),
        exchange.clone(),
        exchange.clone(),
        exchange.clone(),
    );
    let again = Callback::new(move |()| {
        app.reader.reveal_trace();
        app.chat.regenerate(None);
    });
    let is_running = move || {
        matches!(
            foot.with(|foot| foot.status),
            RunStatus::Waiting | RunStatus::Running
        )
    };
    view! {
        <article class="exchange" aria-label="Question and answer">
            <h2 class="question">{move || format::plain(&for_title.asked())}</h2>
            {move || foot.with(|foot| foot.rewritten.clone()).map(|rewritten| view! {
                <p class="rewritten">"Understood as: "{rewritten}</p>
            })}
            // One strip at a time: the earlier ones are in the trace of their answer.
            {move || is_last.get().then(|| view! { <Strip exchange=for_strip.clone() /> })}
            <div
                class="answer"
                data-testid=move || is_last.get().then_some("answer")
                data-status=move || status_name(foot.with(|foot| foot.status))
                class:abstained=move || foot.with(|foot| foot.abstained)
                aria-live="polite"
                aria-busy=move || is_running().to_string()
            >
                {move || foot.with(|foot| foot.abstained).then(|| view! { <p class="abstained-note">"Not in your documents"</p> })}
                <AnswerText exchange=for_text />
                {move || foot.with(|foot| foot.broken_off.clone()).map(|error| view! {
                    <p class="broken-off"><Icon glyph=Glyph::Warning />"The answer breaks off here: "{error.to_string()}</p>
                })}
            </div>
            {move || foot.with(|foot| foot.status == RunStatus::Cancelled).then(|| view! { <p class="stopped">"Stopped"</p> })}
            {move || refusal.get().map(|error| problem(error, again))}
            {move || foot.with(|foot| foot.error.clone()).map(|error| problem(error, again))}
            {move || (!is_running()).then(|| {
                let copied = for_copy.clone();
                view! { <FootLine foot=foot is_last=is_last exchange=copied again=again /> }
            })}
        </article>
    }
}

#[component]
fn FootLine(foot: Memo<Foot>, is_last: Memo<bool>, exchange: Exchange, again: Callback<()>) -> impl IntoView {
    let app = use_app();
    let key = exchange.key;
    let for_versions = exchange.clone();
    let copy = move |_| {
        let text = untrack(|| exchange.read(|view| view.text.clone())).unwrap_or_default();
        spawn_local(async move {
            if app.notices.report(bridge::copy(&text).await).is_some() {
                app.notices.tell("Answer copied");
            }
        });
    };
    let show_evidence = move |_| {
        // The pane follows the exchange of its target; without one it speaks of the latest.
        if let Some(exchange) = app.chat.exchange(key)
            && let Some(citation) = untrack(|| crate::state::reader::citations(&exchange)).first()
        {
            app.reader
                .target
                .set(Some(crate::state::reader::Target::cited(key, citation)));
        }
        app.reader.side.set(Side::Evidence);
        app.reader.is_open.set(true);
    };
    view! {
        <footer class="foot">
            {move || foot.with(|foot| foot.grounding.map(|grounding| {
                let name = match grounding {
                    Grounding::Grounded => "grounded",
                    Grounding::NotGrounded => "not-grounded",
                    Grounding::Unverified => "unverified",
                };
                view! { <span class="grounding" data-grounding=name>{grounding_label(grounding)}</span> }
            }))}
            <Versions exchange=for_versions />
            <span class="foot-facts">{move || foot.with(facts)}</span>
            <span class="spring"></span>
            <Show when=move || { foot.with(|foot| foot.passages > 0) }>
                <button class="button quiet" on:click=show_evidence><Icon glyph=Glyph::Quote />"Evidence"</button>
            </Show>
            <Show when=move || foot.with(|foot| foot.has_text)>
                <button class="button quiet square" title="Copy the answer" aria-label="Copy the answer" on:click=copy.clone()><Icon glyph=Glyph::Copy /></button>
            </Show>
            <Show when=move || is_last.get()>
                <button class="button quiet square" title="Ask again" aria-label="Ask again" data-testid="regenerate" on:click=move |_| again.run(())>
                    <Icon glyph=Glyph::Again />
                </button>
                <AgainWith />
            </Show>
        </footer>
    }
}

/// Which of the answers to a question is shown, and the way to the others.
#[component]
fn Versions(exchange: Exchange) -> impl IntoView {
    let app = use_app();
    let shown = exchange.clone();
    let place = move || {
        let run = shown
            .live
            .with(|live| live.as_ref().map(|(run, _)| run.clone()))?;
        shown.versions.with(|runs| threads::place(runs, &run))
    };
    let turn = move |forward: bool| {
        let exchange = exchange.clone();
        move |_| app.chat.turn_version(&exchange, forward)
    };
    move || {
        place().map(|place| {
            view! {
                <span class="versions" data-testid="versions">
                    <button class="button quiet square" title="Answer before" aria-label="Answer before" on:click=turn(false)><Icon glyph=Glyph::Back /></button>
                    <span>{place}</span>
                    <button class="button quiet square" title="Answer after" aria-label="Answer after" on:click=turn(true)><Icon glyph=Glyph::Forward /></button>
                </span>
            }
        })
    }
}

/// The last question once more, of another engine: both answers are kept, one behind the other.
#[component]
fn AgainWith() -> impl IntoView {
    let app = use_app();
    view! {
        <label class="pick" title="Ask another engine">
            <select aria-label="Ask again with" data-testid="again-with" on:change:target=move |event| {
                if let Ok(engine) = event.target().value().parse::<EngineId>() {
                    app.reader.reveal_trace();
                    app.chat.regenerate(Some(engine));
                }
                event.target().set_value("");
            }>
                <option value="" selected=true>"Again with"</option>
                {EngineId::ALL.map(|engine| view! { <option value=engine.as_str()>{engine.label()}</option> }).collect_view()}
            </select>
        </label>
    }
}

fn facts(foot: &Foot) -> String {
    let mut facts = vec![foot.engine.clone()];
    facts.extend(foot.took_ms.map(format::duration));
    facts.retain(|fact| !fact.is_empty());
    facts.join(" \u{b7} ")
}

fn read_foot(exchange: &Exchange) -> Foot {
    if exchange.refusal.with(Option::is_some) {
        return Foot {
            status: RunStatus::Failed,
            ..Foot::default()
        };
    }
    exchange
        .read(|view| {
            let answer = view.answer.as_deref();
            let asked = match &view.kind {
                Some(adrag_contract::RunKind::Ask { question, .. }) => question.as_str(),
                _ => "",
            };
            let rewritten = match &view.row(StageId::Planner).detail {
                Some(StageDetail::Planner {
                    standalone_question, ..
                }) if standalone_question.trim() != asked.trim() => Some(standalone_question.clone()),
                _ => None,
            };
            Foot {
                status: view.status,
                has_text: !view.text.is_empty(),
                abstained: answer.is_some_and(|answer| answer.abstained),
                direct: answer.is_some_and(|answer| answer.direct),
                // Small talk and an abstention claim nothing that could be grounded.
                grounding: answer
                    .filter(|answer| !answer.abstained && !answer.direct)
                    .map(|answer| answer.grounding),
                engine: answer.map(engine_name).unwrap_or_default(),
                took_ms: answer.map(|answer| answer.took_ms),
                error: view.error.clone(),
                broken_off: answer.and_then(|answer| answer.broken_off.clone()),
                rewritten: rewritten.filter(|text| !text.is_empty()),
                passages: view.citations.len() + answer.map_or(0, |answer| answer.uncited.len()),
            }
        })
        .unwrap_or_default()
}

fn engine_name(answer: &adrag_contract::Answer) -> String {
    match &answer.model {
        Some(model) => format!("{} \u{b7} {model}", answer.engine.label()),
        None => answer.engine.label().to_owned(),
    }
}

fn problem(error: AppError, again: Callback<()>) -> impl IntoView {
    let app = use_app();
    let step: (&'static str, Callback<()>) = match error.code {
        ErrorCode::Unauthorized | ErrorCode::UnknownModel | ErrorCode::ModelMissing => (
            "Open settings",
            Callback::new(move |()| app.go(Route::Settings(Section::Engines))),
        ),
        _ => ("Try again", again),
    };
    view! { <Problem error=error step=Some(step) /> }
}

fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Waiting => "waiting",
        RunStatus::Running => "running",
        RunStatus::Finished => "finished",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}
