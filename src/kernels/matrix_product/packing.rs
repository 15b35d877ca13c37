//! Factors of a product, and copies of their parts in the order in which they are read.

use std::ops::Range;

use crate::kernels::array::array_of;
use crate::kernels::vectors::Vector;
use crate::real::Real;

/// Rows and columns of a block that is transposed in registers.
const BLOCK: usize = 4;

/// A factor: a row-major matrix, or the transpose of one. Rows of the former begin `stride` entries after each other.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernels) struct Matrix<'a, T> {
    pub(in crate::kernels) entries: &'a [T],
    pub(in crate::kernels) stride: usize,
    pub(in crate::kernels) transposed: bool,
}

impl<T: Real> Matrix<'_, T> {
    /// Packs these rows and columns of a right factor, panel after panel.
    #[inline(always)]
    pub(super) fn pack_panels<V: Vector<T>, const WIDE: usize>(
        self,
        terms: Range<usize>,
        columns: Range<usize>,
        packed: &mut [T],
    ) {
        let (deep, block) = (terms.len(), columns.start);
        for panel in panels::<T, V, WIDE>(columns) {
            let width = panel.registers * V::LANES;
            let to = &mut packed[deep * (panel.columns.start - block)..][..deep * width];
            copy::<T, V>(self.transposed, self, terms.clone(), panel.columns, width, to);
        }
    }

    /// Packs these rows and columns of a left factor, tile after tile.
    #[inline(always)]
    pub(super) fn pack_tiles<V: Vector<T>, const TALL: usize>(
        self,
        terms: Range<usize>,
        rows: Range<usize>,
        packed: &mut [T],
    ) {
        for (top, to) in rows.clone().step_by(TALL).zip(packed.chunks_mut(terms.len() * TALL)) {
            copy::<T, V>(!self.transposed, self, terms.clone(), top..rows.end.min(top + TALL), TALL, to);
        }
    }
}

/// Columns whose sums stay in registers.
pub(super) struct ColumnPanel {
    pub(super) columns: Range<usize>,
    pub(super) registers: usize,
}

/// Divides columns into panels of `WIDE` registers; four registers become two panels of two instead of three and one.
#[inline(always)]
pub(super) fn panels<T, V: Vector<T>, const WIDE: usize>(
    mut columns: Range<usize>,
) -> impl Iterator<Item = ColumnPanel> {
    std::iter::from_fn(move || {
        let registers = match columns.len().div_ceil(V::LANES) {
            0 => return None,
            4 => 2,
            more => more.min(WIDE),
        };
        let start = columns.start;
        columns.start = columns.end.min(start + registers * V::LANES);
        Some(ColumnPanel { columns: start..columns.start, registers })
    })
}

/// Packs these rows and columns of a matrix, with rows padded to `width` by zeros. If the part lies `across`, its rows are columns of
/// the stored matrix.
#[inline(always)]
fn copy<T: Real, V: Vector<T>>(
    across: bool,
    matrix: Matrix<'_, T>,
    rows: Range<usize>,
    columns: Range<usize>,
    width: usize,
    to: &mut [T],
) {
    let Matrix { entries, stride, .. } = matrix;
    let count = columns.len();
    if !across {
        for (k, to) in rows.zip(to.chunks_exact_mut(width)) {
            let row = &entries[k * stride + columns.start..][..count];
            if width.is_multiple_of(V::LANES) {
                for (to, part) in to.chunks_exact_mut(V::LANES).zip(row.chunks(V::LANES)) {
                    let part = if part.len() == V::LANES { V::load(part) } else { V::load_few(part) };
                    part.store(to);
                }
            } else {
                for (j, to) in to.iter_mut().enumerate() {
                    *to = row.get(j).copied().unwrap_or(T::ZERO);
                }
            }
        }
        return;
    }
    let deep = rows.len();
    let row = |j: usize| &entries[(columns.start + j) * stride + rows.start..][..deep];
    let whole = count - count % BLOCK;
    for j in (0..whole).step_by(BLOCK) {
        let from: [(&[[T; BLOCK]], &[T]); BLOCK] = array_of(|q| row(j + q).as_chunks());
        for (k, to) in to[..deep / BLOCK * BLOCK * width].chunks_exact_mut(BLOCK * width).enumerate() {
            let block: [[T; BLOCK]; BLOCK] = array_of(|p| from[p].0[k]);
            for q in 0..BLOCK {
                if let Some(to) = to[q * width + j..].first_chunk_mut::<BLOCK>() {
                    *to = array_of(|p| block[p][q]);
                }
            }
        }
        for k in deep / BLOCK * BLOCK..deep {
            for p in 0..BLOCK {
                to[k * width + j + p] = from[p].1[k % BLOCK];
            }
        }
    }
    for j in whole..count {
        to[j..].iter_mut().step_by(width).zip(row(j)).for_each(|(to, &from)| *to = from);
    }
    for j in count..width {
        to[j..].iter_mut().step_by(width).for_each(|to| *to = T::ZERO);
    }
}
