//! Pictures of bundles.

use super::{Bundle, Image};
use crate::curve::{Plot, Series};
use crate::graph::CameraModel;

/// Most points that are drawn.
const POINTS: usize = 5000;

/// Share of the points at each end of an axis that are left out.
const OUTSIDE: f64 = 0.02;

impl Bundle {
    /// A picture of the scene from above: points, and the places of the cameras.
    ///
    /// The mean of the directions that are up in the images is up, and the first camera looks towards the top. The farthest 2 % of the points
    /// along each axis are left out.
    pub fn plot(&self) -> Plot {
        self.plot_along(self.axes())
    }

    /// A [picture](Self::plot) along two directions of the world.
    pub fn plot_along(&self, axes: [[f64; 3]; 2]) -> Plot {
        let place = |position: [f64; 3]| (dot(position, axes[0]), dot(position, axes[1]));
        let mut points: Vec<_> = self.points.iter().map(|point| place(point.position)).collect();
        points.retain(|point| point.0.is_finite() && point.1.is_finite());
        let range = |mut along: Vec<f64>| {
            along.sort_unstable_by(f64::total_cmp);
            let outside = (OUTSIDE * along.len() as f64) as usize;
            let last = along.len().saturating_sub(outside + 1);
            along.get(outside).copied().unwrap_or(0.0)..=along.get(last).copied().unwrap_or(0.0)
        };
        let (x, y) = (range(points.iter().map(|p| p.0).collect()), range(points.iter().map(|p| p.1).collect()));
        points.retain(|point| x.contains(&point.0) && y.contains(&point.1));
        let step = points.len().div_ceil(POINTS).max(1);
        let name = if step > 1 { format!("1 of {step} points") } else { "points".to_owned() };
        let cameras = self.images.iter().map(|image| place(image.position()));
        Plot::new()
            .equal_scales()
            .series(Series::new().name(name).points(points.into_iter().step_by(step)))
            .series(Series::new().name("cameras").points(cameras))
    }

    /// Two level directions of the world: to the right and ahead of the first camera.
    pub fn axes(&self) -> [[f64; 3]; 2] {
        let mut up = [0.0; 3];
        for image in &self.images {
            let own = image.to_world(self.frame(image)[0]);
            up = [0, 1, 2].map(|i| up[i] + own[i]);
        }
        let up = normalized(up).unwrap_or([0.0, 1.0, 0.0]);
        let looks = self.images.first().map_or([0.0, 0.0, 1.0], |image| image.to_world(self.frame(image)[1]));
        let level = |v: [f64; 3]| [0, 1, 2].map(|i| v[i] - dot(v, up) * up[i]);
        // The first camera may look down.
        let candidates = [looks, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let ahead = candidates.into_iter().find_map(|axis| normalized(level(axis))).unwrap_or([0.0, 0.0, 1.0]);
        [cross(ahead, up), ahead]
    }

    /// Directions up and ahead in the frame of an image's camera.
    fn frame(&self, image: &Image) -> [[f64; 3]; 2] {
        let sign = if self.cameras[image.camera].model == CameraModel::Snavely { 1.0 } else { -1.0 };
        [[0.0, sign, 0.0], [0.0, 0.0, -sign]]
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normalized(v: [f64; 3]) -> Option<[f64; 3]> {
    let length = dot(v, v).sqrt();
    (length > 1e-6 && length.is_finite()).then(|| v.map(|x| x / length))
}
