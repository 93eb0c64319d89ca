//! The page by its `data-testid` marks: find, click, type, wait, photograph.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thirtyfour::{By, WebDriver, WebElement};

/// Longest wait for anything on the page.
const PATIENCE: Duration = Duration::from_secs(60);

/// The page of a session.
pub struct Page<'a> {
    /// The session.
    pub driver: &'a WebDriver,
}

impl Page<'_> {
    /// The element with this mark, as soon as it is there.
    pub async fn find(&self, mark: &str) -> WebElement {
        let started = Instant::now();
        loop {
            match self.driver.find(By::Css(selector(mark))).await {
                Ok(element) => return element,
                Err(error) if started.elapsed() > PATIENCE => {
                    self.photograph("missing").await;
                    panic!("`{mark}` is not on the page: {error}\n{}", self.text().await)
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Clicks the element with this mark, as soon as it is there.
    pub async fn click(&self, mark: &str) {
        let started = Instant::now();
        loop {
            match self.find(mark).await.click().await {
                Ok(()) => return,
                Err(error) if started.elapsed() > PATIENCE => panic!("`{mark}` cannot be clicked: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Types into the element with this mark.
    pub async fn write(&self, mark: &str, text: &str) {
        self.find(mark).await.send_keys(text).await.unwrap();
    }

    /// Text of the element with this mark; empty when it is gone.
    pub async fn text_of(&self, mark: &str) -> String {
        match self.driver.find(By::Css(selector(mark))).await {
            Ok(element) => element.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// All text of the page.
    pub async fn text(&self) -> String {
        match self.driver.find(By::Css("body")).await {
            Ok(body) => body.text().await.unwrap_or_default(),
            Err(error) => error.to_string(),
        }
    }

    /// Runs a script and returns its value.
    pub async fn script(&self, script: &str) -> Value {
        self.driver
            .execute(script, Vec::new())
            .await
            .unwrap()
            .json()
            .clone()
    }

    /// Waits until the script says `true`.
    pub async fn until(&self, what: &str, script: &str) {
        let started = Instant::now();
        while self.script(script).await != Value::Bool(true) {
            if started.elapsed() > PATIENCE {
                self.photograph("stuck").await;
                panic!("waited in vain until {what}:\n{}", self.text().await);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Gives a command the way the page itself does and returns its reply, or its error as `{"error": ...}`.
    pub async fn invoke(&self, command: &str, request: Value) -> Value {
        let script = "const [command, request, done] = arguments; \
            window.__TAURI__.core.invoke(command, { request }).then(done, (error) => done({ error }));";
        self.driver
            .execute_async(script, vec![Value::from(command), request])
            .await
            .unwrap()
            .json()
            .clone()
    }

    /// A picture of the window, after the page has been drawn twice.
    pub async fn photograph(&self, name: &str) {
        let script = "const done = arguments[0]; \
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
        self.driver.execute_async(script, Vec::new()).await.unwrap();
        let folder = folder();
        std::fs::create_dir_all(&folder).unwrap();
        self.driver
            .screenshot(&folder.join(format!("{name}.png")))
            .await
            .unwrap();
    }
}

fn selector(mark: &str) -> String {
    format!("[data-testid=\"{mark}\"]")
}

/// `target/e2e`: the folder two above the program is the target folder.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_adrag"))
        .ancestors()
        .nth(2)
        .unwrap()
        .join("e2e")
}
