//! Storage of vectors and matrices: on the heap, or on the stack when the number of parameters is known at compile time.
//!
//! The algorithms are written once, over slices; with [`Fixed`] the slices have lengths the compiler knows.

use crate::problem::BoundSide;
use crate::real::Real;

/// Storage for `n`-vectors, `n × n` matrices and a tile of Jacobian rows.
pub trait Storage<T: Real>: Sized + 'static {
    /// `n` numbers.
    type Vector: AsRef<[T]> + AsMut<[T]> + Clone;
    /// The bound that each of `n` variables is held at, if any.
    type Sides: AsRef<[Option<BoundSide>]> + AsMut<[Option<BoundSide>]> + Clone;
    /// `n × n` numbers, row after row.
    type Matrix: AsRef<[T]> + AsMut<[T]> + Clone;
    /// [`TILE_ROWS`](Self::TILE_ROWS) rows of `n` numbers.
    type Tile: AsRef<[T]> + AsMut<[T]> + Clone;
    /// [`TILE_ROWS`](Self::TILE_ROWS) numbers.
    type Column: AsRef<[T]> + AsMut<[T]> + Clone;

    /// Rows that [`Tile`](Self::Tile) has room for; a larger tile goes to the heap.
    const TILE_ROWS: usize;

    /// `n`, by a number that the compiler knows where it can.
    fn size(n: usize) -> usize;
    /// A zero vector.
    fn vector(n: usize) -> Self::Vector;
    /// Free variables.
    fn sides(n: usize) -> Self::Sides;
    /// A zero matrix.
    fn matrix(n: usize) -> Self::Matrix;
    /// A zero tile.
    fn tile() -> Self::Tile;
    /// A zero column.
    fn column() -> Self::Column;
}

/// Any number of parameters, on the heap.
#[derive(Debug, Clone, Copy)]
pub struct Dynamic;

impl<T: Real> Storage<T> for Dynamic {
    type Vector = Vec<T>;
    type Sides = Vec<Option<BoundSide>>;
    type Matrix = Vec<T>;
    type Tile = [T; 0];
    type Column = [T; 0];

    const TILE_ROWS: usize = 0;

    #[inline]
    fn size(n: usize) -> usize {
        n
    }

    fn vector(n: usize) -> Vec<T> {
        vec![T::ZERO; n]
    }

    fn sides(n: usize) -> Vec<Option<BoundSide>> {
        vec![None; n]
    }

    fn matrix(n: usize) -> Vec<T> {
        vec![T::ZERO; n * n]
    }

    fn tile() -> [T; 0] {
        []
    }

    fn column() -> [T; 0] {
        []
    }
}

/// Exactly `N` parameters, on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Fixed<const N: usize>;

impl<T: Real, const N: usize> Storage<T> for Fixed<N> {
    type Vector = [T; N];
    type Sides = [Option<BoundSide>; N];
    type Matrix = FixedRows<T, N, N>;
    type Tile = FixedRows<T, N, 16>;
    type Column = [T; 16];

    const TILE_ROWS: usize = 16;

    #[inline]
    fn size(_n: usize) -> usize {
        N
    }

    #[inline]
    fn vector(_n: usize) -> [T; N] {
        [T::ZERO; N]
    }

    #[inline]
    fn sides(_n: usize) -> [Option<BoundSide>; N] {
        [None; N]
    }

    #[inline]
    fn matrix(_n: usize) -> FixedRows<T, N, N> {
        FixedRows([[T::ZERO; N]; N])
    }

    #[inline]
    fn tile() -> FixedRows<T, N, 16> {
        FixedRows([[T::ZERO; N]; 16])
    }

    #[inline]
    fn column() -> [T; 16] {
        [T::ZERO; 16]
    }
}

/// `M` rows of `N` numbers, seen as one slice.
#[derive(Debug, Clone)]
pub struct FixedRows<T, const N: usize, const M: usize>([[T; N]; M]);

impl<T, const N: usize, const M: usize> AsRef<[T]> for FixedRows<T, N, M> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        self.0.as_flattened()
    }
}

impl<T, const N: usize, const M: usize> AsMut<[T]> for FixedRows<T, N, M> {
    #[inline]
    fn as_mut(&mut self) -> &mut [T] {
        self.0.as_flattened_mut()
    }
}
