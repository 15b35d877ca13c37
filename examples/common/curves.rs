//! Curves of losses, over steps and over seconds.

use std::path::Path;

use marquardt::curve::{Plot, PlotError, Series};

/// The loss along a training.
pub struct Curve {
    /// What the legend says.
    pub name: String,
    pub points: Vec<Point>,
}

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub steps: u64,
    /// Of training alone.
    pub seconds: f64,
    pub loss: f64,
}

/// Draws on logarithmic axes, over steps to one file and over seconds to another beside it, and says where.
pub fn draw(title: &str, loss: &str, curves: &[Curve], path: &Path) -> Result<(), PlotError> {
    let plot = |label, x: fn(&Point) -> f64| {
        let plot = Plot::new().title(title).x_label(label).y_label(loss).log_x().log_y();
        curves.iter().fold(plot, |plot, curve| {
            let points = curve.points.iter().map(|point| (x(point), point.loss));
            plot.series(Series::new().name(&curve.name).curve(points))
        })
    };
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("_seconds");
    let beside = path.with_file_name(name).with_extension(path.extension().unwrap_or_default());
    plot("steps", |point| point.steps as f64).save(path)?;
    plot("seconds of training", |point| point.seconds).save(&beside)?;
    println!("drawn to {} and {}", path.display(), beside.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fs;

    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() -> Result<(), Box<dyn Error>> {
        let points = |rate: f64| -> Vec<Point> {
            let point = |steps: u64| Point { steps, seconds: 0.01 * steps as f64, loss: (-rate * steps as f64).exp() };
            (0..20).map(point).chain([Point { steps: 20, seconds: 0.2, loss: f64::NAN }]).collect()
        };
        let curve = |name: &str, rate| Curve { name: name.to_owned(), points: points(rate) };
        let path = |end: &str| std::env::temp_dir().join(format!("marquardt-curves-{}{end}", std::process::id()));
        draw("Two trainings", "loss", &[curve("first", 0.5), curve("second", 0.1)], &path(".svg"))?;
        for (path, label) in [(path(".svg"), "steps"), (path("_seconds.svg"), "seconds of training")] {
            let drawing = fs::read_to_string(&path)?;
            fs::remove_file(&path)?;
            for text in ["Two trainings", "first", "second", label] {
                assert_eq!(drawing.matches(&format!("\n{text}\n")).count(), 1, "{text}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_failed_training_leaves_an_empty_plot() -> Result<(), Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("marquardt-no-curve-{}.svg", std::process::id()));
        draw("None", "loss", &[Curve { name: "none".to_owned(), points: Vec::new() }], &path)?;
        fs::remove_file(&path)?;
        Ok(fs::remove_file(path.with_file_name(format!("marquardt-no-curve-{}_seconds.svg", std::process::id())))?)
    }
}
