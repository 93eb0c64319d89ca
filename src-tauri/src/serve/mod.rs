//! A door for programs: the engine over HTTP on this computer, off unless `adrag serve` runs.
//!
//! Loopback only. Every request needs the token printed at start, but in the compatible mode, whose front end knows none. Host and
//! Origin are looked at on every request, so that no page of the web can reach it through a browser. `native.rs` has our own
//! routes, `compat.rs` those of the source system, `openapi.rs` their description.

mod compat;
mod guard;
mod native;
mod openapi;
mod reply;
mod stream;
mod upload;

use adrag_contract::{AppError, ErrorCode};
use adrag_core::Engine;
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// How the door is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The port; 0 lets the system choose one.
    pub port: u16,
    /// Whether the paths and frames of the source system are served instead of our own.
    pub compat: bool,
    /// Origins of pages that may call besides pages served from here.
    pub allow_origins: Vec<String>,
    /// Where uploaded files are kept.
    pub uploads: PathBuf,
}

/// What handlers reach.
#[derive(Clone)]
struct Door {
    engine: Arc<Engine>,
    events: stream::Events,
    guard: Arc<guard::Guard>,
    uploads: Arc<PathBuf>,
}

/// An open door.
pub struct Server {
    address: SocketAddr,
    token: Option<String>,
    listener: TcpListener,
    router: Router,
}

impl Server {
    /// Opens the door; nothing is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn open(engine: Arc<Engine>, options: Options) -> Result<Self, AppError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .await
            .map_err(|error| {
                AppError::new(
                    ErrorCode::InvalidRequest,
                    format!("port {} cannot be used: {error}", options.port),
                )
                .with_hint("choose another with --port, or 0 for any that is free")
            })?;
        let address = listener
            .local_addr()
            .map_err(|error| AppError::new(ErrorCode::Internal, format!("no address: {error}")))?;
        let token = (!options.compat).then(guard::new_token);
        let door = Door {
            events: stream::Events::of(&engine),
            engine,
            guard: Arc::new(guard::Guard::new(
                address.port(),
                token.clone(),
                options.allow_origins,
            )),
            uploads: Arc::new(options.uploads),
        };
        let routes = if options.compat {
            compat::routes()
        } else {
            native::routes()
        };
        let router = routes
            .fallback(reply::no_such_path)
            .method_not_allowed_fallback(reply::no_such_method)
            .layer(axum::extract::DefaultBodyLimit::disable())
            .layer(from_fn_with_state(door.guard.clone(), guard::check))
            .with_state(door);
        Ok(Self {
            address,
            token,
            listener,
            router,
        })
    }

    /// Where it is reached.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The token every request must carry; none in the compatible mode.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Answers until `stop` ends. Streams under way are cut then: their runs are stopped.
    ///
    /// # Errors
    /// When the listener breaks.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), AppError> {
        let serving = async {
            axum::serve(self.listener, self.router)
                .await
                .map_err(|error| AppError::new(ErrorCode::Internal, format!("the server broke: {error}")))
        };
        tokio::select! {
            ended = serving => ended,
            () = stop => Ok(()),
        }
    }
}
