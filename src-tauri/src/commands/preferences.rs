//! Commands about settings, keys, engines and the state of the program.

use super::Reach;
use adrag_contract::{AppError, DoctorReport, EngineStatus, KeyStatus, SaveKeyRequest, Settings};

pub async fn get_settings(reach: Reach, (): ()) -> Result<Settings, AppError> {
    Ok(reach.session.engine().await?.settings().await)
}

pub async fn save_settings(reach: Reach, settings: Settings) -> Result<(), AppError> {
    reach.session.engine().await?.save_settings(settings).await
}

pub async fn save_key(reach: Reach, request: SaveKeyRequest) -> Result<KeyStatus, AppError> {
    reach.session.engine().await?.save_key(&request).await
}

pub async fn list_keys(reach: Reach, (): ()) -> Result<Vec<KeyStatus>, AppError> {
    reach.session.engine().await?.list_keys().await
}

pub async fn probe_engines(reach: Reach, (): ()) -> Result<Vec<EngineStatus>, AppError> {
    Ok(reach.session.engine().await?.probe_engines().await)
}

pub async fn doctor(reach: Reach, (): ()) -> Result<DoctorReport, AppError> {
    Ok(reach.session.engine().await?.doctor().await)
}
