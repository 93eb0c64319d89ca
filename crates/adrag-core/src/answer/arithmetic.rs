//! Arithmetic that needs neither documents nor a model: `What is 17 times 23?`

/// The value of a question that is nothing but two numbers and an operation between them.
pub(super) fn evaluate(question: &str) -> Option<String> {
    let text = question
        .trim()
        .trim_end_matches(['?', '=', '.', ' '])
        .to_lowercase();
    let text = ["what is", "what's", "how much is", "calculate", "compute"]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(&text)
        .replace("multiplied by", "*")
        .replace("divided by", "/")
        .replace("times", "*")
        .replace("plus", "+")
        .replace("minus", "-")
        .replace(['×', '·'], "*")
        .replace('÷', "/");
    let at = text
        .char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '+' | '-' | '*' | '/'))?
        .0;
    let left: f64 = number(&text[..at])?;
    let right: f64 = number(&text[at + 1..])?;
    let value = match text.as_bytes()[at] {
        b'+' => left + right,
        b'-' => left - right,
        b'*' => left * right,
        _ if right == 0.0 => return None,
        _ => left / right,
    };
    let rounded = (value * 1e6).round() / 1e6;
    rounded.is_finite().then(|| rounded.to_string())
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    text.bytes()
        .all(|b| b.is_ascii_digit() || b == b'.')
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn two_numbers_and_an_operation() {
        assert_eq!(evaluate("What is 17 times 23?").as_deref(), Some("391"));
        assert_eq!(evaluate("7/2").as_deref(), Some("3.5"));
        assert_eq!(evaluate("12 - 20 =").as_deref(), Some("-8"));
    }

    #[test]
    fn anything_else_is_a_question_to_the_documents() {
        for question in [
            "What is HX-40?",
            "1/0",
            "2024-03-12",
            "SK-118-C",
            "How many times did it fail?",
            "",
        ] {
            assert_eq!(evaluate(question), None, "{question}");
        }
    }
}
