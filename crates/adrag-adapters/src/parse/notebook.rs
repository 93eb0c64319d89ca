//! Jupyter notebooks: text cells as Markdown, code cells as code with what they printed.

use super::builder::DocumentBuilder;
use super::failure::ReadResult;
use super::{json, markdown};
use adrag_core::ports::{BlockKind, ParsedDocument};
use serde::Deserialize;

/// Most characters taken of the output of one cell: the rest is data, not something to read.
const MAX_OUTPUT_CHARS: usize = 4_000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Lines,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Default, Deserialize)]
struct Output {
    /// Of `stream` outputs.
    #[serde(default)]
    text: Lines,
    /// Of results, by media type.
    #[serde(default)]
    data: serde_json::Map<String, serde_json::Value>,
}

/// A text, whole or line by line: notebooks use both.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    One(String),
    Many(Vec<String>),
}

impl Default for Lines {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Lines {
    fn joined(self) -> String {
        match self {
            Self::One(text) => text,
            Self::Many(lines) => lines.concat(),
        }
    }
}

/// Reads a notebook; what is none is read as the JSON it is.
pub(crate) fn read(text: String) -> ReadResult<ParsedDocument> {
    let Ok(notebook) = serde_json::from_str::<Notebook>(&text) else {
        let mut parsed = json::read(text)?;
        parsed
            .remarks
            .push("not a Jupyter notebook, read as JSON".to_owned());
        return Ok(parsed);
    };
    let mut builder = DocumentBuilder::default();
    for cell in notebook.cells {
        let source = super::encoding::normal_lines(cell.source.joined());
        match cell.cell_type.as_str() {
            "markdown" => builder.append(&markdown::read(source))?,
            "code" => {
                builder.push(BlockKind::Code, &source)?;
                for output in cell.outputs {
                    builder.push(BlockKind::Code, &printed(output))?;
                }
            }
            _ => builder.push(BlockKind::Prose, &source)?,
        }
    }
    let title = builder.first_heading();
    let mut parsed = builder.finish("notebook");
    parsed.title = title;
    Ok(parsed)
}

/// What a person sees of an output as text.
fn printed(output: Output) -> String {
    let plain = output
        .data
        .get("text/plain")
        .and_then(|value| serde_json::from_value::<Lines>(value.clone()).ok())
        .map(Lines::joined)
        .unwrap_or_default();
    let text = output.text.joined() + &plain;
    text.chars().take(MAX_OUTPUT_CHARS).collect()
}
