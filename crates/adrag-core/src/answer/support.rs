//! Claims against passages by a support model: each against what it cites, then against the rest of the context.

use super::abstain::{WINDOW_SENTENCES, coverage, subject_words};
use crate::ports::{PortResult, SupportModel, SupportPair};
use crate::sentence::windows;
use adrag_contract::{Claim, Passage, Verdict};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// From this probability on a claim is supported.
const SUPPORTED: f32 = 0.5;
/// From this probability on it is partly supported.
const PARTLY: f32 = 0.25;
/// Windows read for one claim: those that share most of its words.
const WINDOWS: usize = 4;

/// How the support of an answer's sentences becomes that of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// As weak as the weakest sentence.
    #[default]
    Min,
    /// The mean of the sentences.
    Mean,
    /// Half the weakest, half the mean.
    MinMean,
    /// All sentences at once, were they independent.
    Product,
}

impl Fold {
    /// The support of the whole; `None` of nothing.
    pub fn of(self, support: &[f32]) -> Option<f32> {
        let min = support.iter().copied().reduce(f32::min)?;
        #[expect(clippy::cast_precision_loss, reason = "sentences of an answer")]
        let mean = support.iter().sum::<f32>() / support.len() as f32;
        Some(match self {
            Self::Min => min,
            Self::Mean => mean,
            Self::MinMean => f32::midpoint(min, mean),
            Self::Product => support.iter().product(),
        })
    }
}

/// Gives every claim that is not settled yet its probability of support and its verdict, and says what is wrong.
///
/// A claim without citations stays uncited; its support is the best of all passages.
///
/// # Errors
/// When the model fails or the run is stopped.
pub(crate) async fn check_support(
    model: &dyn SupportModel,
    question: &str,
    claims: &mut [Claim],
    passages: &[Passage],
    cancel: &CancellationToken,
) -> PortResult<Vec<String>> {
    let open: Vec<usize> = (0..claims.len())
        .filter(|at| claims[*at].verdict != Verdict::Supported)
        .collect();
    let cites = |claim: &Claim, passage: usize| claim.citations.iter().any(|n| *n as usize == passage + 1);
    let cited: Vec<Vec<&str>> = open
        .iter()
        .map(|at| texts(passages, |passage| cites(&claims[*at], passage)))
        .collect();
    let by_cited = best(model, question, claims, &open, &cited, cancel).await?;
    let weak: Vec<usize> = open
        .iter()
        .zip(&by_cited)
        .filter_map(|(at, support)| support.is_none_or(|support| support < SUPPORTED).then_some(*at))
        .collect();
    let others: Vec<Vec<&str>> = weak
        .iter()
        .map(|at| texts(passages, |passage| !cites(&claims[*at], passage)))
        .collect();
    let by_others = best(model, question, claims, &weak, &others, cancel).await?;
    let mut issues = Vec::new();
    for (at, support) in open.iter().zip(by_cited) {
        let elsewhere = weak
            .iter()
            .position(|weak| weak == at)
            .and_then(|position| by_others[position]);
        let claim = &mut claims[*at];
        if claim.citations.is_empty() {
            claim.verdict = Verdict::Uncited;
            claim.support = elsewhere;
            continue;
        }
        let support = support.unwrap_or_default();
        claim.support = Some(support);
        claim.verdict = if support >= SUPPORTED {
            Verdict::Supported
        } else if support >= PARTLY || elsewhere.is_some_and(|other| other >= SUPPORTED) {
            Verdict::Partly
        } else {
            Verdict::Unsupported
        };
        if claim.verdict != Verdict::Supported {
            let sentence: String = claim.sentence.chars().take(160).collect();
            issues.push(match elsewhere {
                Some(other) if other >= SUPPORTED => {
                    format!("\"{sentence}\" is said by another passage than the one it cites")
                }
                _ => format!("the cited passage does not say \"{sentence}\""),
            });
        }
    }
    Ok(issues)
}

fn texts(passages: &[Passage], wanted: impl Fn(usize) -> bool) -> Vec<&str> {
    passages
        .iter()
        .enumerate()
        .filter(|(at, _)| wanted(*at))
        .map(|(_, passage)| passage.text.as_str())
        .collect()
}

/// The best support of each claim among the windows of its texts; `None` where there is no text.
async fn best(
    model: &dyn SupportModel,
    question: &str,
    claims: &[Claim],
    chosen: &[usize],
    texts: &[Vec<&str>],
    cancel: &CancellationToken,
) -> PortResult<Vec<Option<f32>>> {
    let mut pairs = Vec::new();
    let mut counts = Vec::with_capacity(chosen.len());
    for (at, texts) in chosen.iter().zip(texts) {
        let sentence = &claims[*at].sentence;
        let words = subject_words(sentence);
        let mut found: Vec<(f32, &str)> = texts
            .iter()
            .flat_map(|text| {
                windows(text, WINDOW_SENTENCES)
                    .into_iter()
                    .map(|span| &text[span])
            })
            .map(|window| (coverage(&words, window), window))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(WINDOWS);
        counts.push(found.len());
        let claim = if model.wants_question() {
            format!("{question} {sentence}")
        } else {
            sentence.clone()
        };
        pairs.extend(found.into_iter().map(|(_, window)| SupportPair {
            claim: claim.clone(),
            evidence: window.to_owned(),
        }));
    }
    let support = model.support(&pairs, cancel).await?;
    let mut support = support.into_iter();
    Ok(counts
        .into_iter()
        .map(|count| support.by_ref().take(count).reduce(f32::max))
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::support::FakeSupport;

    fn claim(sentence: &str, citations: &[u32]) -> Claim {
        Claim {
            sentence: sentence.to_owned(),
            span: (0, 0),
            verdict: Verdict::Unverified,
            support: None,
            citations: citations.to_vec(),
        }
    }

    async fn checked(mut claims: Vec<Claim>) -> (Vec<Claim>, Vec<String>) {
        let passages = [
            Passage::of_text("The kit is kept in bin C-04."),
            Passage::of_text("The harbour was closed because of ice."),
        ];
        let cancel = CancellationToken::new();
        let issues = check_support(&FakeSupport::default(), "q", &mut claims, &passages, &cancel)
            .await
            .unwrap();
        (claims, issues)
    }

    #[tokio::test]
    async fn each_verdict_has_its_case() {
        let (claims, issues) = checked(vec![
            claim("The kit is in bin C-04.", &[1]),
            claim("The harbour was closed.", &[1]),
            claim("Seven dwarfs dug gold.", &[1, 2]),
            claim("The harbour was closed.", &[]),
        ])
        .await;
        let verdicts: Vec<Verdict> = claims.iter().map(|claim| claim.verdict).collect();
        assert_eq!(
            verdicts,
            [
                Verdict::Supported,
                Verdict::Partly,
                Verdict::Unsupported,
                Verdict::Uncited
            ]
        );
        assert!(issues[0].contains("another passage"), "{issues:?}");
        assert!(issues[1].contains("does not say"), "{issues:?}");
        assert!(claims[3].support.unwrap() > 0.9, "what could be cited is told");
    }

    #[test]
    fn folds() {
        let support = [0.9, 0.5];
        assert_eq!(Fold::Min.of(&support), Some(0.5));
        assert!((Fold::Mean.of(&support).unwrap() - 0.7).abs() < 1e-6);
        assert!((Fold::MinMean.of(&support).unwrap() - 0.6).abs() < 1e-6);
        assert!((Fold::Product.of(&support).unwrap() - 0.45).abs() < 1e-6);
        assert_eq!(Fold::Min.of(&[]), None);
    }
}
