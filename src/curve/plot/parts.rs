//! The parts of a curve that are seen.

use std::ops::Range;

type Position = (f64, f64);

/// The parts of a curve that lie within a range of heights; it is interrupted where there is no place.
pub(super) fn parts(places: &[Option<Position>], heights: &Range<f64>) -> Vec<Vec<Position>> {
    let mut parts: Vec<Vec<Position>> = Vec::new();
    for pair in places.windows(2) {
        let Some((start, end)) = pair[0].zip(pair[1]).and_then(|(from, to)| within(from, to, heights)) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&start) => part.push(end),
            _ => parts.push(vec![start, end]),
        }
    }
    parts
}

/// The part of a line within; none where it leaps over all of it, as at a pole.
fn within(from: Position, to: Position, heights: &Range<f64>) -> Option<(Position, Position)> {
    let (low, high) = (from.1.min(to.1), from.1.max(to.1));
    let is_outside = high < heights.start || low > heights.end;
    if is_outside || (low < heights.start && high > heights.end) {
        return None;
    }
    let cut = |place: Position| match place.1.clamp(heights.start, heights.end) {
        height if height == place.1 => place,
        height => (from.0 + (to.0 - from.0) * ((height - from.1) / (to.1 - from.1)), height),
    };
    Some((cut(from), cut(to)))
}
