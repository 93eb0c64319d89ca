//! The fake and the conformance suite of this port.
