//! The bytes of rich text to groups, control words and characters.

/// A piece of the file.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    Open,
    Close,
    /// `\word` with its number.
    Word(&'a str, Option<i32>),
    /// `\*`: what follows is for programs that know it.
    Destination,
    /// A byte of text, written out or as `\'hh`.
    Byte(u8),
}

pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn control(&mut self) -> Option<Piece<'a>> {
        let first = *self.bytes.get(self.at)?;
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return Some(match first {
                b'*' => Piece::Destination,
                b'\'' => Piece::Byte(self.hexadecimal()),
                b'~' => Piece::Word("~", None),
                b'_' => Piece::Word("_", None),
                b'-' => Piece::Word("-", None),
                b'\n' | b'\r' => Piece::Word("par", None),
                other => Piece::Byte(other),
            });
        }
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        let number = self.number();
        if self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        if word == "bin" {
            let length = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
            self.at = self.at.saturating_add(length).min(self.bytes.len());
        }
        Some(Piece::Word(word, number))
    }

    fn number(&mut self) -> Option<i32> {
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        let number = text.parse().ok();
        if number.is_none() && text == "-" {
            self.at = start;
        }
        number
    }

    fn hexadecimal(&mut self) -> u8 {
        let digits = self.bytes.get(self.at..self.at + 2).unwrap_or_default();
        let byte = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if byte.is_some() {
            self.at += 2;
        }
        byte.unwrap_or(b'?')
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            return match byte {
                b'{' => Some(Piece::Open),
                b'}' => Some(Piece::Close),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => continue,
                byte => Some(Piece::Byte(byte)),
            };
        }
    }
}
