//! `marquardt many`: a curve to each row or pixel of an array, block by block.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use marquardt::curve::{ManyFits, NanPolicy};
use marquardt::models::AnyModel;
use marquardt::npy::{RowReader, RowWriter};
use marquardt::{Bounds, FitMany, Formula, Tie};
use ndarray::{Array2, s};

use crate::arguments::ManyArguments;
use crate::assignments::{Fix, Tied, check_once};
use crate::curve::{self, read_predictor};
use crate::failure::{Ending, Failure, quoted};
use crate::interrupt;
use crate::output;
use crate::table::exact;
use crate::terminal::note;

/// Reads, fits and writes block after block.
pub fn run(arguments: &ManyArguments) -> Result<Ending, Failure> {
    let curve = match (&arguments.model, &arguments.formula) {
        (Some(name), _) => curve::named(name)?,
        (None, Some(text)) => AnyModel::Formula(Formula::parse(text).map_err(Failure::of_formula("--formula"))?),
        (None, None) => return Err(Failure::new("--model or --formula is needed; `marquardt models` lists models")),
    };
    if let AnyModel::Formula(formula) = &curve
        && formula.used_predictors().next().is_none()
    {
        return Err(Failure::new("x, the predictor, is not in the formula; all other names are parameters"));
    }
    if let Some(out) = arguments.out.as_deref().filter(|out| out.as_os_str() != "-") {
        let inputs: Vec<&Path> = [&arguments.stack].into_iter().chain(&arguments.x).map(PathBuf::as_path).collect();
        output::check_extension(out, &["npy", "csv", "txt"])?;
        output::check_file(out, &inputs)?;
    }
    let mut reader = RowReader::<f64>::open(&arguments.stack)?;
    let (points, before) =
        reader.shape().split_last().map(|(&points, before)| (points, before.to_vec())).unwrap_or_default();
    let x: Vec<f64> = match &arguments.x {
        Some(path) => read_predictor(path)?,
        None => (0..points).map(|point| point as f64).collect(),
    };
    if x.len() != points {
        return Err(Failure::new(format!("--x has {} points, but the curves have {points}", x.len())));
    }
    let asked = Asked::of(arguments, &curve)?;
    curve::note_of_e(&curve, &arguments.start);
    let total = reader.rows_left();
    // Begun where the first fits have been accepted.
    let create = || Results::create(arguments.out.as_deref(), &before, curve.parameters());
    let mut results = None;
    let bar = ProgressBar::new(total as u64).with_style(
        ProgressStyle::with_template("{wide_bar} {pos}/{len} fits, {eta} left").expect("the template is sound"),
    );
    let (mut converged, token) = (0, interrupt::token());
    while let Some(rows) = reader.read(arguments.block.max(1))? {
        let fits = FitMany::new(curve.clone(), &x, &rows).cancel_token(token.clone());
        let found = asked.of_fits(fits).fit()?;
        if token.is_cancelled() {
            bar.abandon();
            let done = total - reader.rows_left() - rows.nrows();
            note(format_args!("note: interrupted after {done} of {total} fits"));
            return Ok(Ending::NotConverged);
        }
        converged += found.converged();
        match &mut results {
            Some(results) => results,
            none => none.insert(create()?),
        }
        .write(&found)?;
        bar.inc(rows.nrows() as u64);
    }
    bar.finish_and_clear();
    results.map_or_else(create, Ok)?.finish()?;
    note(format_args!("{converged} of {total} fits converged"));
    Ok(Ending::of(converged == total))
}

/// Options of the fits.
struct Asked<'a> {
    arguments: &'a ManyArguments,
    start: Option<Vec<f64>>,
    bounds: Option<Bounds<f64>>,
    ties: Vec<(&'a str, Tie<f64>)>,
}

impl<'a> Asked<'a> {
    fn of(arguments: &'a ManyArguments, curve: &AnyModel) -> Result<Self, Failure> {
        let names = curve.parameters();
        check_once("--start", arguments.start.iter().map(|start| &start.name))?;
        check_once("--bounds", arguments.bounds.iter().map(|bounds| &bounds.name))?;
        check_once("--fix", arguments.fix.iter().map(|fix| &fix.name))?;
        check_once("--tie", arguments.tie.iter().map(|tied| &tied.name))?;
        arguments.fix.iter().try_for_each(|fix| check_name(&fix.name, names, "--fix").map(drop))?;
        arguments.tie.iter().try_for_each(|tied| check_name(&tied.name, names, "--tie").map(drop))?;
        let tie =
            |tied: &'a Tied| Ok((tied.name.as_str(), Tie::parse(&tied.formula).map_err(Failure::of_formula("--tie"))?));
        let ties = arguments.tie.iter().map(tie).collect::<Result<_, Failure>>()?;
        Ok(Asked { arguments, start: start(arguments, curve)?, bounds: bounds(arguments, curve)?, ties })
    }

    fn of_fits<'s: 'y, 'y>(&'s self, fits: FitMany<'y, f64, AnyModel>) -> FitMany<'y, f64, AnyModel> {
        let ManyArguments { omit_missing, counts, robust, fix, max_iterations, .. } = self.arguments;
        let mut fits = match &self.start {
            Some(start) => fits.start(&start[..]),
            None => fits.guessed(),
        };
        if let Some(bounds) = &self.bounds {
            fits = fits.bounds(bounds.clone());
        }
        for Fix { name, value } in fix {
            fits = match value {
                Some(value) => fits.fix_at(name, *value),
                None => fits.fix(name),
            };
        }
        for (name, tie) in &self.ties {
            fits = fits.tie(name, tie.clone());
        }
        if let Some(loss) = *robust {
            fits = fits.robust(loss);
        }
        if let Some(iterations) = *max_iterations {
            fits = fits.max_iterations(iterations);
        }
        if *omit_missing {
            fits = fits.nan_policy(NanPolicy::Omit);
        }
        if *counts { fits.counts() } else { fits }
    }
}

/// Returns the start of all fits; nothing if each has a guess of its own.
fn start(arguments: &ManyArguments, curve: &AnyModel) -> Result<Option<Vec<f64>>, Failure> {
    let names = curve.parameters();
    for given in &arguments.start {
        check_name(&given.name, names, "--start")?;
    }
    let given = |name: &String| arguments.start.iter().find(|start| start.name == *name).map(|start| start.value);
    match curve {
        AnyModel::Named(_) if arguments.start.is_empty() => Ok(None),
        AnyModel::Named(_) => match names.iter().find(|name| given(name).is_none()) {
            Some(name) => {
                Err(Failure::new(format!("--start lacks {name:?}: give all parameters, or none to guess them")))
            }
            None => Ok(Some(names.iter().filter_map(given).collect())),
        },
        // As gnuplot starts.
        AnyModel::Formula(_) => Ok(Some(names.iter().map(|name| given(name).unwrap_or(1.0)).collect())),
    }
}

fn bounds(arguments: &ManyArguments, curve: &AnyModel) -> Result<Option<Bounds<f64>>, Failure> {
    let names = curve.parameters();
    let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; names.len()], vec![f64::INFINITY; names.len()]);
    for given in &arguments.bounds {
        let index = check_name(&given.name, names, "--bounds")?;
        (lower[index], upper[index]) = (given.low, given.high);
    }
    if arguments.bounds.is_empty() { Ok(None) } else { Ok(Some(Bounds::new(lower, upper)?)) }
}

/// The index of a parameter.
fn check_name(name: &str, names: &[String], option: &str) -> Result<usize, Failure> {
    let index = names.iter().position(|known| known == name);
    index.ok_or_else(|| {
        let about_pi = if name == "pi" { format!("; {}", curve::ABOUT_PI) } else { String::new() };
        Failure::new(format!(
            "{option}: there is no parameter {name:?}; the parameters are {}{about_pi}",
            quoted(names)
        ))
    })
}

/// Destination of the results, a row for each fit: parameters, standard errors, cost, and 1 for a fit that converged.
enum Results {
    Npy(RowWriter),
    Csv(Box<csv::Writer<Box<dyn Write>>>),
}

impl Results {
    fn create(path: Option<&Path>, before: &[usize], names: &[String]) -> Result<Self, Failure> {
        if let Some(path) = path.filter(|path| output::extension(path).as_deref() == Some("npy")) {
            let shape: Vec<usize> = before.iter().copied().chain([2 * names.len() + 2]).collect();
            return Ok(Results::Npy(RowWriter::create(path, &shape)?));
        }
        let out: Box<dyn Write> = match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                let refuse = |error: io::Error| Failure::new(format!("{}: {error}", path.display()));
                Box::new(BufWriter::new(File::create(path).map_err(refuse)?))
            }
            None => Box::new(io::stdout().lock()),
        };
        let mut writer = csv::Writer::from_writer(out);
        let errors = names.iter().map(|name| format!("{name}_error"));
        let last = ["cost", "converged"].map(str::to_owned);
        broken_pipe(writer.write_record(names.iter().cloned().chain(errors).chain(last)))?;
        Ok(Results::Csv(Box::new(writer)))
    }

    fn write(&mut self, found: &ManyFits<f64>) -> Result<(), Failure> {
        let (fits, n) = found.parameters.dim();
        let mut rows = Array2::zeros((fits, 2 * n + 2));
        rows.slice_mut(s![.., ..n]).assign(&found.parameters);
        rows.slice_mut(s![.., n..2 * n]).assign(&found.standard_errors);
        rows.column_mut(2 * n).assign(&found.cost);
        rows.column_mut(2 * n + 1).assign(&found.status.mapv(|status| f64::from(u8::from(status.is_converged()))));
        match self {
            Results::Npy(writer) => Ok(writer.write(&rows)?),
            Results::Csv(writer) => rows
                .rows()
                .into_iter()
                .try_for_each(|row| broken_pipe(writer.write_record(row.iter().map(|&value| exact(value))))),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Results::Npy(writer) => Ok(writer.finish()?),
            Results::Csv(mut writer) => Ok(writer.flush()?),
        }
    }
}

/// The error of writing, as it was before CSV wrapped it.
fn broken_pipe(result: csv::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::from(error),
        kind => Failure::new(format!("{kind:?}")),
    })
}
