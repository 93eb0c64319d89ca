//! Files of a model hub over HTTPS: resumed where an earlier run broke off, and quick to give up when the hub
//! cannot be reached. What was downloaded is verified elsewhere.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

use crate::report::Progress;

const CONNECT: Duration = Duration::from_secs(4);
const FIRST_BYTE: Duration = Duration::from_secs(15);
const SILENCE: Duration = Duration::from_secs(60);

/// Why a file did not come.
#[derive(Debug)]
pub enum HubFailure {
    /// There is no hub from here; asking for another file would take as long again.
    Unreachable(String),
    /// The hub answered, but not with the file.
    Refused(String),
    /// It began and broke off; what came is kept for the next run.
    Broken(String),
}

pub struct Hub {
    agent: Agent,
}

impl Hub {
    /// `only_https` is false in tests alone.
    pub fn new(only_https: bool) -> Self {
        let settings = Agent::config_builder()
            .https_only(only_https)
            .http_status_as_error(false)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(FIRST_BYTE))
            .timeout_per_read(Some(SILENCE))
            .build();
        Self {
            agent: Agent::new_with_config(settings),
        }
    }

    /// Downloads into `part`, going on where it ends when the hub can do that.
    pub fn download(
        &self,
        url: &str,
        part: &Path,
        label: &str,
        expected: Option<u64>,
        limit: u64,
    ) -> Result<(), HubFailure> {
        let present = std::fs::metadata(part)
            .map(|found| found.len())
            .unwrap_or_default();
        if present > 0 && expected == Some(present) {
            return Ok(());
        }
        let answer = self.ask(url, present)?;
        let (answer, from) = match answer.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(&answer, present) => (answer, present),
            StatusCode::OK => (answer, 0),
            // The piece we have does not fit the hub's file: from the start, once.
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT if present > 0 => {
                (self.ask(url, 0)?, 0)
            }
            other => return Err(refusal(other)),
        };
        if !answer.status().is_success() {
            return Err(refusal(answer.status()));
        }
        self.write(answer, part, label, from, expected.unwrap_or(limit))
    }

    fn ask(&self, url: &str, from: u64) -> Result<Response<Body>, HubFailure> {
        // A compressed answer would count other bytes than the file has.
        let mut request = self.agent.get(url).header(header::ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        request
            .call()
            .map_err(|error| HubFailure::Unreachable(error.to_string()))
    }

    fn write(
        &self,
        answer: Response<Body>,
        part: &Path,
        label: &str,
        from: u64,
        most: u64,
    ) -> Result<(), HubFailure> {
        let broken = |error: std::io::Error| HubFailure::Broken(error.to_string());
        let mut options = File::options();
        options.create(true).write(true);
        let mut file = if from > 0 {
            options.append(true)
        } else {
            options.truncate(true)
        }
        .open(part)
        .map_err(broken)?;
        let total = answer.body().content_length().map(|rest| from + rest);
        let mut progress = Progress::new(label, from, total);
        let mut source = answer.into_body().into_with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0; 1 << 17];
        let mut written = from;
        loop {
            let count = source.read(&mut buffer).map_err(broken)?;
            if count == 0 {
                break;
            }
            written += count as u64;
            if written > most {
                return Err(HubFailure::Refused(format!(
                    "the file is larger than {most} bytes"
                )));
            }
            file.write_all(&buffer[..count]).map_err(broken)?;
            progress.add(count as u64);
        }
        progress.finish();
        Ok(())
    }
}

/// A gate between us and the hub answers every address alike; a missing file is a word about that file only.
fn refusal(status: StatusCode) -> HubFailure {
    let said = format!("it answered {}", status.as_u16());
    if status == StatusCode::NOT_FOUND || status == StatusCode::GONE {
        HubFailure::Refused(said)
    } else {
        HubFailure::Unreachable(said)
    }
}

fn starts_at(answer: &Response<Body>, from: u64) -> bool {
    answer
        .headers()
        .get(header::CONTENT_RANGE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with(&format!("bytes {from}-")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};

    const CONTENT: &str = "0123456789";

    /// A hub on this machine that answers each connection with the next of `answers`.
    fn hub(answers: Vec<fn(&mut TcpStream, &str)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/file", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut request).unwrap() > 2 {}
                answer(&mut stream, &request.to_lowercase());
            }
        });
        address
    }

    fn whole(stream: &mut TcpStream, _: &str) {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{CONTENT}"
        )
        .unwrap();
    }

    fn first_half(stream: &mut TcpStream, _: &str) {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n01234"
        )
        .unwrap();
    }

    fn rest(stream: &mut TcpStream, request: &str) {
        assert!(request.contains("range: bytes=5-"), "{request}");
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5";
        write!(stream, "{head}\r\nConnection: close\r\n\r\n56789").unwrap();
    }

    fn unsatisfiable(stream: &mut TcpStream, _: &str) {
        write!(
            stream,
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
    }

    fn forbidden(stream: &mut TcpStream, _: &str) {
        write!(
            stream,
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
    }

    fn absent(stream: &mut TcpStream, _: &str) {
        write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
    }

    fn get(url: &str, part: &Path) -> Result<(), HubFailure> {
        Hub::new(false).download(url, part, "file", None, 1_000)
    }

    #[test]
    fn a_download_that_broke_off_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        let url = hub(vec![first_half, rest]);
        assert!(matches!(get(&url, &part), Err(HubFailure::Broken(_))));
        assert_eq!(std::fs::read_to_string(&part).unwrap(), "01234");
        get(&url, &part).unwrap();
        assert_eq!(std::fs::read_to_string(&part).unwrap(), CONTENT);
    }

    #[test]
    fn a_hub_that_cannot_resume_sends_everything_again() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        std::fs::write(&part, "stale").unwrap();
        get(&hub(vec![whole]), &part).unwrap();
        assert_eq!(std::fs::read_to_string(&part).unwrap(), CONTENT);
        std::fs::write(&part, "far too long a piece").unwrap();
        get(&hub(vec![unsatisfiable, whole]), &part).unwrap();
        assert_eq!(std::fs::read_to_string(&part).unwrap(), CONTENT);
    }

    #[test]
    fn failures_tell_a_missing_file_from_a_missing_hub() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("part");
        assert!(matches!(
            get(&hub(vec![absent]), &part),
            Err(HubFailure::Refused(_))
        ));
        assert!(matches!(
            get(&hub(vec![forbidden]), &part),
            Err(HubFailure::Unreachable(_))
        ));
        assert!(matches!(
            get("http://127.0.0.1:1/file", &part),
            Err(HubFailure::Unreachable(_))
        ));
    }

    #[test]
    fn an_answer_larger_than_the_limit_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let result =
            Hub::new(false).download(&hub(vec![whole]), &folder.path().join("part"), "file", None, 9);
        assert!(matches!(result, Err(HubFailure::Refused(_))));
    }
}
