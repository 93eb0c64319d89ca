//! Licence expressions, as the SPDX specification (annex D of 2.3) writes them, with the older `MIT/Apache-2.0` too:
//! whether they leave a choice that a program under MIT or Apache-2.0 may use.

/// Whether the expression can be met without any licence that `is_allowed` turns down.
pub fn is_met(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let words = split(expression);
    let mut reader = Reader {
        words: &words,
        at: 0,
        is_allowed,
    };
    let met = reader.either()?;
    match reader.peek() {
        None => Ok(met),
        Some(word) => Err(format!("`{word}` is left over")),
    }
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    is_allowed: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn either(&mut self) -> Result<bool, String> {
        let mut met = self.both()?;
        while self.take("OR") {
            met |= self.both()?;
        }
        Ok(met)
    }

    fn both(&mut self) -> Result<bool, String> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let met = self.either()?;
            return if self.take(")") {
                Ok(met)
            } else {
                Err("a bracket is not closed".to_owned())
            };
        }
        let licence = self.next().ok_or("a licence is missing")?;
        if ["OR", "AND", "WITH", ")"].contains(&licence.as_str()) {
            return Err(format!("`{licence}` stands where a licence should"));
        }
        if self.take("WITH") {
            let exception = self.next().ok_or("an exception is missing")?;
            return Ok((self.is_allowed)(&format!("{licence} WITH {exception}")));
        }
        Ok((self.is_allowed)(&licence))
    }

    fn peek(&self) -> Option<&String> {
        self.words.get(self.at)
    }

    fn next(&mut self) -> Option<String> {
        let word = self.peek().cloned();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek().is_some_and(|next| next == word);
        self.at += usize::from(is_next);
        is_next
    }
}

fn split(expression: &str) -> Vec<String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn expressions_are_read_as_the_specification_says() {
    let is_allowed = |licence: &str| !licence.starts_with("GPL");
    for (expression, expected) in [
        ("MIT", Ok(true)),
        ("GPL-3.0", Ok(false)),
        ("MIT OR GPL-3.0", Ok(true)),
        ("MIT/Apache-2.0", Ok(true)),
        ("MIT AND GPL-3.0", Ok(false)),
        ("MIT AND (GPL-3.0 OR ISC)", Ok(true)),
        ("GPL-3.0 OR MIT AND GPL-2.0", Ok(false)),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", Ok(true)),
        ("(MIT", Err(())),
        ("MIT ISC", Err(())),
        ("OR MIT", Err(())),
        ("", Err(())),
    ] {
        assert_eq!(
            is_met(expression, &is_allowed).map_err(|_| ()),
            expected,
            "{expression}"
        );
    }
}
