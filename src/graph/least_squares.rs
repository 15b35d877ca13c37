//! A graph as a least-squares problem.

use std::ops::Range;

use super::error::GraphError;
use super::group::{BlockPoints, ResidualGroup};
use super::problem::{ManifoldBlock, Problem};
use crate::lists::prefix_sums;
use crate::manifold::Manifold;
use crate::parallel;
use crate::problem::{
    BlockJacobian, Bounds, Capabilities, ConcurrentBlocks, Evaluated, LeastCurvature, LeastSquares, ParameterDomain,
};
use crate::real::Real;
use crate::solver::SolveError;

/// Fewest residual blocks of a part.
const FEWEST_BLOCKS: usize = 512;

/// A problem whose constant blocks are known.
pub(super) struct Active<'p, T: Real> {
    groups: &'p [Box<dyn ResidualGroup<T>>],
    /// Group of each residual block, and its place there.
    residual_blocks: &'p [(u32, u32)],
    x: &'p [T],
    layout: GraphManifold<'p, T>,
    /// Bounds of all coordinates, if any that moves has some.
    bounds: Option<Bounds<T>>,
    /// Residual blocks that are evaluated one after the other, group after group, and the number of their residuals.
    parts: Vec<(Range<usize>, usize)>,
    /// Number of residuals.
    residuals: usize,
    /// Cost of the residuals that were evaluated last.
    cost: T,
    /// Curvature that losses keep.
    least_curvature: LeastCurvature<T>,
    /// Free directions of each block, by rows, and the first entry of each block's.
    jacobians: Vec<T>,
    places: Vec<usize>,
    scratch: Vec<T>,
}

/// Product of all blocks' manifolds, with steps in the free directions.
pub(super) struct GraphManifold<'p, T> {
    blocks: &'p [ManifoldBlock<T>],
    ambient: &'p [usize],
    /// First free direction of each block, and their number.
    columns: Vec<usize>,
    /// Largest tangent size of a block.
    widest: usize,
}

impl<T: Real> std::fmt::Debug for GraphManifold<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphManifold({} blocks)", self.blocks.len())
    }
}

impl<'p, T: Real> GraphManifold<'p, T> {
    fn new(problem: &'p Problem<T>) -> Self {
        let free = |block: &ManifoldBlock<T>| block.free_indices().count();
        let columns = prefix_sums(problem.blocks.iter().map(free));
        let widest = problem.blocks.iter().map(|block| block.manifold.tangent_size()).max().unwrap_or(0);
        GraphManifold { blocks: &problem.blocks, ambient: &problem.ambient, columns, widest }
    }

    fn width(&self, block: usize) -> usize {
        self.columns[block + 1] - self.columns[block]
    }

    /// Bounds of coordinates that move.
    fn bounds(&self) -> Option<Bounds<T>> {
        if self.blocks.iter().all(|block| block.bounds.is_empty()) {
            return None;
        }
        let (mut lower, mut upper) = (vec![-T::INFINITY; self.ambient_size()], vec![T::INFINITY; self.ambient_size()]);
        for (block, &first) in self.blocks.iter().zip(self.ambient) {
            for coordinate in block.free_indices().filter_map(|direction| block.manifold.coordinate(direction)) {
                if let Some((_, bounds)) = block.bounds.iter().find(|(bounded, _)| *bounded == coordinate) {
                    [lower[first + coordinate], upper[first + coordinate]] = *bounds;
                }
            }
        }
        Bounds::new(lower, upper).ok()
    }

    /// Calls `visit` for each block that moves with its manifold, the range of its point, and that of its columns.
    fn for_each_moving(&self, mut visit: impl FnMut(&ManifoldBlock<T>, Range<usize>, Range<usize>)) {
        for (index, block) in self.blocks.iter().enumerate() {
            if self.width(index) > 0 {
                let columns = self.columns[index]..self.columns[index + 1];
                visit(block, self.ambient[index]..self.ambient[index + 1], columns);
            }
        }
    }
}

impl<T> ManifoldBlock<T> {
    pub(super) fn is_free(&self, direction: usize) -> bool {
        !(self.is_constant || self.held.contains(&direction))
    }
}

impl<T: Real> ManifoldBlock<T> {
    /// Indices of the directions that are free.
    pub(super) fn free_indices(&self) -> impl Iterator<Item = usize> {
        (0..self.manifold.tangent_size()).filter(|&direction| self.is_free(direction))
    }

    /// Moves a point by a step along the free directions. `scratch` holds a step along all.
    pub(super) fn plus_free(&self, x: &[T], free: &[T], scratch: &mut [T], moved: &mut [T]) {
        let step = &mut scratch[..self.manifold.tangent_size()];
        if free.len() == step.len() {
            return self.manifold.plus(x, free, moved);
        }
        step.fill(T::ZERO);
        self.free_indices().zip(free).for_each(|(direction, &free)| step[direction] = free);
        self.manifold.plus(x, step, moved);
    }
}

impl<T: Real> Manifold<T> for GraphManifold<'_, T> {
    fn ambient_size(&self) -> usize {
        self.ambient[self.blocks.len()]
    }

    fn tangent_size(&self) -> usize {
        self.columns[self.blocks.len()]
    }

    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        moved.copy_from_slice(x);
        let mut step = vec![T::ZERO; self.widest];
        self.for_each_moving(|block, point, columns| {
            block.plus_free(&x[point.clone()], &delta[columns], &mut step, &mut moved[point]);
        });
    }

    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        let mut step = vec![T::ZERO; self.widest];
        self.for_each_moving(|block, point, columns| {
            let step = &mut step[..block.manifold.tangent_size()];
            block.manifold.minus(&y[point.clone()], &x[point], step);
            let free = step.iter().enumerate().filter(|&(direction, _)| block.is_free(direction));
            delta[columns].iter_mut().zip(free).for_each(|(delta, (_, &step))| *delta = step);
        });
    }

    /// Writes the dense matrix, most of which is zero; too large for many blocks.
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let width = self.tangent_size();
        jacobian.fill(T::ZERO);
        let mut own = Vec::new();
        self.for_each_moving(|block, point, columns| {
            own.clear();
            free_directions(block, &x[point.clone()], &mut Vec::new(), &mut own);
            for (row, own) in point.zip(own.chunks_exact(columns.len())) {
                jacobian[row * width..][columns.clone()].copy_from_slice(own);
            }
        });
    }

    fn contains(&self, x: &[T]) -> bool {
        let ends = self.ambient.windows(2);
        x.len() == self.ambient_size()
            && self.blocks.iter().zip(ends).all(|(block, ends)| block.manifold.contains(&x[ends[0]..ends[1]]))
    }

    fn normalize(&self, x: &mut [T]) {
        self.for_each_moving(|block, point, _| block.manifold.normalize(&mut x[point]));
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        let mut own = vec![T::ZERO; self.widest];
        self.for_each_moving(|block, point, columns| {
            let own = &mut own[..block.manifold.tangent_size()];
            block.manifold.sizes(&x[point], own);
            let free = own.iter().enumerate().filter(|&(direction, _)| block.is_free(direction));
            sizes[columns].iter_mut().zip(free).for_each(|(size, (_, &own))| *size = own);
        });
    }

    fn coordinate(&self, direction: usize) -> Option<usize> {
        let index = self.columns.partition_point(|&first| first <= direction).checked_sub(1)?;
        let block = self.blocks.get(index)?;
        let mut free = block.free_indices();
        Some(self.ambient[index] + block.manifold.coordinate(free.nth(direction - self.columns[index])?)?)
    }

    fn name(&self) -> String {
        "the graph".to_owned()
    }
}

/// Appends `∂(x ⊞ δ)/∂δ` of a block in its free directions, by rows.
pub(super) fn free_directions<T: Real>(block: &ManifoldBlock<T>, x: &[T], scratch: &mut Vec<T>, jacobian: &mut Vec<T>) {
    let tangent = block.manifold.tangent_size();
    scratch.clear();
    scratch.resize(x.len() * tangent, T::ZERO);
    block.manifold.plus_jacobian(x, scratch);
    if block.held.is_empty() {
        return jacobian.extend_from_slice(scratch);
    }
    for row in scratch.chunks_exact(tangent) {
        let free = row.iter().enumerate().filter(|&(direction, _)| block.is_free(direction));
        jacobian.extend(free.map(|(_, &entry)| entry));
    }
}

impl<'p, T: Real> Active<'p, T> {
    pub(super) fn new(problem: &'p Problem<T>) -> Self {
        let groups = problem.groups.as_slice();
        let counts = groups.iter().flat_map(|group| (0..group.len()).map(|k| group.residual_count(k)));
        let mut counts_of_parts = counts.clone();
        let parts = parallel::parts(problem.residual_blocks.len(), FEWEST_BLOCKS).map(|blocks| {
            let residuals = counts_of_parts.by_ref().take(blocks.len()).sum();
            (blocks, residuals)
        });
        let parts = parts.collect();
        let residuals = counts.sum();
        let layout = GraphManifold::new(problem);
        Active {
            groups,
            residual_blocks: &problem.residual_blocks,
            x: &problem.x,
            bounds: layout.bounds(),
            layout,
            parts,
            residuals,
            cost: T::ZERO,
            least_curvature: LeastCurvature::default(),
            jacobians: Vec::new(),
            places: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Begins a solve. Its gain ratios determine how much curvature the losses keep.
    pub(super) fn begin_solve(&mut self) {
        self.least_curvature = LeastCurvature::of_start();
    }

    /// Checks that every moving block has residuals and is within its bounds.
    pub(super) fn check(&mut self) -> Result<(), GraphError> {
        let mut is_touched = vec![false; self.layout.blocks.len()];
        for group in self.groups {
            let touched = (0..group.len()).filter(|&k| !group.loss(k).is_excluded).flat_map(|k| group.blocks(k));
            touched.for_each(|&block| is_touched[block as usize] = true);
        }
        let untouched = (0..is_touched.len()).find(|&block| !is_touched[block] && self.layout.width(block) > 0);
        if let Some(block) = untouched {
            return Err(GraphError::Untouched { block });
        }
        let Some((bounds, index)) = self.bounds.as_ref().and_then(|b| Some((b, b.first_outside(self.x)?))) else {
            return Ok(());
        };
        let block = self.layout.ambient.partition_point(|&first| first <= index) - 1;
        let [lower, upper] = [bounds.lower()[index], bounds.upper()[index]].map(|bound| bound.to_f64());
        let (coordinate, value) = (index - self.layout.ambient[block], self.x[index].to_f64());
        Err(GraphError::OutOfBounds { block, coordinate, value, lower, upper })
    }

    /// Columns whose coordinates bounds hold, by the gradient of the cost.
    pub(super) fn held_by_bounds(&self, gradient: &[T]) -> Vec<bool> {
        let holds = |(column, &derivative): (usize, &T)| {
            let (bounds, coordinate) = (self.bounds.as_ref()?, self.layout.coordinate(column)?);
            bounds.holds(coordinate, self.x[coordinate], derivative)
        };
        gradient.iter().enumerate().map(|entry| holds(entry).is_some()).collect()
    }

    /// Cost at the start.
    pub(super) fn checked_cost(&self) -> Result<T, GraphError> {
        let points = self.points(self.x);
        let mut cost = T::ZERO;
        let mut r = Vec::new();
        for (residual_block, &(group, k)) in self.residual_blocks.iter().enumerate() {
            let (group, k) = (&self.groups[group as usize], k as usize);
            r.clear();
            r.resize(group.residual_count(k), T::ZERO);
            let evaluated = group.residuals(k, &points, &mut r);
            evaluated.map_err(|error| GraphError::Evaluation { residual_block, error })?;
            if let Some(residual) = r.iter().position(|r| !r.is_finite()) {
                let value = r[residual].to_f64();
                return Err(GraphError::NonFiniteResidual { residual_block, residual, value });
            }
            cost += group.apply_loss(k, &points, &mut r);
        }
        Ok(cost)
    }

    /// Returns the block of columns of each parameter block, if it moves.
    pub(super) fn column_blocks_of_all(&self) -> Vec<Option<usize>> {
        let moving = (0..self.layout.blocks.len()).scan(0, |next, block| {
            let moves = self.layout.width(block) > 0;
            *next += usize::from(moves);
            Some(moves.then(|| *next - 1))
        });
        moving.collect()
    }

    /// Names the residual block that caused an error at the start, if there is one.
    pub(super) fn explain(&mut self, error: SolveError) -> GraphError {
        if let Err(found) = self.checked_cost() {
            return found;
        }
        self.take_directions(self.x);
        let points = self.points(self.x);
        for (which, group) in self.groups.iter().enumerate() {
            let (mut k, mut culprit) = (0, None);
            let visited = group.linearize(0..group.len(), &points, &mut |_, jacobian| {
                if culprit.is_none() && jacobian.iter().any(|entry| !entry.is_finite()) {
                    culprit = Some(k);
                }
                k += 1;
            });
            let place = culprit.map(|k: u32| (which as u32, k)).filter(|_| visited.is_ok());
            let found = place.and_then(|place| self.residual_blocks.iter().position(|&block| block == place));
            if let Some(residual_block) = found {
                return GraphError::NonFiniteDerivative { residual_block };
            }
        }
        GraphError::Solve(error)
    }

    /// Fills `r` with the residuals of residual blocks that follow each other, under their losses; returns their cost.
    fn residuals_of(&self, blocks: Range<usize>, points: &BlockPoints<'_, T>, mut r: &mut [T]) -> Evaluated<T> {
        let mut cost = T::ZERO;
        for (group, range) in self.in_groups(blocks) {
            for k in range {
                let (own, others) = std::mem::take(&mut r).split_at_mut(group.residual_count(k));
                group.residuals(k, points, own)?;
                cost += group.apply_loss(k, points, own);
                r = others;
            }
        }
        Ok(cost)
    }

    /// Residual blocks that follow each other, group after group, as ranges of the groups.
    fn in_groups(&self, blocks: Range<usize>) -> impl Iterator<Item = (&dyn ResidualGroup<T>, Range<usize>)> {
        let ranges = self.groups.iter().scan(0, move |start, group| {
            let first = std::mem::replace(start, *start + group.len());
            let within = |block: usize| block.clamp(first, first + group.len()) - first;
            Some((&**group, within(blocks.start)..within(blocks.end)))
        });
        ranges.filter(|(_, range)| !range.is_empty())
    }

    pub(super) fn points<'a>(&'a self, x: &'a [T]) -> BlockPoints<'a, T> {
        BlockPoints {
            x,
            ambient: self.layout.ambient,
            columns: &self.layout.columns,
            jacobians: &self.jacobians,
            places: &self.places,
            least_curvature: self.least_curvature,
        }
    }

    /// Takes the free directions of all blocks at `x`.
    pub(super) fn take_directions(&mut self, x: &[T]) {
        let Active { layout, jacobians, places, scratch, .. } = self;
        jacobians.clear();
        places.clear();
        places.push(0);
        for (index, block) in layout.blocks.iter().enumerate() {
            if layout.width(index) > 0 {
                free_directions(block, &x[layout.ambient[index]..layout.ambient[index + 1]], scratch, jacobians);
            }
            places.push(jacobians.len());
        }
    }
}

impl<T: Real> LeastSquares<T> for Active<'_, T> {
    fn parameter_count(&self) -> usize {
        self.x.len()
    }

    fn residual_count(&self) -> usize {
        self.residuals
    }

    fn row_group(&self) -> usize {
        self.residuals.max(1)
    }

    fn domain(&self) -> ParameterDomain<'_, T> {
        let domain = ParameterDomain::default().with_manifold(&self.layout);
        self.bounds.as_ref().map_or(domain, |bounds| domain.with_bounds(bounds))
    }

    fn residuals(&mut self, x: &[T], _: usize, r: &mut [T]) -> Evaluated {
        let points = self.points(x);
        let mut costs: Vec<_> = self.parts.iter().map(|_| Ok(T::ZERO)).collect();
        let mut others = r;
        let parts = self.parts.iter().zip(&mut costs).map(|((blocks, count), cost)| {
            let (r, behind) = std::mem::take(&mut others).split_at_mut(*count);
            others = behind;
            (blocks.clone(), r, cost)
        });
        parallel::for_each(parts.collect(), |(blocks, r, cost)| *cost = self.residuals_of(blocks, &points, r));
        self.cost = costs.into_iter().sum::<Evaluated<T>>()?;
        Ok(())
    }

    /// Fills the rows of the whole Jacobian, for the dense forms.
    fn linearize(&mut self, x: &[T], _: usize, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.take_directions(x);
        let (points, columns) = (self.points(x), &self.layout.columns);
        let width = self.layout.tangent_size();
        jacobian.fill(T::ZERO);
        let (mut cost, mut first) = (T::ZERO, 0);
        for group in self.groups {
            let mut k = 0;
            cost += group.linearize(0..group.len(), &points, &mut |own, rows| {
                r[first..first + own.len()].copy_from_slice(own);
                let own_width = rows.len() / own.len().max(1);
                for (i, row) in rows.chunks_exact(own_width.max(1)).enumerate() {
                    let mut row = row.iter();
                    for &block in group.blocks(k) {
                        let range = columns[block as usize]..columns[block as usize + 1];
                        let entries = &mut jacobian[(first + i) * width..][range];
                        entries.iter_mut().zip(&mut row).for_each(|(entry, &own)| *entry = own);
                    }
                }
                first += own.len();
                k += 1;
            })?;
        }
        self.cost = cost;
        Ok(())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real> Capabilities<T> for Active<'_, T> {
    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<T>> {
        Some(self)
    }

    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(true)
    }

    fn cost_of(&mut self, _: usize, _: &[T]) -> Option<T> {
        Some(self.cost)
    }
}

impl<T: Real> BlockJacobian<T> for Active<'_, T> {
    fn column_blocks(&self) -> Vec<usize> {
        self.layout.columns.windows(2).map(|ends| ends[1] - ends[0]).filter(|&width| width > 0).collect()
    }

    fn visit_structure(&self, visit: &mut dyn FnMut(&[usize])) {
        let places = self.column_blocks_of_all();
        let mut touched = Vec::new();
        for group in self.groups {
            for k in 0..group.len() {
                touched.clear();
                touched.extend(group.blocks(k).iter().filter_map(|&block| places[block as usize]));
                visit(&touched);
            }
        }
    }

    fn linearize_blocks(&mut self, x: &[T], visit: &mut dyn FnMut(&[T], &[T])) -> Evaluated<T> {
        self.take_directions(x);
        self.linearize_range(x, 0..self.residual_blocks.len(), visit)
    }

    fn learn(&mut self, gain_ratio: T) {
        self.least_curvature.learn(gain_ratio);
    }

    fn concurrent(&mut self, x: &[T]) -> Option<&dyn ConcurrentBlocks<T>> {
        self.take_directions(x);
        Some(self)
    }
}

impl<T: Real> ConcurrentBlocks<T> for Active<'_, T> {
    fn linearize_range(&self, x: &[T], blocks: Range<usize>, visit: &mut dyn FnMut(&[T], &[T])) -> Evaluated<T> {
        let points = self.points(x);
        let mut cost = T::ZERO;
        for (group, range) in self.in_groups(blocks) {
            cost += group.linearize(range, &points, visit)?;
        }
        Ok(cost)
    }
}
