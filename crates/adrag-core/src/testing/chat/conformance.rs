//! What every language model promises, whatever serves it.

use crate::ports::{
    ChatDelta, ChatMessage, ChatModel, ChatRequest, ChatRole, ErrorClass, PortError, ReplySchema,
};
use adrag_contract::ErrorCode;
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How the server behind a model is to behave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Sends these pieces and ends well, with counts.
    Answers(Vec<String>),
    /// Refuses the key.
    RefusesKey,
    /// Does not know the model.
    UnknownModel,
    /// Asks to slow down, every time.
    RateLimited,
    /// Fails, every time.
    Fails,
    /// Fails once, then answers with these pieces.
    FailsThenAnswers(Vec<String>),
    /// Takes the request and says nothing.
    Hangs,
    /// Sends these pieces and then nothing more.
    HangsAfter(Vec<String>),
    /// Sends these pieces and closes the connection.
    ClosesAfter(Vec<String>),
    /// Sends these pieces and then half of one.
    SendsHalfAPieceAfter(Vec<String>),
    /// Sends these pieces and then bytes that are no text.
    SendsGarbageAfter(Vec<String>),
}

/// Makes models whose server behaves as told. Their limit of silence is one second.
#[async_trait]
pub trait ChatFixture: Send + Sync {
    /// A model in front of a fresh server.
    async fn model(&self, behaviour: Behaviour) -> Arc<dyn ChatModel>;

    /// Whether the latest server saw its connection closed by the other side; asked for up to a second.
    async fn saw_the_connection_close(&self) -> bool;
}

/// Runs the suite.
pub async fn conforms(fixture: &dyn ChatFixture) {
    streams_in_order(fixture).await;
    tells_faults_before_the_first_byte(fixture).await;
    keeps_what_came_before_a_fault(fixture).await;
    stops_at_once(fixture).await;
}

async fn streams_in_order(fixture: &dyn ChatFixture) {
    let pieces = owned(&[
        "Blue whales",
        " weigh",
        " 150 tonnes",
        " [1].",
        " Größe: 30 m — 鯨",
    ]);
    for behaviour in [
        Behaviour::Answers(pieces.clone()),
        Behaviour::FailsThenAnswers(pieces.clone()),
    ] {
        let model = fixture.model(behaviour.clone()).await;
        assert!(!model.model().is_empty(), "a model has a name");
        let (deltas, end) = ask(&*model, &CancellationToken::new()).await;
        assert_eq!(end, None, "{behaviour:?}: a whole answer ends without an error");
        assert_eq!(
            text(&deltas),
            pieces.concat(),
            "{behaviour:?}: the text comes whole and in order"
        );
        let counts = deltas
            .iter()
            .filter(|delta| matches!(delta, ChatDelta::Usage { .. }))
            .count();
        assert_eq!(counts, 1, "{behaviour:?}: the counts come once");
        assert!(
            matches!(deltas.last(), Some(ChatDelta::Usage { .. })),
            "{behaviour:?}: the counts come last"
        );
        assert!(
            deltas
                .iter()
                .filter(|delta| matches!(delta, ChatDelta::Text(_)))
                .count()
                > 1,
            "{behaviour:?}: the text is streamed, not kept back"
        );
    }
}

async fn tells_faults_before_the_first_byte(fixture: &dyn ChatFixture) {
    let table = [
        (
            Behaviour::RefusesKey,
            ErrorCode::Unauthorized,
            ErrorClass::Rejected,
        ),
        (
            Behaviour::UnknownModel,
            ErrorCode::UnknownModel,
            ErrorClass::Rejected,
        ),
        (
            Behaviour::RateLimited,
            ErrorCode::RateLimited,
            ErrorClass::Transient,
        ),
        (Behaviour::Fails, ErrorCode::BadReply, ErrorClass::Transient),
        (Behaviour::Hangs, ErrorCode::Timeout, ErrorClass::Transient),
    ];
    for (behaviour, code, class) in table {
        let model = fixture.model(behaviour.clone()).await;
        let outcome = model.chat(request(), &CancellationToken::new()).await;
        let Some(error) = outcome.err() else {
            panic!("{behaviour:?}: a fault before the first byte is the error of the call")
        };
        assert_eq!(error.error.code, code, "{behaviour:?}: {error}");
        assert_eq!(error.class, class, "{behaviour:?}: {error}");
        assert!(
            error.error.hint.is_some(),
            "{behaviour:?}: the error says what to do"
        );
    }
}

async fn keeps_what_came_before_a_fault(fixture: &dyn ChatFixture) {
    let pieces = owned(&["The first", " half"]);
    let table = [
        (Behaviour::ClosesAfter(pieces.clone()), ErrorCode::BadReply),
        (
            Behaviour::SendsHalfAPieceAfter(pieces.clone()),
            ErrorCode::BadReply,
        ),
        (Behaviour::SendsGarbageAfter(pieces.clone()), ErrorCode::BadReply),
        (Behaviour::HangsAfter(pieces.clone()), ErrorCode::Timeout),
    ];
    for (behaviour, code) in table {
        let model = fixture.model(behaviour.clone()).await;
        let started = Instant::now();
        let (deltas, end) = ask(&*model, &CancellationToken::new()).await;
        let Some(error) = end else {
            panic!("{behaviour:?}: a broken answer ends with an error")
        };
        assert_eq!(error.error.code, code, "{behaviour:?}: {error}");
        assert!(
            error.error.hint.is_some(),
            "{behaviour:?}: the error says what to do"
        );
        assert_eq!(
            text(&deltas),
            pieces.concat(),
            "{behaviour:?}: what came before the fault is kept"
        );
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{behaviour:?}: the limit of silence holds"
        );
    }
}

async fn stops_at_once(fixture: &dyn ChatFixture) {
    let model = fixture.model(Behaviour::Answers(owned(&["never"]))).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = model.chat(request(), &cancel).await;
    assert!(
        outcome.is_err_and(|error| error.is_cancelled()),
        "a stopped run asks nothing"
    );

    for behaviour in [Behaviour::Hangs, Behaviour::HangsAfter(owned(&["some", " text"]))] {
        // The best of three: what is promised is the model's own time, not that of a busy machine.
        let mut took = Duration::MAX;
        for _ in 0..3 {
            took = took.min(stop_one(fixture, &behaviour).await);
        }
        assert!(
            took < Duration::from_millis(200),
            "{behaviour:?}: stopping took {took:?}"
        );
    }

    let model = fixture.model(Behaviour::HangsAfter(owned(&["some"]))).await;
    let mut stream = model.chat(request(), &CancellationToken::new()).await.unwrap();
    stream.next().await;
    drop(stream);
    assert!(
        fixture.saw_the_connection_close().await,
        "dropping the stream closes the connection"
    );
}

/// Time from the stop to the end of the call.
async fn stop_one(fixture: &dyn ChatFixture, behaviour: &Behaviour) -> Duration {
    let model = fixture.model(behaviour.clone()).await;
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let stopping = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        let at = Instant::now();
        stop.cancel();
        at
    });
    let (_, end) = ask(&*model, &cancel).await;
    let ended = Instant::now();
    let took = ended.duration_since(stopping.await.unwrap());
    assert!(
        end.is_some_and(|error| error.is_cancelled()),
        "{behaviour:?}: a stopped call says so"
    );
    assert!(
        fixture.saw_the_connection_close().await,
        "{behaviour:?}: stopping closes the connection"
    );
    took
}

/// All that came, and the error it ended with.
async fn ask(model: &dyn ChatModel, cancel: &CancellationToken) -> (Vec<ChatDelta>, Option<PortError>) {
    let mut stream = match model.chat(request(), cancel).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut deltas = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(error) => {
                assert!(stream.next().await.is_none(), "nothing comes after an error");
                return (deltas, Some(error));
            }
        }
    }
    (deltas, None)
}

fn request() -> ChatRequest {
    let message = |role, content: &str| ChatMessage {
        role,
        content: content.to_owned(),
    };
    ChatRequest {
        messages: vec![
            message(ChatRole::System, "Answer from the passages."),
            message(ChatRole::User, "How heavy is a blue whale?"),
        ],
        schema: Some(ReplySchema {
            name: "answer".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "answer": { "type": "string" } },
                "required": ["answer"],
                "additionalProperties": false,
            }),
        }),
        temperature: 0.2,
        max_tokens: Some(200),
    }
}

fn text(deltas: &[ChatDelta]) -> String {
    let piece = |delta: &ChatDelta| match delta {
        ChatDelta::Text(text) => Some(text.clone()),
        ChatDelta::Usage { .. } => None,
    };
    deltas.iter().filter_map(piece).collect()
}

fn owned(pieces: &[&str]) -> Vec<String> {
    pieces.iter().map(|piece| (*piece).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chat::{FakeChatModel, FakeReply};

    struct FakeFixture;

    #[async_trait]
    impl ChatFixture for FakeFixture {
        async fn model(&self, behaviour: Behaviour) -> Arc<dyn ChatModel> {
            let error = |class, code| {
                let error = match class {
                    ErrorClass::Transient => PortError::transient(code, "fake"),
                    ErrorClass::Permanent => PortError::permanent(code, "fake"),
                    ErrorClass::Rejected => PortError::rejected(code, "fake"),
                };
                error.with_hint("it is a fake")
            };
            let (transient, rejected) = (ErrorClass::Transient, ErrorClass::Rejected);
            let broken = error(transient, ErrorCode::BadReply);
            let silent = error(transient, ErrorCode::Timeout);
            Arc::new(FakeChatModel::new([match behaviour {
                Behaviour::Answers(pieces) | Behaviour::FailsThenAnswers(pieces) => FakeReply::Pieces(pieces),
                Behaviour::RefusesKey => FakeReply::Fails(error(rejected, ErrorCode::Unauthorized)),
                Behaviour::UnknownModel => FakeReply::Fails(error(rejected, ErrorCode::UnknownModel)),
                Behaviour::RateLimited => FakeReply::Fails(error(transient, ErrorCode::RateLimited)),
                Behaviour::Fails => FakeReply::Fails(error(transient, ErrorCode::BadReply)),
                Behaviour::Hangs => return Arc::new(Silent(FakeReply::Hangs, silent)),
                Behaviour::HangsAfter(pieces) => {
                    return Arc::new(Silent(FakeReply::HangsAfter(pieces), silent));
                }
                Behaviour::ClosesAfter(pieces)
                | Behaviour::SendsHalfAPieceAfter(pieces)
                | Behaviour::SendsGarbageAfter(pieces) => FakeReply::BreaksOff(pieces, broken),
            }]))
        }

        async fn saw_the_connection_close(&self) -> bool {
            true
        }
    }

    /// The fake hangs for ever; this gives it the limit of silence that real models have.
    struct Silent(FakeReply, PortError);

    #[async_trait]
    impl ChatModel for Silent {
        fn engine(&self) -> adrag_contract::EngineId {
            adrag_contract::EngineId::Openai
        }

        fn model(&self) -> String {
            "fake-1".to_owned()
        }

        async fn chat(
            &self,
            request: ChatRequest,
            cancel: &CancellationToken,
        ) -> crate::ports::PortResult<crate::ports::ChatStream> {
            let limit = Duration::from_secs(1);
            let silent = self.1.clone();
            let model = FakeChatModel::new([self.0.clone()]);
            let call = tokio::time::timeout(limit, model.chat(request, cancel)).await;
            let stream = call.map_err(|_| silent.clone())??;
            let limited = futures::stream::unfold(Some(stream), move |stream| {
                let silent = silent.clone();
                async move {
                    let mut stream = stream?;
                    match tokio::time::timeout(limit, stream.next()).await {
                        Ok(Some(Err(error))) => Some((Err(error), None)),
                        Ok(item) => Some((item?, Some(stream))),
                        Err(_) => Some((Err(silent), None)),
                    }
                }
            });
            Ok(limited.boxed())
        }
    }

    #[tokio::test]
    async fn the_fake_conforms() {
        conforms(&FakeFixture).await;
    }

    #[tokio::test]
    async fn a_script_that_ran_out_says_so_and_requests_are_remembered() {
        let model = FakeChatModel::new([FakeReply::Json(json!({"a": 1}))]);
        let (deltas, end) = ask(&model, &CancellationToken::new()).await;
        assert_eq!((text(&deltas).as_str(), end), (r#"{"a":1}"#, None));
        let (_, end) = ask(&model, &CancellationToken::new()).await;
        assert_eq!(end.unwrap().error.code, ErrorCode::Internal);
        assert_eq!(model.requests().len(), 2);
    }
}
