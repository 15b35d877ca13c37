//! Assignment of the parts of a tape to the layers that recorded them.

use std::ops::Range;

use super::{Node, Tape};
use crate::nn::Shape;
use crate::real::Real;

/// A layer, and the part of the tape that it recorded.
#[derive(Debug, Clone)]
pub(crate) struct LayerSpan {
    /// Its place in the network.
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    /// Number of layers that enclose it.
    pub(crate) depth: usize,
    /// Nodes that it and the layers within it recorded.
    pub(crate) records: Range<usize>,
    /// Shape of its output; `None` while it is being recorded.
    pub(crate) output: Option<Shape>,
}

impl<T: Real> Tape<T> {
    /// A layer begins to record; returns its place among the layers.
    pub(crate) fn begin_layer(&mut self, path: &str, kind: &'static str) -> usize {
        let (start, depth) = (self.records.len(), self.open_layers);
        self.layers.push(LayerSpan { path: path.to_owned(), kind, depth, records: start..start, output: None });
        self.open_layers += 1;
        self.layers.len() - 1
    }

    /// The layer at this place has recorded its output, or has failed and is forgotten.
    pub(crate) fn end_layer(&mut self, place: usize, output: Option<Node>) {
        self.open_layers -= 1;
        match output {
            Some(output) => {
                let layer = &mut self.layers[place];
                (layer.records.end, layer.output) = (self.records.len(), Some(output.shape));
            }
            None => self.layers.truncate(place),
        }
    }

    /// All layers, the outer ones before those within them.
    pub(crate) fn layers(&self) -> &[LayerSpan] {
        &self.layers
    }
}
