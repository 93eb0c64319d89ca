//! What is an entity and what is not.

use super::*;
use std::time::{Duration, Instant};

fn keys(text: &str) -> Vec<String> {
    entities_of(text).into_iter().map(|entity| entity.key).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(keys(text), expected, "of `{text}`");
}

#[test]
fn a_phrase_is_found_whole_and_by_its_words() {
    check("in 1903 Marie Curie won it", &["marie curie", "marie", "curie"]);
    check(
        "the Bank of England said",
        &["bank of england", "bank", "england"],
    );
    check(
        "of Ludwig van Beethoven",
        &["ludwig van beethoven", "ludwig", "beethoven"],
    );
    check("Acme of course", &["acme"]);
}

#[test]
fn capitals_of_every_alphabet_count() {
    check("in Ünïcode wrote Ångström", &["ünïcode", "ångström"]);
    check("город Москва стоит", &["москва"]);
    check("στην Αθήνα", &["αθήνα"]);
}

#[test]
fn a_common_word_at_the_start_of_a_sentence_is_no_entity() {
    check("The engine runs. However, it stops. This is all.", &[]);
    check(
        "The Acme Corporation grew.",
        &["acme corporation", "acme", "corporation"],
    );
    check("When Alice met Bob.", &["alice", "bob"]);
}

#[test]
fn punctuation_and_blank_lines_end_a_phrase_and_one_line_break_does_not() {
    check("Paris, London; Rome", &["paris", "london", "rome"]);
    check("New\nYork", &["new york", "new", "york"]);
    check("Chapter\n\nAcme", &["chapter", "acme"]);
}

#[test]
fn a_number_after_a_name_belongs_to_it() {
    check("see Article 7 there", &["article 7", "article"]);
    check("The 7 of them and 1984", &[]);
}

#[test]
fn acronyms_and_identifiers_stand_for_themselves() {
    check("the valve SK-118-C on HX-40", &["sk-118-c", "hx-40"]);
    check(
        "calls httpServer with user_id under NATO",
        &["httpserver", "user_id", "nato"],
    );
    check("the 1st and 22nd of the 80s", &[]);
    check("version 3.14 is out", &[]);
}

#[test]
fn quoted_terms_are_entities() {
    check("it is called \u{201c}cold start\u{201d} here", &["cold start"]);
    check("run `cargo test` and \"dry run\" now", &["cargo test", "dry run"]);
    check(
        "die \u{201e}kalte Platte\u{201c} ist",
        &["kalte platte", "platte"],
    );
    check(
        "she said \"this is far too long to be the name of anything\" twice",
        &[],
    );
}

#[test]
fn spellings_meet_in_the_key() {
    assert_eq!(key_of("ＡＣＭＥ"), "acme");
    assert_eq!(key_of("Acme\u{2019}s"), "acme");
    assert_eq!(key_of("STRASSE"), key_of("Straße"));
    assert_eq!(key_of("ΟΔΟΣ"), key_of("οδος"));
    assert_eq!(key_of("SK\u{2011}118"), "sk-118");
    assert_eq!(key_of("New\n York"), "new york");
    assert_eq!(key_of("Pay\u{202e}Pal"), "paypal");
    check("Acme's plan and Acme again", &["acme"]);
}

#[test]
fn cjk_runs_are_cut_into_terms() {
    check("東京とパリ", &["東京", "パリ"]);
    check("人工智能的发展和北京大学", &["人工智能", "发展", "北京大学"]);
    check("서울 대학교", &["서울", "대학교"]);
    assert!(keys("一二三四五六七八九十一二三四五六七八九十").is_empty());
    let asked: Vec<String> = entities_of_question("人工智能怎么样")
        .into_iter()
        .map(|entity| entity.key)
        .collect();
    assert!(asked.contains(&"人工智能".to_owned()), "{asked:?}");
}

#[test]
fn a_question_in_small_letters_yields_its_words_and_pairs() {
    let asked: Vec<String> = entities_of_question("what did marie curie discover about polonium?")
        .into_iter()
        .map(|entity| entity.key)
        .collect();
    for key in [
        "marie",
        "curie",
        "marie curie",
        "polonium",
        "marie curie discover",
    ] {
        assert!(asked.contains(&key.to_owned()), "{key} in {asked:?}");
    }
    for key in ["what", "did", "about", "about polonium"] {
        assert!(!asked.contains(&key.to_owned()), "{key} in {asked:?}");
    }
}

#[test]
fn a_question_meets_the_document_it_asks_about() {
    let document = keys("The SK-118-C relief valve was rebuilt by Halvorsen Marine in Bergen.");
    for question in [
        "who rebuilt the sk-118-c?",
        "What did halvorsen marine do?",
        "work in Bergen",
    ] {
        let asked = entities_of_question(question);
        assert!(
            asked.iter().any(|entity| document.contains(&entity.key)),
            "{question}"
        );
    }
}

#[test]
fn output_is_bounded_and_distinct() {
    let text: String = (0..1_000)
        .map(|number| format!("Name{number} and Word"))
        .collect::<Vec<_>>()
        .join(", ");
    let entities = entities_of(&text);
    assert_eq!(entities.len(), PER_CHUNK);
    let distinct: HashSet<&str> = entities.iter().map(|entity| entity.key.as_str()).collect();
    assert_eq!(distinct.len(), entities.len());
    let question: String = (0..1_000)
        .map(|number| format!("word{number} Other{number} "))
        .collect();
    assert!(entities_of_question(&question).len() <= PER_QUESTION);
}

/// Ten times the text must not take a hundred times as long; the bound is wide, a quadratic pass is far beyond it.
#[test]
fn hostile_text_takes_linear_time() {
    for unit in [
        "a", "A", "_", "\"", "\u{201c}", "A ", "of ", "A-", "'", "`a", "東", "\u{301}", "A\u{301}", "1.",
        " ", "的",
    ] {
        let text = unit.repeat(400_000);
        let begun = Instant::now();
        let entities = entities_of(&text);
        assert!(entities.len() <= PER_CHUNK);
        assert!(entities_of_question(&text).len() <= PER_QUESTION);
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "`{unit}` took {:?}",
            begun.elapsed()
        );
        for entity in entities {
            assert!(entity.key.len() <= 2 * NAME_BYTES && entity.name.len() <= NAME_BYTES);
        }
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_panics_and_keys_are_normal(text in "\\PC{0,200}") {
            for entity in entities_of(&text).into_iter().chain(entities_of_question(&text)) {
                prop_assert!(!entity.key.trim().is_empty());
                prop_assert!(!entity.name.is_empty());
            }
        }
    }
}
