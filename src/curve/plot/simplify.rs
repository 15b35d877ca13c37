//! Lines with fewer points that look the same.

/// A place in pixels.
type Place = (f64, f64);

/// Indices of the points of a line that are kept: those that are left out are within `tolerance` of the line through the others (Ramer, 1972;
/// Douglas and Peucker, 1973).
pub(super) fn simplified(line: &[Place], tolerance: f64) -> Vec<usize> {
    let ends = ends_in_columns(line);
    let few: Vec<Place> = ends.iter().map(|&index| line[index]).collect();
    kept(&few, tolerance).into_iter().map(|index| ends[index]).collect()
}

/// Of points that follow each other in one column of pixels, the first, the last, the lowest and the highest.
fn ends_in_columns(line: &[Place]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut first = 0;
    for run in line.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let by_height = |a: &usize, b: &usize| line[*a].1.total_cmp(&line[*b].1);
        let indices = || first..first + run.len();
        let outermost = [indices().min_by(by_height), indices().max_by(by_height)];
        let mut own: Vec<usize> =
            [first, first + run.len() - 1].into_iter().chain(outermost.into_iter().flatten()).collect();
        own.sort_unstable();
        own.dedup();
        ends.append(&mut own);
        first += run.len();
    }
    ends
}

fn kept(line: &[Place], tolerance: f64) -> Vec<usize> {
    let Some(last) = line.len().checked_sub(1) else { return Vec::new() };
    let mut is_kept = vec![false; line.len()];
    (is_kept[0], is_kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((first, last)) = open.pop() {
        let distances = (first + 1..last).map(|index| (index, distance(line[index], line[first], line[last])));
        let Some((farthest, distance)) = distances.max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        if !(distance <= tolerance) {
            is_kept[farthest] = true;
            open.extend([(first, farthest), (farthest, last)]);
        }
    }
    (0..line.len()).filter(|&index| is_kept[index]).collect()
}

/// Distance of a place from the piece of line between two others.
fn distance(at: Place, from: Place, to: Place) -> f64 {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let (dx, dy) = (at.0 - from.0, at.1 - from.1);
    let length = x * x + y * y;
    let share = if length > 0.0 { ((dx * x + dy * y) / length).clamp(0.0, 1.0) } else { 0.0 };
    (dx - share * x).hypot(dy - share * y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_need_two_points() {
        let line: Vec<Place> = (0..100).map(|i| (f64::from(i), 3.0 * f64::from(i))).collect();
        assert_eq!(simplified(&line, 0.1), [0, 99]);
        assert_eq!(simplified(&line[..1], 0.1), [0]);
        assert_eq!(simplified(&[], 0.1), [0; 0]);
        assert_eq!(simplified(&[(1.0, 1.0); 5], 0.1), [0, 4]);
    }

    #[test]
    fn what_is_left_out_is_near() {
        let wave: Vec<Place> = (0..600).map(|i| (f64::from(i), 100.0 * (0.05 * f64::from(i)).sin())).collect();
        let kept = simplified(&wave, 0.3);
        assert!((20..200).contains(&kept.len()), "{}", kept.len());
        for pair in kept.windows(2) {
            for index in pair[0]..pair[1] {
                assert!(distance(wave[index], wave[pair[0]], wave[pair[1]]) <= 0.3);
            }
        }
    }

    #[test]
    fn noise_keeps_its_ends() {
        let noise: Vec<Place> =
            (0..100_000).map(|i| (0.008 * f64::from(i), (1e4 * f64::from(i).sin()).fract())).collect();
        let kept = simplified(&noise, 0.001);
        assert!(kept.len() <= 4 * 801, "{}", kept.len());
        let highest = |indices: &mut dyn Iterator<Item = usize>| indices.map(|i| noise[i].1).fold(-2.0, f64::max);
        let column = |index: &usize| noise[*index].0.floor() == 77.0;
        assert_eq!(highest(&mut kept.into_iter().filter(column)), highest(&mut (0..noise.len()).filter(column)));
    }
}
