//! The search for a start on a grid.

use std::iter::{self, zip};
use std::rc::Rc;

use super::guess_cache::GridKey;
use super::linear_fit::LinearFit;
use super::look::{Look, POINTS};
use crate::kernels::vector::dot;
use crate::kernels::{Factor, Kernels};

/// Points of the first pass over a grid.
const COARSE_POINTS: usize = 128;
/// Passes over ever finer grids about the best point of the first, of half the spacing each.
const REFINEMENTS: usize = 3;

/// Where a start is sought: an axis of values for each parameter that is not linear. The linear ones are solved for at each point.
pub(super) struct Grid<'g> {
    /// Name of the responses, for which their columns are kept for other data; `None` if they are not.
    pub(super) name: Option<&'static str>,
    pub(super) linear: &'g [usize],
    /// Number of all parameters.
    pub(super) parameters: usize,
    pub(super) axes: Vec<Vec<f64>>,
}

/// Fills the responses in at these `x`, given the parameters.
pub(super) type Responses<'r> = dyn Fn(&[f64], &[f64], &mut [f64]) + 'r;

impl Look {
    /// Returns the parameters with the least sum of squares among those on a grid, and on finer ones about the best of it.
    pub(super) fn best_on(&self, grid: Grid<'_>, responses: &Responses<'_>) -> Vec<f64> {
        self.search(COARSE_POINTS, grid, responses)
    }

    /// Searches a grid from the first pass on with all points of the data.
    pub(super) fn best_on_fine(&self, grid: Grid<'_>, responses: &Responses<'_>) -> Vec<f64> {
        self.search(POINTS, grid, responses)
    }

    /// Searches a grid with a part of the data's points, then finer ones with all.
    fn search(&self, coarse: usize, mut grid: Grid<'_>, responses: &Responses<'_>) -> Vec<f64> {
        let free: Vec<usize> = (0..grid.parameters).filter(|index| !grid.linear.contains(index)).collect();
        let middle = grid.axes.iter().map(|axis| axis.len() / 2).collect();
        let mut search = Search { b: vec![1.0; grid.parameters], free, at: middle, responses };
        search.improve(self.averaged(coarse).as_ref().unwrap_or(self), &grid);
        let mut reaches: Vec<[f64; 2]> = zip(&grid.axes, &search.at).map(|(axis, &at)| neighbours(axis, at)).collect();
        grid.name = None;
        for _ in 0..REFINEMENTS {
            for ((axis, [left, right]), &at) in zip(zip(&mut grid.axes, &mut reaches), &search.at) {
                (*left, *right) = (*left / 2.0, *right / 2.0);
                let here = axis[at];
                *axis = vec![here - *left, here, here + *right];
            }
            search.at.fill(1);
            search.improve(self, &grid);
        }
        search.solved(self, &grid)
    }
}

/// The best point of a grid so far.
struct Search<'r> {
    /// Parameters, of which those that are not linear are set for each point.
    b: Vec<f64>,
    /// Parameters that are not linear.
    free: Vec<usize>,
    /// Index of the best point on each axis.
    at: Vec<usize>,
    responses: &'r Responses<'r>,
}

impl Search<'_> {
    /// Moves to the best of all points of a grid, unless the responses are nowhere finite.
    fn improve(&mut self, look: &Look, grid: &Grid<'_>) {
        // The first of several axes has a block of columns for each value, as it may have values of these data alone.
        let (outer, inner) = match &grid.axes[..] {
            [outer, inner @ ..] if !inner.is_empty() => (&outer[..], inner),
            axes => (&[0.0][..], axes),
        };
        let outermost = grid.axes.len() - inner.len();
        let points: usize = inner.iter().map(Vec::len).product();
        let (rows, linear) = (look.x.len(), grid.linear.len());
        let numbers = points * linear * rows;
        let kept = grid.name.and_then(|name| look.cache.grid(GridKey { name, x: &look.x, inner }));
        let mut fit = LinearFit::new(rows, linear);
        let mut columns = vec![0.0; if kept.is_some() { 0 } else { numbers }];
        let (mut shares, mut most) = (vec![0.0; points * linear], f64::NEG_INFINITY);
        for (place, &value) in outer.iter().enumerate() {
            let mut fill = |columns: &mut [f64]| {
                self.free[..outermost].iter().for_each(|&index| self.b[index] = value);
                for (point, columns) in columns.chunks_exact_mut((rows * linear).max(1)).enumerate() {
                    for ((axis, digit), &index) in zip(zip(inner, digits(inner, point)), &self.free[outermost..]) {
                        self.b[index] = axis[digit];
                    }
                    let mut response = |b: &[f64], column: &mut [f64]| (self.responses)(&look.x, b, column);
                    columns.copy_from_slice(fit.orthonormal(grid.linear, &mut self.b, &mut response));
                }
            };
            let block: Rc<[f64]>;
            let block = if let Some(kept) = &kept {
                block = look.cache.block(kept, value, numbers, fill);
                &block
            } else {
                fill(&mut columns);
                &columns[..]
            };
            // With the unit columns `q` of a point, the sum of squares is `‖y‖² − Σ (qᵀy)²`.
            f64::multiply(&mut shares, false, Factor::Plain(block), &look.y, rows, 1);
            for (point, shares) in shares.chunks_exact(linear).enumerate() {
                let explained = dot(shares, shares);
                if explained > most {
                    most = explained;
                    self.at.clear();
                    self.at.extend(iter::once(place).take(outermost).chain(digits(inner, point)));
                }
            }
        }
    }

    /// Returns all parameters at the best point.
    fn solved(mut self, look: &Look, grid: &Grid<'_>) -> Vec<f64> {
        for ((axis, &at), &index) in zip(zip(&grid.axes, &self.at), &self.free) {
            self.b[index] = axis[at];
        }
        let mut fit = LinearFit::new(look.x.len(), grid.linear.len());
        fit.solve(&look.y, grid.linear, &mut self.b, &mut |b, column| (self.responses)(&look.x, b, column));
        self.b
    }
}

/// Returns the index on each of these axes of the point of this number.
fn digits(axes: &[Vec<f64>], mut point: usize) -> impl Iterator<Item = usize> {
    axes.iter().map(move |axis| {
        let digit = point % axis.len();
        point /= axis.len();
        digit
    })
}

/// Returns the distances to the neighbouring values on an axis.
fn neighbours(axis: &[f64], at: usize) -> [f64; 2] {
    let left = at.checked_sub(1).map_or(0.0, |left| axis[at] - axis[left]);
    [left, axis.get(at + 1).map_or(0.0, |right| right - axis[at])]
}
