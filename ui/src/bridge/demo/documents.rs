//! The demo's documents: short texts of our own, with what a library shows of them.

use adrag_contract::{DocumentInfo, DocumentState, PageRange};

/// A document and its text.
pub struct Sample {
    /// Its id.
    pub id: &'static str,
    /// Where it pretends to lie.
    pub path: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Kind of file.
    pub kind: &'static str,
    /// Size of the file.
    pub bytes: u64,
    /// Pages, where there are any.
    pub pages: Option<u32>,
    /// Its text; empty when it could not be read.
    pub text: &'static str,
    /// Why it could not be read.
    pub reason: Option<&'static str>,
}

/// All of them.
pub const SAMPLES: &[Sample] = &[
    Sample {
        id: "demo-lease",
        path: "/documents/Documents/Quayside lease.pdf",
        title: "Lease of the Quayside workshop",
        kind: "pdf",
        bytes: 412_332,
        pages: Some(14),
        text: LEASE,
        reason: None,
    },
    Sample {
        id: "demo-kiln",
        path: "/documents/Documents/kiln-manual.md",
        title: "Kiln controller manual",
        kind: "markdown",
        bytes: 28_114,
        pages: None,
        text: KILN,
        reason: None,
    },
    Sample {
        id: "demo-survey",
        path: "/documents/Documents/survey-2024.docx",
        title: "Structural survey 2024",
        kind: "docx",
        bytes: 1_904_221,
        pages: Some(31),
        text: SURVEY,
        reason: None,
    },
    Sample {
        id: "demo-letter",
        path: "/documents/Documents/scanned letter.pdf",
        title: "scanned letter.pdf",
        kind: "pdf",
        bytes: 3_120_844,
        pages: Some(2),
        text: "",
        reason: Some("its two pages are images without a text layer"),
    },
];

const LEASE: &str = "14. Repairs\n\n14.1 The Tenant keeps the interior of the workshop in good and tenantable repair, fair wear and tear excepted. \
The Tenant redecorates the interior in the third year of the term and again in the last.\n\n\
14.2 The Landlord keeps the roof, the outer walls and the foundations in repair. The Landlord must begin works within twenty-eight days of \
receiving written notice of a defect, or within three days where the defect lets in water.\n\n\
14.3 If the Landlord does not begin in time, the Tenant may have the works done and may deduct the reasonable cost from the next quarter's rent.\n\n\
15. Ending the lease\n\n15.1 Either party may end the lease at the end of the fifth year by giving at least six months' notice in writing. \
Notice given by electronic mail is not notice in writing.\n\n\
15.2 On leaving, the Tenant removes every kiln and its flue and makes good the openings.";

const KILN: &str = "# Kiln controller manual\n\n## Firing\n\nThe controller raises the temperature along the programmed ramp and holds it for the soak time. \
A bisque firing ramps at 100 degrees an hour to 600 degrees, then at 150 degrees an hour to 1000 degrees.\n\n## Alarms\n\n\
E1 means that the thermocouple is open: the controller switches the relay off at once. E4 means that the temperature rises more slowly than a quarter of the ramp for \
twenty minutes, which points to a worn element or a low supply voltage.\n\n## Power\n\nThe kiln draws 9.6 kW and needs a supply of its own with a 45 A breaker.";

const SURVEY: &str = "4. Roof\n\nThe slates on the northern slope are sound. On the southern slope eleven slates are missing above the kiln room and daylight shows through the felt. \
We saw staining on the plaster below, consistent with rain entering for more than one winter.\n\n4.1 Recommendation\n\nThe missing slates should be replaced before the autumn. \
We estimate the cost at 3,800 including scaffolding.\n\n5. Electrical supply\n\nThe incoming supply is single-phase with an 80 A main fuse. There is no dedicated circuit to the kiln room.";

impl Sample {
    /// The document as a library lists it.
    pub fn info(&self, state: DocumentState, updated_at_ms: i64) -> DocumentInfo {
        let is_ready = state == DocumentState::Ready;
        DocumentInfo {
            id: self.id.into(),
            collection: "default".into(),
            path: self.path.to_owned(),
            title: self.title.to_owned(),
            kind: self.kind.to_owned(),
            state,
            reason: self.reason.filter(|_| state.is_final()).map(str::to_owned),
            bytes: self.bytes,
            chars: if is_ready { self.text.len() as u64 } else { 0 },
            pages: self.pages,
            chunks: if is_ready { self.chunks() } else { 0 },
            updated_at_ms,
        }
    }

    /// How many chunks it would have, were it as long as it claims.
    pub fn chunks(&self) -> u64 {
        if self.text.is_empty() {
            0
        } else {
            3 + self.bytes % 40
        }
    }

    /// Where the passage that begins with these words stands, up to the end of its paragraph.
    pub fn span(&self, begins: &str) -> (u64, u64) {
        let begin = self.text.find(begins).unwrap_or(0);
        let end = self.text[begin..]
            .find("\n\n")
            .map_or(self.text.len(), |length| begin + length);
        (begin as u64, end as u64)
    }

    /// Headings above a place and the page it is on.
    pub fn place(&self, at: u64) -> (Vec<String>, Option<PageRange>) {
        let before = &self.text[..self.text.floor_char_boundary(at as usize)];
        let heading = before
            .split("\n\n")
            .filter(|part| part.len() < 40 && !part.trim().is_empty())
            .last();
        let heading = heading.map(|heading| heading.trim_matches(['#', ' ']).to_owned());
        let page = self.pages.map(|pages| {
            let page = 1 + (at * u64::from(pages) / (self.text.len() as u64).max(1)) as u32;
            PageRange {
                first: page,
                last: page,
            }
        });
        (heading.into_iter().collect(), page)
    }
}

/// The document of an id.
pub fn sample(id: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_found_with_heading_and_page() {
        let lease = sample("demo-lease").unwrap();
        let span = lease.span("14.2 The Landlord");
        assert!(lease.text[span.0 as usize..span.1 as usize].ends_with("lets in water."));
        let (headings, pages) = lease.place(span.0);
        assert_eq!(headings, ["14. Repairs"]);
        assert!(pages.is_some_and(|pages| pages.first >= 1 && pages.last <= 14));
    }
}
