//! The curvature sweep: how the values bend along a direction, `d²y(x + tv)/dt²`.

use super::affine::affine;
use super::tangent::{NodeTangents, propagate};
use super::workspace::Values;
use super::{BatchTile, Workspace};
use crate::nn::arithmetic::{Arithmetic, put};
use crate::nn::tape::{Operation, TapeRecord};
use crate::real::Real;

impl<T: Real> Workspace<T> {
    /// Computes the second derivatives of the wanted nodes along a direction of the variables. Needs the values of a
    /// forward sweep; the tangents are computed on the way.
    ///
    /// Every operation passes second derivatives on as it does first ones; what is not linear adds a part of its own.
    pub(crate) fn curvature(&mut self, tile: &BatchTile<'_, T>, wanted: &[bool], direction: &[T]) {
        self.reserve_curvatures();
        let mut needs_tangent = std::mem::take(&mut self.needs_tangent);
        find_needed_tangents(tile.tape.records(), wanted, &mut needs_tangent);
        self.tangent(tile, &needs_tangent, direction);
        self.needs_tangent = needs_tangent;
        let Workspace { layout, value_layout, uniform, values, derivatives, reached, .. } = self;
        let Workspace { curvatures, has_curvature, doubled, .. } = self;
        doubled.clear();
        doubled.extend(direction.iter().map(|&number| number + number));
        let values = values.current();
        let value = Values { tile, layout: value_layout, uniform, entries: values };
        let count = tile.rows.len();
        let tangent = NodeTangents { layout, entries: derivatives, reached, count };
        has_curvature.fill(false);
        for (index, record) in tile.tape.records().iter().enumerate() {
            if !wanted[index] {
                continue;
            }
            let (before, ddy) = layout.split(curvatures, index, count, 1);
            let curvature = NodeTangents { layout, entries: before, reached: has_curvature, count };
            let y = &values[value_layout.block(index, count)];
            let passed = propagate(record, &value, curvature, None, y, ddy);
            let mut sum = CurvatureSum { ddy, is_there: passed };
            sum.add_own(record, &value, tangent, (index, y), doubled);
            has_curvature[index] = sum.is_there;
        }
    }
}

/// The second derivative of a node.
struct CurvatureSum<'a, T> {
    ddy: &'a mut [T],
    /// False where it is zero so far, and not written yet.
    is_there: bool,
}

impl<T: Real> CurvatureSum<'_, T> {
    /// Adds the part that a node which is not linear has of its own.
    fn add_own(
        &mut self,
        record: &TapeRecord<T>,
        value: &Values<'_, T>,
        tangent: NodeTangents<'_, T>,
        (index, y): (usize, &[T]),
        doubled: &[T],
    ) {
        match record.operation {
            Operation::Dense { x, weight, positions, .. } => {
                if let Some(dx) = tangent.of(x) {
                    affine(dx, &doubled[weight.range()], x.width() / positions, None, self.ddy, self.is_there);
                    self.is_there = true;
                }
            }
            Operation::Apply { function, x } => {
                if let Some(dx) = tangent.of(x).filter(|_| !function.is_straight()) {
                    function.add_curvature(value.of(x), y, dx, self.begin());
                }
            }
            Operation::ChainRule(ref rule) if rule.parts().any(|(node, _)| tangent.of(node).is_some()) => {
                rule.add_curvature(&|node| value.of(node), &|node| tangent.of(node), self.begin());
            }
            Operation::Arithmetic { kind: Arithmetic::Mul, a, b } => {
                if let (Some(da), Some(db)) = (tangent.of(a), tangent.of(b)) {
                    put(self.begin(), true, da.iter().zip(db).map(|(&da, &db)| T::from_f64(2.0) * da * db));
                }
            }
            Operation::Product { a, b, sizes } => {
                if let (Some(da), Some(db)) = (tangent.of(a), tangent.of(b)) {
                    for _ in 0..2 {
                        sizes.forward(da, db, self.begin(), true);
                    }
                }
            }
            // y b = a, differentiated twice, is ÿ b + 2 ẏ ḃ + y b̈ = ä.
            Operation::Arithmetic { kind: Arithmetic::Div, b, .. } => {
                if let (Some(dy), Some(db)) = (tangent.at(index), tangent.of(b)) {
                    let parts = dy.iter().zip(db).zip(value.of(b));
                    put(self.begin(), true, parts.map(|((&dy, &db), &b)| T::from_f64(-2.0) * dy * db / b));
                }
            }
            _ => {}
        }
    }

    /// The derivative, to be added to.
    fn begin(&mut self) -> &mut [T] {
        if !std::mem::replace(&mut self.is_there, true) {
            self.ddy.fill(T::ZERO);
        }
        self.ddy
    }
}

/// Marks the wanted nodes whose tangents second derivatives are computed from: arguments, and quotients.
fn find_needed_tangents<T: Real>(records: &[TapeRecord<T>], wanted: &[bool], needs_tangent: &mut [bool]) {
    needs_tangent.fill(false);
    for (index, TapeRecord { operation, .. }) in records.iter().enumerate().filter(|&(index, _)| wanted[index]) {
        needs_tangent[index] = matches!(operation, Operation::Arithmetic { kind: Arithmetic::Div, .. });
        operation.arguments().for_each(|node| needs_tangent[node.index()] = true);
    }
}
