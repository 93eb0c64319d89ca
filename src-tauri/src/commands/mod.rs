//! The commands the window may give: one Tauri command for each entry of the contract's list, by the same name.
//!
//! [`for_each_command!`](adrag_contract::for_each_command) writes the handlers, so a command without a body does not
//! compile. Every one takes `{ "request": ... }` and answers its reply or an [`AppError`](adrag_contract::AppError).
//! The bodies only wait for the engine, call it and hand its reply on.

mod answering;
mod envelope;
mod library;
mod preferences;

pub use handlers::handler;

use crate::desktop::Desktop;
use crate::session::Session;
use std::path::PathBuf;
use std::sync::Arc;

/// What command bodies reach.
#[derive(Clone)]
pub struct Reach {
    /// The engine, once it is open.
    pub session: Session,
    /// The desktop around the program.
    pub desktop: Arc<dyn Desktop>,
    /// The sample documents, where the program came with any.
    pub samples: Option<PathBuf>,
}

mod bodies {
    pub use super::answering::*;
    pub use super::library::*;
    pub use super::preferences::*;
}

mod handlers {
    use super::envelope::Request;
    use super::{Reach, bodies};
    use adrag_contract::AppError;
    use tauri::State;
    use tauri::ipc::Invoke;

    macro_rules! handlers {
        ($($(#[$doc:meta])* $name:ident: $marker:ident($request:ty) -> $reply:ty;)*) => {
            $(
                #[tauri::command]
                async fn $name(reach: State<'_, Reach>, request: Request<$request>) -> Result<$reply, AppError> {
                    let reach = reach.inner().clone();
                    bodies::$name(reach, request.into_inner()).await
                }
            )*

            /// Answers every command of the list and nothing else.
            pub fn handler<R: tauri::Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
                tauri::generate_handler![$($name),*]
            }
        };
    }
    adrag_contract::for_each_command!(handlers);
}
