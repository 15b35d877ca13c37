//! `marquardt predict`: values of a fit that was stored as JSON, at new predictors.

use std::fs;

use marquardt::curve::BandPoint;
use ndarray::{Array2, Axis};
use serde_json::Value;

use crate::arguments::PredictArguments;
use crate::data::{self, column_name, read};
use crate::failure::{Ending, Failure, quoted};
use crate::inference::LEVEL;
use crate::needed_columns::Needs;
use crate::output;
use crate::stored::FitOfColumns;
use crate::table::{Cell, ResultTable};

/// Prints a row for each row of the predictors: the value, its standard error, and the ends of intervals at 95 %.
pub fn run(arguments: &PredictArguments) -> Result<Ending, Failure> {
    output::check_formats(arguments.formats.all())?;
    let path = &arguments.fit;
    let in_file = |failure: Failure| Failure::new(format!("{}: {}", path.display(), failure.one_line()));
    let text = fs::read_to_string(path).map_err(|error| in_file(error.into()))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| in_file(error.into()))?;
    let fit = FitOfColumns::read(&report, arguments.group.as_deref()).map_err(in_file)?;
    let x = predictors(arguments, &fit)?;
    let ends = ["standard_error", "low", "high", "prediction_low", "prediction_high"];
    let of_response = |name: &String| {
        let end = |end: &str| if fit.y().len() == 1 { end.to_owned() } else { format!("{name} {end}") };
        [name.clone()].into_iter().chain(ends.map(end))
    };
    let mut table = ResultTable::new(fit.x.iter().cloned().chain(fit.y().iter().flat_map(of_response)));
    let mut is_finite = true;
    for x in x.rows() {
        let row = x.insert_axis(Axis(0));
        let (confidence, prediction) = (fit.fit.confidence_band(row, LEVEL), fit.fit.prediction_band(row, LEVEL));
        let mut cells: Vec<Cell> = x.iter().map(|&x| Cell::Number(x)).collect();
        for (output, &value) in fit.fit.predict(row)?.iter().enumerate() {
            is_finite &= value.is_finite();
            // What the data do not determine has no band.
            let of_output = |band: &Result<Vec<BandPoint<f64>>, _>| band.as_ref().ok().map(|band| band[output]);
            let [confidence, prediction] = [&confidence, &prediction].map(|band| of_output(band).filter(has_ends));
            let ends = |band: Option<BandPoint<f64>>| [band.map(|band| band.low), band.map(|band| band.high)];
            let error = confidence.map(|band| band.standard_error);
            cells.extend(
                [[Some(value), error], ends(confidence), ends(prediction)].concat().into_iter().map(Cell::from),
            );
        }
        table.row(cells);
    }
    output::print_table(&arguments.formats, &table)?;
    Ok(Ending::of(is_finite))
}

fn has_ends(band: &BandPoint<f64>) -> bool {
    band.low.is_finite() && band.high.is_finite()
}

/// Rows of predictors: from a file, or the numbers that are given.
fn predictors(arguments: &PredictArguments, fit: &FitOfColumns) -> Result<Array2<f64>, Failure> {
    if !arguments.at.is_empty() {
        if fit.x.len() != 1 {
            return Err(Failure::new(format!("--at gives one predictor, but the fit has {}", fit.x.len())));
        }
        if let Some(value) = arguments.at.iter().find(|value| !value.is_finite()) {
            return Err(Failure::new(format!("--at is {value}, which is no finite number")));
        }
        return Ok(Array2::from_shape_vec((arguments.at.len(), 1), arguments.at.clone())?);
    }
    if arguments.data.file.is_none() {
        return Err(Failure::new("a file of predictors, or --at, is needed"));
    }
    let (asked, known) = (&arguments.data.x, &fit.x);
    if !asked.is_empty() && asked.len() != known.len() {
        let (count, names) = (asked.len(), quoted(known));
        return Err(Failure::new(format!("--x names {count} of the predictors, which are {names}")));
    }
    let names: Vec<&str> = if asked.is_empty() { known } else { asked }.iter().map(String::as_str).collect();
    let of_fit = |name: &String| fit.origins.get(name).map(String::as_str);
    let of_predictors = names.iter().zip(known).filter_map(|(asked, known)| Some((*asked, of_fit(known)?)));
    let others = fit.origins.iter().filter(|(name, _)| !known.contains(name));
    let origins = of_predictors.chain(others.map(|(name, origin)| (name.as_str(), origin.as_str())));
    let origins: Vec<(&str, &str)> = origins.collect();
    let table = read(&arguments.data, &Needs { columns: &names, origins: &origins, ..Needs::default() })?;
    let mut columns = Vec::new();
    for name in names {
        let name_of_fit = &known[columns.len()];
        let name = column_name(&table, Some(name), 1);
        let is_counted = arguments.data.since.is_some() || of_fit(name_of_fit).is_some();
        if let Some(first) = table.origin(&name)?.filter(|_| !is_counted) {
            return Err(Failure::new(format!(
                "column {name:?} has times, but {name_of_fit:?} of the fit were numbers; --since says where they count from (the \
                 first one is {first})"
            )));
        }
        columns.push((name.clone(), table.column(&name)?));
    }
    let rows = data::complete_rows(&table, &columns, arguments.data.omit_missing)?;
    data::note_of_reading(&table, columns.iter().map(|(name, _)| name))?;
    Ok(Array2::from_shape_fn((rows.len(), columns.len()), |(row, column)| columns[column].1[rows[row]]))
}
