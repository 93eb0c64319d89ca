//! Numbers and words of rich text that stand for encodings and characters.

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, IBM866, KOI8_R, KOI8_U, MACINTOSH, SHIFT_JIS, UTF_8, WINDOWS_874,
    WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
    WINDOWS_1257, WINDOWS_1258,
};

/// The encoding of a Windows code page.
pub(super) fn code_page(number: i32) -> Option<&'static Encoding> {
    Some(match number {
        874 => WINDOWS_874,
        866 => IBM866,
        932 => SHIFT_JIS,
        936 => GBK,
        949 => EUC_KR,
        950 => BIG5,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1252 => WINDOWS_1252,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10000 => MACINTOSH,
        20866 => KOI8_R,
        21866 => KOI8_U,
        65001 => UTF_8,
        _ => return None,
    })
}

/// The encoding of a font's character set.
pub(super) fn charset(number: i32) -> Option<&'static Encoding> {
    code_page(match number {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// The text a control word stands for.
pub(super) fn symbol(word: &str) -> Option<&'static str> {
    Some(match word {
        "~" => "\u{a0}",
        "_" => "\u{2011}",
        "tab" => "\t",
        "line" => "\n",
        "emdash" => "\u{2014}",
        "endash" => "\u{2013}",
        "emspace" | "enspace" | "qmspace" => " ",
        "bullet" => "\u{2022}",
        "lquote" => "\u{2018}",
        "rquote" => "\u{2019}",
        "ldblquote" => "\u{201c}",
        "rdblquote" => "\u{201d}",
        _ => return None,
    })
}
