//! Viscosities and pressures as functions of a temperature.

use std::f64::consts::LN_10;
use std::iter::zip;

use super::formula::{library, real};
use super::grid::Grid;
use super::look::{Look, both_signs, geometric};

library! {
    /// `eta_0 exp(b / (x − t_0))` for `x > t_0`: viscosity or relaxation time of a supercooled liquid (Vogel, Fulcher and Tammann).
    ///
    /// `x` is the temperature, `eta_0` the limit at high temperatures (unit of `y`), `b` and `t_0` are temperatures (unit of `x`); at
    /// `t_0` the viscosity diverges. The fragility strength is `b / t_0`.
    VogelFulcherTammann("vogel_fulcher_tammann", "eta_0 exp(b / (x - t_0))") {
        response: |x; eta_0, b, t_0| eta_0 * (b / (-t_0 + x)).exp(),
        linear: [0],
        start: |look| {
            let [last, slope, pole, distance] = activated(look);
            vec![last * (slope / distance).exp(), -slope, pole]
        },
        derived: [("strength", "b / t_0")],
    }

    /// `10^(a − b / (c + x))` for `x > −c`: vapour pressure at a temperature `x` (Antoine).
    ///
    /// `a` is the decadic logarithm of the pressure at high temperatures (in the unit of `y`), `b` and `c` are temperatures (unit of
    /// `x`); tables have them for degrees Celsius and mmHg, or for kelvin and bar. Pressures have relative errors as a rule: weight
    /// them by `sigma` proportional to `y`.
    Antoine("antoine", "10^(a - b / (c + x))") {
        response: |x; a, b, c| ((a - b / (c + x)) * real::<S>(LN_10)).exp(),
        linear: [],
        start: |look| {
            let [last, slope, pole, distance] = activated(look);
            let b = slope / LN_10;
            vec![last.abs().max(f64::MIN_POSITIVE).log10() + b / distance, b, -pole]
        },
        scale: |start, factor| start[0] += factor.log10(),
        derived: [("boiling_point_at_1", "b / a - c"), ("boiling_point_at_760", "b / (a - log10(760)) - c")],
    }
}

/// The best curve `last exp(−slope (1 / (x − pole) − 1 / distance))` with a pole below the data, by these four parameters; `distance` is
/// that of the last `x` from the pole.
fn activated(look: &Look) -> [f64; 4] {
    let (first, span) = (look.first(), look.span());
    // By the distance of the first `x` from the pole, and the change of the logarithm over the data.
    let axes = vec![geometric(0.02 * span, 50.0 * span, 26), both_signs(&geometric(0.05, 40.0, 22))];
    let slope = |before: f64, change: f64| change / (before.recip() - (before + span).recip());
    let grid = Grid { name: None, linear: &[0], parameters: 3, axes };
    let best = look.best_on(grid, &|x, b, column| {
        let (pole, slope) = (first - b[1], slope(b[1], b[2]));
        let curve = |x: f64| b[0] * (-slope * ((x - pole).recip() - (b[1] + span).recip())).exp();
        zip(column, x).for_each(|(value, &x)| *value = curve(x));
    });
    [best[0], slope(best[1], best[2]), first - best[1], best[1] + span]
}
