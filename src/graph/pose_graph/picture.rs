//! Pictures of pose graphs.

use super::{Edge, PoseGraph, components};
use crate::curve::{Plot, Series};

/// Loop closures that are drawn, at most.
const LOOP_CLOSURES: usize = 2500;

impl PoseGraph {
    /// A picture of the graph: odometry above loop closures, points, and vertices that are held constant. A graph in space is projected on
    /// the [two axes of largest spread](Self::widest_axes).
    ///
    /// ```
    /// use marquardt::graph::PoseGraph;
    ///
    /// let graph = PoseGraph::parse("EDGE_SE2 0 1 1 0 0.1 1 0 0 1 0 1\nEDGE_SE2 1 2 1 0 0.1 1 0 0 1 0 1")?;
    /// assert!(graph.plot().title("a short way").to_svg().contains("odometry"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plot(&self) -> Plot {
        self.plot_along(self.widest_axes())
    }

    /// A [picture](Self::plot) along two axes, 0 to 2.
    ///
    /// # Panics
    ///
    /// If an axis is greater than 2.
    pub fn plot_along(&self, axes: [usize; 2]) -> Plot {
        let place = |vertex: usize| {
            let position = self.position(vertex);
            (position[axes[0]], position[axes[1]])
        };
        let lines = |edges: &[&Edge]| {
            let (mut line, mut last) = (Vec::new(), None);
            for edge in edges {
                let [from, to] = edge.vertices;
                if last != Some(from) {
                    // A line ends where it is not finite.
                    line.extend([(f64::NAN, f64::NAN), place(from)]);
                }
                line.push(place(to));
                last = Some(to);
            }
            line
        };
        let between_poses = self.edges.iter().filter(|edge| !self.vertices[edge.vertices[1]].is_point);
        let (closures, odometry): (Vec<&Edge>, Vec<&Edge>) = between_poses.partition(|edge| self.is_loop_closure(edge));
        let step = closures.len().div_ceil(LOOP_CLOSURES).max(1);
        let some: Vec<&Edge> = closures.iter().copied().step_by(step).collect();
        let name = if step > 1 { format!("1 of {step} loop closures") } else { "loop closures".to_owned() };
        let names = axes.map(|axis| ["x", "y", "z"][axis]);
        let plot = Plot::new().equal_scales().x_label(names[0]).y_label(names[1]);
        let plot = plot.series(Series::new().name(name).curve(lines(&some)));
        let mut plot = plot.series(Series::new().name("odometry").curve(lines(&odometry)));
        let points: Vec<_> =
            (0..self.vertices.len()).filter(|&vertex| self.vertices[vertex].is_point).map(place).collect();
        if !points.is_empty() {
            plot = plot.series(Series::new().name("points").points(points));
        }
        let constant = components::anchors(self).into_iter().map(place);
        plot.series(Series::new().name("constant vertices").points(constant))
    }

    /// The two axes along which positions vary most, in their order.
    pub fn widest_axes(&self) -> [usize; 2] {
        let count = self.vertices.len() as f64;
        let variance = |axis: usize| {
            let along = || (0..self.vertices.len()).map(|vertex| self.position(vertex)[axis]);
            let mean = along().sum::<f64>() / count;
            along().map(|x| (x - mean).powi(2)).sum::<f64>()
        };
        let variances = [0, 1, 2].map(variance);
        // Of equal variances, the last is left out.
        let narrowest = (0..3).rev().min_by(|&a, &b| variances[a].total_cmp(&variances[b])).unwrap_or(2);
        match narrowest {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SPACE_IDENTITY, TINY_GRID};
    use super::*;

    #[test]
    fn graphs_are_drawn() {
        let drawing = PoseGraph::parse(TINY_GRID).unwrap().plot().to_svg();
        // The odometry is one line, each of the three loop closures one of its own.
        let lines = drawing.lines().filter(|line| line.starts_with("<polyline") && line.contains("width=\"6\""));
        assert_eq!(lines.filter(|line| line.contains("0072B2")).count(), 3 + 1, "and one in the legend");
        for text in ["odometry", "loop closures", "constant vertices"] {
            assert!(drawing.contains(text), "{text}");
        }
        assert!(!drawing.contains("NaN"));
    }

    #[test]
    fn the_widest_axes_are_drawn() {
        for (to, axes) in
            [("1 2 3", [1, 2]), ("2 1 3", [0, 2]), ("3 2 1", [0, 1]), ("0 0 0", [0, 1]), ("0 0 1", [0, 2])]
        {
            let vertices = format!("VERTEX_SE3:QUAT 1 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 2 {to} 0 0 0 1\n");
            let graph =
                PoseGraph::parse(&format!("{vertices}EDGE_SE3:QUAT 1 2 0 0 0 0 0 0 1 {SPACE_IDENTITY}")).unwrap();
            assert_eq!(graph.widest_axes(), axes);
            assert!(!graph.plot().to_svg().contains("NaN"));
        }
    }
}
