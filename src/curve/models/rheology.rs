//! Flow curves: stress or viscosity of a fluid at a shear rate `x ≥ 0`, commonly in 1/s.

use super::dose_response::occupied;
use super::exponential::scaled_power;
use super::formula::{library, real, unless_zero};
use super::grid::Grid;
use super::look::{geometric, reciprocals, spaced};
use crate::scalar::Scalar;

library! {
    /// `yield_stress + consistency x^flow_index`: shear stress of a fluid that flows above a yield stress (Herschel and Bulkley).
    ///
    /// `yield_stress` is in the unit of `y` (Pa), `consistency` in Pa·sⁿ, `flow_index` has none: below 1 the fluid is shear-thinning,
    /// above it shear-thickening, at 1 it is [`Bingham`]'s. Without a yield stress it is [`PowerLaw`](super::PowerLaw) (Ostwald and
    /// de Waele). W. H. Herschel and R. Bulkley, Kolloid-Z. 39 (1926) 291.
    HerschelBulkley("herschel_bulkley", "yield_stress + consistency x^flow_index") {
        response: |x; yield_stress, consistency, flow_index|
            consistency * scaled_power(x, S::constant(real::<S>(1.0)), flow_index) + yield_stress,
        linear: [0, 1],
        axes: |_look| [geometric(0.1, 3.0, 31)],
    }

    /// `yield_stress + plastic_viscosity x`: shear stress of Bingham's plastic.
    ///
    /// `yield_stress` is in the unit of `y` (Pa), `plastic_viscosity` in units of `y` per unit of `x` (Pa·s).
    Bingham("bingham", "yield_stress + plastic_viscosity x") {
        response: |x; yield_stress, plastic_viscosity| plastic_viscosity * x + yield_stress,
        linear: [0, 1],
    }

    /// `(√yield_stress + √(plastic_viscosity x))²`: shear stress of Casson's fluid, such as blood or chocolate.
    ///
    /// `yield_stress > 0` is in the unit of `y` (Pa), `plastic_viscosity > 0` in units of `y` per unit of `x` (Pa·s).
    Casson("casson", "(sqrt(yield_stress) + sqrt(plastic_viscosity x))^2") {
        response: |x; yield_stress, plastic_viscosity| {
            let root = yield_stress.sqrt() + plastic_viscosity.sqrt() * x.sqrt();
            unless_zero(x, root * root, yield_stress)
        },
        linear: [],
        // With `yield_stress = critical plastic_viscosity` it is linear in the latter.
        start: |look| {
            let axes = vec![[vec![0.0], look.positive()].concat()];
            let grid = Grid { name: Some("casson"), linear: &[1], parameters: 2, axes };
            let best = look.best_on(grid, &|x, b, column| {
                let stress = |x: f64| b[1] * (b[0].sqrt() + x.sqrt()).powi(2);
                std::iter::zip(column, x).for_each(|(value, &x)| *value = stress(x));
            });
            let viscosity = best[1].abs();
            vec![(best[0] * viscosity).max(1e-6), viscosity.max(1e-6 / look.span())]
        },
        scale: |b, factor| b.iter_mut().for_each(|b| *b *= factor),
        derived: [("critical_rate", "yield_stress / plastic_viscosity")],
    }

    /// `eta_inf + (eta_0 − eta_inf) (1 + (lambda x)²)^((n − 1) / 2)`: viscosity between two plateaus (Carreau).
    ///
    /// `eta_0` and `eta_inf` are the viscosities at rest and at high rates (unit of `y`, Pa·s), `lambda` is a relaxation time
    /// (reciprocal unit of `x`, s), `n` the flow index (no unit, below 1 for shear thinning). P. J. Carreau, Trans. Soc. Rheol. 16
    /// (1972) 99.
    Carreau("carreau", "eta_inf + (eta_0 - eta_inf) (1 + (lambda x)^2)^((n - 1) / 2)") {
        response: |x; eta_0, eta_inf, lambda, n| {
            let one = S::constant(real::<S>(1.0));
            eta_inf + (eta_0 - eta_inf) * ((n - one) * one.hypot(lambda * x).ln()).exp()
        },
        linear: [0, 1],
        axes: |look| [reciprocals(&look.positive()), [spaced(-0.5, 0.9, 15), vec![1.1, 1.3]].concat()],
        derived: [("critical_rate", "1 / lambda")],
    }

    /// `eta_inf + (eta_0 − eta_inf) / (1 + (lambda x)^m)`: viscosity between two plateaus (Cross).
    ///
    /// `eta_0` and `eta_inf` are the viscosities at rest and at high rates (unit of `y`, Pa·s), `lambda` is a time (reciprocal unit
    /// of `x`, s), `m > 0` the exponent of thinning (no unit). M. M. Cross, J. Colloid Sci. 20 (1965) 417.
    Cross("cross", "eta_inf + (eta_0 - eta_inf) / (1 + (lambda x)^m)") {
        response: |x; eta_0, eta_inf, lambda, m| eta_inf + (eta_0 - eta_inf) * occupied(x, lambda.recip(), -m),
        linear: [0, 1],
        axes: |look| [reciprocals(&look.positive()), geometric(0.2, 4.0, 13)],
        derived: [("critical_rate", "1 / lambda")],
    }
}
