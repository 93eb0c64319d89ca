//! The program `adrag`: hands over to the library so that tests reach everything.

fn main() -> std::process::ExitCode {
    adrag::main()
}
