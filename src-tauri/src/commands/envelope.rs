//! The envelope of a command's request. A request that does not fit is refused with an `AppError` like any other
//! fault, where Tauri's own extraction would answer with a bare string.

use adrag_contract::{AppError, ErrorCode};
use serde::de::DeserializeOwned;
use tauri::Runtime;
use tauri::ipc::{CommandArg, CommandItem, InvokeError};

/// The `request` argument of a command. It is not `Deserialize` itself: that would bring Tauri's extraction back.
pub struct Request<T>(T);

impl<T> Request<T> {
    /// The request.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<'de, T: DeserializeOwned, R: Runtime> CommandArg<'de, R> for Request<T> {
    fn from_command(command: CommandItem<'de, R>) -> Result<Self, InvokeError> {
        let name = command.name;
        T::deserialize(command).map(Self).map_err(|error| {
            let error = AppError::new(
                ErrorCode::InvalidRequest,
                format!("the request of `{name}` cannot be read: {error}"),
            );
            InvokeError::from(error)
        })
    }
}
