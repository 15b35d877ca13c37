//! One pair of axes, and what lies between them.

use super::axis::Axis;
use super::drawing::{Align, Paint, Place, Shape, Text};
use super::font;
use super::layout::{GRID, GUTTER, INK, LABEL_SIZE, TICK_SIZE};

/// A pair of axes.
pub(super) struct Panel {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// Between an axis and its numbers.
pub(super) const TICK_GAP: f64 = 7.0;

impl Panel {
    fn left(&self) -> f64 {
        self.x.pixels.0
    }

    fn right(&self) -> f64 {
        self.x.pixels.1
    }

    fn bottom(&self) -> f64 {
        self.y.pixels.0
    }

    fn top(&self) -> f64 {
        self.y.pixels.1
    }

    /// Lines to read values by.
    pub(super) fn grid(&self, shapes: &mut Vec<Shape>) {
        for tick in &self.y.ticks {
            shapes.push(horizontal(self.left(), self.right(), self.y.pixel(tick.value), GRID));
        }
        for tick in &self.x.ticks {
            shapes.push(vertical(self.x.pixel(tick.value), self.top(), self.bottom(), GRID));
        }
    }

    /// The axes with their ticks; numbers along `x` only if asked for.
    pub(super) fn axes(&self, shapes: &mut Vec<Shape>, with_x_numbers: bool) {
        shapes.push(vertical(self.left(), self.top(), self.bottom(), INK));
        shapes.push(horizontal(self.left(), self.right(), self.bottom(), INK));
        for tick in &self.y.ticks {
            let y = self.y.pixel(tick.value);
            shapes.push(horizontal(self.left() - 4.0, self.left(), y, INK));
            let at = (self.left() - TICK_GAP, y + font::CAPITAL * TICK_SIZE / 2.0);
            shapes.push(text(&tick.label, at, TICK_SIZE, Align::End));
        }
        for tick in &self.x.ticks {
            let x = self.x.pixel(tick.value);
            shapes.push(vertical(x, self.bottom(), self.bottom() + 4.0, INK));
            if with_x_numbers {
                let at = (x, self.bottom() + TICK_GAP + TICK_SIZE);
                shapes.push(text(&tick.label, at, TICK_SIZE, Align::Middle));
            }
        }
    }

    /// The label of the y axis, beside it.
    pub(super) fn y_label(&self, shapes: &mut Vec<Shape>, label: &str) {
        let (label, size) = fitted(&self.y.label(label), LABEL_SIZE, self.bottom() - self.top() + GUTTER - 4.0);
        let at = (8.0 + LABEL_SIZE, (self.top() + self.bottom()) / 2.0);
        let paint = INK;
        shapes.push(Shape::Text(Text { text: label, at, size, align: Align::Middle, is_vertical: true, paint }));
    }

    /// The label of the x axis, below its numbers.
    pub(super) fn x_label(&self, shapes: &mut Vec<Shape>, label: &str) {
        let (label, size) = fitted(&self.x.label(label), LABEL_SIZE, self.right() - self.left());
        let at = ((self.left() + self.right()) / 2.0, self.bottom() + TICK_GAP + TICK_SIZE + 6.0 + LABEL_SIZE);
        shapes.push(text(&label, at, size, Align::Middle));
    }

    /// A place, if it lies on both axes.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<Place> {
        let is_here = self.x.holds(x) && self.y.holds(y);
        is_here.then(|| (self.x.pixel(x), self.y.pixel(y))).filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// A curve, as far as it lies within.
    pub(super) fn curve(&self, shapes: &mut Vec<Shape>, curve: &[(f64, f64)], width: f64, paint: Paint) {
        let mut points: Vec<Place> = Vec::new();
        let mut finish = |points: &mut Vec<Place>| {
            if points.len() > 1 {
                shapes.push(Shape::Line { points: std::mem::take(points), width, paint });
            }
            points.clear();
        };
        for pair in curve.windows(2) {
            let places = (self.place(pair[0].0, pair[0].1), self.place(pair[1].0, pair[1].1));
            let (Some(from), Some(to)) = places else {
                finish(&mut points);
                continue;
            };
            let Some((start, end)) = self.within(from, to) else {
                finish(&mut points);
                continue;
            };
            if points.last() != Some(&start) {
                finish(&mut points);
                points.push(start);
            }
            points.push(end);
        }
        finish(&mut points);
    }

    /// The part of a line that lies within the panel; none where it leaps over all of it, as at a pole.
    fn within(&self, from: Place, to: Place) -> Option<(Place, Place)> {
        if from.1.min(to.1) < self.top() && from.1.max(to.1) > self.bottom() {
            return None;
        }
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.0 - self.left()),
            (dx, self.right() - from.0),
            (-dy, from.1 - self.top()),
            (dy, self.bottom() - from.1),
        ];
        for (speed, distance) in sides {
            match speed {
                0.0 if distance < 0.0 => return None,
                0.0 => {}
                _ if speed < 0.0 => enter = enter.max(distance / speed),
                _ => leave = leave.min(distance / speed),
            }
        }
        let at = |share: f64| match share {
            0.0 => from,
            1.0 => to,
            _ => (from.0 + share * dx, from.1 + share * dy),
        };
        (enter < leave).then(|| (at(enter), at(leave)))
    }

    /// A band, cut off where the panel ends; it is interrupted where it is NaN.
    pub(super) fn band(&self, shapes: &mut Vec<Shape>, edges: &[(f64, f64, f64)], paint: Paint) {
        let place = |&(x, low, high): &(f64, f64, f64)| {
            let x = self.x.holds(x).then(|| self.x.nearest_pixel(x)).flatten()?;
            Some((x, self.y.nearest_pixel(low)?, self.y.nearest_pixel(high)?))
        };
        let places: Vec<Option<(f64, f64, f64)>> = edges.iter().map(place).collect();
        for run in places.split(Option::is_none) {
            let low = run.iter().flatten().map(|&(x, low, _)| (x, low));
            let high = run.iter().flatten().rev().map(|&(x, _, high)| (x, high));
            if run.len() > 1 {
                shapes.push(Shape::Polygon { corners: low.chain(high).collect(), paint });
            }
        }
    }

    /// A bar across a point, cut off where the panel ends.
    pub(super) fn error_bar(&self, shapes: &mut Vec<Shape>, x: f64, y: f64, error: f64, paint: Paint) {
        let ends = (self.y.nearest_pixel(y - error), self.y.nearest_pixel(y + error));
        if let (Some((x, _)), (Some(low), Some(high))) = (self.place(x, y), ends) {
            shapes.push(Shape::Line { points: vec![(x, low), (x, high)], width: 1.2, paint });
            for end in [low, high] {
                shapes.push(Shape::Line { points: vec![(x - 3.5, end), (x + 3.5, end)], width: 1.2, paint });
            }
        }
    }
}

/// A line one pixel wide.
fn horizontal(left: f64, right: f64, y: f64, paint: Paint) -> Shape {
    Shape::Rectangle { corner: (left.round(), y.round()), size: (right.round() - left.round() + 1.0, 1.0), paint }
}

/// A line one pixel wide.
fn vertical(x: f64, top: f64, bottom: f64, paint: Paint) -> Shape {
    Shape::Rectangle { corner: (x.round(), top.round()), size: (1.0, bottom.round() - top.round() + 1.0), paint }
}

pub(super) fn text(text: &str, at: Place, size: f64, align: Align) -> Shape {
    Shape::Text(Text { text: text.to_owned(), at, size, align, is_vertical: false, paint: INK })
}

/// A text and its size, smaller or shorter where it would be too wide.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> (String, f64) {
    let width = font::width(text, size);
    if width <= room {
        return (text.to_owned(), size);
    }
    let smaller = (size * room / width).max(0.75 * size);
    if font::width(text, smaller) <= room + 1e-6 {
        return (text.to_owned(), smaller);
    }
    let mut shortened = text.to_owned();
    while !shortened.is_empty() && font::width(&shortened, smaller) + font::width("…", smaller) > room {
        shortened.pop();
    }
    (shortened + "…", smaller)
}
