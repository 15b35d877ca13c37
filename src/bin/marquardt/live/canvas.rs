//! Pictures of braille: each character cell has two columns and four rows of dots.

/// Bits of the dots of a cell, row by row.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Thresholds of ordered dithering, in sixteenths.
const THRESHOLDS: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Points per dot of the canvas from which on points are drawn as a density.
const CROWDED: f64 = 0.25;

/// Colours of the data of a series, and of a single curve, by ANSI.
const DATA: [&str; 6] = ["34", "35", "36", "32", "33", "31"];
const CURVE: &str = "31";

/// Symbols of data where there are no colours, and of a curve over a density.
pub const PLAIN_DATUM: char = 'o';
pub const PLAIN_CURVE: char = '*';

/// Dots of a cell.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    data: u8,
    curve: u8,
    /// Series of the data and of the curve drawn last.
    series: usize,
}

/// Canvas of braille cells. Dots are counted from the upper left.
#[derive(Debug, Clone)]
pub struct Canvas {
    columns: usize,
    cells: Vec<Cell>,
    /// Data are drawn as a density.
    is_crowded: bool,
}

impl Canvas {
    /// An empty canvas.
    pub fn new(columns: usize, rows: usize) -> Self {
        Canvas { columns, cells: vec![Cell::default(); columns * rows], is_crowded: false }
    }

    /// Columns and rows of dots.
    pub fn dots(&self) -> (usize, usize) {
        (2 * self.columns, 4 * (self.cells.len() / self.columns))
    }

    /// Returns true if data are drawn as a density.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    fn cell(&mut self, (x, y): (usize, usize)) -> (&mut Cell, u8) {
        (&mut self.cells[y / 4 * self.columns + x / 2], BITS[y % 4][x % 2])
    }

    /// Draws the data of a series, places as shares of the canvas from its lower left. Very many are drawn as a density, in which every
    /// cell with a point has a dot.
    pub fn data(&mut self, series: usize, places: impl Iterator<Item = (f64, f64)>) {
        let (width, height) = self.dots();
        let (mut counts, mut count) = (vec![0_u32; width * height], 0_usize);
        let dot = |share: f64, dots: usize| ((share * dots as f64) as usize).min(dots - 1);
        for (x, y) in places.filter(|(x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y)) {
            let place = dot(1.0 - y, height) * width + dot(x, width);
            counts[place] = counts[place].saturating_add(1);
            count += 1;
        }
        let is_crowded = count as f64 > CROWDED * counts.len() as f64;
        self.is_crowded |= is_crowded;
        let most = f64::from(counts.iter().copied().max().unwrap_or_default()).sqrt();
        let mut densest = vec![(0, 0); self.cells.len()];
        for (place, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let at @ (x, y) = (place % width, place / width);
            let threshold = f64::from(THRESHOLDS[y % 4][x % 4]) / 16.0;
            if !is_crowded || f64::from(count).sqrt() > threshold * most {
                self.datum(series, at);
            }
            let known = &mut densest[y / 4 * self.columns + x / 2];
            *known = (*known).max((count, place));
        }
        for (index, (_, place)) in densest.into_iter().enumerate().filter(|(_, (count, _))| *count > 0) {
            if self.cells[index].data == 0 {
                self.datum(series, (place % width, place / width));
            }
        }
    }

    fn datum(&mut self, series: usize, at: (usize, usize)) {
        let (cell, bit) = self.cell(at);
        (cell.data, cell.series) = (cell.data | bit, series);
    }

    /// Draws a curve by its height at each column of dots, as a share of the canvas from below. Heights that are not finite, and leaps
    /// over the whole canvas, interrupt it.
    pub fn curve(&mut self, series: usize, heights: &[f64]) {
        let rows = self.dots().1 as f64;
        let row = |height: f64| ((1.0 - height) * rows).floor();
        let mut before: Option<f64> = None;
        for (x, height) in heights.iter().enumerate() {
            let here = Some(row(*height)).filter(|row| row.is_finite());
            let leaps = |from: f64, to: f64| from.min(to) < 0.0 && from.max(to) >= rows;
            if let Some(to) = here {
                // The other half of the line is drawn in the column before.
                let from = before.filter(|from| !leaps(*from, to)).unwrap_or(to);
                let next = if to > from {
                    from + 1.0
                } else if to < from {
                    from - 1.0
                } else {
                    to
                };
                let (low, high) = (next.min(to).max(0.0), next.max(to).min(rows - 1.0));
                let mut y = low;
                while y <= high {
                    let (cell, bit) = self.cell((x, y as usize));
                    (cell.curve, cell.series) = (cell.curve | bit, series);
                    y += 1.0;
                }
            }
            before = here;
        }
    }

    /// The rows as text, with colours or without. One of several curves has the colour of its data.
    pub fn rows(&self, has_colours: bool, is_only_series: bool) -> Vec<String> {
        let line = |cells: &[Cell]| {
            let mut text = String::new();
            let mut current = String::new();
            for cell in cells {
                let next = if has_colours { cell.colour(is_only_series) } else { String::new() };
                if next != current {
                    text += if current.is_empty() { "" } else { "\x1b[0m" };
                    text += &next;
                    current = next;
                }
                text.push(cell.symbol(has_colours, self.is_crowded));
            }
            text + if current.is_empty() { "" } else { "\x1b[0m" }
        };
        self.cells.chunks(self.columns).map(line).collect()
    }
}

/// Code that begins a colour: that of a curve, or of data.
pub fn colour(series: usize, is_curve: bool, is_only_series: bool) -> String {
    match (is_curve, is_only_series) {
        (true, true) => format!("\x1b[{CURVE}m"),
        (true, false) => format!("\x1b[1;{}m", DATA[series % DATA.len()]),
        (false, _) => format!("\x1b[{}m", DATA[series % DATA.len()]),
    }
}

impl Cell {
    fn colour(self, is_only_series: bool) -> String {
        if self.data | self.curve == 0 { String::new() } else { colour(self.series, self.curve != 0, is_only_series) }
    }

    fn symbol(self, has_colours: bool, is_crowded: bool) -> char {
        match (self.data != 0, self.curve != 0) {
            (false, false) => ' ',
            (true, _) if !has_colours && !is_crowded => PLAIN_DATUM,
            (_, true) if !has_colours && is_crowded => PLAIN_CURVE,
            // In a density, the dots of the curve alone can be seen.
            (_, true) if is_crowded => braille(self.curve),
            _ => braille(self.data | self.curve),
        }
    }
}

/// The character with these dots.
pub fn braille(dots: u8) -> char {
    char::from_u32(0x2800 + u32::from(dots)).expect("all patterns of dots are characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_dots() {
        let mut canvas = Canvas::new(2, 1);
        canvas.data(0, [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)].into_iter());
        assert_eq!(canvas.rows(true, true), ["\x1b[34m⡁⢀\x1b[0m"]);
        assert_eq!(canvas.rows(false, true), ["oo"]);
    }

    #[test]
    fn a_line_is_connected() {
        let mut canvas = Canvas::new(2, 2);
        canvas.curve(0, &[0.99, 0.7, 0.3, 0.0]);
        assert_eq!(canvas.rows(false, true), ["⠱⡀", " ⢣"]);
    }

    #[test]
    fn poles_and_gaps_interrupt_a_curve() {
        let mut canvas = Canvas::new(2, 1);
        canvas.curve(0, &[9.0, -9.0, f64::NAN, f64::INFINITY]);
        assert_eq!(canvas.rows(false, true), ["  "]);
    }

    #[test]
    fn a_crowd_is_a_density_with_its_outlier() {
        let mut canvas = Canvas::new(10, 5);
        let crowd = (0..100_000).map(|i| (0.618 * f64::from(i) % 1.0, 0.3 * (0.7549 * f64::from(i) % 1.0)));
        canvas.data(0, crowd.chain([(0.5, 0.95)]));
        canvas.curve(0, &[0.1; 20]);
        assert!(canvas.is_crowded());
        let rows = canvas.rows(false, true);
        assert_eq!(rows[0].trim().chars().count(), 1, "{rows:?}");
        assert_eq!(rows[4], "*".repeat(10));
    }
}
