//! Keys in the keychain of the operating system.
