//! Pictures of profiles and of joint confidence regions.

use marquardt::curve::{Plot, Profile, Series};

use crate::arguments::FitArguments;
use crate::contours::Regions;
use crate::failure::Failure;
use crate::inference::Inference;
use crate::output;
use crate::table::ResultTable;

impl Regions {
    /// Borders and estimate as they are drawn; those of a group have its name before theirs.
    pub fn series(&self, group: Option<&str>) -> Vec<Series> {
        let named = |name: &str| group.map_or_else(|| name.to_owned(), |group| format!("{group} {name}"));
        let borders = self.contours.iter().map(|contour| {
            let border = contour.plot_series();
            let (name, ..) = border.lines();
            let name = named(name.unwrap_or_default());
            border.name(name)
        });
        borders.chain([Series::new().name(named("estimate")).points([self.estimate])]).collect()
    }
}

/// Profiles and joint regions of all fits, to be drawn and written.
#[derive(Debug, Default)]
pub struct InferencePictures {
    profiles: Vec<Profile<f64>>,
    borders: Vec<Series>,
    /// Points of the borders.
    points: ResultTable,
}

impl InferencePictures {
    /// Adds a fit: with its name as one of several, else alone. `by` is the column of the groups.
    pub fn add(&mut self, by: &str, name: Option<&str>, inference: &Inference) {
        let named = |profile: &Profile<f64>| {
            let name = name.map_or_else(|| profile.name.clone(), |name| format!("{name} {}", profile.name));
            Profile { name, ..profile.clone() }
        };
        self.profiles.extend(inference.profiles.iter().map(named));
        if let Some(regions) = &inference.regions {
            self.borders.extend(regions.series(name));
            let points = regions.points();
            self.points.append(if let Some(name) = name { points.in_group(by, name) } else { points });
        }
    }

    /// Draws and writes what is asked for.
    pub fn write(self, arguments: &FitArguments, title: &str) -> Result<(), Failure> {
        let (asked, output) = (&arguments.regions, &arguments.output);
        if let Some(path) = &asked.profile_plot {
            output::sized(Profile::plot(&self.profiles).title(title), output).save(path)?;
        }
        if let (Some(path), [first, second]) = (&asked.contour_plot, &asked.contour[..]) {
            let plot = Plot::new().title(title).x_label(first).y_label(second);
            output::sized(self.borders.into_iter().fold(plot, Plot::series), output).save(path)?;
        }
        match &asked.contour_points {
            Some(path) => output::write(path, &self.points.to_csv()?),
            None => Ok(()),
        }
    }
}
