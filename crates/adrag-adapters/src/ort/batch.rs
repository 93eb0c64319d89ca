//! Token rows into batches: long ones with long ones, so that little is padded and little is held at once.

use adrag_core::ports::PortResult;
use ort::value::Tensor;

/// Tokens of one batch, padding included. Small batches stay in the processor's cache and let others in between.
const BATCH_TOKENS: usize = 1_024;

/// What a model reads: ids, and from where on they belong to the second segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub ids: Vec<u32>,
    /// Position of the first token of the second segment; the length where there is none.
    pub second: usize,
}

/// The rows' numbers in batches, the longest rows first.
pub(super) fn by_length(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(rows[*at].ids.len()));
    let mut batches = Vec::new();
    let mut rest = order.as_slice();
    while let Some(longest) = rest.first() {
        let size = (BATCH_TOKENS / rows[*longest].ids.len().max(1)).clamp(1, rest.len());
        let (batch, later) = rest.split_at(size);
        batches.push(batch.to_vec());
        rest = later;
    }
    batches
}

/// The three usual inputs of a BERT-like model, padded with 0: `[rows, longest]`. The last is left out where the model does
/// not take it.
pub(super) fn inputs(
    rows: &[&Row],
    takes_types: bool,
    failed: impl Fn(ort::Error) -> adrag_core::ports::PortError,
) -> PortResult<
    Vec<(
        std::borrow::Cow<'static, str>,
        ort::session::SessionInputValue<'static>,
    )>,
> {
    let length = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
    let shape = [rows.len(), length];
    let mut ids = vec![0_i64; rows.len() * length];
    let (mut mask, mut types) = (ids.clone(), ids.clone());
    for (number, row) in rows.iter().enumerate() {
        for (column, token) in row.ids.iter().enumerate() {
            let at = number * length + column;
            ids[at] = i64::from(*token);
            mask[at] = 1;
            types[at] = i64::from(column >= row.second);
        }
    }
    let mut named = vec![("input_ids", ids), ("attention_mask", mask)];
    if takes_types {
        named.push(("token_type_ids", types));
    }
    named
        .into_iter()
        .map(|(name, values)| {
            let tensor = Tensor::from_array((shape, values)).map_err(&failed)?;
            Ok((name.into(), tensor.into()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_every_row_once_and_stay_within_the_budget() {
        let lengths = [3, 900, 40, 256, 256, 7, 2_000, 256];
        let rows: Vec<Row> = lengths
            .iter()
            .map(|length| Row {
                ids: vec![1; *length],
                second: *length,
            })
            .collect();
        let batches = by_length(&rows);
        let mut seen: Vec<usize> = batches.concat();
        seen.sort_unstable();
        assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
        for batch in &batches {
            let longest = batch.iter().map(|at| lengths[*at]).max().unwrap_or(0);
            assert!(batch.len() == 1 || longest * batch.len() <= BATCH_TOKENS);
        }
    }
}
