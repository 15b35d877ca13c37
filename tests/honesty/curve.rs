//! Fits by the front door for curves.

use marquardt::curve::Curve;
use marquardt::number::Number;
use marquardt::{CurveFit, Formula, Loss, Real};

use crate::attempt::{Outcome, nan_among};
use crate::family::Pointwise;
use crate::first_order::Claim;
use crate::sample::{Misfit, Sample};
use crate::way::{of_report, solver};

/// Options of a fit of a curve.
#[derive(Default)]
pub struct Options {
    /// The curve is a formula of text, which a program evaluates.
    pub is_text: bool,
    /// A loss, the scale of which is judged by the residuals.
    pub loss: Option<Loss>,
    pub eliminates: bool,
    pub bounds: Option<(Vec<f64>, Vec<f64>)>,
}

impl Options {
    pub fn fit<T: Real>(self, sample: &Sample) -> Outcome {
        let Misfit { family, x, y, sigma } = Misfit::<T>::new(sample);
        let start: Vec<T> = sample.start.iter().map(|&start| Number::from_f64(start)).collect();
        if self.is_text {
            let formula = Formula::parse(family.text()).expect("it is a formula");
            self.run(sample, CurveFit::model(formula, &x, &y, &start).sigma(&sigma))
        } else {
            self.run(sample, CurveFit::model(Pointwise(family), &x, &y, &start).sigma(&sigma))
        }
    }

    fn run<T: Real, C: Curve<T>>(self, sample: &Sample, fit: CurveFit<'_, T, C>) -> Outcome {
        let name = |j: usize| format!("b{j}");
        let fit = fit.names((0..sample.parameters()).map(name)).solver(solver());
        let mut fit = fit.variable_projection(self.eliminates);
        if let Some(loss) = self.loss {
            fit = fit.robust(loss);
        }
        for (j, (&lower, &upper)) in self.bounds.iter().flat_map(|(lower, upper)| lower.iter().zip(upper)).enumerate() {
            let [lower, upper] = [lower, upper].map(<T as Number>::from_f64);
            fit = if lower < upper { fit.bounds(&name(j), lower..=upper) } else { fit.fix(&name(j)) };
        }
        let fit = fit.fit().map_err(|error| error.to_string())?;
        let (claim, nan) = of_report(sample, fit.report());
        let errors = fit.covariance().standard_errors();
        let statistics = [Some(fit.chi_square()), fit.r_squared(), fit.residual_standard_deviation()];
        let nan = nan.or_else(|| {
            nan_among([
                ("a standard error", &errors.to_vec()),
                ("a covariance", &fit.covariance().matrix().into_iter().collect::<Vec<_>>()),
                ("a statistic", &statistics.into_iter().flatten().collect::<Vec<_>>()),
            ])
        });
        let nan = nan.or_else(|| fit.to_string().contains("NaN").then_some("a number of the summary"));
        let scale = fit.robust_scale().map(|scale| scale.to_f64());
        Ok((Claim { loss: self.loss.zip(scale), bounds: self.bounds, ..claim }, nan))
    }
}
