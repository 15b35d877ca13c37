//! The chain rule of first and second order, number by number: how derivatives pass a function.

use std::ops::Range;

use super::arithmetic::put;
use super::function::{Function, SlopeLoop, Slopes};
use super::tape::Node;
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Numbers worked on at a time.
const BLOCK: usize = 256;

/// `z = f′(x) s + f″(x) Σ aₖ bₖ`, given `y = f(x)`.
///
/// With `s = ∂x` alone this is a first derivative of `y`, with products of first derivatives of `x` a second one, and with the
/// squares of several a Laplacian.
#[derive(Debug, Clone)]
pub(crate) struct ChainRule<T> {
    pub(crate) function: Function<T>,
    pub(crate) x: Node,
    pub(crate) y: Node,
    /// `s`; zero if there is none.
    pub(crate) linear: Option<Node>,
    /// `a` and `b` of each product; a square is the same node twice.
    pub(crate) products: Vec<[Node; 2]>,
}

/// The places that `z` depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `x`, with `y` along with it.
    Argument,
    /// `s`.
    Linear,
    /// `a` or `b` of a product, which is multiplied by the other node; both of a square at once.
    Factor { other: Node, square: bool },
}

impl<T: Real> ChainRule<T> {
    /// The nodes that `z` is differentiated by.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Node, Part)> + '_ {
        let linear = self.linear.map(|s| (s, Part::Linear));
        let factors = self.products.iter().flat_map(|&[a, b]| {
            let square = a == b;
            let right = (!square).then_some((b, Part::Factor { other: a, square }));
            std::iter::once((a, Part::Factor { other: b, square })).chain(right)
        });
        std::iter::once((self.x, Part::Argument)).chain(linear).chain(factors)
    }

    /// All nodes that `z` is computed from.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Node> + '_ {
        [self.x, self.y].into_iter().chain(self.linear).chain(self.products.iter().flatten().copied())
    }

    /// `z`, from the nodes' values.
    pub(crate) fn forward<'a>(&self, of: impl Fn(Node) -> &'a [T], z: &mut [T]) {
        simd::run(Forward { rule: self, of, z });
    }

    /// `d` times the derivative of `z` by one part, overwriting `to` or added to it. Serves the reverse and the tangent sweep.
    pub(crate) fn times_derivative<'a>(
        &self,
        part: Part,
        of: impl Fn(Node) -> &'a [T],
        d: &[T],
        to: &mut [T],
        add: bool,
    ) {
        simd::run(TimesDerivative { rule: self, part, of, d, to, add });
    }

    /// Adds to `c` how `z` bends where its parts move straight on: the second derivatives of `z` by its parts, times their
    /// tangents. A node's tangent is `None` where it is zero.
    pub(crate) fn add_curvature<'a>(
        &self,
        of: impl Fn(Node) -> &'a [T],
        tangent: impl Fn(Node) -> Option<&'a [T]>,
        c: &mut [T],
    ) {
        simd::run(Curvature { rule: self, of, tangent, c });
    }

    /// `Σ aₖ bₖ` at some places.
    #[inline(always)]
    fn sum_products<'a>(&self, of: &impl Fn(Node) -> &'a [T], at: &Range<usize>, sum: &mut [T]) {
        let mut products = self.products.iter();
        match products.next() {
            Some(&[a, b]) => put(sum, false, pairs(of(a), of(b), at).map(|(a, b)| a * b)),
            None => sum.fill(T::ZERO),
        }
        for &[a, b] in products {
            put(sum, true, pairs(of(a), of(b), at).map(|(a, b)| a * b));
        }
    }

    /// The derivatives of the function at some places, from the order `FIRST` on.
    #[inline(always)]
    fn slopes<'a, const FUSED: bool, const FIRST: usize, const COUNT: usize>(
        &self,
        of: &impl Fn(Node) -> &'a [T],
        at: &Range<usize>,
    ) -> [[T; BLOCK]; COUNT] {
        let mut blocks = [[T::ZERO; BLOCK]; COUNT];
        let (x, y) = (&of(self.x)[at.clone()], &of(self.y)[at.clone()]);
        self.function.with_slopes::<FUSED>(Fill::<T, FIRST, COUNT> { x, y, blocks: &mut blocks });
        blocks
    }
}

/// The places in blocks.
fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |start| start..count.min(start + BLOCK))
}

/// Numbers of two nodes at some places.
#[inline(always)]
fn pairs<'a, T: Real>(a: &'a [T], b: &'a [T], at: &Range<usize>) -> impl Iterator<Item = (T, T)> + 'a {
    a[at.clone()].iter().copied().zip(b[at.clone()].iter().copied())
}

/// Computes `COUNT` derivatives from the order `FIRST` on.
struct Fill<'a, T, const FIRST: usize, const COUNT: usize> {
    x: &'a [T],
    y: &'a [T],
    blocks: &'a mut [[T; BLOCK]; COUNT],
}

impl<T: Real, const FIRST: usize, const COUNT: usize> SlopeLoop<T> for Fill<'_, T, FIRST, COUNT> {
    #[inline(always)]
    fn run(self, slopes: impl Fn(T, T) -> Slopes<T>) {
        let Fill { x, y, blocks } = self;
        // The length is known to be within a block, so that the loop has no checks.
        let count = x.len().min(y.len()).min(BLOCK);
        let (x, y) = (&x[..count], &y[..count]);
        for i in 0..count {
            let slopes = slopes(x[i], y[i]);
            for k in 0..COUNT {
                blocks[k][i] = slopes[FIRST - 1 + k];
            }
        }
    }
}

/// [`ChainRule::forward`].
struct Forward<'r, 'z, T, F> {
    rule: &'r ChainRule<T>,
    of: F,
    z: &'z mut [T],
}

impl<'a, T: Real, F: Fn(Node) -> &'a [T]> Kernel for Forward<'_, '_, T, F> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Forward { rule, of, z } = self;
        let mut sum = [T::ZERO; BLOCK];
        for at in blocks(z.len()) {
            let to = &mut z[at.clone()];
            match rule.linear {
                Some(s) if rule.products.is_empty() => {
                    let [first] = rule.slopes::<FUSED, 1, 1>(&of, &at);
                    put(to, false, first.iter().zip(&of(s)[at]).map(|(&f, &s)| f * s));
                }
                Some(s) => {
                    let [first, second] = rule.slopes::<FUSED, 1, 2>(&of, &at);
                    rule.sum_products(&of, &at, &mut sum[..at.len()]);
                    let bent = second.iter().zip(&sum).map(|(&f, &q)| f * q);
                    put(to, false, first.iter().zip(&of(s)[at]).zip(bent).map(|((&f, &s), bent)| f * s + bent));
                }
                None => {
                    let [second] = rule.slopes::<FUSED, 2, 1>(&of, &at);
                    rule.sum_products(&of, &at, &mut sum[..at.len()]);
                    put(to, false, second.iter().zip(&sum).map(|(&f, &q)| f * q));
                }
            }
        }
    }
}

/// [`ChainRule::times_derivative`].
struct TimesDerivative<'r, 'd, T, F> {
    rule: &'r ChainRule<T>,
    part: Part,
    of: F,
    d: &'d [T],
    to: &'d mut [T],
    add: bool,
}

impl<'a, T: Real, F: Fn(Node) -> &'a [T]> Kernel for TimesDerivative<'_, '_, T, F> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let TimesDerivative { rule, part, of, d, to, add } = self;
        let mut sum = [T::ZERO; BLOCK];
        for at in blocks(to.len()) {
            let (to, d) = (&mut to[at.clone()], d[at.clone()].iter());
            match part {
                Part::Argument if rule.products.is_empty() => {
                    let [second] = rule.slopes::<FUSED, 2, 1>(&of, &at);
                    if let Some(s) = rule.linear {
                        let s = &of(s)[at];
                        put(to, add, d.zip(second.iter().zip(s)).map(|(&d, (&f, &s))| d * (f * s)));
                    }
                }
                Part::Argument => {
                    let [second, third] = rule.slopes::<FUSED, 2, 2>(&of, &at);
                    rule.sum_products(&of, &at, &mut sum[..at.len()]);
                    let bent = third.iter().zip(&sum).map(|(&f, &q)| f * q);
                    match rule.linear {
                        Some(s) => {
                            let s = second.iter().zip(&of(s)[at]);
                            put(to, add, d.zip(s.zip(bent)).map(|(&d, ((&f, &s), bent))| d * (f * s + bent)));
                        }
                        None => put(to, add, d.zip(bent).map(|(&d, bent)| d * bent)),
                    }
                }
                Part::Linear => {
                    let [first] = rule.slopes::<FUSED, 1, 1>(&of, &at);
                    put(to, add, d.zip(&first).map(|(&d, &f)| d * f));
                }
                Part::Factor { other, square } => {
                    let [second] = rule.slopes::<FUSED, 2, 1>(&of, &at);
                    let twice = if square { T::from_f64(2.0) } else { T::ONE };
                    let other = &of(other)[at];
                    put(to, add, d.zip(second.iter().zip(other)).map(|(&d, (&f, &a))| twice * d * (f * a)));
                }
            }
        }
    }
}

/// [`ChainRule::add_curvature`].
struct Curvature<'r, 'c, T, F, G> {
    rule: &'r ChainRule<T>,
    of: F,
    tangent: G,
    c: &'c mut [T],
}

impl<'a, T: Real, F: Fn(Node) -> &'a [T], G: Fn(Node) -> Option<&'a [T]>> Kernel for Curvature<'_, '_, T, F, G> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Curvature { rule, of, tangent, c } = self;
        let two = T::from_f64(2.0);
        let mut sum = [T::ZERO; BLOCK];
        let mut along = [T::ZERO; BLOCK];
        for at in blocks(c.len()) {
            let [second, third, fourth] = rule.slopes::<FUSED, 2, 3>(&of, &at);
            let n = at.len();
            let c = &mut c[at.clone()];
            if let Some(moved) = tangent(rule.x) {
                let dx = &moved[at.clone()];
                // Along the curve of f, and its tilt as the other parts move.
                along[..n].fill(T::ZERO);
                for &[a, b] in &rule.products {
                    for (moving, still) in [(a, b), (b, a)] {
                        if let Some(moving) = tangent(moving) {
                            put(&mut along[..n], true, pairs(moving, of(still), &at).map(|(d, v)| d * v));
                        }
                    }
                }
                rule.sum_products(&of, &at, &mut sum[..n]);
                for i in 0..n {
                    c[i] += dx[i] * (fourth[i] * sum[i] * dx[i] + two * third[i] * along[i]);
                }
                if let Some(s) = rule.linear {
                    let value = &of(s)[at.clone()];
                    for i in 0..n {
                        c[i] += third[i] * value[i] * dx[i] * dx[i];
                    }
                    if let Some(ds) = tangent(s) {
                        put(c, true, pairs(ds, moved, &at).zip(&second).map(|((ds, dx), &f)| two * f * ds * dx));
                    }
                }
            }
            for &[a, b] in &rule.products {
                if let (Some(da), Some(db)) = (tangent(a), tangent(b)) {
                    put(c, true, pairs(da, db, &at).zip(&second).map(|((da, db), &f)| two * f * da * db));
                }
            }
        }
    }
}
