//! Columns of a table that are fitted.

use std::collections::BTreeMap;

use marquardt::curve::Table;
use marquardt::{CurveError, Formula, Model};
use ndarray::{Array2, Axis, concatenate};

use crate::arguments::DataArguments;
use crate::curve::ABOUT_PI;
use crate::data::{complete_rows, of_heading, origins};
use crate::failure::{Failure, quoted};
use crate::row_values::{RowValues, of_table};

/// Numbers of replicates.
fn whole(counts: &[f64], table: &Table, lines: &[usize]) -> Result<Vec<usize>, Failure> {
    let count = |(&count, line): (&f64, &usize)| match count >= 1.0 && count.fract() == 0.0 {
        true => Ok(count as usize),
        false => Err(Failure::new(format!(
            "{}, line {line}: {count} of --replicates is no number of replicates, which is a positive integer",
            table.source_name()
        ))),
    };
    counts.iter().zip(lines).map(count).collect()
}

/// Formula of a response alone for its standard deviation, or its weight.
#[derive(Debug, Clone)]
pub struct ResponseSigma {
    formula: Formula,
    is_weight: bool,
}

/// Predictors, responses and their standard deviations.
#[derive(Debug)]
pub struct SelectedData {
    pub source: String,
    pub x_names: Vec<String>,
    /// Two if the response is complex.
    pub y_names: Vec<String>,
    /// Columns of the predictors and of the response, of which there are several if it has replicates.
    pub columns: Vec<String>,
    /// Labels of a plot's axes: the columns of the predictors and of the response, with their units.
    pub labels: [String; 2],
    /// Of these, and all others, a row for each observation.
    pub x: Array2<f64>,
    pub y: Array2<f64>,
    pub sigma: Option<Array2<f64>>,
    pub weights: Option<Array2<f64>>,
    pub sigma_x: Option<Array2<f64>>,
    /// Numbers of replicates, of which the responses are means, and their standard deviations.
    pub replicates: Option<(Vec<usize>, Array2<f64>)>,
    /// Origins of times, by the columns of the file.
    pub origins: BTreeMap<String, String>,
    /// Standard deviation of a response, if it follows from that alone.
    pub response_sigma: Option<ResponseSigma>,
    /// Rows that were left out, as a number is missing.
    pub omitted: usize,
    /// The line of the file at which each row ends.
    pub lines: Vec<usize>,
    pub sigma_name: String,
}

impl SelectedData {
    /// These columns of a table. Several columns for one response are replicates, one below the other.
    pub fn select(
        table: &Table,
        arguments: &DataArguments,
        x_names: Vec<String>,
        y_names: Vec<String>,
    ) -> Result<SelectedData, Failure> {
        if let ([pattern], [_, _, ..]) = (&arguments.y[..], &y_names[..]) {
            let select = |name| SelectedData::select(table, arguments, x_names.clone(), vec![name]);
            let replicates = y_names.into_iter().map(select).collect::<Result<Vec<_>, _>>()?;
            return Ok(SelectedData::stacked(&replicates, pattern));
        }
        let sigma = arguments.sigma.as_deref().map(|text| RowValues::of(table, text));
        let weights = arguments.weights.as_deref().map(|text| RowValues::of(table, text));
        let sigma_x: Vec<RowValues<'_>> = arguments.sigma_x.iter().map(|text| RowValues::of(table, text)).collect();
        if !(sigma_x.is_empty() || sigma_x.len() == x_names.len()) {
            let (given, predictors) = (sigma_x.len(), quoted(&x_names));
            return Err(Failure::new(format!("--sigma-x gives {given}, but the predictors are {predictors}")));
        }
        let [counts, sd] =
            [&arguments.replicates, &arguments.sd].map(|text| text.as_deref().map(|text| RowValues::of(table, text)));
        let sigma_name = sigma.as_ref().and_then(RowValues::column).unwrap_or_default().to_owned();
        let mut columns: Vec<(String, &[f64])> = Vec::new();
        let others = sigma.iter().chain(&weights).chain(&sigma_x).chain(&counts).flat_map(RowValues::columns);
        let others = others.map(|name| of_table(table, name, &y_names[0]));
        for name in x_names.iter().chain(&y_names).map(String::as_str).chain(others) {
            let numbers = table.column(name).map_err(|error| of_heading(error, table))?;
            columns.push((name.to_owned(), numbers));
        }
        let rows = complete_rows(table, &columns, arguments.omit_missing)?;
        let table_of = |columns: &[Vec<f64>]| {
            Array2::from_shape_fn((rows.len(), columns.len()), |(row, column)| columns[column][row])
        };
        let kept: Vec<Vec<f64>> =
            columns.iter().map(|(_, values)| rows.iter().map(|&row| values[row]).collect()).collect();
        let (x, y) = (table_of(&kept[..x_names.len()]), table_of(&kept[x_names.len()..][..y_names.len()]));
        let values = |of: &RowValues<'_>, response: &String| of.values(table, &rows, response);
        let of_responses = |of: Option<RowValues<'_>>| {
            let columns = |of| y_names.iter().map(|response| values(&of, response)).collect::<Result<Vec<_>, _>>();
            of.map(columns).transpose().map(|columns| columns.map(|columns| table_of(&columns)))
        };
        let of_response = |of: &Option<RowValues<'_>>| of.as_ref()?.of_response(table, &y_names[0]);
        let response_sigma = of_response(&sigma).map(|formula| ResponseSigma { formula, is_weight: false });
        let response_sigma =
            response_sigma.or(of_response(&weights).map(|formula| ResponseSigma { formula, is_weight: true }));
        let (sigma, weights) = (of_responses(sigma)?, of_responses(weights)?);
        let sigma_x = sigma_x.iter().map(|of| values(of, &y_names[0])).collect::<Result<Vec<_>, _>>()?;
        let sigma_x = (!sigma_x.is_empty()).then(|| table_of(&sigma_x));
        let lines: Vec<usize> = rows.iter().map(|&row| table.lines()[row]).collect();
        let counts = counts.map(|of| whole(&values(&of, &y_names[0])?, table, &lines)).transpose()?;
        let replicates = counts.zip(of_responses(sd)?);
        let label = |names: &[String]| {
            names.iter().map(|name| table.label(name)).collect::<Result<Vec<_>, _>>().map(|labels| labels.join(", "))
        };
        let labels = [label(&x_names)?, label(&y_names)?];
        let (source, omitted) = (table.source_name().to_owned(), table.rows() - rows.len());
        Ok(SelectedData {
            source,
            columns: x_names.iter().chain(&y_names).cloned().collect(),
            x_names,
            y_names,
            labels,
            x,
            y,
            sigma,
            weights,
            sigma_x,
            replicates,
            origins: origins(table),
            response_sigma,
            omitted,
            lines,
            sigma_name,
        })
    }

    /// Data one below the other; the response has a new name.
    fn stacked(parts: &[SelectedData], response: &str) -> SelectedData {
        let optional = |of: fn(&SelectedData) -> Option<&Array2<f64>>| {
            let views = parts.iter().map(|part| of(part).map(|values| values.view())).collect::<Option<Vec<_>>>()?;
            Some(concatenate(Axis(0), &views).expect("they have the same columns"))
        };
        let all = |of: fn(&SelectedData) -> Option<&Array2<f64>>| optional(of).expect("all have it");
        let counts = parts.iter().filter_map(|part| part.replicates.as_ref()).flat_map(|(counts, _)| counts);
        let deviations = optional(|part| part.replicates.as_ref().map(|(_, sd)| sd));
        let first = &parts[0];
        SelectedData {
            source: first.source.clone(),
            x_names: first.x_names.clone(),
            y_names: vec![response.to_owned()],
            columns: first.x_names.iter().chain(parts.iter().flat_map(|part| &part.y_names)).cloned().collect(),
            labels: [first.labels[0].clone(), response.to_owned()],
            x: all(|part| Some(&part.x)),
            y: all(|part| Some(&part.y)),
            sigma: optional(|part| part.sigma.as_ref()),
            weights: optional(|part| part.weights.as_ref()),
            sigma_x: optional(|part| part.sigma_x.as_ref()),
            replicates: deviations.map(|deviations| (counts.copied().collect(), deviations)),
            origins: first.origins.clone(),
            response_sigma: first.response_sigma.clone(),
            omitted: parts.iter().map(|part| part.omitted).sum(),
            lines: parts.iter().flat_map(|part| &part.lines).copied().collect(),
            sigma_name: first.sigma_name.clone(),
        }
    }

    /// The data without some rows, which ascend.
    pub fn without(&self, rows: &[usize]) -> SelectedData {
        let kept: Vec<usize> = (0..self.y.nrows()).filter(|row| rows.binary_search(row).is_err()).collect();
        let of_kept = |values: &Array2<f64>| values.select(Axis(0), &kept);
        SelectedData {
            source: self.source.clone(),
            x_names: self.x_names.clone(),
            y_names: self.y_names.clone(),
            columns: self.columns.clone(),
            labels: self.labels.clone(),
            x: of_kept(&self.x),
            y: of_kept(&self.y),
            sigma: self.sigma.as_ref().map(of_kept),
            weights: self.weights.as_ref().map(of_kept),
            sigma_x: self.sigma_x.as_ref().map(of_kept),
            replicates: self
                .replicates
                .as_ref()
                .map(|(counts, sd)| (kept.iter().map(|&row| counts[row]).collect(), of_kept(sd))),
            origins: self.origins.clone(),
            response_sigma: self.response_sigma.clone(),
            omitted: self.omitted,
            lines: kept.iter().map(|&row| self.lines[row]).collect(),
            sigma_name: self.sigma_name.clone(),
        }
    }

    /// The row of a fit that each row begins at: replicates have a row each.
    pub fn fitted_rows(&self) -> Vec<usize> {
        let count = |row: usize| self.replicates.as_ref().map_or(1, |(counts, _)| counts[row]);
        let first = |next: &mut usize, row: usize| Some(std::mem::replace(next, *next + count(row)));
        (0..self.y.nrows()).scan(0, first).collect()
    }

    /// Standard deviation of a response of this size by `--sigma` or `--weights`, if it follows from that alone.
    pub fn sigma_of(&self, response: f64) -> Option<f64> {
        let ResponseSigma { formula, is_weight } = self.response_sigma.as_ref()?;
        let value: f64 = formula.response(&vec![response; formula.predictors().len()], &[]);
        let sigma = if *is_weight { value.sqrt().recip() } else { value };
        Some(sigma).filter(|sigma| sigma.is_finite() && *sigma > 0.0)
    }

    /// The columns of the response.
    pub fn response(&self) -> String {
        self.y_names.join(", ")
    }

    /// The line of the file at which a row ends.
    pub fn line(&self, row: usize) -> usize {
        self.lines[row]
    }

    /// Says where in the file the reason of an error is.
    pub fn explain(&self, error: CurveError) -> Failure {
        let place = |row: usize, column: &str| {
            let column = if column.is_empty() { String::new() } else { format!(", column {column:?}") };
            format!("{}, line {}{column}", self.source, self.lines[row])
        };
        let at = |row: usize| {
            let x = self.x.row(row);
            let values = self.x_names.iter().zip(x).map(|(name, value)| format!("{name:?} = {value}"));
            values.collect::<Vec<_>>().join(", ")
        };
        Failure::new(match error {
            CurveError::NonPositiveSigma { row, value } if self.sigma_name.is_empty() => {
                format!("--sigma is {value}: a standard deviation must be positive (used from {})", place(row, ""))
            }
            CurveError::NonPositiveSigma { row, value } => {
                format!("{}: {value} is no standard deviation, which must be positive", place(row, &self.sigma_name))
            }
            CurveError::Weight { row, value } => {
                format!("{}: {value} of --weights is no weight, which must not be negative", place(row, ""))
            }
            CurveError::NegativeSigmaX { row, value, .. } => {
                format!("{}: {value} of --sigma-x is no standard deviation, which must not be negative", place(row, ""))
            }
            CurveError::ReplicateDeviation { row, value } => {
                format!("{}: {value} of --sd is no standard deviation, which must not be negative", place(row, ""))
            }
            CurveError::NegativeCount { row, value } => {
                format!("{}: {value} is no count, which must not be negative", place(row, &self.response()))
            }
            CurveError::FractionalCount { row, value } => {
                format!("{}: {value} is no count, which is an integer", place(row, &self.response()))
            }
            CurveError::NonFiniteResponse { row, value } => {
                let place = place(row, "");
                format!(
                    "{place}: the curve is {value} at {} with the starts of the parameters; --start gives others",
                    at(row)
                )
            }
            CurveError::NonPositiveMean { row, value } => {
                let place = place(row, "");
                format!(
                    "{place}: the curve is {value} at {} with the starts, but a mean of counts is positive",
                    at(row)
                )
            }
            CurveError::NoSuchParameter { ref name, .. } if name == "pi" => {
                format!("{}: {error}; {ABOUT_PI}", self.source)
            }
            error => format!("{}: {error}", self.source),
        })
    }
}
