//! The sweeps over a tape: forward for values, in reverse for adjoints, forward again for tangents and curvatures.
//!
//! Every sweep works on a tile of a batch's rows at a time, small enough for values and adjoints to stay in the
//! second-level cache.

mod affine;
mod columns;
mod curvature;
mod factor_sums;
mod forward;
mod gradient;
mod jacobian;
mod masks;
mod outer_products;
mod paths;
mod positions;
mod reverse;
mod tangent;
mod uniform;
mod values;
mod workspace;

pub(crate) use factor_sums::FactorSums;
pub(crate) use forward::row_number;
pub(crate) use gradient::{FlatSums, GradientSums, LayerProducts};
pub(crate) use jacobian::{JacobianRows, RowProgress, WantedColumns};
pub(crate) use masks::{Masks, fill_signs, random_bits};
pub(crate) use paths::{coming_from, leading_to};
pub(crate) use reverse::{Nowhere, Sink, takes_stacks};
pub(crate) use workspace::{BatchTile, Workspace};
