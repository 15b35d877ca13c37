//! Robust losses, which limit the influence of outliers.

use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::number::Number;
use crate::real::Real;

/// A loss `ρ` that replaces the square of each residual and limits the influence of outliers.
///
/// With the scale `C`, the size above which a residual begins to count as an outlier, the cost is
///
/// ```text
/// ½ Σ C² ρ((r/C)²)
/// ```
///
/// which is SciPy's convention. For small `z`, `ρ(z) ≈ z`: small residuals count as in least squares.
///
/// [`Loss`] has the common losses; [`Robust`](crate::problem::Robust) applies a loss to a problem. Your own loss needs three formulas:
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::{FiniteDifference, Robust, RobustLoss};
///
/// /// `ρ(z) = 4 (√(1 + z/2) − 1)`, half as eager as `SoftL1`.
/// #[derive(Debug)]
/// struct Charbonnier;
///
/// impl RobustLoss<f64> for Charbonnier {
///     fn name(&self) -> &str { "Charbonnier" }
///     fn rho(&self, z: f64) -> [f64; 3] {
///         let root = (1.0 + 0.5 * z).sqrt();
///         [2.0 * z / (root + 1.0), 1.0 / root, -0.25 / (root * root * root)]
///     }
///     fn tuning(&self) -> f64 { 0.91 }
/// }
///
/// // A mean, with one number that does not belong.
/// let y = [1.0, 1.1, 0.9, 1.05, 0.95, 100.0];
/// let mean = FiniteDifference::new(1, 6, |x: &[f64], r: &mut [f64]| {
///     r.iter_mut().zip(y).for_each(|(r, y)| *r = x[0] - y);
///     Ok(())
/// });
/// let mut robust = Robust::new(mean, Charbonnier, 0.1)?;
/// let report = LevenbergMarquardt::new().minimize(&mut robust, &[0.0])?;
/// assert!((report.x[0] - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RobustLoss<T: Real>: Debug + Send + Sync {
    /// Its name, for messages and reports.
    fn name(&self) -> &str;

    /// `ρ`, `ρ′` and `ρ″` at the squared scaled residual `z = (r/C)² ≥ 0`.
    ///
    /// `ρ` must not decrease, `ρ(0) = 0` and `ρ′(0) = 1`. `z` may be infinite if the square overflows; `ρ` may then be infinite, but not
    /// its derivatives.
    fn rho(&self, z: T) -> [T; 3];

    /// Tuning constant: the scale `C`, in standard deviations of the residuals without outliers, at which a fit to normal errors has 95 %
    /// of the efficiency of least squares.
    fn tuning(&self) -> T;

    /// The loss as one of [`Loss`], which fits in lockstep evaluate in vector registers; `None` for others.
    #[doc(hidden)]
    fn as_loss(&self) -> Option<Loss> {
        None
    }
}

/// Common robust losses, from least squares to losses that ignore outliers. In `z = (r/C)²`:
///
/// | loss | `ρ(z)` | [`tuning`](RobustLoss::tuning) | |
/// |---|---|---|---|
/// | [`Linear`](Loss::Linear) | `z` | 1 | plain least squares |
/// | [`Huber`](Loss::Huber) | `z` up to 1, then `2√z − 1` | 1.345 | convex in `r` |
/// | [`SoftL1`](Loss::SoftL1) | `2(√(1 + z) − 1)` | 1.2871 | convex in `r` |
/// | [`Cauchy`](Loss::Cauchy) | `ln(1 + z)` | 2.385 | redescending, unbounded |
/// | [`Arctan`](Loss::Arctan) | `arctan z` | 2.5714 | redescending, at most `π/2` |
/// | [`GemanMcClure`](Loss::GemanMcClure) | `z/(1 + z)` | 3.7874 | redescending, at most 1 |
/// | [`Welsch`](Loss::Welsch) | `1 − e^(−z)` | 2.985 | redescending, at most 1 |
/// | [`Tukey`](Loss::Tukey) | `(1 − (1 − z)³)/3` up to 1, then `⅓` | 4.685 | redescending, at most `⅓` |
///
/// Convex losses bound the influence of an outlier; a problem that is linear in its parameters keeps its single minimum. Under redescending
/// losses the influence falls to zero for gross outliers, but there may be several minima: start near the right one, for example from a fit
/// with [`Huber`](Loss::Huber). If all residuals exceed the scale of [`Tukey`](Loss::Tukey), the gradient is zero, and the solver stays at
/// the start.
///
/// # Tuning constants
///
/// Huber's, Cauchy's, Tukey's and Welsch's are those of Holland & Welsch 1977, *Robust regression using iteratively
/// reweighted least-squares*, as in MATLAB's `robustfit`. For the others the asymptotic efficiency
/// `E[ψ′]² / E[ψ²]` of `ψ(r) = ρ′(r²/C²) r` under the normal distribution, by quadrature, is 0.95 at the constant here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Loss {
    /// `z`: plain least squares.
    #[default]
    Linear,
    /// Square up to `|r| = C`, linear beyond: Huber 1964.
    Huber,
    /// A smooth Huber: the difference of `√(C² + r²)` from `C`.
    SoftL1,
    /// `ln(1 + z)`, the likelihood of the Cauchy distribution, also called Lorentzian.
    Cauchy,
    /// `arctan z`, as SciPy has it.
    Arctan,
    /// The biweight: residuals larger than `C` have weight 0. Beaton & Tukey 1974.
    Tukey,
    /// `z/(1 + z)`: Geman & McClure 1987.
    GemanMcClure,
    /// `1 − e^(−z)`: Dennis & Welsch 1978; also called Leclerc.
    Welsch,
}

impl Loss {
    /// All of them.
    pub const ALL: &[Loss] = &[
        Loss::Linear,
        Loss::Huber,
        Loss::SoftL1,
        Loss::Cauchy,
        Loss::Arctan,
        Loss::Tukey,
        Loss::GemanMcClure,
        Loss::Welsch,
    ];

    /// Its name in snake case, SciPy's where SciPy has it.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Linear => "linear",
            Loss::Huber => "huber",
            Loss::SoftL1 => "soft_l1",
            Loss::Cauchy => "cauchy",
            Loss::Arctan => "arctan",
            Loss::Tukey => "tukey",
            Loss::GemanMcClure => "geman_mcclure",
            Loss::Welsch => "welsch",
        }
    }

    /// `ρ`, `ρ′` and `ρ″`, of a number or of several in the lanes of a register.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn rho_of<N: Number>(self, z: N) -> [N; 3] {
        let (zero, one, two, half) = (N::from_f64(0.0), N::from_f64(1.0), N::from_f64(2.0), N::from_f64(0.5));
        match self {
            Loss::Linear => [z, one, zero],
            Loss::Huber => {
                let slope = z.sqrt().recip();
                select([one, z], [two * z.sqrt() - one, slope, -half * slope * slope * slope], [z, one, zero])
            }
            Loss::SoftL1 => {
                let root = (z + one).sqrt();
                let slope = root.recip();
                // √(1 + z) − 1 without cancellation, and without ∞/∞.
                let rho = one.select_less(z, two * (root - one), two * z / (root + one));
                [rho, slope, -half * slope * slope * slope]
            }
            Loss::Cauchy => {
                let slope = (z + one).recip();
                [z.ln_1p(), slope, -slope * slope]
            }
            Loss::Arctan => {
                let (rho, slope) = (z.atan(), (z * z + one).recip());
                // In u = 1/z nothing overflows.
                let u = z.recip();
                let share = u / (u * u + one);
                select([one, z], [rho, u * share, -two * u * share * share], [rho, slope, -two * z * slope * slope])
            }
            Loss::Tukey => {
                let left = one - z;
                let inside = [z * (one - z + z * z / N::from_f64(3.0)), left * left, -two * left];
                select([z, one], inside, [N::from_f64(3.0).recip(), zero, zero])
            }
            Loss::GemanMcClure => {
                let share = (z + one).recip();
                let rho = one.select_less(z, (z.recip() + one).recip(), z * share);
                [rho, share * share, -two * share * share * share]
            }
            Loss::Welsch => {
                let slope = (-z).exp();
                [-(-z).exp_m1(), slope, -slope]
            }
        }
    }
}

/// Returns the first of two results where the first of two numbers is less. (A closure would not be inlined for certain.)
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn select<N: Number>([less, greater]: [N; 2], then: [N; 3], otherwise: [N; 3]) -> [N; 3] {
    [
        less.select_less(greater, then[0], otherwise[0]),
        less.select_less(greater, then[1], otherwise[1]),
        less.select_less(greater, then[2], otherwise[2]),
    ]
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((*self).name())
    }
}

impl<T: Real> RobustLoss<T> for Loss {
    fn name(&self) -> &str {
        (*self).name()
    }

    fn rho(&self, z: T) -> [T; 3] {
        self.rho_of(z)
    }

    fn tuning(&self) -> T {
        T::from_f64(match self {
            Loss::Linear => 1.0,
            Loss::Huber => 1.345,
            Loss::SoftL1 => 1.2871,
            Loss::Cauchy => 2.385,
            Loss::Arctan => 2.5714,
            Loss::Tukey => 4.685,
            Loss::GemanMcClure => 3.7874,
            Loss::Welsch => 2.985,
        })
    }

    fn as_loss(&self) -> Option<Loss> {
        Some(*self)
    }
}

macro_rules! loss_behind_a_pointer {
    ($($pointer:ty),*) => {
        $(
            impl<T: Real, L: RobustLoss<T> + ?Sized> RobustLoss<T> for $pointer {
                fn name(&self) -> &str {
                    (**self).name()
                }

                fn rho(&self, z: T) -> [T; 3] {
                    (**self).rho(z)
                }

                fn tuning(&self) -> T {
                    (**self).tuning()
                }

                fn as_loss(&self) -> Option<Loss> {
                    (**self).as_loss()
                }
            }
        )*
    };
}

loss_behind_a_pointer!(&L, Box<L>, Arc<L>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autodiff::tests::cases;

    /// The asymptotic efficiency at the normal distribution, by the trapezoidal rule, which is exact for such integrands
    /// but for the kinks of two of the losses.
    fn efficiency(loss: Loss, c: f64) -> f64 {
        let step = 1e-4;
        let (mut slopes, mut squares) = (0.0, 0.0);
        for i in -100_000..=100_000 {
            let r = f64::from(i) * step;
            let z = (r / c).powi(2);
            let [_, first, second] = loss.rho(z);
            let density = (-0.5 * r * r).exp() / (2.0 * std::f64::consts::PI).sqrt();
            slopes += (first + 2.0 * z * second) * density * step;
            squares += (first * r).powi(2) * density * step;
        }
        slopes * slopes / squares
    }

    #[test]
    fn tuning_constants_give_95_percent_efficiency() {
        for &loss in Loss::ALL {
            let expected = if loss == Loss::Linear { 1.0 } else { 0.95 };
            let found = efficiency(loss, loss.tuning());
            assert!((found - expected).abs() < 1e-4, "{loss}: {found}");
        }
    }

    fn derivatives_keep_the_bound<T: Real>() {
        for &loss in &Loss::ALL[1..] {
            let cases = cases::<T>(Some(loss.name()));
            assert!(cases.len() > 10, "{loss}");
            for case in cases {
                let [_, first, second] = loss.rho(T::from_f64(case.x));
                case.holds("loss", &[first], &[second]);
            }
        }
    }

    #[test]
    fn derivatives_keep_the_bound_in_both_precisions() {
        derivatives_keep_the_bound::<f64>();
        derivatives_keep_the_bound::<f32>();
    }

    #[test]
    fn limits_are_limits() {
        let bounded = [(Loss::Tukey, 1.0 / 3.0), (Loss::GemanMcClure, 1.0), (Loss::Welsch, 1.0)];
        for (loss, limit) in bounded.into_iter().chain([(Loss::Arctan, std::f64::consts::FRAC_PI_2)]) {
            assert_eq!(loss.rho(f64::INFINITY), [limit, 0.0, -0.0], "{loss}");
            assert_eq!(loss.rho(1e300)[0], limit, "{loss}");
        }
        for &loss in Loss::ALL {
            let [rho, first, second]: [f64; 3] = loss.rho(f64::INFINITY);
            assert!(rho > 0.0 && first == if loss == Loss::Linear { 1.0 } else { 0.0 } && second == 0.0, "{loss}");
            assert!(RobustLoss::<f32>::rho(&loss, f32::MAX).iter().all(|number| number.is_finite()), "{loss}");
        }
    }

    /// Near zero `ρ(z) = z + ½ρ″(0)z²`, to the last digit.
    #[test]
    fn small_residuals_are_squared() {
        for &loss in Loss::ALL {
            assert_eq!(loss.rho(0.0)[..2], [0.0, 1.0], "{loss}");
            for z in [1e-300, 1e-20, 1e-10_f64] {
                let expected = z + 0.5 * loss.rho(0.0)[2] * z * z;
                assert!((loss.rho(z)[0] / expected - 1.0).abs() < 1e-15, "{loss} at {z}");
            }
        }
    }

    #[test]
    fn nan_stays_nan() {
        for loss in Loss::ALL.iter().copied().filter(|&loss| loss != Loss::Tukey) {
            assert!(loss.rho(f64::NAN)[0].is_nan(), "{loss}");
        }
    }
}
