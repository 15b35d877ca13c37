//! Columns of grids that guesses share.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Numbers after which a cache begins anew: 16 MiB.
const MOST: usize = 1 << 21;

/// Responses on the grids of [guesses](super::Guess::guess_with), which depend on `x` alone: those for one data set serve all that are
/// observed at the same `x`.
///
/// A clone is the same cache. It takes up to some tens of megabytes.
#[derive(Debug, Clone, Default)]
pub struct GuessCache(Option<Rc<Grids>>);

#[derive(Debug, Default)]
struct Grids {
    kept: RefCell<Vec<Rc<KeptGrid>>>,
    /// Number of entries in all grids.
    numbers: Cell<usize>,
}

/// Key of a grid: all that its columns depend on, but for the first of several axes.
#[derive(Clone, Copy)]
pub(super) struct GridKey<'k> {
    /// Name of the responses.
    pub(super) name: &'static str,
    pub(super) x: &'k [f64],
    /// All axes, but for the first of several.
    pub(super) inner: &'k [Vec<f64>],
}

/// Columns at the points of a grid: a block for each value of the first axis.
#[derive(Debug)]
pub(super) struct KeptGrid {
    name: &'static str,
    x: Vec<f64>,
    inner: Vec<Vec<f64>>,
    blocks: RefCell<HashMap<u64, Rc<[f64]>>>,
}

impl GuessCache {
    /// Creates a cache. The [default](Self::default) one keeps nothing.
    pub fn new() -> Self {
        GuessCache(Some(Rc::default()))
    }

    /// Returns the grid of this key; `None` where nothing is kept.
    pub(super) fn grid(&self, key: GridKey<'_>) -> Option<Rc<KeptGrid>> {
        let grids = self.0.as_ref()?;
        let mut kept = grids.kept.borrow_mut();
        if grids.numbers.get() > MOST {
            kept.clear();
            grids.numbers.set(0);
        }
        if let Some(grid) = kept.iter().find(|grid| grid.is_of(key)) {
            return Some(grid.clone());
        }
        let GridKey { name, x, inner } = key;
        let grid = Rc::new(KeptGrid { name, x: x.to_vec(), inner: inner.to_vec(), blocks: RefCell::default() });
        kept.push(grid.clone());
        Some(grid)
    }

    /// Returns the columns of a grid for this value of its first axis: `numbers` of them, which `fill` fills in where they are new.
    pub(super) fn block(
        &self,
        grid: &KeptGrid,
        value: f64,
        numbers: usize,
        fill: impl FnOnce(&mut [f64]),
    ) -> Rc<[f64]> {
        let mut blocks = grid.blocks.borrow_mut();
        let block = blocks.entry(value.to_bits()).or_insert_with(|| {
            let mut columns = vec![0.0; numbers];
            fill(&mut columns);
            self.0.iter().for_each(|grids| grids.numbers.update(|kept| kept + numbers));
            columns.into()
        });
        block.clone()
    }
}

impl KeptGrid {
    fn is_of(&self, key: GridKey<'_>) -> bool {
        self.name == key.name && self.inner == key.inner && self.x == key.x
    }
}
