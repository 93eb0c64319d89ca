//! The page around the module. Nothing in it is inline, so that the content security policy needs no exception.

/// Starts the module; a file of its own for the sake of that policy.
pub const BOOT: &str =
    "import start from \"./ui.js\";\n\nawait start({ module_or_path: \"./ui_bg.wasm\" });\n";

/// Design tokens first, because the others use them, then by name.
pub fn in_order(mut sheets: Vec<String>) -> Vec<String> {
    sheets.sort_by_key(|name| (name != "tokens.css", name.clone()));
    sheets
}

pub fn index(sheets: &[String]) -> String {
    let links: String = sheets
        .iter()
        .map(|name| format!("    <link rel=\"stylesheet\" href=\"{name}\">\n"))
        .collect();
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         \x20 <head>\n\
         \x20   <meta charset=\"utf-8\">\n\
         \x20   <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         \x20   <meta name=\"color-scheme\" content=\"light dark\">\n\
         \x20   <title>adRAG</title>\n\
         {links}\
         \x20   <script type=\"module\" src=\"boot.js\"></script>\n\
         \x20 </head>\n\
         \x20 <body>\n\
         \x20   <div id=\"app\"></div>\n\
         \x20 </body>\n\
         </html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_first_and_the_rest_by_name() {
        let names = ["chat.css", "tokens.css", "base.css"].map(str::to_owned).to_vec();
        assert_eq!(in_order(names), ["tokens.css", "base.css", "chat.css"]);
    }

    #[test]
    fn the_page_has_no_inline_script_and_no_inline_style() {
        let page = index(&["tokens.css".to_owned()]);
        assert!(page.contains("<link rel=\"stylesheet\" href=\"tokens.css\">"));
        assert!(page.contains("<script type=\"module\" src=\"boot.js\"></script>"));
        assert!(page.contains("<div id=\"app\"></div>"));
        assert!(!page.contains("<style") && !page.contains("style=") && !page.contains("onload"));
    }
}
