//! A real `llama-server` with a small model. What it answers is not looked at, only that the plumbing holds.

use crate::support::{Told, ask, choice, engines, request};
use adrag_contract::{EngineId, Settings};
use adrag_core::ports::{Engines, ReplySchema};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

fn cache() -> Option<PathBuf> {
    Some(
        directories::ProjectDirs::from("org", "adrag", "adrag")?
            .cache_dir()
            .to_owned(),
    )
}

fn program() -> Option<PathBuf> {
    let cached = cache().map(|cache| cache.join("llama-server").join("llama-server"));
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("llama-server"))
            .find(|file| file.is_file())
    };
    named("ADRAG_LLAMA_SERVER")
        .or_else(on_path)
        .or(cached)
        .filter(|path| path.is_file())
}

fn model() -> Option<PathBuf> {
    let models = named("ADRAG_MODELS").or_else(|| Some(cache()?.join("models")));
    named("ADRAG_TEST_GGUF")
        .or_else(|| first_gguf(&models?))
        .filter(|path| path.is_file())
}

fn first_gguf(models: &Path) -> Option<PathBuf> {
    let folders = std::fs::read_dir(models).ok()?.flatten();
    let mut files: Vec<PathBuf> = folders
        .filter_map(|folder| std::fs::read_dir(folder.path()).ok())
        .flat_map(|files| files.flatten().map(|file| file.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "gguf"))
        .collect();
    files.sort();
    files.into_iter().next()
}

/// The servers among the child processes of this one: their ids and command lines.
#[cfg(target_os = "linux")]
fn servers() -> Vec<(u32, String)> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned));
        if parent.as_deref() == Some(own.as_str()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found.retain(|(_, line)| line.contains("--port"));
    found
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_real_llama_server_is_started_asked_kept_restarted_and_ended() {
    let (Some(program), Some(model)) = (program(), model()) else {
        println!("skipped: no llama-server, or no GGUF file for it (ADRAG_LLAMA_SERVER, ADRAG_TEST_GGUF)");
        return;
    };
    let mut settings = Settings::default();
    settings.local.binary = Some(program.to_string_lossy().into_owned());
    settings.local.model_file = Some(model.to_string_lossy().into_owned());
    settings.local.context_tokens = 1024;
    settings.local.threads = 1;
    let engines = engines();
    let cancel = CancellationToken::new();
    let local = choice(EngineId::Local);

    let probe = engines.probe(&settings).await;
    let status = probe
        .iter()
        .find(|status| status.engine == EngineId::Local)
        .unwrap();
    assert!(status.available, "{status:?}");
    println!("{:?}", status.about);

    let started = Instant::now();
    let model = engines.open(&local, &settings, &cancel).await.unwrap();
    println!("started in {:?}", started.elapsed());
    let (pid, line) = servers().into_iter().next().expect("no server runs");
    assert!(line.contains("127.0.0.1"), "{line}");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let key = environment
        .split('\0')
        .find_map(|pair| pair.strip_prefix("LLAMA_API_KEY="))
        .unwrap();
    assert_eq!(key.len(), 64);
    assert!(!line.contains(key), "the key stands in the command line");
    assert!(
        !environment.contains("OPENAI"),
        "the keys of other servers are none of its business"
    );

    let port: u16 = line
        .split(" --port ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        status_without_key(port).await,
        "401",
        "a request without the key is refused"
    );

    let free = ask(&*model, request(false), &cancel).await;
    whole(&free);
    // A form that cannot grow past the token limit, however much a small model likes to talk.
    let mut form = request(true);
    form.schema = Some(ReplySchema {
        name: "verdict".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "verdict": { "type": "string", "enum": ["yes", "no"] } },
            "required": ["verdict"],
            "additionalProperties": false,
        }),
    });
    let shaped = ask(&*model, form, &cancel).await;
    whole(&shaped);
    let value: serde_json::Value = serde_json::from_str(&shaped.text).expect("a schema makes JSON");
    assert!(value["verdict"] == "yes" || value["verdict"] == "no", "{value}");

    let again = engines.open(&local, &settings, &cancel).await.unwrap();
    assert_eq!(
        servers().len(),
        1,
        "the next question finds the server of the last"
    );
    assert_eq!(servers()[0].0, pid);

    let killed = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    whole(&ask(&*again, request(false), &cancel).await);
    let (next, _) = servers().into_iter().next().expect("no server runs");
    assert_ne!(next, pid, "a server that crashed is started again");

    engines.close().await;
    assert_eq!(servers().len(), 0, "the server outlives its engine");
}

/// Status of a request that another program of this computer might make.
#[cfg(target_os = "linux")]
async fn status_without_key(port: u16) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let body = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n";
    let length = body.len();
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    String::from_utf8_lossy(&start[9..]).into_owned()
}

#[cfg(target_os = "linux")]
fn whole(told: &Told) {
    assert_eq!(told.error, None, "after `{}`", told.text);
    assert!(!told.text.is_empty(), "nothing was said");
    let (read, wrote) = told.usage.expect("llama-server counts");
    assert!(read > 0 && wrote > 0);
    println!("{read} tokens read, {wrote} written: {}", told.text);
}
