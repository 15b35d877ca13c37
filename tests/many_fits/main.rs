//! Many fits at once: each is what it would be alone.

mod agreement;
mod bad_input;
mod bad_rows;
mod bounded;
mod counts;
mod curves;
mod extremes;
mod far_starts;
mod fixed_and_tied;
mod inference;
mod least_cost;
mod many_parameters;
mod robust_losses;
mod running;
mod settings;
mod single_fits;
#[path = "../../benches/workloads/mod.rs"]
mod workloads;
