//! Packages of the operating system. Debian and its relatives: through apt, as root or with a password-less
//! sudo, else the exact command is printed. Elsewhere the packages are named and nothing is touched.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{process, report};

/// To build and to show a window.
const BUILD: [&str; 9] = [
    "build-essential",
    "pkg-config",
    "libwebkit2gtk-4.1-dev",
    "libayatana-appindicator3-dev",
    "xvfb",
    "xauth",
    "dbus",
    "webkit2gtk-driver",
    "fonts-dejavu-core",
];

/// For tests that look at the window and press its keys.
const EYES: [&str; 3] = ["imagemagick", "x11-utils", "xdotool"];

/// For pages that are pictures.
const OCR: [&str; 2] = ["tesseract-ocr", "poppler-utils"];

pub fn ensure(ocr: bool) -> Result<()> {
    if cfg!(target_os = "linux") {
        if process::find_on_path("dpkg-query").is_some() && process::find_on_path("apt-get").is_some() {
            return ensure_debian(ocr);
        }
        return ensure_other_linux(ocr);
    }
    if cfg!(target_os = "macos") {
        if !process::succeeds(Command::new("xcode-select").arg("-p")) {
            return Err(report::hinted(
                "the compiler tools of macOS are missing",
                "run `xcode-select --install`",
            ));
        }
        return Ok(());
    }
    if cfg!(windows) {
        report::notice(
            "Tauri needs the Microsoft C++ Build Tools (desktop development with C++) and the WebView2 runtime",
        );
    }
    Ok(())
}

fn ensure_debian(ocr: bool) -> Result<()> {
    let mut wanted: Vec<&str> = BUILD.iter().chain(&EYES).copied().collect();
    if ocr {
        wanted.extend(OCR);
    }
    if !process::succeeds(Command::new("python3").args(["-m", "pip", "--version"])) {
        wanted.push("python3-pip");
    }
    let present = installed(&wanted)?;
    let missing: Vec<&str> = wanted
        .into_iter()
        .filter(|name| !present.iter().any(|have| have == name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    report::step(format!("installing {}", missing.join(" ")));
    let Some(prefix) = privilege() else {
        return Err(report::hinted(
            format!("system packages are missing: {}", missing.join(" ")),
            format!("run `sudo {command}`, then this command again"),
        ));
    };
    // An old list of packages is the usual reason for a package that cannot be found.
    if let Err(error) = process::run(apt(prefix).arg("-qq").arg("update")) {
        report::notice(format!("the package lists were not renewed: {error:#}"));
    }
    let mut install = apt(prefix);
    install
        .args(["-qq", "install", "-y", "--no-install-recommends"])
        .args(&missing);
    process::run(&mut install)
        .map_err(|error| report::hinted(format!("{error:#}"), format!("try `sudo {command}` by hand")))
}

/// The words before `apt-get` that give us the right to install, if there are any.
fn privilege() -> Option<&'static [&'static str]> {
    let own = process::capture(Command::new("id").arg("-u")).ok()?;
    if own.trim() == "0" {
        return Some(&[]);
    }
    let may = process::find_on_path("sudo").is_some()
        && process::succeeds(Command::new("sudo").args(["-n", "true"]));
    may.then_some(&["sudo", "-n"])
}

fn apt(prefix: &[&str]) -> Command {
    let mut words = prefix
        .iter()
        .copied()
        .chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    let mut command = Command::new(words.next().unwrap_or("apt-get"));
    command.args(words).stdin(std::process::Stdio::null());
    command
}

/// Those of the packages that are installed and configured.
fn installed(wanted: &[&str]) -> Result<Vec<String>> {
    // The exit code is 1 as soon as one package is unknown; the list is right all the same.
    let output = Command::new("dpkg-query")
        .args(["-W", "-f=${Package} ${db:Status-Abbrev}\n"])
        .args(wanted)
        .output()
        .context("`dpkg-query` could not be started")?;
    Ok(parse_installed(&String::from_utf8_lossy(&output.stdout)))
}

fn parse_installed(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, state)| state.trim() == "ii")
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn ensure_other_linux(ocr: bool) -> Result<()> {
    let mut missing = Vec::new();
    for (library, names) in [
        (
            "webkit2gtk-4.1",
            "webkit2gtk 4.1 (Fedora: webkit2gtk4.1-devel, Arch: webkit2gtk-4.1)",
        ),
        (
            "ayatana-appindicator3-0.1",
            "ayatana-appindicator (Fedora: libayatana-appindicator-gtk3-devel, Arch: libayatana-appindicator)",
        ),
    ] {
        if !process::succeeds(Command::new("pkg-config").args(["--exists", library])) {
            missing.push(names);
        }
    }
    for (program, names) in [
        ("cc", "a C compiler and pkg-config"),
        (
            "Xvfb",
            "Xvfb with xvfb-run (Fedora: xorg-x11-server-Xvfb, Arch: xorg-server-xvfb)",
        ),
        ("dbus-run-session", "dbus"),
        (
            "WebKitWebDriver",
            "WebKitWebDriver (Fedora: webkit2gtk-driver, Arch: part of webkit2gtk-4.1)",
        ),
    ] {
        if process::find_on_path(program).is_none() {
            missing.push(names);
        }
    }
    if ocr && process::find_on_path("tesseract").is_none() {
        missing.push("tesseract and poppler's tools");
    }
    if !missing.is_empty() {
        bail!(
            "install these with your package manager, then run this command again:\n  {}",
            missing.join("\n  ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_was_removed_but_left_its_settings_is_missing() {
        let listing = "xvfb ii \nimagemagick rc \nxdotool un \ndbus ii \n";
        assert_eq!(parse_installed(listing), ["xvfb", "dbus"]);
    }

    #[test]
    fn apt_is_called_without_questions() {
        let command = apt(&["sudo", "-n"]);
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        assert_eq!(command.get_program(), "sudo");
        assert_eq!(words, ["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
}
