//! Problems of many parameter blocks, whose residual blocks are programs of functions that were recorded.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use marquardt::curve::BuiltFormula;
use marquardt::graph::{AnyBlocks, CostFunction, ParameterBlock, Problem};
use marquardt::manifold::{EuclideanSpace, Manifold, SE2, SE3, SO3};
use marquardt::solver::{CancelToken, IterationRecord};
use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::model::{Model, Source};
use crate::options::{given, loss};
use crate::run;
use crate::status::status_word;

/// A manifold that is chosen at run time.
type AnyManifold = Arc<dyn Manifold<f64>>;
type Handle = ParameterBlock<AnyManifold>;

/// A residual of all residual blocks of a set: its program, and the predictors of all blocks, row after row.
struct Residual {
    program: BuiltFormula,
    columns: Vec<f64>,
    width: usize,
}

/// One residual block: a row of the predictors.
struct Row {
    residuals: Arc<Vec<Residual>>,
    row: usize,
}

impl CostFunction<f64> for Row {
    type Blocks = AnyBlocks;

    fn residual_count(&self) -> usize {
        self.residuals.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let parameters = blocks.concat();
        for (r, Residual { program, columns, width }) in r.iter_mut().zip(&*self.residuals) {
            let predictors = &columns[self.row * width..][..*width];
            *r = marquardt::Model::<f64>::response(program, predictors, &parameters);
        }
        Ok(())
    }
}

/// Parameter blocks and residual blocks. During a solve they are away, with the thread that solves.
#[pyclass(module = "marquardt._engine")]
#[derive(Default)]
pub struct BlockProblem {
    problem: Arc<Mutex<Problem<f64>>>,
    blocks: Vec<Handle>,
}

impl BlockProblem {
    fn problem(&self) -> std::sync::MutexGuard<'_, Problem<f64>> {
        self.problem.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn handle(&self, index: usize) -> PyResult<Handle> {
        let missing = || value_error(format!("there is no parameter block {index}; there are {}", self.blocks.len()));
        self.blocks.get(index).copied().ok_or_else(missing)
    }
}

#[pymethods]
impl BlockProblem {
    #[new]
    fn new() -> Self {
        BlockProblem::default()
    }

    /// Adds a parameter block for each row of starts; returns the number of the first.
    fn add_blocks(&mut self, manifold: &str, starts: PyReadonlyArray2<'_, f64>) -> PyResult<usize> {
        let manifold: AnyManifold = match manifold {
            "euclidean" => Arc::new(EuclideanSpace(starts.shape()[1])),
            "so3" => Arc::new(SO3),
            "se2" => Arc::new(SE2),
            "se3" => Arc::new(SE3),
            other => {
                return Err(value_error(format!("manifold must be 'euclidean', 'so3', 'se2' or 'se3', not {other:?}")));
            }
        };
        let first = self.blocks.len();
        for row in starts.as_array().rows() {
            let added = self.problem().add_parameter_block(Arc::clone(&manifold), &row.to_vec());
            self.blocks.push(added.map_err(value_error)?);
        }
        Ok(first)
    }

    /// Holds parameter blocks where they are.
    fn hold(&self, blocks: Vec<usize>) -> PyResult<()> {
        blocks.into_iter().try_for_each(|block| self.problem().set_constant(self.handle(block)?).map_err(value_error))
    }

    /// Adds a residual block for each row of parameter blocks; its residuals are programs, each with a row of predictors.
    #[pyo3(signature = (residuals, blocks, loss_of_blocks=None))]
    fn add_residuals(
        &self,
        residuals: Vec<(PyRef<'_, Model>, PyReadonlyArray2<'_, f64>)>,
        blocks: PyReadonlyArray2<'_, i64>,
        loss_of_blocks: Option<(String, f64)>,
    ) -> PyResult<()> {
        let residuals = residuals.iter().map(|(model, columns)| match &model.source {
            Source::Built(program) if columns.shape()[0] == blocks.shape()[0] => {
                let (columns, width) = (columns.as_slice()?.to_vec(), columns.shape()[1]);
                Ok(Residual { program: program.clone(), columns, width })
            }
            _ => Err(value_error("a residual needs a program with a row of predictors for each residual block")),
        });
        let residuals = Arc::new(residuals.collect::<PyResult<Vec<_>>>()?);
        let loss_of_blocks = match loss_of_blocks {
            Some((name, scale)) => Some((loss(&name)?, scale)),
            None => None,
        };
        for (row, blocks) in blocks.as_array().rows().into_iter().enumerate() {
            let at = |place: usize| self.handle(usize::try_from(blocks[place]).unwrap_or(usize::MAX));
            let handles = (0..blocks.len()).map(|place| Ok(at(place)?.any())).collect::<PyResult<Vec<_>>>()?;
            let function = Row { residuals: Arc::clone(&residuals), row };
            let added = self.problem().add_residual_block(function, handles);
            let added = added.map_err(value_error)?;
            self.problem().set_loss(added, loss_of_blocks).map_err(value_error)?;
        }
        Ok(())
    }

    /// Points of parameter blocks of one size, a row each.
    fn points<'py>(&self, py: Python<'py>, first: usize, count: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let problem = self.problem();
        let mut all = Vec::new();
        for index in first..first + count {
            all.extend_from_slice(problem.point(self.handle(index)?).map_err(value_error)?);
        }
        let width = all.len() / count.max(1);
        Ok(Array2::from_shape_vec((count, width), all).map_err(value_error)?.to_pyarray(py))
    }

    /// Moves parameter blocks to other points.
    fn move_to(&self, first: usize, points: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        for (index, point) in (first..).zip(points.as_array().rows()) {
            self.problem().set_point(self.handle(index)?, &point.to_vec()).map_err(value_error)?;
        }
        Ok(())
    }

    fn cost(&self) -> PyResult<f64> {
        self.problem().cost().map_err(value_error)
    }

    /// Residuals minus free directions; `None` if that is negative.
    fn freedom(&self) -> Option<usize> {
        self.problem().freedom()
    }

    /// Standard errors of parameter blocks, a row each, where residuals have a standard deviation of one.
    fn standard_errors<'py>(&self, py: Python<'py>, first: usize, count: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let handles = (first..first + count).map(|index| self.handle(index)).collect::<PyResult<Vec<_>>>()?;
        let problem = Arc::clone(&self.problem);
        let work = move || {
            let problem = problem.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut covariance = problem.covariance().map_err(|error| error.to_string())?;
            let errors = handles.into_iter().map(|handle| covariance.standard_errors(handle).map(|row| row.to_vec()));
            errors.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
        };
        let errors = run::elsewhere(py, 0, || (), work)?.map_err(value_error)?;
        PyArray2::from_vec2(py, &errors).map_err(value_error)
    }

    /// Moves all parameter blocks to a minimum; returns what was done.
    #[pyo3(signature = (options, threads=0))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let token = CancelToken::new();
        let mut solver = LevenbergMarquardt::new().with_cancel_token(token.clone()).with_log(false).with_polish(false);
        if let Some(tolerance) = given(options, "ftol")? {
            solver = solver.with_ftol(tolerance);
        }
        if let Some(iterations) = given(options, "max_iterations")? {
            solver = solver.with_max_iterations(iterations);
        }
        let costs = Arc::new(Mutex::new(Vec::new()));
        let (problem, of_worker) = (Arc::clone(&self.problem), Arc::clone(&costs));
        let work = move || {
            let mut observer = |record: &IterationRecord<f64>, _: &[f64]| {
                of_worker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(record.cost);
                ControlFlow::Continue(())
            };
            let mut problem = problem.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            problem.solve_observed(&solver, &mut observer).map_err(|error| error.to_string())
        };
        let report = run::elsewhere(py, threads, || token.cancel(), work)?.map_err(value_error)?;
        let result = PyDict::new(py);
        result.set_item("cost", report.cost)?;
        result.set_item("initial_cost", report.initial_cost)?;
        result.set_item("status", status_word(report.status))?;
        result.set_item("message", report.status.to_string())?;
        result.set_item("success", report.is_converged())?;
        result.set_item("iterations", report.iterations)?;
        result.set_item("form", format!("{:?}", report.linear_form))?;
        let costs = costs.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        result.set_item("costs", PyArray1::from_slice(py, &costs))?;
        Ok(result)
    }
}
