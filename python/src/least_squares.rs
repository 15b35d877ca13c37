//! Least-squares problems whose residuals are a function of Python, or a program that repeats it.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use marquardt::autodiff::Difference;
use marquardt::curve::{BuiltFormula, Curve, FromModel};
use marquardt::problem::{Analytic, Bounded, FiniteDifference, Robust, RobustLoss, Sparsity};
use marquardt::solver::{CancelToken, IterationRecord};
use marquardt::{Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Report, SolveError};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callable::{difference, fill, fill_matrix};
use crate::errors::{FirstException, value_error};
use crate::model::{Model, Source};
use crate::options::{given, loss};
use crate::run;
use crate::status::status_word;

/// A function of Python of one array.
#[derive(Clone)]
struct Function {
    function: Arc<Py<PyAny>>,
    exception: FirstException,
    /// The last values, which the end of a solve asks for once more.
    known: Arc<Mutex<Vec<Evaluation>>>,
}

/// A point, and the values there.
type Evaluation = (Vec<f64>, Vec<f64>);

/// Fewest values of a function that are kept: the point that a solve is at, the one before, and the trial.
const FEWEST: usize = 3;

/// Most of them. Those of a Jacobian by differences are, so that the end asks for nothing new.
const MOST: usize = 64;

/// Numbers that all of them have together, beyond which the fewest are kept.
const MOST_NUMBERS: usize = 1 << 22;

impl Function {
    fn call(&self, at: &[f64], take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> Result<(), EvaluationError> {
        if self.exception.is_raised() {
            return Err("the function has raised an exception".into());
        }
        let called = Python::attach(|py| take(&self.function.bind(py).call1((PyArray1::from_slice(py, at),))?));
        called.map_err(|exception| self.exception.keep(exception))
    }

    /// Fills in what `take` makes of the result, or what was kept of it.
    fn fill(
        &self,
        at: &[f64],
        values: &mut [f64],
        take: impl FnOnce(&Bound<'_, PyAny>, &mut [f64]) -> PyResult<()>,
    ) -> Result<(), EvaluationError> {
        let known = || self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((_, kept)) = known().iter().find(|(point, _)| point == at) {
            values.copy_from_slice(kept);
            return Ok(());
        }
        self.call(at, |result| take(result, values))?;
        let mut known = known();
        let wanted = 2 * at.len() + FEWEST;
        let fits = wanted <= MOST && wanted * values.len() <= MOST_NUMBERS;
        known.truncate(if fits { wanted } else { FEWEST } - 1);
        known.insert(0, (at.to_vec(), values.to_vec()));
        Ok(())
    }
}

/// A loss: one of the library, or a function of Python that returns `ρ`, `ρ′` and `ρ″`.
#[derive(Clone)]
enum AnyLoss {
    Known(Loss),
    Own(Function),
}

impl std::fmt::Debug for AnyLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(RobustLoss::<f64>::name(self))
    }
}

impl RobustLoss<f64> for AnyLoss {
    fn name(&self) -> &str {
        match self {
            AnyLoss::Known(loss) => Loss::name(*loss),
            AnyLoss::Own(_) => "loss",
        }
    }

    fn rho(&self, z: f64) -> [f64; 3] {
        match self {
            AnyLoss::Known(loss) => RobustLoss::<f64>::rho(loss, z),
            AnyLoss::Own(function) => {
                let mut rho = [f64::NAN; 3];
                // The exception is raised when the solve has ended.
                function.call(&[z], |result| fill(result, &mut rho, "loss")).ok();
                rho
            }
        }
    }

    fn tuning(&self) -> f64 {
        match self {
            AnyLoss::Known(loss) => RobustLoss::<f64>::tuning(loss),
            AnyLoss::Own(_) => 1.0,
        }
    }
}

/// Residuals that a program computes of rows.
struct Rows {
    curve: FromModel<BuiltFormula>,
    x: Vec<f64>,
    width: usize,
    count: usize,
}

impl Rows {
    fn part(&self, first: usize, count: usize) -> &[f64] {
        &self.x[first * self.width..(first + count) * self.width]
    }
}

impl LeastSquares<f64> for Rows {
    fn parameter_count(&self) -> usize {
        Curve::<f64>::parameter_count(&self.curve)
    }

    fn residual_count(&self) -> usize {
        self.count
    }

    fn residuals(&mut self, at: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.curve.responses(self.part(first, r.len()), self.width, at, r)
    }

    fn linearize(
        &mut self,
        at: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        self.curve.linearize(self.part(first, r.len()), self.width, at, r, jacobian)
    }
}

/// How a problem is solved.
struct Settings {
    start: Vec<f64>,
    solver: LevenbergMarquardt<f64>,
    loss: Option<(AnyLoss, f64)>,
    callback: Option<Function>,
    /// How residuals and derivatives are computed at an end with small parameters, if not by the problem itself.
    at_end: Option<AtEnd>,
}

type Linearized = Option<(Vec<f64>, Vec<f64>)>;
type AtEnd = Box<dyn FnOnce(&[f64]) -> Linearized + Send>;

/// Residuals, and the entries of the Jacobian, row after row: all of them, or those of its pattern.
fn linearized<P: LeastSquares<f64>>(problem: &mut P, at: &[f64]) -> Linearized {
    let (m, n) = (problem.residual_count(), at.len());
    let mut r = vec![f64::NAN; m];
    let mut jacobian = Vec::new();
    match problem.capabilities().blocks() {
        Some(blocks) => {
            let mut row = 0;
            let visited = blocks.linearize_blocks(at, &mut |of_row, entries| {
                r[row] = of_row[0];
                row += 1;
                jacobian.extend_from_slice(entries);
            });
            visited.ok()?;
        }
        None => {
            jacobian.resize(m * n, f64::NAN);
            problem.linearize(at, 0, &mut r, &mut jacobian).ok()?;
        }
    }
    Some((r, jacobian))
}

/// Parameters smaller than this are differenced once more at the end.
const SMALL: f64 = 1e-3;

/// Differences at a point by steps in proportion to the larger of a parameter and one, as SciPy takes them.
fn at_end(
    fun: Function,
    bounds: Bounds<f64>,
    how: Difference,
    accuracy: f64,
    sparsity: Option<Sparsity>,
    m: usize,
) -> AtEnd {
    Box::new(move |x| {
        let residuals = move |x: &[f64], r: &mut [f64]| fun.fill(x, r, |result, r| fill(result, r, "fun"));
        let mut problem = FiniteDifference::new(x.len(), m, residuals).with_bounds(bounds);
        problem = problem.with_typical_sizes(vec![1.0; x.len()]).with_difference(how).with_accuracy(accuracy);
        if let Some(sparsity) = sparsity {
            problem = problem.with_sparsity(sparsity).ok()?;
        }
        linearized(&mut problem, x)
    })
}

impl Settings {
    /// Solves, and computes residuals and derivatives at the end.
    fn solve<P: LeastSquares<f64>>(self, mut problem: P) -> Result<Solved, String> {
        let Settings { start, solver, loss, callback, at_end } = self;
        let mut observer = |record: &IterationRecord<f64>, x: &[f64]| match &callback {
            Some(function) if record.accepted => match function.call(x, |_| Ok(())) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            },
            _ => ControlFlow::Continue(()),
        };
        let report = match loss {
            None => solver.minimize_observed(&mut problem, &start, &mut observer),
            Some((loss, scale)) => {
                let mut robust = Robust::new(problem, loss, scale).map_err(|error| error.to_string())?;
                let report = solver.minimize_observed(&mut robust, &start, &mut observer);
                problem = robust.into_problem();
                report
            }
        };
        let report = report.map_err(|error: SolveError| error.to_string())?;
        let at_end = at_end.filter(|_| report.x.iter().any(|x| x.abs() < SMALL));
        let linearized = match at_end {
            Some(linearize) => linearize(&report.x),
            None => linearized(&mut problem, &report.x),
        };
        let (r, jacobian) = linearized.ok_or("the residuals could not be evaluated at the end")?;
        Ok(Solved { report, r, jacobian })
    }
}

struct Solved {
    report: Report<f64>,
    r: Vec<f64>,
    jacobian: Vec<f64>,
}

/// Minimises half the sum of squares, or of a loss, and returns the result as a dictionary.
///
/// `problem` is a function of an array, or a pair of a recorded model and its predictors.
#[pyfunction]
#[pyo3(signature = (problem, start, residuals, options))]
pub fn least_squares<'py>(
    py: Python<'py>,
    problem: &Bound<'py, PyAny>,
    start: Vec<f64>,
    residuals: usize,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let exception = FirstException::default();
    let with = |exception: &FirstException, function: Py<PyAny>| Function {
        function: Arc::new(function),
        exception: exception.clone(),
        known: Arc::default(),
    };
    let function = |own: Py<PyAny>| with(&exception, own);
    let token = CancelToken::new();
    let mut solver = LevenbergMarquardt::new().with_cancel_token(token.clone()).with_log(false);
    if let Some(evaluations) = given(options, "max_evaluations")? {
        solver = solver.with_max_evaluations(evaluations);
    }
    if let Some(tolerance) = given(options, "ftol")? {
        solver = solver.with_ftol(tolerance);
    }
    let loss = match options.get_item("loss")? {
        Some(own) if own.is_callable() => Some(AnyLoss::Own(function(own.unbind()))),
        Some(name) => Some(AnyLoss::Known(loss(&name.extract::<String>()?)?)),
        None => None,
    };
    let scale = given(options, "f_scale")?.unwrap_or(1.0);
    let of_callback = FirstException::default();
    let callback = given::<Py<PyAny>>(options, "callback")?.map(|own| with(&of_callback, own));
    let has_callback = callback.is_some();
    let mut settings = Settings { start, solver, loss: loss.map(|loss| (loss, scale)), callback, at_end: None };
    let n = settings.start.len();
    let bounds = match given::<(Vec<f64>, Vec<f64>)>(options, "bounds")? {
        Some((lower, upper)) => Bounds::new(lower, upper).map_err(value_error)?,
        None => Bounds::unbounded(n),
    };
    let solved = if let Ok((model, x)) = problem.extract::<(PyRef<'py, Model>, PyReadonlyArray2<'py, f64>)>() {
        let Source::Built(formula) = &model.source else { return Err(value_error("the model is no program")) };
        let (width, x) = (x.shape()[1], x.as_slice()?.to_vec());
        let rows = Rows { curve: FromModel::new(formula.clone()), x, width, count: residuals };
        let is_here = has_callback || matches!(settings.loss, Some((AnyLoss::Own(_), _)));
        let bounded = Bounded::new(rows, bounds).map_err(value_error)?;
        let is_here = is_here || run::is_short(residuals, n);
        run::placed(py, is_here, 0, || token.cancel(), || settings.solve(bounded))?
    } else {
        let fun = function(problem.clone().unbind());
        // The value at the start is known.
        if let Some(first) = given::<Vec<f64>>(options, "first")? {
            fun.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((settings.start.clone(), first));
        }
        if let Some(own) = given::<Py<PyAny>>(options, "jacobian")? {
            let own = function(own);
            let both = Analytic::new(n, residuals, move |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
                fun.fill(x, r, |result, r| fill(result, r, "fun"))?;
                let Some(jacobian) = jacobian else { return Ok(()) };
                let shape = [r.len(), x.len()];
                own.fill(x, jacobian, |result, jacobian| fill_matrix(result, shape, jacobian))
            });
            run::here(py, || settings.solve(Bounded::new(both, bounds).map_err(|error| error.to_string())?))
        } else {
            let accuracy = given(options, "accuracy")?.unwrap_or(f64::EPSILON);
            let how =
                given::<String>(options, "difference")?.map_or(Ok(Difference::Central), |name| difference(&name))?;
            let sparsity = match given::<Vec<Vec<usize>>>(options, "sparsity")? {
                Some(rows) => Some(Sparsity::new(n, rows).map_err(value_error)?),
                None => None,
            };
            settings.at_end = Some(at_end(fun.clone(), bounds.clone(), how, accuracy, sparsity.clone(), residuals));
            let fun = move |x: &[f64], r: &mut [f64]| fun.fill(x, r, |result, r| fill(result, r, "fun"));
            let mut fun = FiniteDifference::new(n, residuals, fun).with_bounds(bounds);
            fun = fun.with_difference(how).with_accuracy(accuracy);
            if let Some(sparsity) = sparsity {
                fun = fun.with_sparsity(sparsity).map_err(value_error)?;
            }
            run::here(py, || settings.solve(fun))
        }
    };
    exception.raise()?;
    let is_stopped = match of_callback.raise() {
        Ok(()) => false,
        Err(raised) if raised.is_instance_of::<PyStopIteration>(py) => true,
        Err(raised) => return Err(raised),
    };
    let Solved { report, r, jacobian } = solved.map_err(value_error)?;
    let result = PyDict::new(py);
    let sides = report.active.iter().map(|active| (active.parameter, format!("{:?}", active.side)));
    result.set_item("x", PyArray1::from_slice(py, &report.x))?;
    result.set_item("fun", PyArray1::from_vec(py, r))?;
    let entries = PyArray1::from_vec(py, jacobian);
    match entries.len() == residuals * n {
        true => result.set_item("jac", entries.reshape([residuals, n])?)?,
        false => result.set_item("entries", entries)?,
    }
    result.set_item("cost", report.cost)?;
    result.set_item("status", if is_stopped { "stopped" } else { status_word(report.status) })?;
    result.set_item("message", report.status.to_string())?;
    result.set_item("nfev", report.evaluations.residuals + report.evaluations.jacobians)?;
    result.set_item("njev", report.evaluations.jacobians)?;
    result.set_item("nit", report.iterations)?;
    result.set_item("active", sides.collect::<Vec<_>>())?;
    Ok(result)
}
