//! Words too common to be a name, however they are written.

// Sorted, lower case: looked up by halving. Function words, words that open sentences and questions, and words of
// layout; English, with the articles and commonest words of German, French and Spanish.
const COMMON: &[&str] = &[
    "a", "about", "above", "according", "accordingly", "additionally", "after", "again", "against", "all", "almost",
    "along", "already", "also", "although", "always", "am", "among", "an", "and", "another", "any", "are", "around",
    "as", "at", "auch", "auf", "aus", "avec", "be", "because", "been", "before", "bei", "being", "below", "besides",
    "between", "both", "but", "by", "can", "cette", "cf", "come", "como", "compare", "con", "consequently", "could",
    "dans", "das", "de", "define", "del", "dem", "den", "der", "des", "describe", "despite", "did", "die", "diese",
    "dieser", "dieses", "do", "does", "don't", "done", "du", "due", "during", "e.g", "each", "eg", "ein", "eine", "einem",
    "einen", "einer", "either", "el", "elle", "en", "er", "es", "est", "et", "etc", "even", "every", "everything",
    "explain", "few", "finally", "find", "first", "for", "from", "further", "furthermore", "für", "get", "give", "given",
    "had", "has", "have", "having", "he", "hence", "her", "here", "his", "how", "however", "i", "ich", "ie", "if", "il",
    "ils", "im", "in", "indeed", "instead", "into", "is", "ist", "it", "it's", "its", "just", "la", "las", "last", "le",
    "les", "let", "like", "likewise", "list", "los", "made", "make", "many", "may", "me", "meanwhile", "might", "mit",
    "more", "moreover", "most", "much", "must", "my", "name", "neither", "never", "nevertheless", "next", "nicht", "no",
    "nor", "not", "note", "nothing", "now", "oder", "of", "often", "on", "once", "one", "only", "or", "other",
    "otherwise", "our", "out", "over", "para", "per", "perhaps", "please", "por", "pour", "que", "qui", "rather",
    "see", "several", "shall", "she", "should", "show", "sie", "similarly", "since", "so", "some", "sometimes", "soon",
    "still", "such", "sur", "tell", "than", "that", "the", "their", "them", "then", "there", "thereby", "therefore",
    "these", "they", "this", "those", "though", "through", "thus", "to", "together", "too", "two", "um", "un", "una",
    "und", "under", "une", "unless", "unlike", "until", "up", "upon", "use", "used", "using", "very", "via",
    "von", "was", "we", "well", "were", "what", "what's", "when", "where", "whereas", "whether", "which", "while", "who",
    "who's", "whom", "whose", "why", "will", "with", "within", "without", "would", "yes", "yet", "you", "your", "zu",
    "zum", "zur",
];

// Words that stand inside names.
const CONNECTING: &[&str] = &[
    "da", "de", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "für", "la", "le", "of", "the", "van",
    "von", "y", "zu",
];

/// True for a word that is no name by itself.
pub(super) fn is_common(word: &str) -> bool {
    // Longer than any of them: no need to fold it.
    if word.len() > 16 {
        return false;
    }
    let folded = word.to_lowercase().replace('\u{2019}', "'");
    COMMON.binary_search(&folded.as_str()).is_ok()
}

/// True for a word that may stand between the words of a name.
pub(super) fn connects(word: &str) -> bool {
    CONNECTING.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(COMMON.is_sorted());
    }
}
