//! Cameras and points seen from above, as SVG.

use std::fmt::Write;

use crate::bal::{Camera, Scene};
use crate::camera::rotate;

/// Width and height of a panel, in pixels.
const SIDE: f64 = 480.0;

/// Space around a panel, in pixels.
const MARGIN: f64 = 30.0;

/// Share of the points at each end of an axis that may lie outside of the panel.
const OUTSIDE: f64 = 0.02;

/// Directions of the world that are the axes of the drawing.
struct View {
    right: [f64; 3],
    ahead: [f64; 3],
}

/// Centre and scale of a panel.
struct Frame {
    centre: [f64; 2],
    /// Pixels of a unit of length.
    scale: f64,
}

/// Draws scenes side by side, each with its title, from the same place: above the cameras of the first.
pub fn draw(panels: [(&str, &Scene); 2]) -> String {
    let view = View::above(panels[0].1);
    let frame = Frame::around(panels[1].1, &view);
    let [width, height] = [2.0 * SIDE + 3.0 * MARGIN, SIDE + 2.0 * MARGIN];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <clipPath id=\"panel\"><rect width=\"{SIDE}\" height=\"{SIDE}\"/></clipPath>\n"
    );
    for (k, (title, scene)) in panels.into_iter().enumerate() {
        let left = MARGIN + k as f64 * (SIDE + MARGIN);
        // Strings can be written to.
        let _ = draw_panel(&mut svg, left, title, scene, &view, &frame);
    }
    svg + "</svg>\n"
}

fn draw_panel(
    svg: &mut String,
    left: f64,
    title: &str,
    scene: &Scene,
    view: &View,
    frame: &Frame,
) -> Result<(), std::fmt::Error> {
    writeln!(svg, "<g transform=\"translate({left} {MARGIN})\">")?;
    writeln!(svg, "<text x=\"0\" y=\"-10\">{title}</text>")?;
    writeln!(
        svg,
        "<rect width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#bbb\"/>\n<g clip-path=\"url(#panel)\">"
    )?;
    // Dots are lines without length.
    write!(svg, "<path stroke=\"#777\" stroke-width=\"1.5\" stroke-linecap=\"round\" d=\"")?;
    for &point in &scene.points {
        let [x, y] = frame.place(view.seen(point));
        if (0.0..=SIDE).contains(&x) && (0.0..=SIDE).contains(&y) {
            write!(svg, "M{x:.1} {y:.1}h0")?;
        }
    }
    writeln!(svg, "\"/>\n<g fill=\"#d33\" fill-opacity=\"0.8\">")?;
    for camera in &scene.cameras {
        let [x, y] = frame.place(view.seen(centre(camera)));
        let [right, ahead] = view.seen(to_world(camera, [0.0, 0.0, -1.0]));
        let length = f64::hypot(right, ahead).max(1e-12);
        let [u, v] = [right / length, -ahead / length];
        // A triangle that widens where the camera looks.
        writeln!(
            svg,
            "<path d=\"M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
            x + 12.0 * u - 6.0 * v,
            y + 12.0 * v + 6.0 * u,
            x + 12.0 * u + 6.0 * v,
            y + 12.0 * v - 6.0 * u,
        )?;
    }
    writeln!(svg, "</g></g></g>")
}

impl View {
    /// The mean of the directions that are up in the images is up.
    fn above(scene: &Scene) -> Self {
        let mut up = [0.0; 3];
        for camera in &scene.cameras {
            let own = to_world(camera, [0.0, 1.0, 0.0]);
            up = [0, 1, 2].map(|i| up[i] + own[i]);
        }
        let up = normalized(up).unwrap_or([0.0, 1.0, 0.0]);
        // The first camera looks ahead, unless it looks down.
        let looks = scene.cameras.first().map_or([0.0, 0.0, -1.0], |camera| to_world(camera, [0.0, 0.0, -1.0]));
        let level = |v: [f64; 3]| [0, 1, 2].map(|i| v[i] - dot(v, up) * up[i]);
        let axes = [looks, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let ahead = axes.into_iter().find_map(|axis| normalized(level(axis))).unwrap_or([0.0, 0.0, -1.0]);
        View { right: cross(ahead, up), ahead }
    }

    fn seen(&self, v: [f64; 3]) -> [f64; 2] {
        [dot(self.right, v), dot(self.ahead, v)]
    }
}

impl Frame {
    /// Cameras and nearly all points.
    fn around(scene: &Scene, view: &View) -> Self {
        let points: Vec<_> = scene.points.iter().map(|&point| view.seen(point)).collect();
        let cameras: Vec<_> = scene.cameras.iter().map(|camera| view.seen(centre(camera))).collect();
        let ends = [0, 1].map(|axis| {
            let mut of_points: Vec<f64> = points.iter().map(|place| place[axis]).collect();
            of_points.sort_unstable_by(f64::total_cmp);
            let outside = (OUTSIDE * of_points.len() as f64) as usize;
            let inner = of_points.get(outside..of_points.len() - outside).unwrap_or_default();
            let all = inner.iter().copied().chain(cameras.iter().map(|place| place[axis]));
            all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
        });
        let width = ends.iter().map(|[low, high]| high - low).fold(1e-9, f64::max);
        Frame { centre: ends.map(|[low, high]| 0.5 * (low + high)), scale: 0.92 * SIDE / width }
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [0.5 * SIDE + self.scale * (x - self.centre[0]), 0.5 * SIDE - self.scale * (y - self.centre[1])]
    }
}

/// `Rᵀv`, a direction of the camera in the world.
fn to_world(camera: &Camera, v: [f64; 3]) -> [f64; 3] {
    rotate([-camera[0], -camera[1], -camera[2]], v)
}

/// `−Rᵀt`, the place of the camera.
fn centre(camera: &Camera) -> [f64; 3] {
    to_world(camera, [-camera[3], -camera[4], -camera[5]])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normalized(v: [f64; 3]) -> Option<[f64; 3]> {
    let length = dot(v, v).sqrt();
    (length > 1e-6).then(|| v.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_and_points_are_drawn_from_above() {
        // Turned by half a turn about the vertical axis, 2 behind the origin: it looks along z.
        let camera = [0.0, std::f64::consts::PI, 0.0, 0.0, 0.0, -2.0, 500.0, 0.0, 0.0];
        assert!(centre(&camera).iter().zip([0.0, 0.0, -2.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        let points = vec![[-1.0, 9.0, 5.0], [1.0, -9.0, 5.0]];
        let scene = Scene { cameras: vec![camera], points, observations: Vec::new() };
        let view = View::above(&scene);
        let [right, ahead] = view.seen([-1.0, 9.0, 5.0]);
        assert!((right - 1.0).abs() < 1e-12 && (ahead - 5.0).abs() < 1e-12, "{right}, {ahead}");
        let svg = draw([("before", &scene), ("after", &scene)]);
        assert_eq!((svg.matches("h0").count(), svg.matches("<path d=").count()), (4, 2));
        assert!(!svg.contains("NaN") && !draw([("", &Scene::default()); 2]).contains("h0"));
    }
}
