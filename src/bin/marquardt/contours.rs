//! Joint confidence regions of two parameters.

use marquardt::FittedCurve;
use marquardt::curve::{Contour, ProfileError};

use crate::arguments::ContourArguments;
use crate::failure::{Failure, quoted};
use crate::inference::no_profile;
use crate::table::{Cell, ResultTable};

/// Levels of the regions.
const LEVELS: [f64; 2] = [0.683, 0.95];

/// Points of a border.
const POINTS: usize = 96;

/// The parameters that `--contour` names, which are two of these.
pub fn pair<'a>(
    arguments: &'a ContourArguments,
    parameters: &[impl AsRef<str>],
) -> Result<Option<[&'a str; 2]>, Failure> {
    let pair = match &arguments.contour[..] {
        [] => return Ok(None),
        [first, second] => [first.as_str(), second],
        names => return Err(Failure::new(format!("--contour names two parameters, not {}", quoted(names)))),
    };
    match pair.into_iter().find(|name| parameters.iter().all(|known| known.as_ref() != *name)) {
        None => Ok(Some(pair)),
        Some(name) => {
            let known = quoted(parameters);
            Err(Failure::new(format!("--contour: there is no parameter {name:?}; the parameters are {known}")))
        }
    }
}

/// The joint regions of two parameters of one fit.
#[derive(Debug)]
pub struct Regions {
    pub contours: Vec<Contour<f64>>,
    /// Levels without a region, and the reasons.
    failed: Vec<(f64, String)>,
    pub estimate: (f64, f64),
}

impl Regions {
    /// The regions that `--contour` asks for.
    pub fn of(fit: &FittedCurve<'_, f64>, arguments: &ContourArguments) -> Result<Option<Self>, Failure> {
        let names: Vec<_> = fit.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
        let Some([first, second]) = pair(arguments, &names)? else { return Ok(None) };
        let value = |name: &str| fit.parameter(name).expect("it is one of the names").value;
        let estimate = (value(first), value(second));
        let (mut contours, mut failed) = (Vec::new(), Vec::new());
        for level in LEVELS {
            match fit.contour(first, second, level, POINTS) {
                Ok(contour) => contours.push(contour),
                Err(error @ (ProfileError::NotFree { .. } | ProfileError::SameParameter { .. })) => {
                    return Err(Failure::new(format!("--contour: {error}")));
                }
                Err(error) => failed.push((level, no_profile(fit, &[first, second], &error))),
            }
        }
        Ok(Some(Regions { contours, failed, estimate }))
    }

    /// A row for each level and parameter: the ends of the region; one with the reason where there is none.
    pub fn table(&self) -> ResultTable {
        let mut table = ResultTable::new(["level", "parameter", "low", "high", "note"]);
        for Contour { names, level, points, failed } in &self.contours {
            for (index, name) in names.iter().enumerate() {
                let values = points.iter().map(|point| point.at[index]);
                let (low, high) =
                    (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
                let note = match failed.first() {
                    Some(error) => format!("{} of {POINTS} directions failed: {error}", failed.len()),
                    None if low.is_infinite() || high.is_infinite() => "open".to_owned(),
                    None => String::new(),
                };
                table.row([
                    Cell::Number(*level),
                    Cell::from(name.as_str()),
                    Cell::from(Some(low).filter(|_| !points.is_empty())),
                    Cell::from(Some(high).filter(|_| !points.is_empty())),
                    Cell::Text(note),
                ]);
            }
        }
        for (level, reason) in &self.failed {
            table.row([Cell::Number(*level), Cell::Empty, Cell::Empty, Cell::Empty, Cell::from(reason.as_str())]);
        }
        table
    }

    /// A row for each point of the borders, in order.
    pub fn points(&self) -> ResultTable {
        let names = self.contours.iter().take(1).flat_map(|contour| contour.names.clone());
        let mut table = ResultTable::new(["level".to_owned()].into_iter().chain(names));
        for Contour { level, points, .. } in &self.contours {
            for point in points {
                table.row([*level, point.at[0], point.at[1]].map(Cell::Number));
            }
        }
        table
    }
}
