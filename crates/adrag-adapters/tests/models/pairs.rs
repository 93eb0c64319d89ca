//! Cross-encoders: our judge against the suites of its two ports, and tiny random models of every shape.

use super::{folder, library, tokenizer_file};
use adrag_adapters::ort::{CrossEncoder, Head, OrtReranker, OrtSupport, PairForm, Reading, WordPieces};
use adrag_core::ports::{PortResult, Reranker, SupportModel, SupportPair};
use adrag_core::testing;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn encoder(folder: &Path, model: &Path) -> PortResult<Arc<CrossEncoder>> {
    let tokenizer = WordPieces::open(&tokenizer_file(folder))?;
    let runtime = folder.join("onnxruntime").join(library());
    Ok(Arc::new(CrossEncoder::open(&runtime, model, tokenizer, 256)?))
}

fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/models/tiny")
        .join(format!("{name}.onnx"))
}

fn judge() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/judge/judge.onnx")
}

fn head(output: &str, reading: Reading) -> Head {
    Head {
        output: output.to_owned(),
        reading,
    }
}

fn passages() -> Vec<String> {
    [
        "The kit is in bin C-04.",
        "",
        "Ice closed the harbour on Monday, and again on Friday.",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[tokio::test]
async fn our_judge_keeps_the_promises_of_both_ports() {
    let Some(folder) = folder() else { return };
    let encoder = encoder(&folder, &judge()).unwrap();
    let relevance = head("relevance", Reading::PLAIN);
    let reranker = OrtReranker::new("judge", encoder.clone(), relevance).unwrap();
    testing::reranker::conformance(&reranker).await;
    let support = head("support", Reading::PLAIN);
    let support = OrtSupport::new("judge", encoder, support, PairForm::default()).unwrap();
    testing::support::conformance(&support).await;
}

#[tokio::test]
async fn a_score_does_not_depend_on_what_it_is_batched_with() {
    let Some(folder) = folder() else { return };
    let encoder = encoder(&folder, &judge()).unwrap();
    let reranker = OrtReranker::new("judge", encoder, head("relevance", Reading::PLAIN)).unwrap();
    let cancel = CancellationToken::new();
    let together = reranker
        .score("Where is the kit?", &passages(), &cancel)
        .await
        .unwrap();
    for (passage, score) in passages().into_iter().zip(together) {
        let alone = reranker
            .score("Where is the kit?", &[passage], &cancel)
            .await
            .unwrap();
        assert!(
            (alone[0] - score).abs() < 0.02,
            "{} alone, {score} together",
            alone[0]
        );
    }
}

#[tokio::test]
async fn every_shape_of_model_gives_probabilities_in_order() {
    let Some(folder) = folder() else { return };
    let cancel = CancellationToken::new();
    for (model, output) in [("two_heads", "relevance"), ("one_logit", "logits")] {
        let encoder = encoder(&folder, &tiny(model)).unwrap();
        let reranker = OrtReranker::new(model, encoder, head(output, Reading::PLAIN)).unwrap();
        let scores = reranker.score("Where?", &passages(), &cancel).await.unwrap();
        assert_eq!(scores.len(), 3, "{model}");
        assert!(
            scores.iter().all(|score| (0.0..=1.0).contains(score)),
            "{model}: {scores:?}"
        );
        assert!(
            scores.windows(2).any(|two| two[0] != two[1]),
            "{model} tells texts apart"
        );
    }
    let pairs: Vec<SupportPair> = passages()
        .into_iter()
        .map(|evidence| SupportPair {
            claim: "The kit is in the bin.".to_owned(),
            evidence,
        })
        .collect();
    let nli = encoder(&folder, &tiny("three_classes")).unwrap();
    let mut sums = vec![0.0; pairs.len()];
    for class in 0..3 {
        let form = PairForm {
            evidence_first: true,
            with_question: false,
        };
        let model = OrtSupport::new("nli", nli.clone(), head("logits", Reading::Class(class)), form).unwrap();
        for (sum, share) in sums.iter_mut().zip(model.support(&pairs, &cancel).await.unwrap()) {
            *sum += share;
        }
    }
    assert!(
        sums.iter().all(|sum: &f32| (sum - 1.0).abs() < 1e-4),
        "the classes share one: {sums:?}"
    );
}

#[test]
fn a_model_of_another_shape_is_refused_when_it_is_opened() {
    let Some(folder) = folder() else { return };
    let nli = encoder(&folder, &tiny("three_classes")).unwrap();
    let refused = OrtReranker::new("nli", nli.clone(), head("logits", Reading::PLAIN))
        .err()
        .unwrap();
    assert!(refused.to_string().contains("another kind"), "{refused}");
    let refused = OrtReranker::new("nli", nli, head("relevance", Reading::PLAIN))
        .err()
        .unwrap();
    assert!(refused.to_string().contains("no output `relevance`"), "{refused}");
}

#[test]
fn a_truncated_model_is_an_error_that_names_the_file() {
    let Some(folder) = folder() else { return };
    let made = tempfile::tempdir().unwrap();
    let half = made.path().join("half.onnx");
    let bytes = std::fs::read(judge()).unwrap();
    std::fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
    let error = encoder(&folder, &half).err().unwrap();
    assert!(error.to_string().contains("half.onnx"), "{error}");
}
