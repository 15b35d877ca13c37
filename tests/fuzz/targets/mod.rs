//! Fuzz targets: functions that must not panic and must end, whatever bytes they are given. They return whether the input was
//! accepted.

pub mod checkpoint;
mod edits;
pub mod fits;
pub mod formula;
pub mod model_names;
pub mod optimizer_state;
pub mod safetensors;
pub mod table;
