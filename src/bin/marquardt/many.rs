//! `marquardt many`: a curve to each row or pixel of an array, or to each column of a table, block by block.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use marquardt::curve::{FitOptions, ManyFits, NanPolicy};
use marquardt::models::AnyModel;
use marquardt::npy::RowWriter;
use marquardt::{FitMany, Formula};
use ndarray::{Array2, s};

use crate::arguments::{ManyArguments, ParameterArguments};
use crate::assignments::NamedValue;
use crate::curve;
use crate::failure::{Ending, Failure, quoted};
use crate::interrupt;
use crate::output;
use crate::page::ManyPage;
use crate::parameter_options::check_once;
use crate::stack::Stack;
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
    if let Some(report) = &arguments.report {
        output::check_report(report)?;
        let inputs: Vec<&Path> = [&arguments.stack].into_iter().chain(&arguments.x).map(PathBuf::as_path).collect();
        output::check_file(report, &inputs)?;
    }
    let mut stack = Stack::open(&arguments.stack)?;
    let (points, before) = stack.shape();
    let x = stack.predictor(arguments.x.as_deref())?;
    if x.len() != points {
        return Err(Failure::new(format!("--x has {} points, but the curves have {points}", x.len())));
    }
    let asked = Asked::of(arguments, &curve)?;
    curve::note_of_constants(&curve, &arguments.parameters.start);
    let total = stack.left();
    // Begun where the first fits have been accepted.
    let names = stack.names().map(<[String]>::to_vec);
    let create = || ResultFile::create(arguments.out.as_deref(), &before, curve.parameters(), names.clone());
    let mut page = arguments
        .report
        .as_ref()
        .map(|_| ManyPage::of(arguments, &curve, &x, &before, names.as_deref(), stack.x_label()));
    let mut results = None;
    let bar = ProgressBar::new(total as u64).with_style(
        ProgressStyle::with_template("{wide_bar} {pos}/{len} fits, {eta} left").expect("the template is sound"),
    );
    let (mut converged, token) = (0, interrupt::token());
    while let Some(rows) = stack.read(arguments.block.max(1))? {
        let fits = FitMany::new(curve.clone(), &x, &rows).cancel_token(token.clone());
        let found = asked.of_fits(fits).fit()?;
        if token.is_cancelled() {
            bar.abandon();
            let done = total - stack.left() - rows.nrows();
            note(format_args!("note: interrupted after {done} of {total} fits"));
            return Ok(Ending::NotConverged);
        }
        converged += found.converged();
        match &mut results {
            Some(results) => results,
            none => none.insert(create()?),
        }
        .write(&found)?;
        if let Some(page) = &mut page {
            page.add(&rows, &found);
        }
        bar.inc(rows.nrows() as u64);
    }
    bar.finish_and_clear();
    results.map_or_else(create, Ok)?.finish()?;
    if let Some((page, path)) = page.zip(arguments.report.as_ref()) {
        page.write(path)?;
    }
    note(format_args!("{converged} of {total} fits converged"));
    Ok(Ending::of(converged == total))
}

/// Options of the fits.
struct Asked<'a> {
    arguments: &'a ManyArguments,
    start: Option<Vec<f64>>,
    options: FitOptions<f64>,
}

impl<'a> Asked<'a> {
    fn of(arguments: &'a ManyArguments, curve: &AnyModel) -> Result<Self, Failure> {
        let ManyArguments { parameters, omit_missing, counts, robust, .. } = arguments;
        check_once(parameters.named())?;
        parameters.named().try_for_each(|(option, name)| check_name(name, curve.parameters(), option))?;
        let start = start(&parameters.start, curve)?;
        // A start of all parameters is a row of its own, where those of tied parameters are not looked at.
        let is_option = |given: &&NamedValue<f64>| start.is_none() && !parameters.holds(&given.name);
        let started = parameters.start.iter().filter(is_option).cloned().collect();
        let mut options = ParameterArguments { start: started, ..parameters.clone() }.options()?;
        if let Some(loss) = *robust {
            options = options.robust(loss);
        }
        if *omit_missing {
            options = options.nan_policy(NanPolicy::Omit);
        }
        if *counts {
            options = options.counts();
        }
        Ok(Asked { arguments, start, options })
    }

    fn of_fits<'s: 'y, 'y>(&'s self, fits: FitMany<'y, f64, AnyModel>) -> FitMany<'y, f64, AnyModel> {
        let fits = fits.options(self.options.clone());
        let fits = match &self.start {
            Some(start) => fits.start(&start[..]),
            None => fits.guessed(),
        };
        match self.arguments.max_iterations {
            Some(iterations) => fits.max_iterations(iterations),
            None => fits,
        }
    }
}

/// Returns the start of all fits; nothing if each has a guess of its own, of all parameters or of those of a formula that are not given.
fn start(starts: &[NamedValue<f64>], curve: &AnyModel) -> Result<Option<Vec<f64>>, Failure> {
    let names = curve.parameters();
    let given = |name: &String| starts.iter().find(|start| start.name == *name).map(|start| start.value);
    match curve {
        AnyModel::Named(_) if starts.is_empty() => Ok(None),
        AnyModel::Named(_) => match names.iter().find(|name| given(name).is_none()) {
            Some(name) => {
                Err(Failure::new(format!("--start lacks {name:?}: give all parameters, or none to guess them")))
            }
            None => Ok(Some(names.iter().filter_map(given).collect())),
        },
        AnyModel::Formula(_) => Ok(names.iter().map(given).collect()),
    }
}

/// Refuses a name that no parameter has.
fn check_name(name: &str, names: &[String], option: &str) -> Result<(), Failure> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let about_pi = if name == "pi" { format!("; {}", curve::ABOUT_PI) } else { String::new() };
    let names = quoted(names);
    Err(Failure::new(format!("{option}: there is no parameter {name:?}; the parameters are {names}{about_pi}")))
}

/// Destination of the results, a row for each fit: parameters, standard errors, cost, and 1 for a fit that converged.
enum ResultFile {
    Npy(RowWriter),
    /// A row begins with the name of its data set, if there are names.
    Csv(Box<csv::Writer<Box<dyn Write>>>, Option<std::vec::IntoIter<String>>),
}

impl ResultFile {
    fn create(
        path: Option<&Path>,
        before: &[usize],
        names: &[String],
        data_sets: Option<Vec<String>>,
    ) -> Result<Self, Failure> {
        if let Some(path) = path.filter(|path| output::extension(path).as_deref() == Some("npy")) {
            let shape: Vec<usize> = before.iter().copied().chain([2 * names.len() + 2]).collect();
            return Ok(ResultFile::Npy(RowWriter::create(path, &shape)?));
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
        let first = data_sets.iter().map(|_| "column".to_owned());
        broken_pipe(writer.write_record(first.chain(names.iter().cloned()).chain(errors).chain(last)))?;
        Ok(ResultFile::Csv(Box::new(writer), data_sets.map(Vec::into_iter)))
    }

    fn write(&mut self, found: &ManyFits<f64>) -> Result<(), Failure> {
        let (fits, n) = found.parameters.dim();
        let mut rows = Array2::zeros((fits, 2 * n + 2));
        rows.slice_mut(s![.., ..n]).assign(&found.parameters);
        rows.slice_mut(s![.., n..2 * n]).assign(&found.standard_errors);
        rows.column_mut(2 * n).assign(&found.cost);
        rows.column_mut(2 * n + 1).assign(&found.status.mapv(|status| f64::from(u8::from(status.is_converged()))));
        match self {
            ResultFile::Npy(writer) => Ok(writer.write(&rows)?),
            ResultFile::Csv(writer, names) => rows.rows().into_iter().try_for_each(|row| {
                let name = names.as_mut().and_then(Iterator::next);
                broken_pipe(writer.write_record(name.into_iter().chain(row.iter().map(|&value| exact(value)))))
            }),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            ResultFile::Npy(writer) => Ok(writer.finish()?),
            ResultFile::Csv(mut writer, _) => Ok(writer.flush()?),
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
