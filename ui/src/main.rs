//! Starts the screen in the page that `cargo xtask ui` writes. Everything else is in the library beside it.

fn main() {
    adrag_ui::start();
}
