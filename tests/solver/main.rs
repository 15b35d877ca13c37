//! Levenberg–Marquardt on problems that are no networks: its mathematics, its answers on problems with known minima, and its
//! reports.

mod bad_input;
mod bounds;
mod classics;
#[path = "../common/mod.rs"]
mod common;
mod covariance;
mod damping;
mod derivatives;
mod graph;
mod graph_bounds;
mod graph_functions;
mod graph_growth;
mod graph_marginals;
mod manifold;
mod mathematics;
mod nist;
#[path = "../nist/mod.rs"]
mod nist_data;
#[path = "../reference/mod.rs"]
mod reference;
mod robust;
mod second_look;
mod separable;
mod sparsity;
mod termination;
mod textbook;
#[cfg(feature = "rayon")]
mod threads;
mod trust;
#[path = "../../benches/problems/mod.rs"]
mod workload_problems;
#[path = "../../benches/workloads/mod.rs"]
mod workloads;
