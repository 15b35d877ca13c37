//! Ranks that are threads: the communicator, and solves, curve fits and trainings whose rows ranks share.

#[path = "../common/mod.rs"]
mod common;
mod communicator;
mod curves;
#[path = "../networks/random.rs"]
mod random;
#[path = "../mpi/communicator.rs"]
mod scenarios;
mod solve;
mod training;

use communicator::Scenario;
