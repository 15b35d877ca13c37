//! `--live`: data and curve in the terminal, on the standard error stream, redrawn while the fit goes.

mod axis;
mod canvas;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use marquardt::FittedCurve;
use marquardt::curve::CurrentCurve;
use marquardt::digits;
use marquardt::solver::IterationRecord;

use crate::arguments::OutputArguments;
use crate::failure::{Failure, quoted};
use crate::selected_data::SelectedData;
use crate::terminal;
use axis::Axis;
use canvas::{Canvas, PLAIN_CURVE, PLAIN_DATUM, braille, colour};

/// Groups that are drawn.
pub const MOST_GROUPS: usize = 6;

/// Least time between two pictures, and the largest share of the time that is spent on pictures.
const PAUSE: Duration = Duration::from_millis(80);
const SHARE: u32 = 10;

/// Columns, unless the environment has others, and rows where the output is no terminal, and limits of both.
const PLAIN_SIZE: (usize, usize) = (80, 24);
const COLUMNS: (usize, usize) = (20, 160);
const ROWS: (usize, usize) = (3, 24);

/// Lines around the canvas.
const LINES_AROUND: usize = 6;

/// The picture of a fit in the terminal.
#[derive(Clone)]
pub struct LivePicture(Arc<Scene>);

/// Data, axes and texts of a picture.
struct Scene {
    title: String,
    x_label: String,
    /// Names of the responses.
    y_names: Vec<String>,
    /// Predictors, and responses row by row.
    x: Vec<f64>,
    y: Vec<f64>,
    axes: [Axis; 2],
    drawn: Mutex<Drawn>,
}

/// State of the terminal after the last picture.
#[derive(Default)]
struct Drawn {
    /// Lines of the last picture, and the size of the terminal then.
    lines: usize,
    size: (usize, usize),
    /// Canvas with the data alone, for that size.
    data: Option<Canvas>,
    /// Time before which no other picture is drawn.
    next: Option<Instant>,
}

/// Refuses curves that have no picture in the terminal.
pub fn check(output: &OutputArguments, x_names: &[String]) -> Result<(), Failure> {
    if output.live && x_names.len() > 1 {
        let names = quoted(x_names);
        return Err(Failure::new(format!(
            "--live draws curves of one predictor, but this one has {names}; --report draws observed over fitted responses"
        )));
    }
    Ok(())
}

impl LivePicture {
    /// The picture that `--live` asks for.
    pub fn asked(output: &OutputArguments, data: &SelectedData, title: &str) -> Option<Self> {
        output.live.then(|| {
            let (x, y): (Vec<f64>, Vec<f64>) = (data.x.column(0).to_vec(), data.y.iter().copied().collect());
            let axes = [Axis::around(x.iter().copied(), output.log_x), Axis::around(y.iter().copied(), output.log_y)];
            let x_label = output.x_label.as_ref().unwrap_or(&data.labels[0]);
            let printable = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            LivePicture(Arc::new(Scene {
                title: printable(title),
                x_label: printable(x_label),
                y_names: data.y_names.iter().map(|name| printable(name)).collect(),
                x,
                y,
                axes,
                drawn: Mutex::default(),
            }))
        })
    }

    /// Draws the current point of a fit, if the output is a terminal and the last picture is not too new.
    pub fn observer(&self) -> impl Fn(&IterationRecord<f64>, &CurrentCurve<'_, f64>) + Send + Sync + 'static {
        let scene = self.0.clone();
        move |record, current| {
            let term = Term::buffered_stderr();
            let mut drawn = scene.drawn.lock().unwrap_or_else(PoisonError::into_inner);
            let begun = Instant::now();
            // A picture that is higher than the terminal cannot be replaced.
            let is_high = term.size_checked().is_some_and(|(rows, _)| usize::from(rows) > LINES_AROUND + ROWS.0);
            if !terminal::can_be_redrawn() || !is_high || drawn.next.is_some_and(|next| begun < next) {
                return;
            }
            let state = format!("trial {}, cost {}", record.iteration, digits::number(record.cost, 4));
            let parameters: Vec<_> = current.names().map(str::to_owned).zip(current.parameters()).collect();
            scene.draw(&term, &mut drawn, &state, &parameters, |x| current.predict(x).ok());
            drawn.next = Some(Instant::now() + PAUSE.max(SHARE * begun.elapsed()));
        }
    }

    /// Draws the end of a fit.
    pub fn finish(&self, fit: &FittedCurve<'_, f64>) {
        self.finish_by(fit, |x| fit.predict(x).ok());
    }

    /// Draws the end of a fit whose curve is given.
    pub fn finish_by(&self, fit: &FittedCurve<'_, f64>, predict: impl Fn(&[f64]) -> Option<Vec<f64>>) {
        let report = fit.report();
        let state = if report.is_converged() { "converged".to_owned() } else { report.status.to_string() };
        let state = format!("{state} after {} trials", report.iterations);
        let parameters: Vec<_> = fit.parameters().iter().map(|found| (found.name.clone(), found.value)).collect();
        let mut drawn = self.0.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.draw(&Term::buffered_stderr(), &mut drawn, &state, &parameters, predict);
    }
}

impl Scene {
    /// Draws a picture in place of the last one. A terminal that takes no more is left alone.
    fn draw(
        &self,
        term: &Term,
        drawn: &mut Drawn,
        state: &str,
        parameters: &[(String, f64)],
        predict: impl Fn(&[f64]) -> Option<Vec<f64>>,
    ) {
        let is_terminal = terminal::can_be_redrawn();
        let size = match term.size_checked() {
            Some((rows, columns)) => (usize::from(columns), usize::from(rows)),
            None => (terminal::asked_columns().unwrap_or(PLAIN_SIZE.0), PLAIN_SIZE.1),
        };
        if drawn.size != size {
            // Lines of another width may have been broken: they are left where they are.
            *drawn = Drawn { size, ..Drawn::default() };
        }
        let lines = self.picture(drawn, state, parameters, predict, terminal::takes_colours());
        let write = || {
            if drawn.lines > 0 && is_terminal {
                term.move_cursor_up(drawn.lines)?;
                term.clear_to_end_of_screen()?;
            }
            lines.iter().try_for_each(|line| term.write_line(line))?;
            term.flush()
        };
        if write().is_ok() {
            drawn.lines = lines.len();
        }
    }

    /// The lines of a picture.
    fn picture(
        &self,
        drawn: &mut Drawn,
        state: &str,
        parameters: &[(String, f64)],
        predict: impl Fn(&[f64]) -> Option<Vec<f64>>,
        has_colours: bool,
    ) -> Vec<String> {
        // A line as wide as the terminal would be broken by some.
        let width = (drawn.size.0.saturating_sub(1)).clamp(COLUMNS.0, COLUMNS.1);
        let rows = drawn.size.1.saturating_sub(LINES_AROUND + 1).clamp(ROWS.0, ROWS.1);
        let [low, high] = self.axes[1].ends().map(|end| shortened(&end, width / 3));
        let gutter = low.chars().count().max(high.chars().count());
        let columns = width - gutter - 2;
        let series = self.y_names.len();
        let with_data = || {
            let mut canvas = Canvas::new(columns, rows);
            for output in 0..series {
                let y = self.y.iter().skip(output).step_by(series);
                let places = self.x.iter().zip(y).map(|(&x, &y)| (self.axes[0].place(x), self.axes[1].place(y)));
                canvas.data(output, places);
            }
            canvas
        };
        let mut canvas = drawn.data.get_or_insert_with(with_data).clone();
        let dots = canvas.dots().0;
        let grid: Vec<f64> = (0..dots).map(|dot| self.axes[0].value((dot as f64 + 0.5) / dots as f64)).collect();
        if let Some(curve) = predict(&grid) {
            for output in 0..series {
                let heights = curve.iter().skip(output).step_by(series).map(|&y| self.axes[1].place(y));
                canvas.curve(output, &heights.collect::<Vec<_>>());
            }
        }
        let found = parameters.iter().map(|(name, value)| format!("{name} = {}", digits::number(*value, 5)));
        let mut lines = vec![shortened(&self.title, width), shortened(state, width)];
        let last = rows - 1;
        for (row, dots) in canvas.rows(has_colours, series == 1).into_iter().enumerate() {
            let label = if row == 0 {
                &high
            } else if row == last {
                &low
            } else {
                ""
            };
            lines.push(format!("{label:>gutter$} │{dots}").trim_end().to_owned());
        }
        lines.push(format!("{:gutter$} └{}", "", "─".repeat(columns)));
        lines.push(format!("{:gutter$}  {}", "", self.below(columns)));
        lines.push(self.legend(width, &canvas, has_colours));
        lines.push(shortened(&found.collect::<Vec<_>>().join(", "), width));
        lines
    }

    /// The ends of the x axis, and its label between them.
    fn below(&self, columns: usize) -> String {
        let [low, high] = self.axes[0].ends();
        let room = columns.saturating_sub(low.chars().count() + high.chars().count());
        let label = shortened(&self.x_label, room.saturating_sub(2));
        shortened(&format!("{low}{label:^room$}{high}"), columns)
    }

    /// Symbols or colours of data and curve, as far as there is room.
    fn legend(&self, width: usize, canvas: &Canvas, has_colours: bool) -> String {
        let (mut text, mut length, is_only) = (String::new(), 0, self.y_names.len() == 1);
        let (datum, line) = match (has_colours, canvas.is_crowded()) {
            (false, false) => (PLAIN_DATUM, braille(0x12)),
            (false, true) => (braille(0xFF), PLAIN_CURVE),
            (true, _) => (braille(0x36), braille(0x12)),
        };
        for (output, name) in self.y_names.iter().enumerate() {
            for (symbol, name, is_curve) in [(datum, name.as_str(), false), (line, "fit", true)] {
                let entry = format!("{symbol}{symbol} {name}  ");
                length += entry.chars().count();
                if length > width {
                    return text;
                }
                text += &match has_colours {
                    true => format!("{}{symbol}{symbol}\x1b[0m {name}  ", colour(output, is_curve, is_only)),
                    false => entry,
                };
            }
        }
        text.trim_end().to_owned()
    }
}

/// The text, cut off after `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain((most > 0).then_some('…')).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(points: usize, y_names: &[&str]) -> Scene {
        let x: Vec<f64> = (0..points).map(|i| i as f64 / points as f64).collect();
        let y: Vec<f64> = x.iter().flat_map(|&x| y_names.iter().map(move |_| (9.0 * x).sin())).collect();
        let axes = [Axis::around(x.iter().copied(), false), Axis::around(y.iter().copied(), false)];
        let y_names = y_names.iter().map(|&name| name.to_owned()).collect();
        let (title, x_label) = ("a title that is longer than narrow terminals are".to_owned(), "time (s)".to_owned());
        Scene { title, x_label, y_names, x, y, axes, drawn: Mutex::default() }
    }

    fn lines(scene: &Scene, size: (usize, usize), has_colours: bool) -> Vec<String> {
        let parameters = [("amplitude".to_owned(), 1.0), ("frequency".to_owned(), -9.123_456_789e-30)];
        let curve = |x: &[f64]| Some(x.iter().flat_map(|x| scene.y_names.iter().map(|_| (9.0 * *x).sin())).collect());
        scene.picture(&mut Drawn { size, ..Drawn::default() }, "trial 3", &parameters, curve, has_colours)
    }

    #[test]
    fn pictures_fit_into_terminals() {
        for (columns, rows) in [(40, 12), (80, 24), (300, 100)] {
            for (points, names) in [(1, &["y"][..]), (30, &["re", "im"]), (1_000_000, &["y"])] {
                let lines = lines(&scene(points, names), (columns, rows), false);
                assert!(lines.len() < rows, "{} lines of {rows}", lines.len());
                assert!(lines.iter().all(|line| line.chars().count() < columns), "{lines:#?}");
                assert!(lines.iter().any(|line| line.contains("time")) && !lines.concat().contains('\x1b'));
            }
        }
        // Whatever a terminal says of itself.
        assert!(!lines(&scene(30, &["y"]), (0, 0), true).is_empty());
    }

    #[test]
    fn colours_end_on_every_line() {
        for line in lines(&scene(30, &["re", "im"]), (80, 24), true) {
            let (begun, ended) = (line.matches("\x1b[").count(), line.matches("\x1b[0m").count());
            assert!(begun == 0 || line.rfind("\x1b[0m") >= line.rfind("\x1b["), "{line:?}");
            assert!(begun >= 2 * ended || begun == 0, "{line:?}");
        }
    }

    #[test]
    fn data_and_curve_can_be_told_apart_without_colours() {
        let few = lines(&scene(12, &["y"]), (80, 24), false).join("\n");
        assert!(few.contains(PLAIN_DATUM) && few.contains("⠒⠒ fit"), "{few}");
        let many = lines(&scene(100_000, &["y"]), (80, 24), false).join("\n");
        assert!(many.contains(PLAIN_CURVE), "{many}");
    }
}
