//! The frame around every stage: start, end, timing, cancellation and failure in one place.

use super::RunContext;
use crate::ports::{PortError, PortResult};
use adrag_contract::{Event, StageDetail, StageId};
use std::future::Future;

/// How a stage ended.
pub enum StageEnd<T> {
    /// It did its work.
    Done(T, StageDetail),
    /// It had nothing to do, for this reason.
    Skipped(T, String),
}

/// Runs a stage whose failure ends the run.
pub async fn run_stage<T>(
    run: &RunContext,
    stage: StageId,
    work: impl Future<Output = PortResult<StageEnd<T>>>,
) -> PortResult<T> {
    run_stage_or(run, stage, work, |_| None).await
}

/// Runs a stage that can be done without: `otherwise` says what takes its place and how to call that.
///
/// A stopped run leaves the stage at once, whatever it waits for, and never degrades.
pub async fn run_stage_or<T>(
    run: &RunContext,
    stage: StageId,
    work: impl Future<Output = PortResult<StageEnd<T>>>,
    otherwise: impl FnOnce(&PortError) -> Option<(T, String)>,
) -> PortResult<T> {
    run.check()?;
    run.emit(Event::StageStarted { stage });
    let began = run.clock.elapsed();
    let ended = tokio::select! {
        biased;
        () = run.cancel.cancelled() => Err(PortError::cancelled()),
        ended = work => ended,
    };
    match ended {
        Ok(StageEnd::Done(value, detail)) => {
            debug_assert_eq!(detail.stage(), stage, "a stage reports its own detail");
            run.emit(Event::StageFinished {
                stage,
                took_ms: run.ms_since(began),
                detail,
            });
            Ok(value)
        }
        Ok(StageEnd::Skipped(value, reason)) => {
            run.emit(Event::StageSkipped { stage, reason });
            Ok(value)
        }
        Err(error) if error.is_cancelled() => Err(error),
        Err(error) => {
            let instead = otherwise(&error);
            run.emit(Event::StageFailed {
                stage,
                error: error.error.clone(),
                degraded_to: instead.as_ref().map(|(_, name)| name.clone()),
            });
            instead.map(|(value, _)| value).ok_or(error)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::run::Budget;
    use crate::testing::clock::{EventLog, FakeClock};
    use adrag_contract::{ErrorCode, RunId};
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    fn run() -> (RunContext, Arc<EventLog>) {
        let log = Arc::new(EventLog::default());
        let context = RunContext::new(
            RunId::new("r"),
            Arc::new(FakeClock::default()),
            log.clone(),
            CancellationToken::new(),
            Budget::new(1),
        );
        (context, log)
    }

    #[tokio::test]
    async fn a_stopped_run_leaves_a_stage_that_never_ends() {
        let (context, log) = run();
        let cancel = context.cancel.clone();
        tokio::spawn(async move { cancel.cancel() });
        let left = run_stage::<()>(&context, StageId::Retrieval, std::future::pending()).await;
        assert!(left.unwrap_err().is_cancelled());
        assert_eq!(log.events().len(), 1, "no failure is reported for a stop");
    }

    #[tokio::test]
    async fn a_failure_with_a_substitute_degrades_and_goes_on() {
        let (context, log) = run();
        let got = run_stage_or(
            &context,
            StageId::Rerank,
            async { Err(PortError::permanent(ErrorCode::ModelMissing, "no model")) },
            |_| Some((7, "fused order".to_owned())),
        )
        .await;
        assert_eq!(got.unwrap(), 7);
        assert!(
            matches!(&log.events()[1].event, Event::StageFailed { degraded_to: Some(name), .. } if name == "fused order")
        );
    }

    #[test]
    fn the_budget_of_calls_ends() {
        let budget = Budget::new(1);
        assert!(budget.take_llm_call().is_ok());
        assert!(budget.take_llm_call().is_err());
    }
}
