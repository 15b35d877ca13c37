//! Networks: tapes, layers, losses, optimizers and the training loop.

mod bad_batches;
#[path = "../common/mod.rs"]
mod common;
mod derivatives_by_inputs;
mod external;
mod faulty_network;
mod forms;
mod gauss_newton;
mod images;
mod kinks;
mod kronecker;
mod kronecker_damping;
mod kronecker_products;
mod kronecker_sketches;
mod kronecker_trust;
mod layers;
mod optimizers;
mod physics;
mod products;
mod random;
#[path = "../reference/mod.rs"]
mod reference;
mod reference_images;
mod reference_networks;
mod reference_sequences;
#[cfg(feature = "safetensors")]
mod reference_weights;
mod regressions;
mod sequences;
mod summary;
mod tape;
mod train;
mod training;
mod truncated;
mod units;
