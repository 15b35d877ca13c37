//! `JᵀJ` and `Jᵀr` of rows of more than eight entries, in tiles of registers.

use super::array::array_of;
use super::gram::GramProducts;
use super::tile::underflow_guard;
use super::vectors::{Vector, VectorKernel};
use crate::real::Real;

/// Bytes of rows that are added to all sums before the next ones are read.
const PART_BYTES: usize = 32 * 1024;

/// Largest number of columns whose sums are taken in one pass over the rows, in registers that hold eight entries and more.
const ONE_PASS: usize = 16;

/// [`GramProducts`] for more than eight columns.
///
/// The triangle is cut into rows of tiles, and each tile is summed in registers while the rows of `J` pass by. The last row of tiles has the
/// gradient as a row of its own.
pub(super) struct GramTiles<'a, T>(pub(super) GramProducts<'a, T>);

impl<T: Real> VectorKernel<T> for GramTiles<'_, T> {
    #[inline(always)]
    fn run<V: Vector<T>, const TALL: usize, const SHORT: usize, const WIDE: usize>(self) {
        let GramProducts { gram, gradient, rows, r } = self.0;
        let n = gradient.len();
        let part = (PART_BYTES / size_of::<T>() / n).max(32);
        for (rows, r) in rows.chunks(part * n).zip(r.chunks(part)) {
            let mut part = GramTiles(GramProducts { gram, gradient, rows, r });
            match TALL {
                8 if n <= ONE_PASS => part.add_in_one_pass::<V>(),
                8 => part.add::<V, 8, 3>(),
                _ if cfg!(target_arch = "x86_64") => part.add::<V, 4, 2>(),
                // Processors with 32 short registers.
                _ => part.add::<V, 4, 4>(),
            }
        }
    }
}

impl<T: Real> GramTiles<'_, T> {
    /// Adds the rows in one pass: the first eight columns are a row of tiles of one register, which the others share.
    #[inline(always)]
    fn add_in_one_pass<V: Vector<T>>(&mut self) {
        macro_rules! pass {
            ($($columns:literal: $below:literal),*) => {
                match self.0.gradient.len() {
                    $($columns if V::LANES < $columns => self.add_tile::<V, 8, $below, 2, true>(8, 8, 0),)*
                    $($columns => self.add_tile::<V, 8, $below, 1, true>(8, 8, 0),)*
                    more => unreachable!("{more} columns"),
                }
            };
        }
        pass!(9: 1, 10: 2, 11: 3, 12: 4, 13: 5, 14: 6, 15: 7, 16: 8);
    }

    /// Adds the rows in tiles of `TALL` rows and up to `WIDE` registers.
    #[inline(always)]
    pub(super) fn add<V: Vector<T>, const TALL: usize, const WIDE: usize>(&mut self) {
        let n = self.0.gradient.len();
        let last = (n - 1) / TALL * TALL;
        for top in (0..last).step_by(TALL) {
            self.add_row_of_tiles::<V, TALL, WIDE, false>(top);
        }
        match n - last {
            0..=2 => self.add_row_of_tiles::<V, 2, WIDE, true>(last),
            3..=4 if TALL > 4 => self.add_row_of_tiles::<V, 4, WIDE, true>(last),
            _ => self.add_row_of_tiles::<V, TALL, WIDE, true>(last),
        }
    }

    /// Adds the products of `TALL` columns from `top` on with these and all before. At the end of the triangle, the row of tiles begins
    /// early enough to be whole.
    #[inline(always)]
    fn add_row_of_tiles<V: Vector<T>, const TALL: usize, const WIDE: usize, const GRADIENT: bool>(
        &mut self,
        top: usize,
    ) {
        let first = top.min(self.0.gradient.len() - TALL);
        let mut left = 0;
        while left < first + TALL {
            let registers = match (first + TALL - left).div_ceil(V::LANES) {
                // Two and two are faster than three and one.
                4 if WIDE == 3 => 2,
                more => more.min(WIDE),
            };
            match registers {
                1 => self.add_tile::<V, 0, TALL, 1, GRADIENT>(first, top, left),
                3 if WIDE >= 3 => self.add_tile::<V, 0, TALL, 3, GRADIENT>(first, top, left),
                4 if WIDE >= 4 => self.add_tile::<V, 0, TALL, 4, GRADIENT>(first, top, left),
                _ => self.add_tile::<V, 0, TALL, 2, GRADIENT>(first, top, left),
            }
            left += registers * V::LANES;
        }
    }

    /// Adds the products of `TALL` columns from `first` on with the columns of `WIDE` registers from `left` on, to the sums of columns from
    /// `top` on. Further sums of the tile are the products of the first `TOP` columns with those of the first register, and the gradient.
    ///
    /// Without optimisation, a frame holds every intermediate result of what is inlined into it: there, each tile has one of its own.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    fn add_tile<V: Vector<T>, const TOP: usize, const TALL: usize, const WIDE: usize, const GRADIENT: bool>(
        &mut self,
        first: usize,
        top: usize,
        left: usize,
    ) {
        let n = self.0.gradient.len();
        let end = n.min(left + WIDE * V::LANES);
        let guard = V::splat(underflow_guard());
        let (mut above, mut sums, mut gradient) = ([guard; TOP], [[guard; WIDE]; TALL], [guard; WIDE]);
        for (row, &r) in self.0.rows.chunks_exact(n).zip(self.0.r) {
            let wide: [V; WIDE] = array_of(|w| {
                let columns = &row[left + w * V::LANES..end];
                if w + 1 < WIDE { V::load(columns) } else { V::load_few(columns) }
            });
            for i in 0..TOP {
                above[i] = V::splat(row[i]).mul_add(wide[0], above[i]);
            }
            let tall = &row[first..first + TALL];
            for i in 0..TALL {
                sums[i] = plus_multiple(sums[i], tall[i], wide);
            }
            if GRADIENT {
                gradient = plus_multiple(gradient, r, wide);
            }
        }
        for sum in above.iter_mut().chain(sums.as_flattened_mut()).chain(&mut gradient) {
            *sum = sum.sub_unless_zero(guard);
        }
        let gram = &mut *self.0.gram;
        // Rows of the triangle may be shorter than a register: the load of one would wait for the masked store of the one above.
        let loads_first = TOP > 0 && WIDE == 1;
        if loads_first {
            for i in 0..TOP {
                above[i] = above[i].add(V::load_few(&gram[i * n..][..n]));
            }
            for i in 0..TALL {
                sums[i][0] = sums[i][0].add(V::load_few(&gram[(TOP + i) * n..][..n]));
            }
        }
        for i in 0..TOP {
            put([above[i]], &mut gram[i * n..][..n.min(V::LANES)], !loads_first);
        }
        for i in top - first..TALL {
            put(sums[i], &mut gram[(first + i) * n..][left..end], !loads_first);
        }
        if GRADIENT {
            put(gradient, &mut self.0.gradient[left..end], true);
        }
    }
}

/// `sums + factor · row`.
#[inline(always)]
fn plus_multiple<T: Real, V: Vector<T>, const WIDE: usize>(sums: [V; WIDE], factor: T, row: [V; WIDE]) -> [V; WIDE] {
    let factor = V::splat(factor);
    array_of(|w| factor.mul_add(row[w], sums[w]))
}

/// Stores as many sums as there are totals, or adds them.
#[inline(always)]
fn put<T: Real, V: Vector<T>, const WIDE: usize>(sums: [V; WIDE], totals: &mut [T], adds: bool) {
    for (sum, totals) in sums.into_iter().zip(totals.chunks_mut(V::LANES)) {
        let sum = if adds { sum.add(V::load_few(totals)) } else { sum };
        sum.store_few(totals);
    }
}
