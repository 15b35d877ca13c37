//! The residual blocks of one type of cost function.

use std::any::Any;
use std::ops::Range;

use super::cost_function::{ANY, Blocks, CostFunction};
use crate::autodiff::Dual;
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::copy_few;
use crate::problem::{Evaluated, LeastCurvature, Loss, RobustBlock};
use crate::real::Real;

/// Most tangent dimensions that are differentiated in one pass.
const WIDEST: usize = 16;

/// Parameter blocks of a residual block that are listed on the stack.
pub(super) const FEW_BLOCKS: usize = 10;

/// Callback that receives the residuals of a residual block, and its rows of the Jacobian.
pub(super) type Visit<'v, T> = dyn FnMut(&[T], &[T]) + 'v;

/// A robust loss with its scale.
pub(super) type ScaledLoss<T> = Option<(Loss, T)>;

/// Loss of a residual block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BlockLoss<T> {
    pub(super) robust: ScaledLoss<T>,
    /// True if the residual block costs nothing, whatever its residuals.
    pub(super) is_excluded: bool,
}

/// The points of all parameter blocks, the derivatives of their steps, and the curvature that losses keep.
pub(super) struct BlockPoints<'a, T> {
    pub(super) x: &'a [T],
    /// First coordinate of each block's point, and the number of all coordinates.
    pub(super) ambient: &'a [usize],
    /// First column of each block in the Jacobian of all, and their number.
    pub(super) columns: &'a [usize],
    /// Directions of each block that are free, each a column of `∂(x ⊞ δ)/∂δ`, by rows.
    pub(super) jacobians: &'a [T],
    /// First entry of each block's `∂(x ⊞ δ)/∂δ`.
    pub(super) places: &'a [usize],
    /// Curvature that losses keep.
    pub(super) least_curvature: LeastCurvature<T>,
}

impl<T: Real> BlockPoints<'_, T> {
    fn point(&self, block: u32) -> &[T] {
        &self.x[self.ambient[block as usize]..self.ambient[block as usize + 1]]
    }

    /// Columns of a block in the Jacobian of all.
    pub(super) fn columns_of(&self, block: u32) -> Range<usize> {
        self.columns[block as usize]..self.columns[block as usize + 1]
    }

    fn width(&self, block: u32) -> usize {
        self.columns_of(block).len()
    }

    fn jacobian(&self, block: u32) -> &[T] {
        &self.jacobians[self.places[block as usize]..self.places[block as usize + 1]]
    }
}

/// Residual blocks of one type, which is erased.
pub(super) trait ResidualGroup<T: Real>: Send + Sync {
    /// Name of the type.
    fn kind(&self) -> &'static str;

    /// Number of residual blocks.
    fn len(&self) -> usize;

    /// Parameter blocks of residual block `k` of the group.
    fn blocks(&self, k: usize) -> &[u32];

    /// Number of residuals of residual block `k` of the group.
    fn residual_count(&self, k: usize) -> usize;

    /// Fills `r` with the residuals of residual block `k` of the group, before the loss.
    fn residuals(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T]) -> Evaluated;

    /// Calls `visit` for each residual block of a range with its residuals and its rows of the Jacobian, under the loss; returns the
    /// cost.
    fn linearize(&self, range: Range<usize>, points: &BlockPoints<'_, T>, visit: &mut Visit<'_, T>) -> Evaluated<T>;

    /// Fills `r` and the rows of the Jacobian of residual block `k` of the group, before the loss.
    fn derivatives(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T], jacobian: &mut [T]) -> Evaluated;

    /// Puts residuals of residual block `k` of the group under its loss, as [`linearize`](Self::linearize) does; returns their cost.
    fn apply_loss(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T]) -> T;

    /// Loss of residual block `k` of the group, to change.
    fn loss_mut(&mut self, k: usize) -> &mut BlockLoss<T>;

    /// Loss of residual block `k` of the group.
    fn loss(&self, k: usize) -> BlockLoss<T>;

    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// Residual blocks of type `F`.
pub(super) struct Typed<T, F> {
    functions: Vec<F>,
    /// Parameter blocks of each, one list behind the other.
    blocks: Vec<u32>,
    /// First parameter block of each residual block, and the number of all, where each has a number of its own.
    starts: Vec<usize>,
    losses: Vec<BlockLoss<T>>,
}

impl<T: Real, F: CostFunction<T>> Typed<T, F> {
    pub(super) fn new() -> Self {
        Typed { functions: Vec::new(), blocks: Vec::new(), starts: vec![0], losses: Vec::new() }
    }

    pub(super) fn push(&mut self, function: F, blocks: impl Iterator<Item = u32>, loss: ScaledLoss<T>) {
        self.functions.push(function);
        self.blocks.extend(blocks);
        if F::Blocks::COUNT == ANY {
            self.starts.push(self.blocks.len());
        }
        self.losses.push(BlockLoss { robust: loss, is_excluded: false });
    }

    /// [`linearize`](ResidualGroup::linearize) of residual block `k` by passes of `N` directions.
    #[inline(always)]
    fn differentiate<const N: usize>(
        &self,
        k: usize,
        points: &BlockPoints<'_, T>,
        scratch: &mut DualWorkspace<T, N>,
        r: &mut [T],
        jacobian: &mut [T],
    ) -> Evaluated {
        let blocks = self.blocks(k);
        let width: usize = blocks.iter().map(|&block| points.width(block)).sum();
        if blocks.iter().all(|&block| points.width(block) == points.point(block).len()) {
            let of_blocks = blocks.iter().map(|&block| points.point(block));
            if self.functions[k].linearize(Slices::new(of_blocks).list(), r, jacobian) {
                return Ok(());
            }
        }
        for pass in (0..width.max(1)).step_by(N) {
            let zero = Dual { value: T::ZERO, gradient: [T::ZERO; N] };
            // Written in place: copies of dual numbers would wait for their stores.
            scratch.numbers.resize(blocks.iter().map(|&block| points.point(block).len()).sum(), zero);
            let mut numbers = scratch.numbers.iter_mut();
            let mut column = 0;
            for &block in blocks {
                let own = points.width(block);
                let is_whole = column >= pass && column + own <= pass + N;
                let rows = points.jacobian(block).chunks_exact(own.max(1)).map(Some).chain(std::iter::repeat(None));
                for ((&value, row), number) in points.point(block).iter().zip(rows).zip(&mut numbers) {
                    number.value = value;
                    number.gradient = zero.gradient;
                    if is_whole {
                        copy_few(row.unwrap_or_default(), &mut number.gradient[column - pass..]);
                        continue;
                    }
                    for (j, &derivative) in row.unwrap_or_default().iter().enumerate() {
                        if let Some(entry) = (column + j).checked_sub(pass).and_then(|j| number.gradient.get_mut(j)) {
                            *entry = derivative;
                        }
                    }
                }
                column += own;
            }
            scratch.residuals.clear();
            scratch.residuals.resize(r.len(), Dual { value: T::ZERO, gradient: [T::ZERO; N] });
            let mut numbers = scratch.numbers.as_slice();
            let of_blocks = blocks.iter().map(|&block| {
                let (of_block, others) = numbers.split_at(points.point(block).len());
                numbers = others;
                of_block
            });
            let residuals = &mut scratch.residuals;
            // Without a closure, which would not be compiled for the registers in use.
            self.functions[k].evaluate(Slices::new(of_blocks).list(), residuals)?;
            let count = N.min(width - pass.min(width));
            for (i, residual) in scratch.residuals.iter().enumerate() {
                r[i] = residual.value;
                jacobian[i * width + pass..][..count].copy_from_slice(&residual.gradient[..count]);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn linearize_all<const N: usize>(
        &self,
        range: Range<usize>,
        points: &BlockPoints<'_, T>,
        visit: &mut Visit<'_, T>,
    ) -> Evaluated<T> {
        let mut scratch = DualWorkspace { numbers: Vec::new(), residuals: Vec::new() };
        let (mut r, mut jacobian) = (Vec::new(), Vec::new());
        let mut cost = T::ZERO;
        for k in range {
            let count = self.residual_count(k);
            let width: usize = self.blocks(k).iter().map(|&block| points.width(block)).sum();
            r.resize(count, T::ZERO);
            jacobian.resize(count * width, T::ZERO);
            self.differentiate::<N>(k, points, &mut scratch, &mut r, &mut jacobian)?;
            cost += apply_loss(self.losses[k], points.least_curvature, &mut r, &mut jacobian);
            visit(&r, &jacobian);
        }
        Ok(cost)
    }

    /// [`linearize_all`](Self::linearize_all) in the widest registers in use.
    fn linearize_in_registers<const N: usize>(
        &self,
        range: Range<usize>,
        points: &BlockPoints<'_, T>,
        visit: &mut Visit<'_, T>,
    ) -> Evaluated<T> {
        let mut cost = Ok(T::ZERO);
        simd::run(Linearization::<T, F, N> { group: self, range, points, visit, cost: &mut cost });
        cost
    }
}

/// [`linearize_all`](Typed::linearize_all), compiled for the registers in use: many directions fill the widest.
struct Linearization<'a, T: Real, F, const N: usize> {
    group: &'a Typed<T, F>,
    range: Range<usize>,
    points: &'a BlockPoints<'a, T>,
    visit: &'a mut Visit<'a, T>,
    cost: &'a mut Evaluated<T>,
}

impl<T: Real, F: CostFunction<T>, const N: usize> Kernel for Linearization<'_, T, F, N> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        *self.cost = self.group.linearize_all::<N>(self.range, self.points, self.visit);
    }
}

/// Dual numbers of the points and residuals of a residual block.
struct DualWorkspace<T, const N: usize> {
    numbers: Vec<Dual<T, N>>,
    residuals: Vec<Dual<T, N>>,
}

impl<T: Real, F: CostFunction<T>> ResidualGroup<T> for Typed<T, F> {
    fn kind(&self) -> &'static str {
        std::any::type_name::<F>()
    }

    fn len(&self) -> usize {
        self.functions.len()
    }

    fn blocks(&self, k: usize) -> &[u32] {
        match F::Blocks::COUNT {
            ANY => &self.blocks[self.starts[k]..self.starts[k + 1]],
            count => &self.blocks[k * count..(k + 1) * count],
        }
    }

    fn residual_count(&self, k: usize) -> usize {
        self.functions[k].residual_count()
    }

    fn residuals(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T]) -> Evaluated {
        let of_blocks = self.blocks(k).iter().map(|&block| points.point(block));
        self.functions[k].evaluate(Slices::new(of_blocks).list(), r)
    }

    fn linearize(&self, range: Range<usize>, points: &BlockPoints<'_, T>, visit: &mut Visit<'_, T>) -> Evaluated<T> {
        let width = |k: usize| self.blocks(k).iter().map(|&block| points.width(block)).sum::<usize>();
        match range.clone().map(width).max().unwrap_or(0) {
            0..=3 => self.linearize_all::<3>(range, points, visit),
            4..=6 => self.linearize_all::<6>(range, points, visit),
            7..=9 => self.linearize_in_registers::<9>(range, points, visit),
            10..=12 => self.linearize_in_registers::<12>(range, points, visit),
            _ => self.linearize_in_registers::<WIDEST>(range, points, visit),
        }
    }

    fn derivatives(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let mut scratch = DualWorkspace::<T, 3> { numbers: Vec::new(), residuals: Vec::new() };
        self.differentiate::<3>(k, points, &mut scratch, r, jacobian)
    }

    fn apply_loss(&self, k: usize, points: &BlockPoints<'_, T>, r: &mut [T]) -> T {
        apply_loss(self.losses[k], points.least_curvature, r, &mut [])
    }

    fn loss_mut(&mut self, k: usize) -> &mut BlockLoss<T> {
        &mut self.losses[k]
    }

    fn loss(&self, k: usize) -> BlockLoss<T> {
        self.losses[k]
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A list of slices, a few of which take no memory of the heap.
pub(super) struct Slices<'a, T> {
    few: [&'a [T]; FEW_BLOCKS],
    many: Vec<&'a [T]>,
    count: usize,
}

impl<'a, T> Slices<'a, T> {
    #[inline(always)]
    pub(super) fn new(slices: impl ExactSizeIterator<Item = &'a [T]>) -> Self {
        let count = slices.len();
        let (mut few, mut many): ([&[T]; FEW_BLOCKS], _) = ([&[]; FEW_BLOCKS], Vec::new());
        if count > FEW_BLOCKS {
            many.extend(slices);
        } else {
            few.iter_mut().zip(slices).for_each(|(slot, slice)| *slot = slice);
        }
        Slices { few, many, count }
    }

    #[inline(always)]
    pub(super) fn list(&self) -> &[&'a [T]] {
        self.few.get(..self.count).unwrap_or(&self.many)
    }
}

/// Puts residuals, and their rows of the Jacobian, under a loss; returns the cost.
#[inline(always)]
fn apply_loss<T: Real>(loss: BlockLoss<T>, least: LeastCurvature<T>, r: &mut [T], jacobian: &mut [T]) -> T {
    match loss.robust {
        _ if loss.is_excluded => {
            r.fill(T::ZERO);
            jacobian.fill(T::ZERO);
            T::ZERO
        }
        None => T::from_f64(0.5) * r.iter().fold(T::ZERO, |sum, &r| sum + r * r),
        Some((loss, scale)) => RobustBlock::new(&loss, scale, least, r).apply(r, jacobian),
    }
}
