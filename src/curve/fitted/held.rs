//! Parameters and derived quantities that profiles hold.

use super::FittedCurve;
use super::profile::ProfileError;
use crate::curve::Tie;
use crate::curve::map::ParameterMap;
use crate::curve::parameter::Role;
use crate::real::Real;

/// Newton steps and halvings by which a quantity is brought to its value.
const MAX_TRIALS: usize = 200;

/// A parameter, or a derived quantity, that a profile or a contour holds along a line.
#[derive(Debug, Clone)]
pub(super) struct Held<T> {
    pub(super) name: String,
    /// The quantity; a parameter has none.
    quantity: Option<Tie<T>>,
    /// Parameters that it is a function of, with the derivatives at the optimum; a parameter is one of itself.
    pub(super) gradient: Vec<(usize, f64)>,
    /// Its value at the optimum.
    pub(super) value: T,
    /// Its change with a unit of the way.
    pub(super) step: f64,
    lower: T,
    upper: T,
}

impl<T: Real> FittedCurve<'_, T> {
    /// A free parameter, or a derived quantity of some, with its standard error for a step, or something of its size where the data do
    /// not determine it, or a bound holds it.
    pub(super) fn held(&self, name: &str) -> Result<Held<T>, ProfileError> {
        let Some((_, tie)) = self.checked.options.derived().iter().find(|(of, _)| of == name) else {
            return self.held_parameter(name);
        };
        let estimate = self.derived(tie)?;
        let map = &self.checked.map;
        let (value, slopes, by_free) = quantity_at(map, tie, &map.gather(&self.report.x));
        if by_free.iter().all(|&slope| slope == T::ZERO) {
            return Err(ProfileError::NotFree { name: name.into(), is: "constant in the free parameters" });
        }
        let gradient = slopes.into_iter().map(|(index, slope)| (index, slope.to_f64())).collect();
        let (step, quantity) = (step(estimate.standard_error, value, T::ONE), Some(tie.clone()));
        Ok(Held { name: name.into(), quantity, gradient, value, step, lower: -T::INFINITY, upper: T::INFINITY })
    }

    /// A free parameter.
    pub(super) fn held_parameter(&self, name: &str) -> Result<Held<T>, ProfileError> {
        let index = self.inference.index(name)?;
        let (found, given) = (&self.parameters()[index], &self.checked.map.parameters[index]);
        let is = match given.role {
            Role::Free => {
                let (value, name, gradient) = (self.report.x[index], name.into(), vec![(index, 1.0)]);
                let step = step(found.standard_error, value, given.scale);
                return Ok(Held {
                    name,
                    quantity: None,
                    gradient,
                    value,
                    step,
                    lower: given.lower,
                    upper: given.upper,
                });
            }
            Role::Fixed => "fixed",
            Role::Tied(_) => "tied to others",
        };
        Err(ProfileError::NotFree { name: name.into(), is })
    }
}

/// A step of the size of the standard error, or else of a tenth of the value, or else of the scale.
fn step<T: Real>(standard_error: T, value: T, scale: T) -> f64 {
    let (error, value) = (standard_error.to_f64(), value.to_f64().abs());
    match (error.is_finite() && error > 0.0, value > 0.0) {
        (true, _) => error,
        (false, true) => 0.1 * value,
        (false, false) => scale.to_f64(),
    }
}

impl<T: Real> Held<T> {
    /// The same with another change with a unit of the way, in units of the present one.
    pub(super) fn along(&self, factor: f64) -> Self {
        Held { step: factor * self.step, ..self.clone() }
    }

    /// The value at a point of the line, within the bounds of a parameter.
    pub(super) fn value_at(&self, way: f64) -> T {
        (self.value + T::from_f64(way * self.step)).max(self.lower).min(self.upper)
    }

    /// The way to the bound of a parameter.
    pub(super) fn limit(&self) -> f64 {
        let bound = if self.step > 0.0 { self.upper } else { self.lower };
        if self.step == 0.0 { f64::INFINITY } else { (bound - self.value).to_f64() / self.step }
    }

    /// Maps in which the value is held at that of a point on the line. A quantity leaves a choice of the parameter that follows from the
    /// others and its value: the one with the largest share in its standard error comes first. That parameter knows no bounds.
    pub(super) fn maps(&self, map: &ParameterMap<T>, way: f64, start: &[T], errors: &[T]) -> Vec<ParameterMap<T>> {
        let value = self.value_at(way);
        let Some(quantity) = &self.quantity else { return vec![map.fixing(self.gradient[0].0, value)] };
        let free = map.gather(start);
        let slopes = quantity_at(map, quantity, &free).2;
        let share = |k: usize| {
            let error = errors[map.free()[k]] / map.scales[k];
            // One that a bound holds comes last.
            (slopes[k] * if error.is_finite() { error.max(T::EPSILON) } else { T::ONE }).to_f64().abs()
        };
        let mut pivots: Vec<usize> = (0..free.len()).filter(|&k| share(k) > 0.0).collect();
        pivots.sort_by(|&j, &k| share(k).total_cmp(&share(j)));
        pivots.into_iter().map(|k| solved_for(map, quantity, k, free.clone(), value)).collect()
    }
}

/// A quantity where the free parameters have these values, in units of their scales, and its derivatives by the parameters that it is of,
/// and by the free ones.
fn quantity_at<T: Real>(map: &ParameterMap<T>, quantity: &Tie<T>, free: &[T]) -> (T, Vec<(usize, T)>, Vec<T>) {
    let (mut all, mut derivative) = map.begin();
    map.expand(free, &mut all, &mut derivative);
    let of: Vec<usize> = quantity.of().iter().filter_map(|name| map.index(name)).collect();
    let at: Vec<T> = of.iter().map(|&index| all[index]).collect();
    let mut slopes = vec![T::ZERO; of.len()];
    let value = quantity.value(&at, Some(&mut slopes));
    let slopes: Vec<(usize, T)> = of.into_iter().zip(slopes).collect();
    let n = free.len();
    let by_free =
        (0..n).map(|k| slopes.iter().map(|&(index, slope)| slope * derivative[index * n + k]).sum()).collect();
    (value, slopes, by_free)
}

/// The map in which a free parameter follows from the others by the value of a quantity: the root that damped Newton steps lead to from the
/// start, with derivatives by the implicit function theorem; NaN where they lead to none.
fn solved_for<T: Real>(
    map: &ParameterMap<T>,
    quantity: &Tie<T>,
    k: usize,
    start: Vec<T>,
    target: T,
) -> ParameterMap<T> {
    let (inner, quantity) = (map.clone(), quantity.clone());
    let others: Vec<usize> = (0..start.len()).filter(|&j| j != k).collect();
    let (of, names): (Vec<usize>, Vec<String>) =
        others.iter().map(|&j| (map.free()[j], map.name(map.free()[j]).to_owned())).unzip();
    let value = move |at: &[T], gradient: Option<&mut [T]>| {
        let mut free = start.clone();
        others.iter().zip(at).for_each(|(&j, &value)| free[j] = value / inner.scales[j]);
        let (mut value, _, mut slopes) = quantity_at(&inner, &quantity, &free);
        let mut step = (target - value) / slopes[k];
        for _ in 0..MAX_TRIALS {
            if !(step.abs() > T::EPSILON * free[k].abs()) {
                break;
            }
            let mut trial = free.clone();
            trial[k] += step;
            let found = quantity_at(&inner, &quantity, &trial);
            if (found.0 - target).abs() < (value - target).abs() {
                (free, value, slopes) = (trial, found.0, found.2);
                step = (target - value) / slopes[k];
            } else {
                step *= T::from_f64(0.5);
            }
        }
        let terms: T = slopes.iter().zip(&free).map(|(&slope, &value)| (slope * value).abs()).sum();
        let is_root = (value - target).abs() <= T::from_f64(64.0) * T::EPSILON * (target.abs() + terms);
        if let Some(gradient) = gradient {
            let of_pivot = slopes[k] / inner.scales[k];
            gradient.iter_mut().zip(&others).for_each(|(d, &j)| *d = -slopes[j] / inner.scales[j] / of_pivot);
        }
        if is_root { free[k] * inner.scales[k] } else { T::from_f64(f64::NAN) }
    };
    map.tying(map.free()[k], Tie::of_values(names, value), of)
}
