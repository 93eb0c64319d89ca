//! Who gets in, and how everyone else is told.

use super::door::{Door, filled};
use crate::program::Place;
use adrag::serve::Operation;
use serde_json::{Value, json};

/// An operation's path with an id in it.
fn path(operation: Operation) -> String {
    operation.route().path.replace("{id}", "nobody")
}

fn native() -> impl Iterator<Item = Operation> {
    Operation::ALL
        .into_iter()
        .filter(|operation| !operation.route().compat)
}

#[test]
fn every_route_without_the_token_is_401() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    assert!(door.token.len() >= 32);
    for operation in Operation::ALL {
        let method = operation.route().method.to_uppercase();
        for wrong in [None, Some("Bearer nonsense"), Some("Basic YTpi"), Some("")] {
            let mut request = door.bare(&method, &path(operation)).json(&json!({}));
            if let Some(wrong) = wrong {
                request = request.with("Authorization", wrong);
            }
            let answer = request.send();
            assert_eq!(answer.fault(401)["code"], "unauthorized", "{operation:?}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    for path in ["/", "/nowhere", "/v1", "/api/health"] {
        door.bare("GET", path).send().fault(401);
        let query = format!("{path}?token={}", door.token);
        door.bare("GET", &query).send().fault(401);
    }
}

#[test]
fn a_page_that_points_its_name_here_is_refused_even_with_the_token() {
    let place = Place::new();
    let door = Door::open(&place, &["--compat"]);
    let port = door.address.port();
    for path in ["/v1/health", "/api/health"] {
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            "127.0.0.1".to_owned(),
        ] {
            let answer = door.ask("GET", path).with("Host", &host).send();
            assert_eq!(answer.status, 403, "{path} {host}: {answer:?}");
        }
        let answer = door
            .ask("GET", path)
            .with("Host", &format!("localhost:{port}"))
            .send();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

#[test]
fn pages_of_other_origins_are_refused_unless_they_were_named() {
    let place = Place::new();
    let door = Door::open(&place, &["--allow-origin", "https://notes.example"]);
    for origin in ["http://evil.example", "null", "https://notes.example.evil"] {
        let answer = door.ask("GET", "/v1/health").with("Origin", origin).send();
        assert_eq!(answer.fault(403)["code"], "forbidden");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        let first = door
            .bare("OPTIONS", "/v1/ask")
            .with("Origin", origin)
            .with("Access-Control-Request-Method", "POST")
            .send();
        first.fault(403);
    }
    let named = "https://notes.example";
    let first = door
        .bare("OPTIONS", "/v1/ask")
        .with("Origin", named)
        .with("Access-Control-Request-Method", "POST")
        .send();
    assert_eq!(first.status, 204, "{first:?}");
    assert_eq!(first.header("access-control-allow-origin"), Some(named));
    door.bare("GET", "/v1/health")
        .with("Origin", named)
        .send()
        .fault(401);
    let answer = door.ask("GET", "/v1/health").with("Origin", named).send();
    assert_eq!(answer.is(200)["status"], "ok");
    assert_eq!(answer.header("access-control-allow-origin"), Some(named));
    let answer = door.ask("GET", "/v1/health").send();
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[test]
fn every_status_is_an_error_of_ours_in_json() {
    let place = filled();
    let door = Door::open(&place, &[]);
    let ask = |method: &str, path: &str| door.ask(method, path);
    let coded = |answer: super::door::Answer, status: u16, code: &str| {
        assert_eq!(answer.fault(status)["code"], code, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    };
    coded(ask("GET", "/nowhere").send(), 404, "not_found");
    coded(ask("GET", "/api/health").send(), 404, "not_found");
    coded(ask("GET", "/v1/runs/nobody/events").send(), 404, "not_found");
    coded(ask("DELETE", "/v1/runs/nobody").send(), 404, "not_found");
    coded(ask("DELETE", "/v1/documents/nobody").send(), 404, "not_found");
    coded(
        ask("GET", "/v1/documents?collection=none").send(),
        404,
        "not_found",
    );
    coded(ask("DELETE", "/v1/health").send(), 405, "method_not_allowed");
    coded(ask("PATCH", "/v1/ask").send(), 405, "method_not_allowed");
    coded(ask("DELETE", "/v1/documents").send(), 400, "invalid_request");
    coded(
        ask("DELETE", "/v1/documents?all=true&collection=default").send(),
        400,
        "invalid_request",
    );
    coded(
        ask("DELETE", "/v1/documents?everything=1").send(),
        400,
        "invalid_request",
    );
    coded(ask("GET", "/v1/documents/%ff").send(), 405, "method_not_allowed");
    coded(ask("DELETE", "/v1/documents/%ff").send(), 400, "invalid_request");
    for path in ["/v1/ask", "/v1/search"] {
        let post = |body: Value| ask("POST", path).json(&body).send();
        coded(
            ask("POST", path).body("text/plain", b"{}".to_vec()).send(),
            415,
            "unsupported_media_type",
        );
        coded(
            ask("POST", path).body("application/json", b"{".to_vec()).send(),
            400,
            "invalid_request",
        );
        coded(
            ask("POST", path)
                .body("application/json", b"\xff\xfe".to_vec())
                .send(),
            400,
            "invalid_request",
        );
        coded(post(json!({})), 400, "invalid_request");
        coded(post(json!({ "question": 42 })), 400, "invalid_request");
        coded(post(json!({ "question": " " })), 400, "invalid_request");
        coded(
            post(json!({ "question": "q", "collection": "none" })),
            404,
            "not_found",
        );
        coded(
            post(json!({ "question": "q", "base_url": "http://evil.example" })),
            400,
            "invalid_request",
        );
        coded(post(json!({ "question": "x".repeat(3 << 20) })), 413, "too_large");
    }
    let add = || ask("POST", "/v1/documents");
    coded(
        add().body("text/plain", b"x".to_vec()).send(),
        415,
        "unsupported_media_type",
    );
    coded(add().json(&json!({ "paths": [] })).send(), 400, "invalid_request");
    coded(
        add().json(&json!({ "paths": ["relative.txt"] })).send(),
        400,
        "invalid_request",
    );
    coded(
        add()
            .body("multipart/form-data; boundary=b", b"--b--\r\n".to_vec())
            .send(),
        400,
        "invalid_request",
    );
    coded(
        add().body("multipart/form-data", b"x".to_vec()).send(),
        400,
        "invalid_request",
    );
    coded(add().file("", b"text").send(), 400, "invalid_request");
    let announced = add()
        .body("multipart/form-data; boundary=b", b"--b\r\n".to_vec())
        .with("Content-Length", &(1_u64 << 40).to_string());
    coded(announced.send(), 413, "too_large");
}

#[test]
fn each_operation_answers_as_its_description_says() {
    let place = filled();
    let door = Door::open(&place, &["--compat"]);
    let described = door.ask("GET", "/v1/openapi.json").send().is(200);
    assert_eq!(described["openapi"], "3.1.0");
    let paths = described["paths"].as_object().unwrap();
    let count: usize = paths
        .values()
        .map(|methods| methods.as_object().unwrap().len())
        .sum();
    assert_eq!(count, Operation::ALL.len());
    let mut order: Vec<Operation> = Operation::ALL.to_vec();
    // Those that remove come last.
    order.sort_by_key(|operation| operation.route().method == "delete");
    for operation in order {
        let route = operation.route();
        let said = &paths[route.path][route.method];
        if door.ask("GET", "/v1/documents").send().is(200)["documents"] == json!([]) {
            door.ask("POST", "/v1/documents")
                .file("more.txt", b"More to remove.")
                .send()
                .is(200);
        }
        let run = door.ask("GET", "/v1/runs").send().is(200)["runs"][0]["run"].clone();
        let document = door.ask("GET", "/v1/documents").send().is(200)["documents"][0]["id"].clone();
        let id = if route.path.contains("runs") {
            run
        } else {
            document
        };
        let mut path = route.path.replace("{id}", id.as_str().unwrap_or("nobody"));
        if operation == Operation::ClearDocuments {
            path.push_str("?all=true");
        }
        let mut request = door.ask(&route.method.to_uppercase(), &path);
        request = match operation {
            Operation::Ask | Operation::Search => request.json(&json!({ "question": "Which bridge?" })),
            Operation::CompatQuery => request.json(&json!({ "query": "Which bridge?" })),
            Operation::AddDocuments | Operation::CompatUpload => {
                request.file("bread.txt", b"The loaf rests.")
            }
            _ => request,
        };
        let answer = request.send();
        assert_eq!(answer.status, 200, "{operation:?}: {answer:?}");
        let content = &said["responses"]["200"]["content"];
        let kind = answer.header("content-type").unwrap();
        let schema = &content[kind]["schema"];
        assert!(schema.is_object(), "{operation:?}: {kind} is not in {content}");
        if kind == "application/json" {
            let body: Value = serde_json::from_str(&answer.body).unwrap();
            let keys = |value: &Value| -> Vec<String> {
                value
                    .as_object()
                    .map(|map| map.keys().cloned().collect())
                    .unwrap_or_default()
            };
            if schema["properties"].is_object() {
                assert_eq!(keys(&body), keys(&schema["properties"]), "{operation:?}");
            }
        } else {
            assert!(answer.body.contains("data: {"), "{operation:?}: {answer:?}");
        }
    }
}

#[test]
fn without_compat_its_routes_are_not_described() {
    let place = Place::new();
    let door = Door::open(&place, &[]);
    let described = door.ask("GET", "/v1/openapi.json").send().is(200);
    let described: Vec<&String> = described["paths"].as_object().unwrap().keys().collect();
    assert!(native().all(|operation| described.contains(&&operation.route().path.to_owned())));
    assert!(
        !described.iter().any(|path| path.starts_with("/api")),
        "{described:?}"
    );
}

#[test]
fn another_machine_is_let_in_only_when_that_is_said() {
    let place = Place::new();
    for args in [
        &["serve", "--host", "0.0.0.0"][..],
        &["serve", "--host", "192.168.0.1"],
        &["serve", "--host", "example.org"],
        &["serve", "--host", "0.0.0.0", "--allow-remote", "--compat"],
        &["serve", "--allow-origin", "*"],
        &["serve", "--allow-origin", "http://a.example/path"],
        &["serve", "--port", "65536"],
    ] {
        place.run(args).exits(2);
    }
    assert!(!place.data().exists());
}

#[test]
fn the_token_of_a_file_is_kept_and_a_weak_one_refused() {
    let place = Place::new();
    let file = place.documents().join("token");
    let named = ["--token-file", file.to_str().unwrap()];
    let first = Door::open(&place, &named);
    assert_eq!(first.token, "", "a token that lies in a file is not printed");
    let token = std::fs::read_to_string(&file).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    }
    let bearer = format!("Bearer {token}");
    first
        .bare("GET", "/v1/health")
        .with("Authorization", &bearer)
        .send()
        .is(200);
    assert_eq!(first.terminate(), Some(0));
    let second = Door::open(&place, &named);
    second
        .bare("GET", "/v1/health")
        .with("Authorization", &bearer)
        .send()
        .is(200);
    assert_eq!(second.terminate(), Some(0));
    std::fs::write(&file, "short").unwrap();
    let ended = place.run(["serve", "--port", "0", named[0], named[1]]).exits(1);
    assert!(ended.stderr.contains("16"), "{ended:?}");
}

#[test]
fn one_folder_has_one_engine() {
    let place = filled();
    let door = Door::open(&place, &[]);
    let second = place.run(["documents", "--json"]).exits(1);
    assert_eq!(second.last()["error"]["code"], "data_folder_in_use");
    let taken = place.run(["serve", "--port", "0", "--json"]).exits(1);
    assert_eq!(taken.last()["error"]["code"], "data_folder_in_use");
    assert_eq!(door.terminate(), Some(0));
    place.run(["documents"]).exits(0);
}
