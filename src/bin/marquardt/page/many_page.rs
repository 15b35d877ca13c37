//! The page of many fits: distributions and maps of the parameters, some of the fits, and those that failed.

use std::collections::BTreeMap;
use std::path::Path;

use marquardt::Model;
use marquardt::curve::ManyFits;
use marquardt::models::AnyModel;
use marquardt::solver::FitStatus;
use ndarray::{Array2, ArrayView1};
use serde_json::{Value, json};

use super::distribution::distribution;
use super::map_layer::layer;
use super::points::rounded;
use super::{origin, write_page};
use crate::arguments::{ManyArguments, SettingsArguments};
use crate::failure::Failure;

/// Number of fits that distributions are made of, at most.
const SAMPLE: usize = 200_000;
/// Numbers in all maps.
const MAP_CELLS: usize = 550_000;
/// Number of parameters from which on there are no maps of standard errors.
const MANY_PARAMETERS: usize = 5;
/// Numbers in the table, and rows of it at most.
const TABLE_NUMBERS: usize = 16_000;
const ROWS: usize = 1000;
/// Number of fits up to which all are drawn; of more, numbers of those that are: spread evenly, with the largest residuals, and failed.
const FEW: usize = 100;
const SPREAD: usize = 36;
const EXTREME: usize = 12;
/// Failed fits that are listed.
const LISTED: usize = 200;
/// Points of a fit that is drawn, at most, and of a curve, at least.
const POINTS: usize = 400;
const CURVE_POINTS: usize = 100;
const DIGITS: usize = 6;

/// One fit.
struct Record {
    index: usize,
    parameters: Vec<f64>,
    errors: Vec<f64>,
    misfit: f64,
    iterations: usize,
    status: FitStatus,
}

/// Why a fit is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Spread,
    Misfit,
    Failed,
}

/// A fit that is drawn, with its responses.
struct Drawn {
    record: Record,
    y: Vec<f64>,
    reason: Reason,
}

/// Results of many fits, of which a page of bounded size can be made.
pub struct ManyPage<'a> {
    arguments: &'a ManyArguments,
    curve: &'a AnyModel,
    x: Vec<f64>,
    x_label: String,
    /// Shape of the stack without its points.
    shape: Vec<usize>,
    /// Names of the data sets, if they have names.
    names: Option<Vec<String>>,
    total: usize,
    added: usize,
    converged: usize,
    /// Step between the fits of the sample: along both axes of an image.
    step: usize,
    sample: Vec<Record>,
    reasons: BTreeMap<String, usize>,
    failed: Vec<(usize, String)>,
    drawn: Vec<Drawn>,
}

impl<'a> ManyPage<'a> {
    /// Makes room for the fits of a stack.
    pub fn of(
        arguments: &'a ManyArguments,
        curve: &'a AnyModel,
        x: &[f64],
        shape: &[usize],
        names: Option<&[String]>,
        x_label: &str,
    ) -> Self {
        let total = shape.iter().product::<usize>();
        let mut page = ManyPage {
            arguments,
            curve,
            x: x.to_vec(),
            x_label: x_label.to_owned(),
            shape: shape.to_vec(),
            names: names.map(<[String]>::to_vec),
            total,
            added: 0,
            converged: 0,
            step: 1,
            sample: Vec::new(),
            reasons: BTreeMap::new(),
            failed: Vec::new(),
            drawn: Vec::new(),
        };
        let is_small = |page: &Self| match page.image() {
            Some([rows, columns]) => {
                rows.div_ceil(page.step) * columns.div_ceil(page.step) * page.layers() <= MAP_CELLS
            }
            None => total.div_ceil(page.step) <= SAMPLE,
        };
        while !is_small(&page) {
            page.step += 1;
        }
        page
    }

    /// Rows and columns of an image.
    fn image(&self) -> Option<[usize; 2]> {
        match self.shape[..] {
            [rows, columns] if rows > 1 && columns > 1 => Some([rows, columns]),
            _ => None,
        }
    }

    fn has_error_maps(&self) -> bool {
        self.curve.parameters().len() < MANY_PARAMETERS
    }

    /// Number of maps.
    fn layers(&self) -> usize {
        self.curve.parameters().len() * (1 + usize::from(self.has_error_maps())) + 1
    }

    fn is_in_sample(&self, index: usize) -> bool {
        match self.image() {
            Some([_, columns]) => {
                (index / columns).is_multiple_of(self.step) && (index % columns).is_multiple_of(self.step)
            }
            None => index.is_multiple_of(self.step),
        }
    }

    /// The cost is no sum of squares of residuals, or half of one.
    fn has_deviations(&self) -> bool {
        !self.arguments.counts && self.arguments.robust.is_none()
    }

    /// Adds the fits of a block to their data.
    pub fn add(&mut self, rows: &Array2<f64>, found: &ManyFits<f64>) {
        let spread = if self.total > FEW { self.total.div_ceil(SPREAD) } else { 1 };
        for (fit, y) in rows.rows().into_iter().enumerate() {
            let (index, status) = (self.added + fit, found.status[fit]);
            let record = || Record {
                index,
                parameters: found.parameters.row(fit).to_vec(),
                errors: found.standard_errors.row(fit).to_vec(),
                misfit: self.misfit(found.cost[fit], found.degrees_of_freedom[fit]),
                iterations: found.iterations[fit],
                status,
            };
            let misfit = self.misfit(found.cost[fit], found.degrees_of_freedom[fit]);
            let sampled = self.is_in_sample(index).then(record);
            let reason = if !status.is_converged() {
                let is_seen = y.iter().any(|y| y.is_finite());
                (is_seen && (self.of_reason(Reason::Failed).count() < EXTREME || self.total <= FEW))
                    .then_some(Reason::Failed)
            } else if index.is_multiple_of(spread) {
                Some(Reason::Spread)
            } else {
                self.is_extreme(misfit).then_some(Reason::Misfit)
            };
            let drawn = reason.map(|reason| Drawn { record: record(), y: self.of_drawn(y), reason });
            self.sample.extend(sampled);
            self.converged += usize::from(status.is_converged());
            if !status.is_converged() {
                *self.reasons.entry(status.to_string()).or_default() += 1;
                if self.failed.len() < LISTED {
                    self.failed.push((index, status.to_string()));
                }
            }
            if let Some(drawn) = drawn {
                self.draw(drawn);
            }
        }
        self.added += rows.nrows();
    }

    /// Residual standard deviation, or the cost where that is something else.
    fn misfit(&self, cost: f64, freedom: usize) -> f64 {
        match self.has_deviations() {
            true if freedom > 0 => (2.0 * cost / freedom as f64).sqrt(),
            true => f64::NAN,
            false => cost,
        }
    }

    fn of_reason(&self, reason: Reason) -> impl Iterator<Item = (usize, &Drawn)> {
        self.drawn.iter().enumerate().filter(move |(_, drawn)| drawn.reason == reason)
    }

    /// A misfit is among the largest.
    fn is_extreme(&self, misfit: f64) -> bool {
        let mut known = self.of_reason(Reason::Misfit);
        misfit.is_finite()
            && (self.of_reason(Reason::Misfit).count() < EXTREME
                || known.any(|(_, drawn)| drawn.record.misfit < misfit))
    }

    fn draw(&mut self, drawn: Drawn) {
        if drawn.reason == Reason::Misfit && self.of_reason(Reason::Misfit).count() == EXTREME {
            let least =
                self.of_reason(Reason::Misfit).min_by(|(_, a), (_, b)| a.record.misfit.total_cmp(&b.record.misfit));
            let place = least.map(|(place, _)| place).expect("there are several");
            self.drawn.remove(place);
        }
        self.drawn.push(drawn);
    }

    /// Indices of the points that are drawn.
    fn points(&self) -> impl Iterator<Item = usize> {
        (0..self.x.len()).step_by(self.x.len().div_ceil(POINTS).max(1))
    }

    fn of_drawn(&self, y: ArrayView1<'_, f64>) -> Vec<f64> {
        self.points().map(|index| y[index]).collect()
    }

    /// Name of a data set, or its place in the stack, counted from 0.
    fn name(&self, index: usize) -> String {
        if let Some(name) = self.names.as_ref().and_then(|names| names.get(index)) {
            return name.clone();
        }
        let (mut rest, mut places) = (index, Vec::new());
        for &length in self.shape.iter().rev() {
            places.push((rest % length).to_string());
            rest /= length;
        }
        places.reverse();
        places.join(", ")
    }

    /// Predictors of curves: from the least to the greatest, in equal steps and, where they span a decade, in equal ratios.
    fn grid(&self) -> Vec<f64> {
        let (low, high) =
            self.x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        let parts = self.x.len().clamp(CURVE_POINTS, POINTS);
        let shares = (0..=parts).map(|part| part as f64 / parts as f64);
        let mut grid: Vec<f64> = shares.clone().map(|share| (1.0 - share) * low + share * high).collect();
        if low > 0.0 && high >= 10.0 * low {
            grid.extend(shares.map(|share| (low * (high / low).powf(share)).clamp(low, high)));
        }
        grid.sort_by(f64::total_cmp);
        grid
    }

    /// Writes the page.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let arguments = self.arguments;
        let title = arguments.stack.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let grid = self.grid();
        let x = self.points().map(|index| self.x[index]);
        let data = json!({
            "kind": "many",
            "origin": origin::of(Some(&arguments.stack), false, &SettingsArguments::default())?,
            "title": format!("{title}: {}", self.curve),
            "model": format!("y = {}", self.curve.formula()),
            "parameters": self.curve.parameters(),
            "misfit": if self.has_deviations() { "residual sd" } else { "cost" },
            "is_numbered": self.names.is_none(),
            "x_label": self.x_label,
            "total": self.total,
            "converged": self.converged,
            "points": self.x.len(),
            "reasons": self.reasons.iter().collect::<Vec<_>>(),
            "failed": self.failed.iter().map(|(index, reason)| json!([self.name(*index), reason])).collect::<Vec<_>>(),
            "sampled": self.sample.len(),
            "distributions": self.distributions(),
            "rows": self.rows(),
            "x": x.map(|x| rounded(x, DIGITS)).collect::<Vec<_>>(),
            "grid": grid.iter().map(|&x| rounded(x, DIGITS)).collect::<Vec<_>>(),
            "drawn": self.drawn.iter().map(|drawn| self.picture(drawn, &grid)).collect::<Vec<_>>(),
            "map": self.map(),
        });
        write_page(path, &data.to_string())
    }

    fn record(&self, record: &Record) -> Value {
        let column = |values: &[f64]| -> Value { values.iter().map(|&value| rounded(value, DIGITS)).collect() };
        json!([
            self.name(record.index),
            column(&record.parameters),
            column(&record.errors),
            rounded(record.misfit, DIGITS),
            record.iterations,
            record.status.is_converged(),
        ])
    }

    /// Rows of the table, spread evenly over the sample.
    fn rows(&self) -> Vec<Value> {
        let most = (TABLE_NUMBERS / (2 * self.curve.parameters().len() + 3)).clamp(1, ROWS);
        let step = self.sample.len().div_ceil(most).max(1);
        self.sample.iter().step_by(step).map(|record| self.record(record)).collect()
    }

    fn picture(&self, drawn: &Drawn, grid: &[f64]) -> Value {
        let own = &drawn.record.parameters;
        let is_known = own.iter().all(|value| value.is_finite()) && drawn.y.iter().any(|y| y.is_finite());
        let line = grid.iter().filter(|_| is_known).map(|&x| Model::<f64>::response::<f64>(self.curve, &[x], own));
        let reason = match drawn.reason {
            Reason::Spread => "spread",
            Reason::Misfit => "misfit",
            Reason::Failed => "failed",
        };
        json!({
            "fit": self.record(&drawn.record),
            "reason": reason,
            "status": drawn.record.status.to_string(),
            "y": drawn.y.iter().map(|&y| rounded(y, DIGITS)).collect::<Vec<_>>(),
            "line": line.map(|y| rounded(y, DIGITS)).collect::<Vec<_>>(),
        })
    }

    /// The values of a quantity in all fits of the sample: those of the parameters, their standard errors, and the misfit.
    fn values(&self, quantity: usize) -> impl Iterator<Item = f64> + Clone {
        let n = self.curve.parameters().len();
        self.sample.iter().map(move |record| match quantity {
            _ if !record.status.is_converged() => f64::NAN,
            of_parameter if of_parameter < n => record.parameters[of_parameter],
            of_error if of_error < 2 * n => record.errors[of_error - n],
            _ => record.misfit,
        })
    }

    /// Quartiles and histograms of the parameters and the misfit.
    fn distributions(&self) -> Vec<Value> {
        let n = self.curve.parameters().len();
        let names = self.curve.parameters().iter().map(String::as_str);
        let last = if self.has_deviations() { "residual sd" } else { "cost" };
        let all = names.chain([last]).zip((0..n).chain([2 * n]));
        all.filter_map(|(name, quantity)| distribution(name, self.values(quantity))).collect()
    }

    /// Maps of an image.
    fn map(&self) -> Value {
        let Some([rows, columns]) = self.image() else { return Value::Null };
        let (n, names) = (self.curve.parameters().len(), self.curve.parameters());
        let values = names.iter().enumerate().map(|(index, name)| (name.clone(), index));
        let errors = names.iter().enumerate().filter(|_| self.has_error_maps());
        let errors = errors.map(|(index, name)| (format!("standard error of {name}"), n + index));
        let misfit = if self.has_deviations() { "residual sd" } else { "cost" };
        let layers = values.chain(errors).chain([(misfit.to_owned(), 2 * n)]);
        let layers: Vec<Value> = layers.map(|(name, quantity)| layer(&name, self.values(quantity))).collect();
        json!({ "rows": rows, "columns": columns, "step": self.step, "layers": layers })
    }
}
