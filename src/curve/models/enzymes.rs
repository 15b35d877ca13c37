//! Rates of enzymes that are inhibited.

use super::formula::{library, real};

library! {
    /// `vmax x / (km + x (1 + x / ki))`: rate of an enzyme that its own substrate inhibits (Haldane).
    ///
    /// `x ≥ 0` is the concentration of the substrate, `vmax` the rate without inhibition (unit of `y`), `km` Michaelis' constant,
    /// `ki` the dissociation constant of the second substrate (both in the unit of `x`). The rate is largest at `√(km ki)`. For
    /// `ki → ∞` it is [`MichaelisMenten`](super::MichaelisMenten). GraphPad Prism: "Substrate inhibition".
    SubstrateInhibition("substrate_inhibition", "vmax x / (km + x (1 + x / ki))") {
        response: |x; vmax, km, ki| {
            let x = S::constant(x);
            vmax * x / (km + x * (x / ki + real::<S>(1.0)))
        },
        linear: [0],
        axes: |look| [look.positive(), look.positive()],
        derived: [
            ("optimum", "sqrt(km * ki)"),
            ("highest_rate", "vmax / (1 + 2 * sqrt(km / ki))"),
            ("efficiency", "vmax / km"),
        ],
    }

    /// `v0 (1 − ((et + x + k) − √((et + x + k)² − 4 et x)) / (2 et))` with `k = ki_app`: rate of an enzyme with a tight-binding
    /// inhibitor, of which the enzyme binds a considerable part (Morrison).
    ///
    /// `x ≥ 0` is the total concentration of the inhibitor, `v0` the rate without it (unit of `y`), `et` the concentration of active
    /// enzyme, `ki_app` the apparent inhibition constant (both in the unit of `x`). For a competitive inhibitor,
    /// `ki_app = ki (1 + s / km)` at a concentration `s` of the substrate. Where `ki_app` is much less than `et`, the data hardly
    /// determine it. J. F. Morrison, Biochim. Biophys. Acta 185 (1969) 269; GraphPad Prism: "Morrison Ki".
    Morrison("morrison", "v0 (1 - (et + x + ki_app - sqrt((et + x + ki_app)^2 - 4 et x)) / (2 et))") {
        response: |x; v0, et, ki_app| {
            // The free enzyme is the positive root of `e² − excess e − ki_app et = 0`. Neither form subtracts nearly equal numbers.
            let (zero, two) = (S::constant(real::<S>(0.0)), real::<S>(2.0));
            let excess = et - ki_app - x;
            let root = (excess * excess + ki_app * et * real::<S>(4.0)).sqrt();
            v0 * excess.select_less(zero, ki_app * two / (root - excess), (excess + root) / (et * two))
        },
        linear: [0],
        axes: |look| [look.positive(), look.positive()],
        derived: [("ic50", "ki_app + et / 2")],
    }
}
