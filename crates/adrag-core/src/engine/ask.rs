//! Answering a question as a run.

use super::runs::summary;
use super::{Engine, runs::Runs};
use crate::answer::{Desk, Question, answer};
use crate::ports::{ChatModel, EngineChoice, PortError, PortResult, Scope};
use crate::run::{Budget, RunContext};
use adrag_contract::{
    Answer, AppError, AskRequest, EngineId, ErrorCode, Event, Grounding, RunId, RunKind, RunOutcome, RunView,
    Settings, ThreadId,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Most characters of a question.
const MAX_QUESTION_CHARS: usize = 8_000;

impl Engine {
    /// Starts answering a question; needs a tokio runtime around it.
    ///
    /// # Errors
    /// When the question is empty or too long, or its collection does not exist.
    pub async fn ask(self: &Arc<Self>, request: AskRequest) -> Result<RunId, AppError> {
        let text = request.question.trim().to_owned();
        if text.is_empty() {
            return Err(AppError::new(ErrorCode::InvalidRequest, "the question is empty"));
        }
        if text.chars().count() > MAX_QUESTION_CHARS {
            return Err(AppError::new(
                ErrorCode::InvalidRequest,
                format!("the question is longer than {MAX_QUESTION_CHARS} characters"),
            )
            .with_hint("add long text as a document and ask about it"));
        }
        if let Some(collection) = &request.collection {
            self.known_collection(collection).await?;
        }
        let settings = self.current_settings();
        let choice = EngineChoice {
            engine: request.engine.unwrap_or(settings.engine),
            model: request.model.clone().filter(|model| !model.is_empty()),
            base_url: request.base_url.clone().filter(|url| !url.is_empty()),
        };
        let run = self.ports.clock.new_run_id();
        let replaces = request.replaces.clone();
        // What was said in a thread is taken from there: a window may hold less, or something else.
        let (thread, history) = match request.thread {
            Some(thread) => {
                let history = self.said_before(&thread, replaces.as_ref()).await?;
                (thread, history)
            }
            None => (ThreadId::new(run.as_str()), request.history),
        };
        let cancel = CancellationToken::new();
        self.runs.begin(&run, cancel.clone(), None);
        let context = RunContext::new(
            run.clone(),
            self.ports.clock.clone(),
            self.runs.clone(),
            cancel,
            Budget::new(settings.answer.llm_calls).with_tokens(settings.answer.llm_tokens),
        );
        context.emit(Event::RunStarted {
            kind: RunKind::Ask {
                question: text.clone(),
                engine: choice.engine,
                collection: request.collection.clone(),
                thread: Some(thread),
                replaces,
            },
        });
        let question = Question {
            text,
            history,
            scope: Scope::from(request.collection),
            may_search_web: settings.web.enabled && request.web.unwrap_or(true),
        };
        let engine = self.clone();
        tokio::spawn(async move { engine.run_question(context, question, choice, settings).await });
        Ok(run)
    }

    async fn run_question(
        &self,
        run: RunContext,
        question: Question,
        choice: EngineChoice,
        settings: Settings,
    ) {
        let limit = Duration::from_secs(settings.answer.run_timeout_s.max(1));
        let work = async {
            let model = self.open_model(&choice, &settings, &run.cancel).await?;
            let desk = Desk {
                run: &run,
                ports: &self.ports,
                settings: &settings,
                model: model.as_ref(),
            };
            answer(desk, &question).await
        };
        let answered = tokio::select! {
            biased;
            () = run.cancel.cancelled() => Err(PortError::cancelled()),
            answered = tokio::time::timeout(limit, work) => answered.unwrap_or_else(|_| Err(too_long(limit))),
        };
        let last = match answered {
            Ok(answer) => Event::RunFinished {
                outcome: RunOutcome::Answered {
                    answer: Box::new(answer),
                },
            },
            Err(error) if error.is_cancelled() => Event::RunCancelled {
                documents: Vec::new(),
            },
            Err(error) => Event::RunFailed {
                partial: self
                    .runs
                    .view(&run.run)
                    .and_then(|view| partial(&view, choice.engine, &error.error)),
                error: error.error,
            },
        };
        self.keep_history(&run, last).await;
    }

    async fn open_model(
        &self,
        choice: &EngineChoice,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> PortResult<Option<Arc<dyn ChatModel>>> {
        match choice.engine {
            EngineId::Quotes => Ok(None),
            EngineId::Openai | EngineId::Ollama | EngineId::Local => {
                self.ports.engines.open(choice, settings, cancel).await.map(Some)
            }
        }
    }

    /// Ends the run and keeps its log. The terminal event goes out first: nobody waits for the disk.
    async fn keep_history(&self, run: &RunContext, last: Event) {
        let _saving = self.saving.read().await;
        run.emit(last);
        let runs: &Runs = &self.runs;
        let (Some(view), Some(events)) = (runs.view(&run.run), runs.events(&run.run)) else {
            return;
        };
        if let Some(summary) = summary(&view)
            && let Err(error) = self.ports.catalog.save_run(&summary, &events).await
        {
            tracing::error!(%error, "the run could not be kept in the history");
        }
    }
}

fn too_long(limit: Duration) -> PortError {
    PortError::transient(
        ErrorCode::Timeout,
        format!("the answer took longer than {} s", limit.as_secs()),
    )
    .with_hint("raise the time limit in Settings, or choose a smaller model")
}

/// What there is of an answer when a run fails: the text so far with its citations, marked as broken off.
fn partial(view: &RunView, engine: EngineId, error: &AppError) -> Option<Box<Answer>> {
    if view.text.trim().is_empty() {
        return None;
    }
    Some(Box::new(Answer {
        text: view.text.clone(),
        abstained: false,
        direct: false,
        answerable: None,
        citations: view.citations.clone(),
        uncited: Vec::new(),
        claims: view.claims.clone(),
        grounding: Grounding::Unverified,
        confidence: None,
        engine,
        model: None,
        broken_off: Some(error.clone()),
        took_ms: u64::try_from(
            view.updated_at_ms.unwrap_or_default() - view.started_at_ms.unwrap_or_default(),
        )
        .unwrap_or_default(),
        spent: adrag_contract::Spent::default(),
    }))
}
