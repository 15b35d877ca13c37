//! The nonlinear problems of NIST as formulas, without their starts.

use marquardt::{CurveFit, Formula};
use ndarray::Array2;

use crate::nist::{DataSet, Model};

/// The model as NIST prints it.
fn formula(model: Model) -> &'static str {
    match model {
        Model::Bennett5 => "b1*(b2 + x)^(-1/b3)",
        Model::BoxBOD | Model::Misra1a => "b1*(1 - exp(-b2*x))",
        Model::Chwirut1 | Model::Chwirut2 => "exp(-b1*x)/(b2 + b3*x)",
        Model::DanWood => "b1*x^b2",
        Model::ENSO => {
            "b1 + b2*cos(2*pi*x/12) + b3*sin(2*pi*x/12) + b5*cos(2*pi*x/b4) + b6*sin(2*pi*x/b4)
             + b8*cos(2*pi*x/b7) + b9*sin(2*pi*x/b7)"
        }
        Model::Eckerle4 => "b1/b2*exp(-0.5*((x - b3)/b2)^2)",
        Model::Gauss1 | Model::Gauss2 | Model::Gauss3 => {
            "b1*exp(-b2*x) + b3*exp(-(x - b4)^2/b5^2) + b6*exp(-(x - b7)^2/b8^2)"
        }
        Model::Hahn1 | Model::Thurber => "(b1 + b2*x + b3*x^2 + b4*x^3)/(1 + b5*x + b6*x^2 + b7*x^3)",
        Model::Kirby2 => "(b1 + b2*x + b3*x^2)/(1 + b4*x + b5*x^2)",
        Model::Lanczos1 | Model::Lanczos2 | Model::Lanczos3 => "b1*exp(-b2*x) + b3*exp(-b4*x) + b5*exp(-b6*x)",
        Model::MGH09 => "b1*(x^2 + x*b2)/(x^2 + x*b3 + b4)",
        Model::MGH10 => "b1*exp(b2/(x + b3))",
        Model::MGH17 => "b1 + b2*exp(-x*b4) + b3*exp(-x*b5)",
        Model::Misra1b => "b1*(1 - (1 + b2*x/2)^(-2))",
        Model::Misra1c => "b1*(1 - (1 + 2*b2*x)^(-0.5))",
        Model::Misra1d => "b1*b2*x/(1 + b2*x)",
        Model::Nelson => "b1 - b2*x*exp(-b3*x2)",
        Model::Rat42 => "b1/(1 + exp(b2 - b3*x))",
        Model::Rat43 => "b1/(1 + exp(b2 - b3*x))^(1/b4)",
        Model::Roszman1 => "b1 - b2*x - atan(b3/(x - b4))/pi",
    }
}

#[test]
fn fits_without_starts_end_at_the_certified_minima() {
    let is_missed = |&&model: &&Model| {
        let data = DataSet::load(model);
        let width = data.x[0].len();
        let formula = Formula::with_predictors(formula(model), ["x", "x2"].into_iter().take(width)).unwrap();
        let x = Array2::from_shape_vec((data.y.len(), width), data.x.concat()).unwrap();
        let fit = CurveFit::guessed(formula, &x, &data.y).fit();
        let sum: f64 = fit.map_or(f64::INFINITY, |fit| fit.report().sum_of_squares());
        // The least sum of Lanczos1 is rounding error.
        sum > data.residual_sum_of_squares * (1.0 + 1e-6)
    };
    let missed: Vec<&Model> = Model::ALL.iter().filter(is_missed).collect();
    assert!(missed.len() <= 2, "{missed:?}");
}
