//! Blocks of Kronecker factors of layers: those of a tape, or those that another library has recorded.

use std::ops::Range;

use super::RecordedLayer;
use crate::problem::{KroneckerBlock, NotKroneckerFactored};

/// The blocks of layers' parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerBlocks {
    pub(crate) blocks: Vec<KroneckerBlock>,
    /// For each layer the block of its weight or table, and that of a bias which stands alone.
    pub(crate) places: Vec<[Option<usize>; 2]>,
}

/// Use of an array by a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Weight {
        inputs: usize,
        outputs: usize,
    },
    Table,
    /// A bias, or a row that is the same for all samples.
    Row {
        is_bias: bool,
    },
}

impl Use {
    /// Returns the use of a layer's first or second array.
    fn of(layer: &RecordedLayer, slot: usize) -> Self {
        match *layer {
            RecordedLayer::Dense { inputs, outputs, .. } if slot == 0 => Use::Weight { inputs, outputs },
            RecordedLayer::Dense { .. } => Use::Row { is_bias: true },
            RecordedLayer::Embedding { .. } => Use::Table,
            RecordedLayer::Scale { .. } => Use::Row { is_bias: false },
        }
    }

    /// Returns true if one block describes both uses.
    fn goes_with(self, other: Self) -> bool {
        self == other || matches!((self, other), (Use::Row { .. }, Use::Row { .. }))
    }

    fn name(self) -> String {
        match self {
            Use::Weight { inputs, outputs } => format!("a weight of {outputs} × {inputs}"),
            Use::Table => "a table".to_owned(),
            Use::Row { is_bias: true } => "a bias".to_owned(),
            Use::Row { is_bias: false } => "a row".to_owned(),
        }
    }
}

impl LayerBlocks {
    /// The blocks in the order of their parameters; `name` tells that of the array which begins at a parameter.
    pub(crate) fn new(layers: &[RecordedLayer], name: impl Fn(usize) -> String) -> Result<Self, NotKroneckerFactored> {
        let mut arrays: Vec<Range<usize>> = layers.iter().flat_map(RecordedLayer::parameters).collect();
        arrays.sort_unstable_by_key(|array| (array.start, array.end));
        arrays.dedup();
        let mut blocks = Vec::with_capacity(arrays.len());
        for array in arrays {
            blocks.extend(block(layers, array, &name)?);
        }
        // A bias that goes with its weight is no block's first array.
        let first = |block: &KroneckerBlock| block.parameters().next().map(|range| range.start);
        let place = |start: usize| blocks.iter().position(|block| first(block) == Some(start));
        let places = layers.iter().map(|layer| layer.arrays().map(|start| start.and_then(place))).collect();
        Ok(LayerBlocks { blocks, places })
    }
}

/// The block of an array, from all its uses; `None` for a bias that goes with a weight.
fn block(
    layers: &[RecordedLayer],
    array: Range<usize>,
    name: impl Fn(usize) -> String,
) -> Result<Option<KroneckerBlock>, NotKroneckerFactored> {
    let uses = || {
        let arrays = layers.iter().flat_map(|layer| layer.arrays().into_iter().enumerate().map(move |of| (layer, of)));
        let own = arrays.filter(|(_, (_, start))| *start == Some(array.start));
        own.map(|(layer, (slot, _))| (Use::of(layer, slot), layer))
    };
    let Some((first, layer)) = uses().next() else { return Ok(None) };
    if let Some((other, _)) = uses().find(|(other, _)| !first.goes_with(*other)) {
        let variable = name(array.start);
        return Err(NotKroneckerFactored::TwoUses { variable, first: first.name(), second: other.name() });
    }
    let positions = uses().map(|(_, layer)| layer.positions()).sum();
    Ok(match *layer {
        RecordedLayer::Dense { weight, bias, inputs, outputs, .. } if weight == array.start => {
            let bias = bias.filter(|&bias| partner(layers, bias) == Some(weight));
            Some(KroneckerBlock::Dense { weight, bias, inputs, outputs, positions })
        }
        RecordedLayer::Embedding { table, rows, columns, .. } => {
            Some(KroneckerBlock::Embedding { table, rows, columns, positions })
        }
        _ => {
            let stands_alone = partner(layers, array.start).is_none();
            stands_alone.then(|| KroneckerBlock::Diagonal { first: array.start, count: array.len() })
        }
    })
}

/// The weight that the bias which begins at `start` goes with: used by the same layers, and by no others.
fn partner(layers: &[RecordedLayer], start: usize) -> Option<usize> {
    let mut partner = None;
    for layer in layers {
        let weight = match *layer {
            RecordedLayer::Dense { weight, bias: Some(bias), .. } if bias == start && weight != start => weight,
            _ if layer.arrays().contains(&Some(start)) => return None,
            _ => continue,
        };
        if *partner.get_or_insert(weight) != weight {
            return None;
        }
    }
    let weight = partner?;
    let has_bias = |layer: &RecordedLayer| layer.arrays()[0] != Some(weight) || layer.arrays()[1] == Some(start);
    layers.iter().all(has_bias).then_some(weight)
}
