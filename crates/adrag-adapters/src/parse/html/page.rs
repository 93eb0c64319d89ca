//! What has been read of a page: the open elements, the text collected, the tables under way.

use super::super::builder::{DocumentBuilder, names_columns, row_text};
use super::super::failure::{ReadResult, Unreadable};
use adrag_core::ports::{BlockKind, ParsedDocument};

/// Elements that are remembered; below, only text counts.
const MAX_OPEN: usize = 4_096;
/// How far an end tag looks for its start.
const MAX_LOOK_BACK: usize = 256;
/// Tables in tables; below, cells are paragraphs.
const MAX_TABLES: usize = 16;
/// A cell longer than this is layout, not data.
const LONG_CELL: usize = 600;

#[derive(Default)]
pub(super) struct Page {
    builder: DocumentBuilder,
    failure: Option<Unreadable>,
    title: String,
    title_done: bool,
    open: Vec<Open>,
    /// Start tags that were not remembered.
    beyond: usize,
    /// Depth in `open` of the outermost element that is not shown.
    hidden_from: Option<usize>,
    text: String,
    kind: Option<BlockKind>,
    tables: Vec<Table>,
}

struct Open {
    name: String,
    table: bool,
}

#[derive(Default)]
struct Table {
    columns: Vec<String>,
    rows: usize,
    cells: Vec<String>,
    all_heads: bool,
    in_cell: bool,
    cell: String,
}

impl Page {
    pub(super) fn text(&mut self, text: &str) {
        match self.open.last().map(|open| open.name.as_str()) {
            _ if self.hidden_from.is_some() => return,
            Some("title") => {
                if !self.title_done {
                    self.title.push_str(text);
                }
                return;
            }
            _ => {}
        }
        if self.kind == Some(BlockKind::Code) {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                    self.text.push(' ');
                }
            } else {
                self.text.push(c);
            }
        }
    }

    pub(super) fn open(&mut self, name: &str, hidden: bool, self_closing: bool) {
        if is_void(name) {
            match name {
                "br" => self.text.push('\n'),
                "hr" => self.flush(),
                _ => {}
            }
            return;
        }
        self.close_implied(name);
        if breaks(name) {
            self.flush();
        }
        if self.open.len() >= MAX_OPEN {
            self.beyond += 1;
            return;
        }
        let table = name == "table" && self.hidden_from.is_none() && self.tables.len() < MAX_TABLES;
        self.open.push(Open {
            name: name.to_owned(),
            table,
        });
        if self.hidden_from.is_none() && (hidden || is_unseen(name)) {
            self.hidden_from = Some(self.open.len());
        }
        if self_closing && name == "svg" {
            self.close(name);
            return;
        }
        if self.hidden_from.is_some() {
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.kind = Some(BlockKind::Heading(name.as_bytes()[1] - b'0'))
            }
            "li" | "dt" | "dd" => self.kind = Some(BlockKind::ListItem),
            "pre" => self.kind = Some(BlockKind::Code),
            "table" if table => self.tables.push(Table::default()),
            "tr" => self.end_row(),
            "td" | "th" => {
                if let Some(table) = self.tables.last_mut() {
                    table.all_heads = (table.cells.is_empty() || table.all_heads) && name == "th";
                    table.in_cell = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if self.beyond > 0 {
            if breaks(name) {
                self.flush();
            }
            self.beyond -= 1;
            return;
        }
        if matches!(name, "p" | "br")
            && !self
                .open
                .iter()
                .rev()
                .take(MAX_LOOK_BACK)
                .any(|open| open.name == name)
        {
            self.flush();
            return;
        }
        let look = self.open.len().saturating_sub(MAX_LOOK_BACK);
        let Some(at) = self.open[look..]
            .iter()
            .rposition(|open| open.name == name)
            .map(|at| at + look)
        else {
            return;
        };
        // An inline end tag does not reach out of the cell or block it stands in.
        if !breaks(name) && self.open[at + 1..].iter().any(|open| breaks(&open.name)) {
            return;
        }
        if breaks(name) {
            self.flush();
        }
        self.close_to(at);
    }

    fn close_to(&mut self, at: usize) {
        while self.open.len() > at {
            let shown = self.hidden_from.is_none();
            if self.hidden_from == Some(self.open.len()) {
                self.hidden_from = None;
            }
            let Some(closed) = self.open.pop() else { return };
            if !shown {
                continue;
            }
            match closed.name.as_str() {
                "td" | "th" => self.end_cell(),
                "tr" => self.end_row(),
                "title" => self.title_done = true,
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "dt" | "dd" | "pre" => self.kind = None,
                "table" if closed.table => {
                    self.end_row();
                    self.tables.pop();
                }
                _ => {}
            }
        }
    }

    /// Start tags that end what came before: a new item ends the last one.
    fn close_implied(&mut self, name: &str) {
        let (ends, within): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "tr" => (&["tr"], &["table"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "option" => (&["option"], &["select"]),
            _ if breaks(name) => (&["p"], &["td", "th", "table", "div", "li", "button", "body"]),
            _ => return,
        };
        for at in (self.open.len().saturating_sub(MAX_LOOK_BACK)..self.open.len()).rev() {
            let open = self.open[at].name.as_str();
            if ends.contains(&open) {
                self.flush();
                self.close_to(at);
                return;
            }
            if within.contains(&open) {
                return;
            }
        }
    }

    /// Ends the block under way; in a cell it ends a line.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        let kind = self.kind.take().unwrap_or(BlockKind::Prose);
        if let Some(table) = self.tables.last_mut().filter(|table| table.in_cell) {
            if !table.cell.is_empty() {
                table.cell.push('\n');
            }
            table.cell.push_str(text.trim());
            return;
        }
        self.push(kind, &text);
    }

    fn push(&mut self, kind: BlockKind, text: &str) {
        if self.failure.is_none()
            && let Err(failure) = self.builder.push(kind, text)
        {
            self.failure = Some(failure);
        }
    }

    fn end_cell(&mut self) {
        self.flush();
        if let Some(table) = self.tables.last_mut() {
            table.in_cell = false;
            let cell = std::mem::take(&mut table.cell);
            table.cells.push(cell);
        }
    }

    fn end_row(&mut self) {
        self.flush();
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        if table.in_cell {
            table.in_cell = false;
            let cell = std::mem::take(&mut table.cell);
            table.cells.push(cell);
        }
        if table.cells.is_empty() {
            return;
        }
        let cells = std::mem::take(&mut table.cells);
        let first = table.rows == 0;
        table.rows += 1;
        if first && table.all_heads && names_columns(&cells) {
            table.columns = cells;
            return;
        }
        let columns = table.columns.clone();
        if cells.len() == 1 || cells.iter().any(|cell| cell.len() > LONG_CELL) {
            for cell in cells {
                self.push(BlockKind::Prose, &cell);
            }
        } else {
            let cells: Vec<String> = cells.iter().map(|cell| collapse(cell)).collect();
            let separator = if columns.is_empty() { " | " } else { "; " };
            self.push(BlockKind::TableRow, &row_text(&columns, &cells, separator));
        }
    }

    pub(super) fn finish(mut self) -> ReadResult<ParsedDocument> {
        self.close_to(0);
        self.flush();
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let title = Some(collapse(&self.title))
            .filter(|title| !title.is_empty())
            .or_else(|| self.builder.first_heading());
        let mut parsed = self.builder.finish("html");
        parsed.title = title;
        Ok(parsed)
    }
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements whose content no reader of the page sees.
fn is_unseen(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "svg"
            | "iframe"
            | "noembed"
            | "noframes"
            | "object"
            | "canvas"
            | "audio"
            | "video"
            | "datalist"
    )
}

/// Elements before and after which text does not run on.
fn breaks(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "button"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "head"
            | "header"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "select"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "textarea"
            | "tfoot"
            | "th"
            | "thead"
            | "title"
            | "tr"
            | "ul"
            | "xmp"
    )
}
