//! Binding of ligands to receptors.

use super::formula::{library, real};

library! {
    /// `bmax ((x + receptor + kd) − √((x + receptor + kd)² − 4 x receptor)) / (2 receptor)`: binding to one kind of site, by which
    /// the free ligand is depleted.
    ///
    /// `x ≥ 0` is the total concentration of the ligand, `bmax` the signal of occupied receptors (unit of `y`), `kd` the dissociation
    /// constant, `receptor` the concentration of receptors (both in the unit of `x`). For `receptor → 0` it is
    /// [`MichaelisMenten`](super::MichaelisMenten). GraphPad Prism: "One site – Specific binding with ligand depletion".
    BindingWithDepletion(
        "binding_with_depletion",
        "bmax (x + receptor + kd - sqrt((x + receptor + kd)^2 - 4 x receptor)) / (2 receptor)"
    ) {
        response: |x; bmax, kd, receptor| {
            // The smaller root by the larger one, whose discriminant is a sum of positive numbers: nothing cancels.
            let (x, two) = (S::constant(x), real::<S>(2.0));
            let difference = x - receptor;
            let both = x + receptor;
            let root = (difference * difference + kd * (kd + both * two)).sqrt();
            bmax * x * two / (both + kd + root)
        },
        linear: [0],
        axes: |look| [look.positive(), look.positive()],
        derived: [("half_saturation", "kd + receptor / 2")],
    }
}
