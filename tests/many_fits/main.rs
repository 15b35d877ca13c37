//! Many fits at once: each is what it would be alone.

mod agreement;
mod bad_input;
mod bad_rows;
mod curves;
mod least_cost;
mod running;
mod settings;
#[path = "../../benches/workloads/mod.rs"]
mod workloads;
