//! Drawing of a graph before and after the solve.

use marquardt::curve::{LegendPlace, Plot, Series};

use crate::g2o::{Edge, Graph};

/// Width and height of the picture, in pixels.
const SIZE: (u32, u32) = (1240, 640);
/// Loop closures that are drawn, at most.
const LOOP_CLOSURES: usize = 2500;

/// Graphs of the same vertices side by side, as an SVG file; each has a scale of its own. Graphs in space are projected on the two axes of
/// largest spread.
pub fn svg(before: &Graph, after: &Graph, titles: [&str; 2]) -> String {
    let axes = widest_axes(after);
    let drawn = |graph, title: &str| panel(graph, axes).title(title);
    let left = drawn(before, titles[0]).legend(LegendPlace::None);
    left.beside(drawn(after, titles[1])).size(SIZE.0, SIZE.1).to_svg()
}

/// One graph: odometry above loop closures, and constant vertices as dots.
fn panel(graph: &Graph, axes: [usize; 2]) -> Plot {
    let place = |vertex: usize| {
        let position = graph.position(vertex);
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
    let (closures, odometry): (Vec<&Edge>, Vec<&Edge>) = graph.edges.iter().partition(|edge| edge.is_loop_closure());
    let step = closures.len().div_ceil(LOOP_CLOSURES).max(1);
    let some: Vec<&Edge> = closures.iter().copied().step_by(step).collect();
    let name = if step > 1 { format!("1 of {step} loop closures") } else { "loop closures".to_owned() };
    let names = axes.map(|axis| ["x", "y", "z"][axis]);
    let plot = Plot::new().equal_scales().x_label(names[0]).y_label(names[1]);
    let plot = plot.series(Series::new().name(name).curve(lines(&some)));
    let plot = plot.series(Series::new().name("odometry").curve(lines(&odometry)));
    plot.series(Series::new().name("constant vertices").points(graph.constant().iter().map(|&vertex| place(vertex))))
}

/// The two axes with the largest variance of the positions, in their order.
fn widest_axes(graph: &Graph) -> [usize; 2] {
    let count = graph.vertices.len() as f64;
    let variance = |axis: usize| {
        let along = || (0..graph.vertices.len()).map(|vertex| graph.position(vertex)[axis]);
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const INFORMATION: &str = "1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1";

    #[test]
    fn both_graphs_are_drawn() {
        let graph = Graph::parse(crate::TINY_GRID, Path::new(crate::TINY_GRID_FILE)).unwrap();
        let drawing = svg(&graph, &graph, ["before", "after"]);
        // The odometry is one line, each of the three loop closures one of its own.
        let lines = drawing.lines().filter(|line| line.starts_with("<polyline") && line.contains("width=\"6\""));
        assert_eq!(lines.filter(|line| line.contains("0072B2")).count(), 2 * 3 + 1, "and one in the legend");
        for text in ["before", "after", "odometry", "loop closures", "constant vertices"] {
            assert!(drawing.contains(text), "{text}");
        }
        assert!(drawing.ends_with("</svg>\n") && !drawing.contains("NaN"));
    }

    #[test]
    fn the_widest_axes_are_drawn() {
        let graph = |to: &str| {
            let text = format!(
                "VERTEX_SE3:QUAT 1 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 2 {to} 0 0 0 1\n\
                 EDGE_SE3:QUAT 1 2 0 0 0 0 0 0 1 {INFORMATION}"
            );
            Graph::parse(&text, Path::new("two.g2o")).unwrap()
        };
        for (to, axes) in
            [("1 2 3", [1, 2]), ("2 1 3", [0, 2]), ("3 2 1", [0, 1]), ("0 0 0", [0, 1]), ("0 0 1", [0, 2])]
        {
            assert_eq!(widest_axes(&graph(to)), axes);
        }
        assert!(!svg(&graph("0 0 0"), &graph("0 0 0"), ["", ""]).contains("NaN"));
    }
}
