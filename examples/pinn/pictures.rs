//! Pictures of solutions.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use marquardt::curve::{Plot, Series};
use ndarray::Array2;

use super::cases::Case;

/// Cells along each side of a map.
const CELLS: usize = 80;

/// Draws the solution and its error, and the loss over seconds.
pub fn draw(case: &mut Case, history: &[(f64, f64)], folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let losses = history.iter().map(|&(seconds, loss)| (seconds, loss.max(f64::MIN_POSITIVE)));
    let plot = Plot::new().title("loss").x_label("seconds").y_label("loss").log_y();
    plot.series(Series::new().curve(losses)).save(folder.join("loss.svg"))?;
    match case.domain.dimensions() {
        1 => {
            let grid = case.domain.grid(&[400]).coordinates().to_owned();
            let found = case.problem.predict(&case.variables, case.field, grid.view())?;
            let curve = |values: Vec<f64>| grid.column(0).to_vec().into_iter().zip(values).collect::<Vec<_>>();
            let exact: Vec<f64> = grid.column(0).iter().map(|&x| (case.exact)(&[x])).collect();
            let error = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
            let solution = Series::new().name("network").curve(curve(found.column(0).to_vec()));
            Plot::new().title("solution").series(solution).save(folder.join("solution.svg"))?;
            Plot::new().title("error").series(Series::new().curve(curve(error))).save(folder.join("error.svg"))?;
        }
        2 => {
            let grid = case.domain.interior_grid(&[CELLS, CELLS]).coordinates().to_owned();
            let found = case.problem.predict(&case.variables, case.field, grid.view())?;
            let exact = |k: usize| (case.exact)(&[grid[[k, 0]], grid[[k, 1]]]);
            let error = Array2::from_shape_fn(found.dim(), |(k, _)| found[[k, 0]] - exact(k));
            std::fs::write(folder.join("solution.svg"), map("solution", &found))?;
            std::fs::write(folder.join("error.svg"), map("error", &error))?;
        }
        _ => {}
    }
    Ok(())
}

/// A map of numbers on a square grid, from blue over white to red.
fn map(title: &str, values: &Array2<f64>) -> String {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs())).max(f64::MIN_POSITIVE);
    let size = CELLS * 5;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{}\" shape-rendering=\"crispEdges\">\n\
         <text x=\"4\" y=\"15\" font-family=\"sans-serif\" font-size=\"13\">{title}, from −{largest:.2e} to {largest:.2e}</text>\n",
        size + 20
    );
    for (k, value) in values.iter().enumerate() {
        let (column, row) = (k / CELLS, CELLS - 1 - k % CELLS);
        let share = value / largest;
        let pale = (255.0 * (1.0 - share.abs())) as u8;
        let [red, green, blue] = if share > 0.0 { [255, pale, pale] } else { [pale, pale, 255] };
        let (x, y) = (column * 5, row * 5 + 20);
        let _ =
            writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"5\" height=\"5\" fill=\"rgb({red},{green},{blue})\"/>");
    }
    svg.push_str("</svg>\n");
    svg
}
