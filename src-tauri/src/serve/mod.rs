//! `adrag serve`: the engine behind a door for programs, HTTP on this machine.
//!
//! Off unless started, loopback unless told otherwise, a token for every route. [`operation`] lists the routes with their
//! description; [`gate`] is what a request passes first; [`native`] answers in our words, [`compat`] in those of the source
//! system, so that its own front end works. Nothing here decides about documents or answers: that is the engine.

mod compat;
mod compat_shapes;
mod fault;
mod gate;
mod hub;
mod native;
mod openapi;
mod operation;
mod read;
mod stream;
mod upload;

pub use gate::Gate;
pub use operation::{Operation, Route};
pub use upload::stored_name;

use adrag_contract::{AppError, ErrorCode};
use adrag_core::Engine;
use axum::Router;
use hub::Hub;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Longest wait for open streams when the server stops.
const LEAVING_LIMIT: Duration = Duration::from_secs(3);

/// How the door is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 0 takes any free one.
    pub address: SocketAddr,
    /// What every request must show.
    pub token: String,
    /// Whether the routes of the source system are there too, without a token.
    pub compat: bool,
    /// Web pages of other origins that may ask, as `scheme://host[:port]`.
    pub origins: Vec<String>,
}

/// What the handlers share.
pub struct Served {
    /// The engine.
    pub engine: Arc<Engine>,
    hub: Arc<Hub>,
    /// Where uploaded files are kept.
    uploads: PathBuf,
    /// One at a time brings files there or takes them away.
    keeping: tokio::sync::Mutex<()>,
    /// Whether the routes of the source system are there.
    compat: bool,
    /// The server is about to end.
    closing: CancellationToken,
}

/// Handlers get at it like this.
pub type Shared = Arc<Served>;

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    closing: CancellationToken,
}

impl Server {
    /// Takes the port and prepares the folder of uploads under `data_dir`; what lies there without a document is removed.
    ///
    /// # Errors
    /// When the port is taken or the folder cannot be written.
    pub async fn bind(engine: Arc<Engine>, data_dir: &Path, options: Options) -> Result<Self, AppError> {
        let taken = |error: std::io::Error| {
            AppError::new(
                ErrorCode::InvalidRequest,
                format!("`{}` cannot be listened on: {error}", options.address),
            )
            .with_hint("choose another port with `--port N`; 0 takes any free one")
        };
        let listener = TcpListener::bind(options.address).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        let uploads = upload::prepare(&engine, data_dir).await?;
        let closing = CancellationToken::new();
        let shared = Arc::new(Served {
            hub: Hub::listening(&engine),
            engine,
            uploads,
            keeping: tokio::sync::Mutex::default(),
            compat: options.compat,
            closing: closing.clone(),
        });
        let gate = Arc::new(Gate::new(options, address));
        Ok(Self {
            listener,
            address,
            router: router(shared, gate),
            closing,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is ready, then lets what is under way end.
    ///
    /// # Errors
    /// When the listener breaks.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), AppError> {
        let closing = self.closing.clone();
        let leaving = async move {
            stop.await;
            closing.cancel();
        };
        let serving = axum::serve(self.listener, self.router).with_graceful_shutdown(leaving);
        let late = async {
            self.closing.cancelled().await;
            tokio::time::sleep(LEAVING_LIMIT).await;
        };
        tokio::select! {
            served = async { serving.await } => served.map_err(|error| {
                AppError::new(ErrorCode::Internal, format!("the server broke down: {error}"))
            }),
            () = late => Ok(()),
        }
    }
}

fn router(shared: Shared, gate: Arc<Gate>) -> Router {
    let mut router = Router::new();
    for operation in Operation::ALL {
        if shared.compat || !operation.route().compat {
            router = router.route(operation.route().path, operation.handler());
        }
    }
    router
        .fallback(fault::no_such_route)
        .method_not_allowed_fallback(fault::no_such_method)
        .layer(axum::middleware::from_fn_with_state(gate, gate::pass))
        .with_state(shared)
}
