//! `WebKitWebDriver` and one session of the program in it.

use crate::display::Display;
use serde_json::json;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use thirtyfour::{Capabilities, WebDriver};

/// The driver's process, its display, and how to reach it.
pub struct Driver {
    process: Child,
    port: u16,
    _display: Display,
}

impl Driver {
    /// Starts it, or says on standard output why the test is skipped.
    pub fn start() -> Option<Self> {
        let Some(display) = Display::open() else {
            println!("skipped: no display and no Xvfb");
            return None;
        };
        let port = free_port();
        let spawned = Command::new("WebKitWebDriver")
            .args(["--host=127.0.0.1", &format!("--port={port}")])
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            // A missing desktop portal costs 25 s of waiting for it.
            .env("GTK_USE_PORTAL", "0")
            .stdin(Stdio::null())
            .spawn();
        let Ok(process) = spawned else {
            println!("skipped: no WebKitWebDriver");
            return None;
        };
        let driver = Self {
            process,
            port,
            _display: display,
        };
        driver.wait_until_it_listens();
        Some(driver)
    }

    /// Starts the program on a data folder, with files to add.
    pub async fn session(&self, data: &Path, files: &[&Path]) -> WebDriver {
        let mut args = vec!["--data-dir".to_owned(), data.to_str().unwrap().to_owned()];
        args.extend(files.iter().map(|file| file.to_str().unwrap().to_owned()));
        let mut capabilities = Capabilities::new();
        capabilities
            .set(
                "webkitgtk:browserOptions",
                json!({ "binary": env!("CARGO_BIN_EXE_adrag"), "args": args }),
            )
            .unwrap();
        WebDriver::new(format!("http://127.0.0.1:{}", self.port), capabilities)
            .await
            .unwrap()
    }

    fn wait_until_it_listens(&self) {
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(
                started.elapsed() < Duration::from_secs(10),
                "WebKitWebDriver does not listen"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
