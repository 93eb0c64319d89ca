//! A thread as a file: Markdown with footnotes, a page that needs nothing else, or JSON. Titles, questions and answers are
//! hostile text here like everywhere.

use adrag_contract::{Answer, AppError, Citation, ErrorCode, ExportFormat, RunId};
use serde::Serialize;
use std::fmt::Write;

/// Most characters of a title in the name of a file.
const NAME_CHARS: usize = 60;
const STYLE: &str = "body{font:16px/1.55 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1f1d1a;background:#faf9f6}\
h2{margin-top:2.5rem}.answer{white-space:pre-wrap}.note{color:#57534c;font-size:.85rem}blockquote{margin:.2rem 0 1rem 1rem;color:#57534c;white-space:pre-wrap}";

/// A question and its answer.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Exchange {
    pub run: RunId,
    pub question: String,
    pub asked_at_ms: i64,
    pub answer: Option<Answer>,
}

/// A thread, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Name for its file.
    pub file_name: String,
    /// What is to be written, UTF-8.
    pub content: String,
}

pub(super) fn render(
    title: &str,
    exchanges: &[Exchange],
    format: ExportFormat,
) -> Result<Exported, AppError> {
    let content = match format {
        ExportFormat::Markdown => markdown(title, exchanges),
        ExportFormat::Html => html(title, exchanges),
        ExportFormat::Json => serde_json::to_string_pretty(&serde_json::json!({
            "title": title,
            "exchanges": exchanges,
        }))
        .map_err(|error| AppError::new(ErrorCode::Internal, format!("the export broke down: {error}")))?,
    };
    Ok(Exported {
        file_name: format!("{}.{}", file_name(title), format.extension()),
        content,
    })
}

/// A title as the name of a file on every system.
fn file_name(title: &str) -> String {
    let name: String = title
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_') {
                c
            } else {
                ' '
            }
        })
        .collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(NAME_CHARS).collect();
    if name.is_empty() {
        "conversation".to_owned()
    } else {
        name
    }
}

fn place(citation: &Citation) -> String {
    match (&citation.url, citation.page) {
        (Some(url), _) => url.clone(),
        (None, Some(page)) => format!("{}, page {page}", citation.path),
        (None, None) => citation.path.clone(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn markdown(title: &str, exchanges: &[Exchange]) -> String {
    let mut out = format!("# {}\n", escaped_markdown(&one_line(title)));
    let mut notes = String::new();
    for (n, exchange) in (1..).zip(exchanges) {
        let _ = write!(
            out,
            "\n## {}\n\n",
            escaped_markdown(&one_line(&exchange.question))
        );
        let Some(answer) = &exchange.answer else {
            out.push_str("*No answer.*\n");
            continue;
        };
        let mut text = answer.text.clone();
        for citation in answer.citations.iter().rev() {
            text = text.replace(&format!("[{}]", citation.n), &format!("[^{n}-{}]", citation.n));
        }
        out.push_str(text.trim());
        out.push('\n');
        for citation in &answer.citations {
            let _ = write!(
                notes,
                "\n[^{n}-{}]: {} ({}): \u{201c}{}\u{201d}\n",
                citation.n,
                escaped_markdown(&one_line(&citation.title)),
                escaped_markdown(&place(citation)),
                escaped_markdown(&one_line(&citation.text)),
            );
        }
    }
    out + &notes
}

/// Text that stays text in Markdown: no link, no picture, no markup, no heading.
fn escaped_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '~'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn html(title: &str, exchanges: &[Exchange]) -> String {
    let title = escaped_html(title);
    let mut out = format!(
        "<!doctype html>\n<html><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    );
    for (n, exchange) in (1..).zip(exchanges) {
        let _ = writeln!(out, "<h2>{}</h2>", escaped_html(&exchange.question));
        let Some(answer) = &exchange.answer else {
            out.push_str("<p class=\"note\">No answer.</p>\n");
            continue;
        };
        let mut text = escaped_html(answer.text.trim());
        for citation in &answer.citations {
            let marker = format!("[{}]", citation.n);
            text = text.replace(
                &marker,
                &format!("<sup><a href=\"#n{n}-{}\">{marker}</a></sup>", citation.n),
            );
        }
        let _ = writeln!(out, "<div class=\"answer\">{text}</div>");
        for citation in &answer.citations {
            let _ = writeln!(
                out,
                "<p class=\"note\" id=\"n{n}-{}\">[{}] {} ({})</p><blockquote>{}</blockquote>",
                citation.n,
                citation.n,
                escaped_html(&citation.title),
                escaped_html(&place(citation)),
                escaped_html(&citation.text),
            );
        }
    }
    out.push_str("</body></html>\n");
    out
}

fn escaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_everywhere() {
        for (title, name) in [
            ("Which seal? ../../etc/passwd", "Which seal etc passwd"),
            ("海の:ポンプ", "海の ポンプ"),
            ("???", "conversation"),
        ] {
            assert_eq!(file_name(title), name);
        }
        assert_eq!(file_name(&"x".repeat(500)).chars().count(), NAME_CHARS);
    }

    #[test]
    fn nothing_of_a_hostile_text_is_markup() {
        let hostile = "<img src=x onerror=alert(1)> ![a](http://x) [b](javascript:1) # h";
        assert!(!escaped_html(hostile).contains('<'));
        let text = escaped_markdown(hostile);
        assert!(text.contains("\\!\\[a\\]") && text.contains("\\<img"), "{text}");
    }
}
