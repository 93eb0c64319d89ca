//! The shell as the window sees it: `window.__TAURI__`, commands by name and events. JSON both ways, as on the wire.

use super::FileDrag;
use adrag_contract::{AppError, ErrorCode, RunEvent};
use js_sys::{Function, JSON, Object, Promise, Reflect};
use serde_json::Value;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Functions the shell put into the page.
#[derive(Clone)]
pub struct Shell {
    invoke: Function,
    listen: Function,
}

impl Shell {
    /// The shell around this page, if there is one.
    pub fn find() -> Option<Self> {
        let tauri = member(&js_sys::global(), "__TAURI__")?;
        let function = |module: &str, name: &str| {
            member(&member(&tauri, module)?, name)?
                .dyn_into::<Function>()
                .ok()
        };
        Some(Self {
            invoke: function("core", "invoke")?,
            listen: function("event", "listen")?,
        })
    }

    /// Gives a command; the request travels as its one argument.
    pub async fn invoke(&self, name: &str, request: &Value) -> Result<Value, AppError> {
        let arguments = Object::new();
        let sent = to_script(request)?;
        Reflect::set(&arguments, &"request".into(), &sent).map_err(|_| lost(name))?;
        let promise = self
            .invoke
            .call2(&JsValue::NULL, &name.into(), &arguments)
            .map_err(|error| refused(name, &error))?;
        let reply = JsFuture::from(Promise::resolve(&promise))
            .await
            .map_err(|error| refused(name, &error))?;
        from_script(&reply).ok_or_else(|| lost(name))
    }

    /// Listens to run events.
    pub async fn on_run_event(&self, listener: impl Fn(RunEvent) + 'static) -> Result<(), AppError> {
        self.listen("run-event", move |payload| {
            // An event of another version leaves a gap, and the gap asks for a snapshot, which says what is wrong.
            if let Ok(event) = serde_json::from_value(payload) {
                listener(event);
            }
        })
        .await
    }

    /// Listens to files dragged over the window.
    pub async fn on_file_drag(&self, listener: impl Fn(FileDrag) + 'static) -> Result<(), AppError> {
        let listener = std::rc::Rc::new(listener);
        let entered = listener.clone();
        self.listen("tauri://drag-enter", move |_| entered(FileDrag::Entered))
            .await?;
        let left = listener.clone();
        self.listen("tauri://drag-leave", move |_| left(FileDrag::Left))
            .await?;
        self.listen("tauri://drag-drop", move |payload| {
            let paths = payload
                .get("paths")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            listener(FileDrag::Dropped(
                paths
                    .iter()
                    .filter_map(|path| path.as_str().map(str::to_owned))
                    .collect(),
            ));
        })
        .await
    }

    async fn listen(&self, name: &str, listener: impl Fn(Value) + 'static) -> Result<(), AppError> {
        let handler = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
            if let Some(payload) = member(&event, "payload").and_then(|payload| from_script(&payload)) {
                listener(payload);
            }
        });
        let function = handler.into_js_value();
        let promise = self
            .listen
            .call2(&JsValue::NULL, &name.into(), &function)
            .map_err(|error| refused(name, &error))?;
        JsFuture::from(Promise::resolve(&promise))
            .await
            .map_err(|error| refused(name, &error))?;
        Ok(())
    }
}

fn member(of: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(of, &name.into())
        .ok()
        .filter(|value| !value.is_undefined() && !value.is_null())
}

fn to_script(value: &Value) -> Result<JsValue, AppError> {
    JSON::parse(&value.to_string()).map_err(|_| lost("a request"))
}

fn from_script(value: &JsValue) -> Option<Value> {
    if value.is_undefined() || value.is_null() {
        return Some(Value::Null);
    }
    let text = JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_str(&text).ok()
}

/// The error a command was rejected with; text where the shell itself refused it.
fn refused(name: &str, error: &JsValue) -> AppError {
    if let Some(error) = from_script(error).and_then(|value| serde_json::from_value(value).ok()) {
        return error;
    }
    let why = error
        .as_string()
        .or_else(|| member(error, "message")?.as_string());
    AppError::new(
        ErrorCode::Internal,
        format!(
            "`{name}` was refused: {}",
            why.unwrap_or_else(|| "no reason given".to_owned())
        ),
    )
}

fn lost(name: &str) -> AppError {
    AppError::new(ErrorCode::Internal, format!("`{name}` could not be passed on"))
}
