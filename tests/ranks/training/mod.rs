//! Networks over ranks: whatever is computed is that of one rank with all rows, to the same bits on every rank, and what goes
//! wrong on one rank reaches all.

mod faults;
mod problems;
mod products;
mod resume;
mod steps;
mod trainings;
