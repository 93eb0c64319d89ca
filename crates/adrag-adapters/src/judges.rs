//! The models that rerank and check, as the settings choose them.
//!
//! Our own judge does both in one reading; its calibration, the fold of its verdicts and the weights of abstention come
//! with it (`models/judge/judge.toml`). Others are opened by the shape the list of models gives them. What cannot be opened
//! is named and done without.

use crate::models::{Model, Models};
use crate::ort::{CrossEncoder, Head, OrtReranker, OrtSupport, PairForm, Reading, WordPieces};
use adrag_contract::{AppError, ErrorCode, JUDGE, Settings};
use adrag_core::answer::{Abstention, Fold, SentenceReranker};
use adrag_core::ports::{Embedder, PortError, PortResult, Reranker, SupportModel};
use serde::Deserialize;
use std::sync::Arc;

const JUDGE_CARD: &str = include_str!("../../../models/judge/judge.toml");
/// The setting that names the embedder's best sentence as the reranker.
const EMBEDDER: &str = "embedder";
/// Tokens a cross-encoder reads where the list of models does not say.
const USUAL_TOKENS: usize = 512;
/// The one output of models made by others.
const LOGITS: &str = "logits";

/// What was learned beside the judge.
#[derive(Deserialize)]
struct JudgeCard {
    relevance: Calibration,
    support: SupportCard,
    abstention: Abstention,
}

#[derive(Deserialize)]
struct Calibration {
    slope: f32,
    bias: f32,
}

#[derive(Deserialize)]
struct SupportCard {
    slope: f32,
    bias: f32,
    first: String,
    fold: Fold,
}

/// The models, with what goes with them.
#[derive(Default)]
pub(crate) struct Judges {
    pub reranker: Option<Arc<dyn Reranker>>,
    pub support: Option<Arc<dyn SupportModel>>,
    pub abstention: Abstention,
    pub fold: Fold,
    /// Why one of them is missing.
    pub problems: Vec<AppError>,
}

/// Opens what the settings choose.
pub(crate) fn open(models: &Models, settings: &Settings, embedder: Option<&Arc<dyn Embedder>>) -> Judges {
    let mut judges = Judges::default();
    let mut shared: Option<(String, Arc<CrossEncoder>)> = None;
    let mut encoder = |id: &str| -> PortResult<(Model, Arc<CrossEncoder>)> {
        let model = models
            .named(id, &["judge", "reranker"])
            .ok_or_else(|| unknown(id))?;
        if let Some((known, encoder)) = &shared
            && known == id
        {
            return Ok((model.clone(), encoder.clone()));
        }
        let opened = Arc::new(open_encoder(models, model)?);
        shared = Some((id.to_owned(), opened.clone()));
        Ok((model.clone(), opened))
    };
    let chosen = settings.retrieval.reranker.as_str();
    let reranker = match (chosen, embedder) {
        (EMBEDDER, Some(embedder)) => {
            Ok(Arc::new(SentenceReranker::new(embedder.clone())) as Arc<dyn Reranker>)
        }
        (EMBEDDER, None) => Err(PortError::permanent(
            ErrorCode::ModelMissing,
            "the embedder that should rerank is missing",
        )),
        _ => encoder(chosen).and_then(|(model, encoder)| reranker(&model, encoder)),
    };
    match reranker {
        Ok(reranker) => judges.reranker = Some(reranker),
        Err(error) => judges.problems.push(told("reranking is off", error)),
    }
    let chosen = settings.answer.checker.as_str();
    match encoder(chosen).and_then(|(model, encoder)| support(&model, encoder)) {
        Ok(support) => judges.support = Some(support),
        Err(error) => judges
            .problems
            .push(told("answers are checked word for word only", error)),
    }
    match card() {
        Ok(card) => {
            judges.fold = card.support.fold;
            if settings.retrieval.reranker == JUDGE && settings.answer.checker == JUDGE {
                judges.abstention = card.abstention;
            }
        }
        Err(error) => judges.problems.push(error.into()),
    }
    judges
}

fn card() -> PortResult<JudgeCard> {
    toml::from_str(JUDGE_CARD).map_err(|error| {
        PortError::permanent(
            ErrorCode::Internal,
            format!("the judge's manifest is damaged: {error}"),
        )
    })
}

fn told(consequence: &str, error: PortError) -> AppError {
    tracing::error!(%error, consequence);
    let mut error = AppError::from(error);
    error.message = format!("{consequence}: {}", error.message);
    error
}

fn unknown(id: &str) -> PortError {
    PortError::rejected(ErrorCode::ModelMissing, format!("no model is called `{id}`"))
        .with_hint(format!("choose `{JUDGE}` in Settings"))
}

fn open_encoder(models: &Models, model: &Model) -> PortResult<CrossEncoder> {
    let tokenizer = WordPieces::open(&models.whole(model, "tokenizer.json")?)?;
    let weights = models.whole(model, "*.onnx")?;
    let max_tokens = model.max_tokens.unwrap_or(USUAL_TOKENS);
    CrossEncoder::open(&models.runtime()?, &weights, tokenizer, max_tokens)
}

fn reranker(model: &Model, encoder: Arc<CrossEncoder>) -> PortResult<Arc<dyn Reranker>> {
    let head = if model.id == JUDGE {
        let Calibration { slope, bias } = card()?.relevance;
        Head {
            output: "relevance".to_owned(),
            reading: Reading::Logit { slope, bias },
        }
    } else {
        Head {
            output: LOGITS.to_owned(),
            reading: Reading::PLAIN,
        }
    };
    Ok(Arc::new(OrtReranker::new(&model.id, encoder, head)?))
}

fn support(model: &Model, encoder: Arc<CrossEncoder>) -> PortResult<Arc<dyn SupportModel>> {
    if model.id == JUDGE {
        let card = card()?.support;
        let head = Head {
            output: "support".to_owned(),
            reading: Reading::Logit {
                slope: card.slope,
                bias: card.bias,
            },
        };
        let form = PairForm {
            evidence_first: false,
            with_question: card.first == "question",
        };
        return Ok(Arc::new(OrtSupport::new(&model.id, encoder, head, form)?));
    }
    let class = model
        .labels
        .iter()
        .position(|label| label == "entailment")
        .ok_or_else(|| {
            PortError::rejected(
                ErrorCode::ModelMissing,
                format!("`{}` is no model that checks claims", model.id),
            )
            .with_hint(format!("choose `{JUDGE}` in Settings"))
        })?;
    let head = Head {
        output: LOGITS.to_owned(),
        reading: Reading::Class(class),
    };
    let form = PairForm {
        evidence_first: true,
        with_question: false,
    };
    Ok(Arc::new(OrtSupport::new(&model.id, encoder, head, form)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use adrag_contract::RetrievalSettings;

    #[derive(Deserialize)]
    struct Learned {
        sha256: String,
        bytes: u64,
        blend: Blend,
    }

    #[derive(Deserialize)]
    struct Blend {
        weight: f32,
    }

    #[test]
    fn the_judge_its_card_the_list_of_models_and_the_defaults_agree() {
        let learned: Learned = toml::from_str(JUDGE_CARD).unwrap();
        let models = Models::new(std::path::PathBuf::new()).unwrap();
        let listed = &models.named(JUDGE, &["judge"]).unwrap().files[0];
        assert_eq!(listed.sha256.as_deref(), Some(learned.sha256.as_str()));
        assert_eq!(listed.bytes, Some(learned.bytes));
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/judge/judge.onnx");
        assert_eq!(crate::models::sha256(&file).unwrap(), learned.sha256);
        let default = RetrievalSettings::default().rerank_weight;
        assert!((default - learned.blend.weight).abs() < 1e-6, "{default}");
        assert!(card().is_ok());
    }

    #[test]
    fn what_is_chosen_and_not_there_is_named() {
        let models = Models::new(std::path::PathBuf::from("/nowhere")).unwrap();
        let mut settings = Settings::default();
        settings.retrieval.reranker = "no-such-model".to_owned();
        let judges = open(&models, &settings, None);
        assert!(judges.reranker.is_none() && judges.support.is_none());
        let told: Vec<&str> = judges
            .problems
            .iter()
            .map(|error| error.message.as_str())
            .collect();
        assert!(
            told[0].contains("reranking is off") && told[0].contains("no-such-model"),
            "{told:?}"
        );
        assert!(told[1].contains("word for word"), "{told:?}");
    }
}
