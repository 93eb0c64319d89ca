//! The browser around the screen, as plain functions: focus, scrolling, clipboard, keys, storage, time.

use adrag_contract::{AppError, ErrorCode, Theme};
use leptos::prelude::IntoView;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Document, Element, HtmlDialogElement, HtmlElement, KeyboardEvent, PointerEvent, Window};

fn window() -> Option<Window> {
    web_sys::window()
}

fn document() -> Option<Document> {
    window()?.document()
}

fn element(id: &str) -> Option<Element> {
    document()?.get_element_by_id(id)
}

/// Puts the screen into the page's `#app`, or its body when there is none.
pub fn mount<V: IntoView + 'static>(view: impl FnOnce() -> V + 'static) {
    match element("app").and_then(|place| place.dyn_into::<HtmlElement>().ok()) {
        Some(place) => leptos::mount::mount_to(place, view).forget(),
        None => leptos::mount::mount_to_body(view),
    }
}

/// A key as shortcuts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name, as the browser gives it: `j`, `Escape`, `ArrowUp`.
    pub name: String,
    /// Control, or Command on a Mac.
    pub command: bool,
    /// Alt or Option.
    pub alt: bool,
    /// Whether the person is typing into a field.
    pub typing: bool,
}

/// Listens to keys, for as long as the window lives; one for which `handler` says true goes no further.
pub fn on_key(handler: impl Fn(&Key) -> bool + 'static) {
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        // While an input method composes a character, Enter and Escape belong to it.
        if event.is_composing() {
            return;
        }
        let key = Key {
            name: event.key(),
            command: event.ctrl_key() || event.meta_key(),
            alt: event.alt_key(),
            typing: is_typing(),
        };
        if handler(&key) {
            event.prevent_default();
        }
    });
    listen("keydown", listener.into_js_value());
}

fn is_typing() -> bool {
    let name = document()
        .and_then(|document| document.active_element())
        .map(|element| element.tag_name());
    name.is_some_and(|name| matches!(name.as_str(), "INPUT" | "TEXTAREA" | "SELECT"))
}

fn listen(event: &str, listener: JsValue) {
    if let Some(window) = window() {
        // The window is there, so this cannot fail.
        let _ = window.add_event_listener_with_callback(event, listener.unchecked_ref());
    }
}

/// Whether the key event is one of an input method at work.
pub fn is_composing(event: &KeyboardEvent) -> bool {
    event.is_composing()
}

/// The fragment of the address.
pub fn fragment() -> String {
    window()
        .and_then(|window| window.location().hash().ok())
        .unwrap_or_default()
}

/// Goes to a fragment.
pub fn set_fragment(fragment: &str) {
    if let Some(window) = window() {
        // Setting a fragment never leaves the page, so there is nothing that could be refused.
        let _ = window.location().set_hash(fragment);
    }
}

/// Listens to the fragment, for as long as the window lives.
pub fn on_fragment(handler: impl Fn(String) + 'static) {
    listen(
        "hashchange",
        Closure::<dyn Fn()>::new(move || handler(fragment())).into_js_value(),
    );
}

/// The query of the address, which steers the demo only.
pub fn query() -> String {
    window()
        .and_then(|window| window.location().search().ok())
        .unwrap_or_default()
}

/// Moves the focus.
pub fn focus(id: &str) {
    if let Some(element) = element(id).and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // An element that cannot take the focus leaves it where it is.
        let _ = element.focus();
    }
}

/// Moves the focus to the first element that a selector finds, and brings it into view.
pub fn focus_first(selector: &str) {
    let found = document().and_then(|document| document.query_selector(selector).ok()?);
    if let Some(element) = found.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // The focus brings it into view as well.
        let _ = element.focus();
    }
}

/// Where something floating belongs: left and bottom edge of what the event happened to, and the window's size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anchor {
    /// Left edge, pixels.
    pub left: f64,
    /// Upper edge, pixels.
    pub top: f64,
    /// Lower edge, pixels.
    pub bottom: f64,
    /// Width of the window.
    pub window_width: f64,
    /// Height of the window.
    pub window_height: f64,
}

/// The anchor of an event's element.
pub fn anchor(event: &web_sys::Event) -> Anchor {
    let Some(element) = event
        .current_target()
        .and_then(|target| target.dyn_into::<Element>().ok())
    else {
        return Anchor::default();
    };
    let edges = element.get_bounding_client_rect();
    let height = window()
        .and_then(|window| window.inner_height().ok()?.as_f64())
        .unwrap_or(0.0);
    Anchor {
        left: edges.left(),
        top: edges.top(),
        bottom: edges.bottom(),
        window_width: window_width(),
        window_height: height,
    }
}

/// Brings an element into the middle of what scrolls around it.
pub fn scroll_into_view(id: &str) {
    if let Some(element) = element(id) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Center);
        options.set_behavior(web_sys::ScrollBehavior::Auto);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
}

/// Scrolls an element to its end.
pub fn scroll_to_end(id: &str) {
    if let Some(element) = element(id) {
        element.set_scroll_top(element.scroll_height());
    }
}

/// Whether an element is scrolled to its end, or nearly.
pub fn is_at_end(id: &str) -> bool {
    const NEAR: i32 = 48;
    element(id)
        .is_none_or(|element| element.scroll_height() - element.scroll_top() - element.client_height() < NEAR)
}

/// How far an element is scrolled and how high it is, in pixels.
pub fn scroll_state(id: &str) -> (f64, f64) {
    element(id).map_or((0.0, 0.0), |element| {
        (
            f64::from(element.scroll_top()),
            f64::from(element.client_height()),
        )
    })
}

/// Width of the window in pixels.
pub fn window_width() -> f64 {
    window()
        .and_then(|window| window.inner_width().ok()?.as_f64())
        .unwrap_or(0.0)
}

/// Opens a dialog over everything else.
pub fn show_dialog(dialog: &HtmlDialogElement) {
    if !dialog.open() {
        // It is in the page and closed, so it can be opened.
        let _ = dialog.show_modal();
    }
}

/// Keeps a drag with this element until the button is released.
pub fn capture_pointer(event: &PointerEvent) {
    if let Some(element) = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
    {
        // A pointer that is gone already needs no capture.
        let _ = element.set_pointer_capture(event.pointer_id());
    }
}

/// Dresses the window.
pub fn set_theme(theme: Theme) {
    let Some(root) = document().and_then(|document| document.document_element()) else {
        return;
    };
    // A fixed attribute name is always a valid one.
    let _ = match theme {
        Theme::System => root.remove_attribute("data-theme"),
        Theme::Light => root.set_attribute("data-theme", "light"),
        Theme::Dark => root.set_attribute("data-theme", "dark"),
    };
}

/// Sets a custom property of the style sheets.
pub fn set_property(name: &str, value: &str) {
    let root = document().and_then(|document| document.document_element()?.dyn_into::<HtmlElement>().ok());
    if let Some(root) = root {
        // Names and values are our own.
        let _ = root.style().set_property(name, value);
    }
}

/// Something remembered by the window, not by the engine: sizes of panes, the open conversation.
pub fn remembered(key: &str) -> Option<String> {
    window()?
        .local_storage()
        .ok()??
        .get_item(&format!("adrag.{key}"))
        .ok()?
}

/// Remembers something; without a storage it is forgotten, which costs comfort only.
pub fn remember(key: &str, value: &str) {
    if let Some(Ok(Some(storage))) = window().map(|window| window.local_storage()) {
        let _ = storage.set_item(&format!("adrag.{key}"), value);
    }
}

/// Puts text onto the clipboard.
///
/// # Errors
/// When the system does not let the window.
pub async fn copy(text: &str) -> Result<(), AppError> {
    let refused = || AppError::new(ErrorCode::Internal, "the clipboard could not be written");
    let clipboard = window().ok_or_else(refused)?.navigator().clipboard();
    JsFuture::from(clipboard.write_text(text))
        .await
        .map(|_| ())
        .map_err(|_| refused())
}

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// The same moment, shifted so that days begin at local midnight.
pub fn local_ms(ms: i64) -> i64 {
    let offset = date(ms).get_timezone_offset();
    ms - (offset * 60_000.0) as i64
}

/// A date and time in the person's own way of writing.
pub fn date_time(ms: i64) -> String {
    let date = date(ms);
    let day = String::from(date.to_locale_date_string("default", &JsValue::UNDEFINED));
    format!("{day} {}", clock_time(ms))
}

/// Hour and minute, in the person's own way of writing.
pub fn clock_time(ms: i64) -> String {
    let options = js_sys::Object::new();
    for name in ["hour", "minute"] {
        // A plain object takes any property.
        let _ = js_sys::Reflect::set(&options, &name.into(), &"2-digit".into());
    }
    String::from(date(ms).to_locale_time_string_with_options("default", &options))
}

fn date(ms: i64) -> js_sys::Date {
    js_sys::Date::new(&JsValue::from_f64(ms as f64))
}

/// Waits.
pub async fn sleep(ms: u32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        if let Some(window) = window() {
            let ms = i32::try_from(ms).unwrap_or(i32::MAX);
            // Without a timer the promise stays open, as a wait without a clock must.
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
        }
    });
    let _ = JsFuture::from(promise).await;
}

/// Waits for the next frame to be drawn.
pub async fn next_frame() {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        if let Some(window) = window() {
            let _ = window.request_animation_frame(&resolve);
        }
    });
    let _ = JsFuture::from(promise).await;
}
