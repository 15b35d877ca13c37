//! The chain rule of first and second order, entry by entry: how derivatives pass a function.

use std::ops::Range;

use super::arithmetic::put;
use super::function::{Function, SlopeLoop, Slopes};
use super::tape::Node;
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Entries worked on at a time.
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
pub(crate) enum ChainPart {
    /// `x`, with `y` along with it.
    Argument,
    /// `s`.
    Linear,
    /// `a` or `b` of a product, which is multiplied by the other node; both of a square at once.
    Factor { other: Node, square: bool },
}

impl<T: Real> ChainRule<T> {
    /// The nodes that `z` is differentiated by.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Node, ChainPart)> + '_ {
        let linear = self.linear.map(|s| (s, ChainPart::Linear));
        let factors = self.products.iter().flat_map(|&[a, b]| {
            let square = a == b;
            let right = (!square).then_some((b, ChainPart::Factor { other: a, square }));
            std::iter::once((a, ChainPart::Factor { other: b, square })).chain(right)
        });
        std::iter::once((self.x, ChainPart::Argument)).chain(linear).chain(factors)
    }

    /// All nodes that `z` is computed from.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Node> + '_ {
        [self.x, self.y].into_iter().chain(self.linear).chain(self.products.iter().flatten().copied())
    }

    /// `z`, from the nodes' values.
    pub(crate) fn forward<'a>(&self, of: ValueLookup<'_, 'a, T>, z: &mut [T]) {
        simd::run(ChainForward { rule: self, of, z });
    }

    /// `d` times the derivatives of `z` by its parts, overwriting what there is of their adjoints or added to it.
    pub(crate) fn reverse<'a>(&self, of: ValueLookup<'_, 'a, T>, d: &[T], adjoints: &mut dyn AdjointLookup<T>) {
        simd::run(ChainReverse { rule: self, of, d, adjoints });
    }

    /// `dz`, the derivatives of `z` by its parts times their tangents; `false`, and nothing, where all of these are zero.
    pub(crate) fn tangent<'a>(
        &self,
        of: ValueLookup<'_, 'a, T>,
        tangent: TangentLookup<'_, 'a, T>,
        dz: &mut [T],
    ) -> bool {
        let moves = self.parts().any(|(node, _)| tangent(node).is_some());
        if moves {
            simd::run(ChainTangent { rule: self, of, tangent, dz });
        }
        moves
    }

    /// Adds the second derivatives of `z` by its parts, times their tangents, to `c`. A node's tangent is `None` where it is
    /// zero.
    pub(crate) fn add_curvature<'a>(&self, of: ValueLookup<'_, 'a, T>, tangent: TangentLookup<'_, 'a, T>, c: &mut [T]) {
        simd::run(ChainCurvature { rule: self, of, tangent, c });
    }

    /// `Σ aₖ bₖ` at some places.
    #[inline(always)]
    fn sum_products<'a>(&self, of: ValueLookup<'_, 'a, T>, at: &Range<usize>, sum: &mut [T]) {
        let mut products = self.products.iter();
        match products.next() {
            Some(&[a, b]) => put(sum, false, pairs(of(a), of(b), at).map(|(a, b)| a * b)),
            None => sum.fill(T::ZERO),
        }
        for &[a, b] in products {
            put(sum, true, pairs(of(a), of(b), at).map(|(a, b)| a * b));
        }
    }

    /// `d` times the derivative of `z` by a part, at some places where the slopes are known: overwrites `to`, or is added to it.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "where, what goes in and what comes out")]
    fn put_product<'a>(
        &self,
        part: ChainPart,
        of: ValueLookup<'_, 'a, T>,
        at: &Range<usize>,
        scratch: &mut ChainScratch<T>,
        d: &[T],
        to: &mut [T],
        add: bool,
    ) {
        let ChainScratch { slopes: [first, second, third], change } = scratch;
        let d = d.iter();
        match part {
            // By `x`: f″(x) s + f‴(x) Σ aₖ bₖ.
            ChainPart::Argument => {
                let change = &mut change[..at.len()];
                if !self.products.is_empty() {
                    self.sum_products(of, at, change);
                    change.iter_mut().zip(&*third).for_each(|(change, &f)| *change *= f);
                }
                if let Some(s) = self.linear {
                    let straight = second.iter().zip(&of(s)[at.clone()]).map(|(&f, &s)| f * s);
                    put(change, !self.products.is_empty(), straight);
                }
                put(to, add, d.zip(&*change).map(|(&d, &change)| d * change));
            }
            ChainPart::Linear => put(to, add, d.zip(&*first).map(|(&d, &f)| d * f)),
            ChainPart::Factor { other, square } => {
                let twice = if square { T::from_f64(2.0) } else { T::ONE };
                let other = &of(other)[at.clone()];
                put(to, add, d.zip(second.iter().zip(other)).map(|(&d, (&f, &a))| twice * d * (f * a)));
            }
        }
    }

    /// Returns true if one of the first `count` parts is this node, too.
    fn has_before(&self, count: usize, node: Node) -> bool {
        self.parts().take(count).any(|(before, _)| before == node)
    }

    /// Computes derivatives of the function at some places, from the order `FIRST` on.
    #[inline(always)]
    fn slopes<const FUSED: bool, const FIRST: usize, const COUNT: usize>(
        &self,
        [x, y]: [&[T]; 2],
        at: &Range<usize>,
        blocks: &mut [[T; BLOCK]; COUNT],
    ) {
        let (x, y) = (&x[at.clone()], &y[at.clone()]);
        self.function.with_slopes::<FUSED>(Fill::<T, FIRST, COUNT> { x, y, blocks });
    }
}

/// Returns the values of a node.
pub(crate) type ValueLookup<'f, 'a, T> = &'f dyn Fn(Node) -> &'a [T];

/// Returns the tangent of a node; `None` where it is zero.
pub(crate) type TangentLookup<'f, 'a, T> = &'f dyn Fn(Node) -> Option<&'a [T]>;

/// Adjoints of nodes.
pub(crate) trait AdjointLookup<T> {
    /// Returns the adjoint of a node, and true if something is there that has to be added to; `None` if it is not needed.
    fn of(&mut self, node: Node) -> Option<(&mut [T], bool)>;
}

/// Derivatives of a function, and of `z` by its argument, at the places of a block.
struct ChainScratch<T> {
    slopes: [[T; BLOCK]; 3],
    change: [T; BLOCK],
}

impl<T: Real> ChainScratch<T> {
    #[inline(always)]
    fn new() -> Self {
        ChainScratch { slopes: [[T::ZERO; BLOCK]; 3], change: [T::ZERO; BLOCK] }
    }
}

/// The places in blocks.
fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |start| start..count.min(start + BLOCK))
}

/// Entries of two nodes at some places.
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
struct ChainForward<'r, 'a, T> {
    rule: &'r ChainRule<T>,
    of: ValueLookup<'r, 'a, T>,
    z: &'r mut [T],
}

impl<T: Real> Kernel for ChainForward<'_, '_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let ChainForward { rule, of, z } = self;
        let values = [of(rule.x), of(rule.y)];
        let linear = rule.linear.map(of);
        let (mut slopes, mut sum) = ([[T::ZERO; BLOCK]; 2], [T::ZERO; BLOCK]);
        for at in blocks(z.len()) {
            let to = &mut z[at.clone()];
            rule.slopes::<FUSED, 1, 2>(values, &at, &mut slopes);
            let [first, second] = &slopes;
            if !rule.products.is_empty() {
                rule.sum_products(of, &at, &mut sum[..at.len()]);
            }
            match linear.map(|s| first.iter().zip(&s[at]).map(|(&f, &s)| f * s)) {
                Some(straight) if rule.products.is_empty() => put(to, false, straight),
                Some(straight) => {
                    let bent = second.iter().zip(&sum).map(|(&f, &q)| f * q);
                    put(to, false, straight.zip(bent).map(|(straight, bent)| straight + bent));
                }
                None => put(to, false, second.iter().zip(&sum).map(|(&f, &q)| f * q)),
            }
        }
    }
}

/// [`ChainRule::reverse`].
struct ChainReverse<'r, 'a, T> {
    rule: &'r ChainRule<T>,
    of: ValueLookup<'r, 'a, T>,
    d: &'r [T],
    adjoints: &'r mut dyn AdjointLookup<T>,
}

impl<T: Real> Kernel for ChainReverse<'_, '_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let ChainReverse { rule, of, d, adjoints } = self;
        let values = [of(rule.x), of(rule.y)];
        let mut scratch = ChainScratch::new();
        for at in blocks(d.len()) {
            rule.slopes::<FUSED, 1, 3>(values, &at, &mut scratch.slopes);
            for (index, (node, part)) in rule.parts().enumerate() {
                let Some((adjoint, is_there)) = adjoints.of(node) else { continue };
                let (to, add) = (&mut adjoint[at.clone()], is_there || rule.has_before(index, node));
                rule.put_product(part, of, &at, &mut scratch, &d[at.clone()], to, add);
            }
        }
    }
}

/// [`ChainRule::tangent`].
struct ChainTangent<'r, 'a, T> {
    rule: &'r ChainRule<T>,
    of: ValueLookup<'r, 'a, T>,
    tangent: TangentLookup<'r, 'a, T>,
    dz: &'r mut [T],
}

impl<T: Real> Kernel for ChainTangent<'_, '_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let ChainTangent { rule, of, tangent, dz } = self;
        let values = [of(rule.x), of(rule.y)];
        let mut scratch = ChainScratch::new();
        for at in blocks(dz.len()) {
            rule.slopes::<FUSED, 1, 3>(values, &at, &mut scratch.slopes);
            let mut add = false;
            for (node, part) in rule.parts() {
                if let Some(d) = tangent(node) {
                    rule.put_product(part, of, &at, &mut scratch, &d[at.clone()], &mut dz[at.clone()], add);
                    add = true;
                }
            }
        }
    }
}

/// [`ChainRule::add_curvature`].
struct ChainCurvature<'r, 'a, T> {
    rule: &'r ChainRule<T>,
    of: ValueLookup<'r, 'a, T>,
    tangent: TangentLookup<'r, 'a, T>,
    c: &'r mut [T],
}

impl<T: Real> Kernel for ChainCurvature<'_, '_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let ChainCurvature { rule, of, tangent, c } = self;
        let two = T::from_f64(2.0);
        let values = [of(rule.x), of(rule.y)];
        let [mut sum, mut along] = [[T::ZERO; BLOCK]; 2];
        let mut slopes = [[T::ZERO; BLOCK]; 3];
        for at in blocks(c.len()) {
            rule.slopes::<FUSED, 2, 3>(values, &at, &mut slopes);
            let [second, third, fourth] = &slopes;
            let n = at.len();
            let c = &mut c[at.clone()];
            if let Some(moved) = tangent(rule.x) {
                let dx = &moved[at.clone()];
                if !rule.products.is_empty() {
                    // The second derivative by x, and the mixed ones by x and the factors of products.
                    along[..n].fill(T::ZERO);
                    for &[a, b] in &rule.products {
                        for (moving, still) in [(a, b), (b, a)] {
                            if let Some(moving) = tangent(moving) {
                                put(&mut along[..n], true, pairs(moving, of(still), &at).map(|(d, v)| d * v));
                            }
                        }
                    }
                    rule.sum_products(of, &at, &mut sum[..n]);
                    let slopes = third.iter().zip(fourth);
                    let sums = sum.iter().zip(&along);
                    put(
                        c,
                        true,
                        dx.iter().zip(slopes.zip(sums)).map(|(&dx, ((&third, &fourth), (&sum, &along)))| {
                            dx * (fourth * sum * dx + two * third * along)
                        }),
                    );
                }
                if let Some(s) = rule.linear {
                    put(c, true, pairs(of(s), moved, &at).zip(third).map(|((s, dx), &f)| f * s * dx * dx));
                    if let Some(ds) = tangent(s) {
                        put(c, true, pairs(ds, moved, &at).zip(second).map(|((ds, dx), &f)| two * f * ds * dx));
                    }
                }
            }
            for &[a, b] in &rule.products {
                if let (Some(da), Some(db)) = (tangent(a), tangent(b)) {
                    put(c, true, pairs(da, db, &at).zip(second).map(|((da, db), &f)| two * f * da * db));
                }
            }
        }
    }
}
