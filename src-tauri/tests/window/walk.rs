//! The main job of the program, walked through as a person would.

use crate::driver::Driver;
use crate::page::Page;
use adrag_contract::StageId;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const BRIDGE: &str = "# The Vellmar bridge\n\nThe Vellmar bridge was opened on 3 May 1931 by the harbour board. It \
    replaced a ferry that had run since 1804.\n\n## Measures\n\nIts span measures 412 metres between the two towers, and \
    the deck lies 38 metres above the water at mean tide.\n\n## Repair\n\nThe bridge was closed for repair from 1987 to \
    1989, when the suspension cables were replaced.\n";
const BREAD: &str = "Sourdough bread\n\nThe loaf rests for eighteen hours at nine degrees before it is baked at 240 \
    degrees for fifty minutes.\n";
const PRICES: &str = "article,price,unit\nflour,1.40,kg\nsalt,0.60,kg\nbutter,9.80,kg\n";

fn write_documents(folder: &Path) -> Vec<PathBuf> {
    [
        ("bridge.md", BRIDGE),
        ("bread.txt", BREAD),
        ("prices.csv", PRICES),
    ]
    .into_iter()
    .map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    })
    .collect()
}

/// True when the program was built with the real screen.
fn screen_is_built() -> bool {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/index.html");
    std::fs::read_to_string(page).is_ok_and(|page| !page.contains("cargo xtask ui"))
}

async fn all_ready(page: &Page<'_>, count: usize) {
    for _ in 0..600 {
        let documents = page.invoke("list_documents", Value::Null).await;
        let ready = documents.as_array().map_or(0, |list| {
            list.iter()
                .filter(|document| document["state"] == "ready")
                .count()
        });
        if ready == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!(
        "the documents are not ready: {}",
        page.invoke("list_documents", Value::Null).await
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_become_a_cited_answer_whose_passage_is_shown() {
    if !screen_is_built() {
        println!("skipped: the screen is not built; run `cargo xtask ui`");
        return;
    }
    let Some(driver) = Driver::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = write_documents(folder.path());
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let session = driver.session(&folder.path().join("data"), &files).await;
    let page = Page { driver: &session };

    page.click("nav-library").await;
    all_ready(&page, 3).await;
    page.until(
        "three documents are listed",
        "return document.querySelectorAll('[data-testid=\"document-row\"]').length === 3;",
    )
    .await;
    page.photograph("library").await;

    page.click("nav-chat").await;
    page.photograph("chat-empty").await;
    watch_the_answer_grow(&page).await;
    page.write("composer", "How long is the span of the Vellmar bridge?")
        .await;
    page.click("send").await;
    page.find("citation-1").await;
    for stage in StageId::ALL {
        page.until(
            &format!("the row of `{stage}` is finished"),
            &format!(
                "const row = document.querySelector('[data-testid=\"tracker-{stage}\"]'); \
                 return !!row && ['done', 'skipped', 'degraded'].includes(row.dataset.status);"
            ),
        )
        .await;
    }
    let growth = page.script("return window.__growth;").await;
    let growth = growth.as_array().unwrap();
    assert!(!growth.is_empty(), "the answer never appeared");
    // A marker that becomes a numbered button is a few characters shorter than its text.
    let lengths: Vec<u64> = growth.iter().filter_map(Value::as_u64).collect();
    assert!(
        lengths.windows(2).all(|two| two[0] <= two[1] + 8),
        "the answer shrank: {growth:?}"
    );
    assert!(
        page.text_of("answer").await.contains("412"),
        "{}",
        page.text().await
    );
    page.photograph("answer").await;

    page.click("citation-1").await;
    page.until(
        "the passage is highlighted",
        "const mark = document.querySelector('[data-testid=\"source-highlight\"]'); \
         return !!mark && mark.textContent.includes('412 metres');",
    )
    .await;
    let pane = page.text_of("source-pane").await;
    assert!(pane.contains("Vellmar"), "{pane}");
    page.photograph("source").await;

    two_threads(&page).await;
    page.click("nav-settings").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    page.photograph("settings").await;
    page.click("section-web").await;
    page.until(
        "web search is off",
        "return document.querySelector('#web-enabled')?.checked === false;",
    )
    .await;
    page.photograph("settings-web").await;
    session.quit().await.unwrap();
}

/// Answers once more, begins a second thread, and comes back to the first with both answers.
async fn two_threads(page: &Page<'_>) {
    page.click("regenerate").await;
    page.until(
        "there are two answers",
        "return document.querySelector('[data-testid=\"versions\"]')?.textContent.includes('2 of 2') \
             && document.querySelector('[data-testid=\"answer\"]')?.dataset.status === 'finished';",
    )
    .await;
    page.photograph("versions").await;
    page.click("new-question").await;
    page.write("composer", "How long does the loaf rest?").await;
    page.click("send").await;
    page.find("citation-1").await;
    page.until(
        "two threads are listed",
        "return document.querySelectorAll('[data-testid=\"thread\"]').length === 2;",
    )
    .await;
    page.photograph("threads").await;
    page.write("find-threads", "Vellmar").await;
    page.until(
        "one is found",
        "return document.querySelectorAll('[data-testid=\"thread\"]').length === 1;",
    )
    .await;
    page.click("thread").await;
    page.until(
        "the first is shown with both answers",
        "return document.querySelector('[data-testid=\"versions\"]')?.textContent.includes('2 of 2') \
             && document.querySelector('[data-testid=\"answer\"]')?.textContent.includes('412');",
    )
    .await;
}

/// Writes down the length of the answer whenever it changes.
async fn watch_the_answer_grow(page: &Page<'_>) {
    page.script(
        "window.__growth = []; \
         new MutationObserver(() => { \
             const answer = document.querySelector('[data-testid=\"answer\"]'); \
             if (answer && answer.textContent.length) window.__growth.push(answer.textContent.length); \
         }).observe(document.body, { subtree: true, childList: true, characterData: true }); \
         return true;",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_reaches_nothing_but_the_programs_own_commands() {
    let Some(driver) = Driver::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let session = driver.session(&folder.path().join("data"), &[]).await;
    let page = Page { driver: &session };
    page.until("the bridge is there", "return !!window.__TAURI__;")
        .await;

    assert!(page.invoke("get_settings", Value::Null).await["engine"].is_string());
    for command in [
        "plugin:fs|read_file",
        "plugin:shell|execute",
        "plugin:http|fetch",
        "plugin:dialog|open",
        "plugin:opener|open_url",
        "plugin:opener|open_path",
        "plugin:event|emit",
        "plugin:window|create",
        "plugin:webview|create_webview_window",
        "plugin:path|resolve_directory",
        "no_such_command",
    ] {
        let reply = page.invoke(command, json!({})).await;
        assert!(!reply["error"].is_null(), "{command}: {reply}");
    }

    let canary = Canary::start();
    let violations = page.script(&attack(canary.port)).await;
    assert_eq!(violations, Value::Bool(true));
    page.until("the policy refused", "return window.__violations.length >= 3;")
        .await;
    let evaluated = page
        .script("try { return !!new Function('return 1')(); } catch { return false; }")
        .await;
    assert_eq!(evaluated, Value::Bool(false), "a string was run as a program");
    page.script(&format!(
        "location.href = 'http://127.0.0.1:{}/gone'; return true;",
        canary.port
    ))
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(canary.hits(), 0, "the page reached another machine");
    let at = session.current_url().await.unwrap();
    assert!(adrag::window::is_own_page(&at.as_str().parse().unwrap()), "{at}");
    session.quit().await.unwrap();
}

fn attack(port: u16) -> String {
    format!(
        "window.__violations = []; \
         document.addEventListener('securitypolicyviolation', (event) => window.__violations.push(event.violatedDirective)); \
         const away = 'http://127.0.0.1:{port}'; \
         const image = document.createElement('img'); image.src = away + '/image'; document.body.append(image); \
         const script = document.createElement('script'); script.src = away + '/script'; document.body.append(script); \
         const frame = document.createElement('iframe'); frame.src = away + '/frame'; document.body.append(frame); \
         const style = document.createElement('link'); style.rel = 'stylesheet'; style.href = away + '/style'; \
         document.head.append(style); \
         fetch(away + '/fetch').catch(() => {{}}); \
         return true;"
    )
}

/// A server that nothing should reach.
struct Canary {
    port: u16,
    hits: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Canary {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hits = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        std::thread::spawn({
            let hits = hits.clone();
            move || {
                for _ in listener.incoming() {
                    hits.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            }
        });
        Self { port, hits }
    }

    fn hits(&self) -> usize {
        self.hits.load(std::sync::atomic::Ordering::SeqCst)
    }
}
